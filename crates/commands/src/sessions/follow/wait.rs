//! Events that `follow` waits for: changed files, the clock, Ctrl-C, and a closed output.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tidings_transcript::follow::{Wake, Woken};
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::signals::signals;

/// Next action of `follow`.
#[derive(Debug)]
pub(super) enum FollowEvent {
    Poll,
    Changed(Vec<PathBuf>),
    Interrupted,
    /// The reader of standard output closed it.
    OutputClosed,
}

/// Sessions that are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FollowScope {
    Session,
    All,
}

/// Poll interval, since network drives send no change notifications.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Poll interval for all sessions: a poll of thousands of sessions costs tens of milliseconds.
const POLL_ALL_INTERVAL: Duration = Duration::from_secs(5);

/// Capacity of the queue of changes. After an overflow, everything is polled instead.
const CHANGES_MAX: usize = 256;

pub(super) struct ChangeWaiter {
    changes: mpsc::Receiver<Vec<PathBuf>>,
    /// True if a change is missing in `changes`.
    has_missed: Arc<AtomicBool>,
    clock: Interval,
    interrupted: Pin<Box<dyn Future<Output = ()>>>,
    output_closed: Pin<Box<dyn Future<Output = ()>>>,
    /// Sends changes while it lives; none if the system does not support it.
    _wake: Option<Wake>,
}

impl ChangeWaiter {
    /// Waits for changes below the folders of one session or of all.
    pub(super) fn new(folders: &[PathBuf], scope: FollowScope) -> io::Result<Self> {
        let (sender, changes) = mpsc::channel(CHANGES_MAX);
        let has_missed = Arc::new(AtomicBool::new(false));
        let missed = Arc::clone(&has_missed);
        let wake = Wake::new(folders, move |woken| {
            let was_sent = match woken {
                Woken::Paths(paths) => sender.try_send(paths).is_ok(),
                Woken::Somewhere => false,
            };
            if !was_sent {
                missed.store(true, Ordering::Release);
            }
        });
        let mut clock = interval(match scope {
            FollowScope::All if wake.is_ok() => POLL_ALL_INTERVAL,
            FollowScope::All | FollowScope::Session => POLL_INTERVAL,
        });
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(ChangeWaiter {
            changes,
            has_missed,
            clock,
            interrupted: Box::pin(signals()?),
            output_closed: Box::pin(output_closed()),
            _wake: wake.ok(),
        })
    }

    pub(super) async fn next(&mut self) -> FollowEvent {
        let first = tokio::select! {
            biased;
            () = &mut self.interrupted => return FollowEvent::Interrupted,
            () = &mut self.output_closed => return FollowEvent::OutputClosed,
            _ = self.clock.tick() => return FollowEvent::Poll,
            // Without change notifications nothing is received, and the clock polls.
            Some(paths) = self.changes.recv() => paths,
        };
        let mut paths = first;
        // Handle all pending changes at once.
        while let Ok(more) = self.changes.try_recv() {
            paths.extend(more);
        }
        if self.has_missed.swap(false, Ordering::AcqRel) {
            return FollowEvent::Poll;
        }
        paths.sort_unstable();
        paths.dedup();
        FollowEvent::Changed(paths)
    }
}

/// Ends when the other end of a pipe on stdout is closed; never for files and terminals.
#[cfg(unix)]
async fn output_closed() {
    use std::os::fd::AsFd as _;
    use tokio::io::Interest;
    use tokio::net::unix::pipe::Sender;

    // Unchecked: nothing is written through it, so it may be in blocking mode like stdout.
    let watched = io::stdout().as_fd().try_clone_to_owned();
    let watched = watched.and_then(Sender::from_owned_fd_unchecked);
    if let Ok(stdout) = watched
        && stdout.ready(Interest::ERROR).await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

#[cfg(not(unix))]
async fn output_closed() {
    std::future::pending::<()>().await;
}
