//! Shutdown of a recorded command after a signal.

use std::process::Child;
use std::time::{Duration, Instant};

use crate::signals::Signal;

/// Time that the command has to end before it gets SIGTERM, and again before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// State of the shutdown.
#[derive(Debug, Default)]
pub(super) enum ChildShutdown {
    /// No signal came.
    #[default]
    Running,
    /// The terminal sent it SIGINT; it gets SIGTERM at this time.
    Interrupted(Instant),
    /// It got SIGTERM; it is killed at this time.
    Terminated(Instant),
    Killed,
}

impl ChildShutdown {
    pub(super) fn was_requested(&self) -> bool {
        !matches!(self, ChildShutdown::Running)
    }

    /// Handles a signal; the second one kills the command at once.
    pub(super) fn signalled(&mut self, signal: Signal, child: &mut Child, now: Instant) {
        *self = match (&self, signal) {
            // Ctrl-C reaches every process of the terminal, so the command has already received it.
            (ChildShutdown::Running, Signal::Interrupt) => ChildShutdown::Interrupted(now + GRACE),
            (ChildShutdown::Running, Signal::Terminate) => terminate(child, now),
            _ => kill(child),
        };
    }

    /// Takes the next step if it is due; true once the command was killed.
    pub(super) fn is_over(&mut self, child: &mut Child, now: Instant) -> bool {
        match self {
            ChildShutdown::Interrupted(due) if now >= *due => *self = terminate(child, now),
            ChildShutdown::Terminated(due) if now >= *due => *self = kill(child),
            _ => {}
        }
        matches!(self, ChildShutdown::Killed)
    }
}

#[cfg(unix)]
fn terminate(child: &mut Child, now: Instant) -> ChildShutdown {
    use rustix::process::{Pid, Signal, kill_process};
    // The child was not reaped yet, so the pid is still its own; it may have ended already.
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
    ChildShutdown::Terminated(now + GRACE)
}

#[cfg(not(unix))]
fn terminate(child: &mut Child, _now: Instant) -> ChildShutdown {
    kill(child)
}

fn kill(child: &mut Child) -> ChildShutdown {
    // It may have ended already.
    drop(child.kill());
    ChildShutdown::Killed
}
