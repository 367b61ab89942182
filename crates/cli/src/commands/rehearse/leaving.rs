//! How a command that is being recorded ends when somebody wants the recording to.

use std::process::Child;
use std::time::{Duration, Instant};

use crate::signals::Signal;

/// How long the command may take to end, before it is asked and again before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// What is still to be done about it.
#[derive(Debug, Default)]
pub(super) enum Leaving {
    /// Nobody wants it to end.
    #[default]
    Not,
    /// It knows from the terminal, and is asked at this moment.
    Knows(Instant),
    /// It was asked, and is killed at this moment.
    Asked(Instant),
    Killed,
}

impl Leaving {
    pub(super) fn is_wanted(&self) -> bool {
        !matches!(self, Leaving::Not)
    }

    /// Somebody wants it to end; who says so twice does not want to wait.
    pub(super) fn signalled(&mut self, signal: Signal, child: &mut Child, now: Instant) {
        *self = match (&self, signal) {
            // Ctrl-C reaches everything that runs in the terminal, and a second one would be another request.
            (Leaving::Not, Signal::Interrupt) => Leaving::Knows(now + GRACE),
            (Leaving::Not, Signal::Terminate) => ask(child, now),
            _ => kill(child),
        };
    }

    /// Goes on with what is due; true when there is nothing left to wait for.
    pub(super) fn is_over(&mut self, child: &mut Child, now: Instant) -> bool {
        match self {
            Leaving::Knows(due) if now >= *due => *self = ask(child, now),
            Leaving::Asked(due) if now >= *due => *self = kill(child),
            _ => {}
        }
        matches!(self, Leaving::Killed)
    }
}

#[cfg(unix)]
fn ask(child: &mut Child, now: Instant) -> Leaving {
    use rustix::process::{Pid, Signal, kill_process};
    // It was not waited for yet, so the number is still its own; it may be gone already.
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
    Leaving::Asked(now + GRACE)
}

#[cfg(not(unix))]
fn ask(child: &mut Child, _now: Instant) -> Leaving {
    kill(child)
}

fn kill(child: &mut Child) -> Leaving {
    // It may be gone already.
    drop(child.kill());
    Leaving::Killed
}
