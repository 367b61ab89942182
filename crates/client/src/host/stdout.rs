//! The thread that reads the output of the CLI.
//!
//! It waits in `read`, stores what it gets and sends it to the bridge. A task of the runtime would be woken
//! by the reactor and would wake another one for the socket, which takes more time for each delta.

use std::fs::File;
use std::io::{self, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::process::ChildStdout;
use tokio_util::sync::CancellationToken;

use super::state::Host;
use crate::limits::{DRAIN, HOST_READ_BYTES, SPOOL_RETRY};

/// The thread that reads the output of the CLI.
#[derive(Debug)]
pub(super) struct StdoutThread {
    /// A counter that increases before and after each read: it is odd while the thread waits for output.
    reads: Arc<AtomicU64>,
    /// Cancelled when the output has ended.
    over: CancellationToken,
}

impl StdoutThread {
    pub(super) fn start(host: Arc<Host>, pipe: ChildStdout) -> io::Result<Self> {
        let pipe = pipe.into_owned_fd()?;
        rustix::io::ioctl_fionbio(&pipe, false)?;
        let thread = StdoutThread { reads: Arc::default(), over: CancellationToken::new() };
        let (reads, over) = (Arc::clone(&thread.reads), thread.over.clone().drop_guard());
        std::thread::Builder::new().name("stdout".to_owned()).spawn(move || {
            read(&host, &mut File::from(pipe), &reads);
            drop(over);
        })?;
        Ok(thread)
    }

    /// Returns when the output has ended, or nothing more arrives: a process that the CLI left behind may
    /// hold the pipe open for ever. Output that waits for room in the spool is waited for.
    pub(super) async fn drain(&self) {
        loop {
            let before = self.reads.load(Ordering::Acquire);
            if tokio::time::timeout(DRAIN, self.over.cancelled()).await.is_ok() {
                return;
            }
            let is_reading = before % 2 == 1;
            if is_reading && self.reads.load(Ordering::Acquire) == before {
                return;
            }
        }
    }
}

fn read(host: &Host, pipe: &mut File, reads: &AtomicU64) {
    let mut buffer = vec![0; HOST_READ_BYTES];
    loop {
        host.wait_for_room();
        reads.fetch_add(1, Ordering::AcqRel);
        let count = pipe.read(&mut buffer);
        reads.fetch_add(1, Ordering::AcqRel);
        let count = match count {
            Ok(count @ 1..) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => return,
        };
        // A full disk may have space again later; until then the CLI blocks.
        while let Err(error) = host.store_output(&buffer[..count]) {
            tracing::warn!(%error, "failed to store the output of the agent; it blocks until this succeeds");
            std::thread::sleep(SPOOL_RETRY);
        }
    }
}
