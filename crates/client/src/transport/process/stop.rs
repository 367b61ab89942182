//! Stopping a child process on Unix.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::Child;

use super::reaper;
use crate::options::Orphans;
use crate::transport::Stop;

#[derive(Debug)]
pub(super) struct ProcessStop {
    pid: Option<Pid>,
    owner: String,
    orphans: Orphans,
    /// Set once the child was waited for: from then on its process id may be reused.
    gone: AtomicBool,
}

impl ProcessStop {
    pub(super) fn new(child: &Child, owner: String, orphans: Orphans) -> Self {
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        ProcessStop { pid, owner, orphans, gone: AtomicBool::new(false) }
    }

    /// Marks the child as exited and waited for.
    pub(super) fn ended(&self) {
        self.gone.store(true, Ordering::SeqCst);
        if self.orphans == Orphans::Sweep {
            reaper::sweep(&self.owner);
        }
    }

    fn alive(&self) -> Option<Pid> {
        self.pid.filter(|_| !self.gone.load(Ordering::SeqCst))
    }
}

impl Stop for ProcessStop {
    /// Sends SIGTERM to the CLI alone: it stops its tools itself, which no signal to its group could.
    fn terminate(&self) {
        if let Some(pid) = self.alive() {
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    fn kill(&self) {
        if let Some(pid) = self.alive() {
            // Its descendants are found while it lives: afterwards only their mark identifies them.
            if self.orphans == Orphans::Sweep {
                reaper::sweep_below(&self.owner, pid);
            }
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    fn pid(&self) -> Option<u32> {
        self.alive().and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok())
    }
}

/// If the session was not closed, or the runtime ended before, the reaper thread stops the child.
impl Drop for ProcessStop {
    fn drop(&mut self) {
        if let Some(pid) = self.alive() {
            reaper::stop_child(self.owner.clone(), pid, self.orphans);
        }
    }
}
