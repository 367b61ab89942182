//! Being asked to end.

use std::io;

/// What somebody wants of us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// SIGINT: a person pressed Ctrl-C, and can do so again.
    Interrupt,
    /// SIGTERM: some program wants us gone, and will not ask twice.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has it"))]
    Terminate,
}

/// Catches SIGINT and SIGTERM, one after the other. None is missed as long as this lives.
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Catches them from now on.
    pub(crate) fn catch() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    pub(crate) async fn next(&mut self) -> Signal {
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

/// Catches them from now on, and ends at the first.
pub(crate) fn signals() -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::catch()?;
    Ok(async move {
        signals.next().await;
    })
}
