//! The end of a host: stops all processes below it.

#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::cli::Cli;
use super::state::Host;
use crate::limits::{DRAIN, KILL_GRACE, TERM_GRACE};
use crate::options::Orphans;

/// Interval of checks for exited processes.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Stops the CLI and everything that it started: SIGTERM, a grace period, SIGKILL, then leftovers.
pub(super) async fn end(host: &Host) {
    let Some(cli) = host.cli() else { return };
    host.end_input();
    cli.terminate();
    if tokio::time::timeout(TERM_GRACE, cli.gone()).await.is_err() {
        kill(&cli);
        drop(tokio::time::timeout(KILL_GRACE, cli.gone()).await);
    }
    // Its last output is kept for a later bridge, if there is room.
    let ended = host.until(|| host.exit().is_some());
    drop(tokio::time::timeout(KILL_GRACE + KILL_GRACE + DRAIN, ended).await);
    sweep(&cli).await;
}

/// Kills the CLI and everything that is below it now.
pub(super) fn kill(cli: &Cli) {
    #[cfg(target_os = "linux")]
    let rest = if cli.orphans == Orphans::Sweep { linux::below(cli) } else { BTreeSet::default() };
    cli.kill();
    #[cfg(target_os = "linux")]
    for process in rest {
        process.signal(rustix::process::Signal::KILL);
    }
}

/// Stops leftover processes below the host after the CLI has ended.
pub(super) async fn sweep(cli: &Cli) {
    if cli.orphans == Orphans::Keep {
        return;
    }
    #[cfg(target_os = "linux")]
    linux::sweep(cli).await;
    #[cfg(not(target_os = "linux"))]
    tokio::task::yield_now().await;
}

/// The process ids of the CLI, if it lives, and of everything that it started.
pub(super) fn pids(cli: &Cli) -> Vec<u32> {
    let mut all: Vec<u32> = cli.pid().into_iter().collect();
    #[cfg(target_os = "linux")]
    all.extend(linux::below(cli).into_iter().map(crate::transport::process::leftovers::ProcessId::pid));
    let mut seen = std::collections::HashSet::new();
    all.retain(|pid| seen.insert(*pid));
    all
}

/// Waits for orphans that the host has adopted, so that none of them stays a zombie.
pub(super) async fn reap(host: Arc<Host>) {
    #[cfg(target_os = "linux")]
    linux::reap(&host).await;
    #[cfg(not(target_os = "linux"))]
    drop(host);
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;

    use rustix::process::{Pid, Signal, WaitOptions, waitpid};
    use tokio::signal::unix::{SignalKind, signal};
    use tokio::time::Instant;

    use super::{CHECK_INTERVAL, Cli, Host, KILL_GRACE};
    use crate::transport::process::{leftovers, watchdog};

    /// All processes below the host and all that carry the mark, except the CLI and the watchdog.
    pub(super) fn below(cli: &Cli) -> BTreeSet<leftovers::ProcessId> {
        let mut found = leftovers::of_session(&cli.owner, Some(std::process::id()));
        found.retain(|process| Some(process.pid()) != cli.pid() && Some(process.pid()) != watchdog::pid());
        found
    }

    pub(super) async fn sweep(cli: &Cli) {
        // A process may start another while it ends, so the search is repeated.
        for signal in [Signal::TERM, Signal::KILL, Signal::KILL] {
            let mut rest = below(cli);
            for process in &rest {
                process.signal(signal);
            }
            let since = Instant::now();
            while !rest.is_empty() && since.elapsed() < KILL_GRACE {
                tokio::time::sleep(CHECK_INTERVAL).await;
                rest.retain(|process| process.is_alive());
            }
        }
    }

    pub(super) async fn reap(host: &Host) {
        let Ok(mut ended) = signal(SignalKind::child()) else { return };
        while ended.recv().await.is_some() {
            // Several processes end together, and a search is not free.
            tokio::time::sleep(CHECK_INTERVAL * 4).await;
            #[cfg(feature = "terminal")]
            if host.terminal().is_some() {
                // Its program is waited for elsewhere, together with all others.
                return;
            }
            let cli = host.cli().and_then(|cli| cli.pid());
            let ended_before = leftovers::ended_children();
            tokio::time::sleep(CHECK_INTERVAL).await;
            for pid in leftovers::ended_children() {
                // The CLI is waited for elsewhere, where its exit status is needed. So are the processes of a
                // filter, which are gone by the second look.
                if Some(pid) != cli
                    && ended_before.contains(&pid)
                    && let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw)
                {
                    let _ = waitpid(Some(pid), WaitOptions::NOHANG);
                }
            }
        }
    }
}
