//! What ends a stream from outside: its credential counts no longer, or the server stops.

use tidings::Ids;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::CancellationToken;

use super::Doors;
use crate::caller::Caller;

/// Why a stream has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Its credential was revoked.
    Revoked,
    /// The server stops.
    Stopping,
}

/// Holds a stream to its credential and to the server.
#[derive(Debug)]
pub(crate) struct Tether {
    device: Option<String>,
    revoked: broadcast::Receiver<String>,
    stopping: CancellationToken,
}

impl Tether {
    /// Made before the credential is checked, so that no revocation falls between.
    pub(crate) fn new(doors: &Doors) -> Self {
        Tether { device: None, revoked: doors.revoked.subscribe(), stopping: doors.stopping.clone() }
    }

    /// Holds the stream to the credential of this caller.
    pub(crate) fn hold(&mut self, caller: &Caller) {
        self.device.clone_from(&caller.device);
    }

    /// Ends when the stream has to. It may be dropped while it waits.
    pub(crate) async fn cut(&mut self) -> End {
        loop {
            tokio::select! {
                () = self.stopping.cancelled() => return End::Stopping,
                revoked = self.revoked.recv() => match revoked {
                    Ok(device) if self.device.as_ref() == Some(&device) => return End::Revoked,
                    // One of those that were missed may have been ours, so the client has to show itself again.
                    Err(RecvError::Lagged(_)) if self.device.is_some() => return End::Revoked,
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => {
                        self.stopping.cancelled().await;
                        return End::Stopping;
                    }
                },
            }
        }
    }
}

/// When a client is to come back to a server that restarts: not all of them at once.
pub(crate) fn retry_ms(ids: &Ids) -> u64 {
    let id = ids.next();
    let chance = id.get(..8).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default();
    500 + chance % 4500
}
