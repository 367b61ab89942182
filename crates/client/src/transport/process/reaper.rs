//! The thread that stops abandoned processes, even when no runtime is left to do it.

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};

use crate::limits::{KILL_GRACE, TERM_GRACE};
use crate::options::Orphans;

/// Interval of checks for exited processes.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Jobs in the queue; each is started within [`CHECK_INTERVAL`].
const WAITING_MAX: usize = 1024;

#[cfg(target_os = "linux")]
type Leftovers = std::collections::BTreeSet<super::leftovers::ProcessId>;

/// A process or set of processes to stop.
enum ReapJob {
    /// A child whose session was dropped without closing it.
    Child { owner: String, pid: Pid, orphans: Orphans, since: Instant },
    /// Processes that a session left behind.
    #[cfg(target_os = "linux")]
    Rest { rest: Leftovers, since: Instant },
}

/// Stops a child: SIGTERM, then SIGKILL, then its leftovers.
pub(super) fn stop_child(owner: String, pid: Pid, orphans: Orphans) {
    let _ = kill_process(pid, Signal::TERM);
    submit(ReapJob::Child { owner, pid, orphans, since: Instant::now() });
}

/// Stops the processes that a session left behind after its CLI has ended.
pub(super) fn sweep(owner: &str) {
    #[cfg(target_os = "linux")]
    sweep_found(super::leftovers::of_session(owner, None));
    #[cfg(not(target_os = "linux"))]
    let _ = owner;
}

/// Stops the leftovers while the CLI still runs, so that its descendants can be found.
pub(super) fn sweep_below(owner: &str, pid: Pid) {
    #[cfg(target_os = "linux")]
    sweep_found(super::leftovers::of_session(owner, u32::try_from(pid.as_raw_nonzero().get()).ok()));
    #[cfg(not(target_os = "linux"))]
    let _ = (owner, pid);
}

#[cfg(target_os = "linux")]
fn sweep_found(rest: Leftovers) {
    if rest.is_empty() {
        return;
    }
    tracing::debug!(count = rest.len(), "stopping processes that a session left behind");
    for process in &rest {
        process.signal(Signal::TERM);
    }
    submit(ReapJob::Rest { rest, since: Instant::now() });
}

fn submit(job: ReapJob) {
    static SENDER: OnceLock<Option<SyncSender<ReapJob>>> = OnceLock::new();
    let sender = SENDER.get_or_init(|| {
        let (sender, jobs) = sync_channel(WAITING_MAX);
        let thread = thread::Builder::new().name("tidings-reaper".to_owned());
        thread.spawn(move || run(&jobs)).ok().map(|_| sender)
    });
    let refused = match sender {
        Some(sender) => sender.try_send(job).err().map(|error| match error {
            std::sync::mpsc::TrySendError::Full(job) | std::sync::mpsc::TrySendError::Disconnected(job) => {
                job
            }
        }),
        None => Some(job),
    };
    // Without the thread nothing can be waited for: kill at once.
    if let Some(job) = refused {
        job.kill();
    }
}

fn run(jobs: &Receiver<ReapJob>) {
    let mut open: Vec<ReapJob> = Vec::new();
    loop {
        let next = if open.is_empty() {
            jobs.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            jobs.recv_timeout(CHECK_INTERVAL)
        };
        match next {
            Ok(job) => open.push(job),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        open.retain_mut(|job| !job.is_done());
    }
}

impl ReapJob {
    /// Takes the next step; `true` when the job is done.
    fn is_done(&mut self) -> bool {
        match self {
            ReapJob::Child { owner, pid, orphans, since } => {
                // The runtime that started it may wait for it too; the second waiter gets an error.
                let gone = !matches!(waitpid(Some(*pid), WaitOptions::NOHANG), Ok(None));
                if gone {
                    if *orphans == Orphans::Sweep {
                        sweep(owner);
                    }
                    return true;
                }
                if since.elapsed() >= TERM_GRACE {
                    self.kill();
                }
                false
            }
            #[cfg(target_os = "linux")]
            ReapJob::Rest { rest, since } => {
                rest.retain(|process| process.is_alive());
                if since.elapsed() >= KILL_GRACE {
                    self.kill();
                    return true;
                }
                rest.is_empty()
            }
        }
    }

    fn kill(&self) {
        match self {
            ReapJob::Child { pid, .. } => {
                let _ = kill_process_group(*pid, Signal::KILL);
                let _ = kill_process(*pid, Signal::KILL);
            }
            #[cfg(target_os = "linux")]
            ReapJob::Rest { rest, .. } => {
                for process in rest {
                    process.signal(Signal::KILL);
                }
            }
        }
    }
}
