//! Processes of the lowest priority that keep every core awake.
//!
//! A core that is idle for some milliseconds goes to sleep and loses its caches; the process that wakes it
//! pays for that. On a machine with other work this does not happen.

use std::process::{Child, Command, Stdio};

use crate::Failure;

/// One process for each core; they end when it is dropped.
pub(crate) struct Awake(Vec<Child>);

impl Awake {
    pub(crate) fn start() -> Result<Self, Failure> {
        let cores = std::thread::available_parallelism()?.get();
        let mut all = Awake(Vec::new());
        for _ in 0..cores {
            // The idle class of the scheduler: it runs only on cores that no other process needs.
            let mut spin = Command::new("chrt");
            spin.args(["--idle", "0"]).arg(std::env::current_exe()?).arg("spin").stdin(Stdio::null());
            all.0.push(spin.spawn().map_err(|error| format!("chrt, of util-linux: {error}"))?);
        }
        Ok(all)
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        for child in &mut self.0 {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Loops for ever.
pub(crate) fn spin() -> ! {
    loop {
        std::hint::spin_loop();
    }
}
