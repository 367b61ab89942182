//! Signals that ask the program to end.

use std::io;

/// A signal that was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: the user pressed Ctrl-C, and can do so again.
    Interrupt,
    /// SIGTERM: sent once by another program.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has it"))]
    Terminate,
}

/// Receives SIGINT and SIGTERM, one after the other. Misses none while it lives.
pub struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Starts to catch both signals.
    pub fn catch() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "Unix may refuse")]
    pub(crate) fn catch() -> io::Result<Self> {
        Ok(Signals {})
    }

    pub(crate) async fn next(&mut self) -> Signal {
        drop(tokio::signal::ctrl_c().await);
        Signal::Interrupt
    }
}

/// Waits for a signal that ends a server: SIGINT, SIGTERM, or SIGHUP (the terminal was closed) unless it is
/// ignored.
#[cfg(unix)]
pub fn signals_of_server() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    catch_file_size_limit()?;
    let mut signals = Signals::catch()?;
    let mut hangup = if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) };
    Ok(async move {
        let hangup = async {
            match &mut hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = signals.next() => {}
            () = hangup => {}
        }
    })
}

#[cfg(not(unix))]
pub(crate) fn signals_of_server() -> io::Result<impl Future<Output = ()>> {
    signals()
}

/// Catches SIGXFSZ, which would end the process when a file reaches the limit of its size (`ulimit -f`). The
/// write then fails like one on a full disk. It is caught and not ignored, so that agents do not inherit it.
#[cfg(unix)]
pub fn catch_file_size_limit() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // The handler stays when the receiver is dropped.
    signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
}

/// True if SIGHUP is ignored, as under `nohup`; to catch it would undo that. Also true on systems where this
/// cannot be read.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGHUP is number 1 on every system, so it is the first bit.
    mask.is_none_or(|mask| mask & 1 == 1)
}

/// Starts to catch SIGINT and SIGTERM, and waits for the first.
pub fn signals() -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::catch()?;
    Ok(async move {
        signals.next().await;
    })
}
