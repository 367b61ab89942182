//! A server without sessions: the time until it is ready, and its memory.

use std::path::Path;
use std::time::Duration;

use crate::Failure;
use crate::figures::Idle;
use crate::server::Server;

/// Number of starts; the median counts.
const STARTS: usize = 5;

pub(crate) fn measure(tidings: &Path, agent: &Path) -> Result<Idle, Failure> {
    let mut idle = Idle::default();
    for _ in 0..STARTS {
        let server = Server::start(tidings, agent, &[])?;
        std::thread::sleep(Duration::from_secs(1));
        idle.ready_ms.push(server.ready_ms);
        idle.memory.push(server.memory()?);
    }
    Ok(idle)
}
