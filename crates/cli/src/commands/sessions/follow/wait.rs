//! What a follower waits for: files that change, the clock, Ctrl-C, and that nobody reads any more.

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

/// Why a follower goes on.
#[derive(Debug)]
pub(super) enum Event {
    Look,
    LookAt(Vec<PathBuf>),
    Interrupted,
    /// Nobody reads what is written.
    Unheard,
}

/// How much is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Session,
    All,
}

/// Network drives do not say what changed, so somebody must look.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A look at thousands of sessions costs tens of milliseconds, too much for every second of a day.
const LOOK_AT_ALL_EVERY: Duration = Duration::from_secs(5);

/// Changes that wait to be looked at. When they are more, everything is looked at instead.
const CHANGES_MAX: usize = 256;

pub(super) struct Waiting {
    changes: mpsc::Receiver<Vec<PathBuf>>,
    /// Something changed that is not among the changes.
    elsewhere: Arc<AtomicBool>,
    clock: Interval,
    interrupted: Pin<Box<dyn Future<Output = ()>>>,
    unheard: Pin<Box<dyn Future<Output = ()>>>,
    /// Tells of changes while it lives; none if the system cannot.
    _wake: Option<Wake>,
}

impl Waiting {
    /// Waits for changes below the folders of one session or of all.
    pub(super) fn new(folders: &[PathBuf], scope: Scope) -> io::Result<Self> {
        let (tell, changes) = mpsc::channel(CHANGES_MAX);
        let elsewhere = Arc::new(AtomicBool::new(false));
        let missed = Arc::clone(&elsewhere);
        let wake = Wake::new(folders, move |woken| {
            let told = match woken {
                Woken::Paths(paths) => tell.try_send(paths).is_ok(),
                Woken::Somewhere => false,
            };
            if !told {
                missed.store(true, Ordering::Release);
            }
        });
        let mut clock = interval(match scope {
            Scope::All if wake.is_ok() => LOOK_AT_ALL_EVERY,
            Scope::All | Scope::Session => LOOK_EVERY,
        });
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Waiting {
            changes,
            elsewhere,
            clock,
            interrupted: Box::pin(signals()?),
            unheard: Box::pin(unheard()),
            _wake: wake.ok(),
        })
    }

    pub(super) async fn next(&mut self) -> Event {
        let first = tokio::select! {
            biased;
            () = &mut self.interrupted => return Event::Interrupted,
            () = &mut self.unheard => return Event::Unheard,
            _ = self.clock.tick() => return Event::Look,
            // Without a watcher there is never anything to receive, and the clock goes on.
            Some(paths) = self.changes.recv() => paths,
        };
        let mut paths = first;
        // One look answers all that has come meanwhile.
        while let Ok(more) = self.changes.try_recv() {
            paths.extend(more);
        }
        if self.elsewhere.swap(false, Ordering::AcqRel) {
            return Event::Look;
        }
        paths.sort_unstable();
        paths.dedup();
        Event::LookAt(paths)
    }
}

/// Ends when the other end of a pipe on stdout is closed; never for files and terminals.
#[cfg(unix)]
async fn unheard() {
    use std::os::fd::AsFd as _;
    use tokio::io::Interest;
    use tokio::net::unix::pipe::Sender;

    // Unchecked: nothing is written through it, so that it may block as stdout does.
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
async fn unheard() {
    std::future::pending::<()>().await;
}
