//! What ends a stream from outside: its credential counts no longer, or the server stops.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use futures_core::future::BoxFuture;
use tidings::Ids;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::CancellationToken;

use super::Api;
use crate::caller::Caller;
use crate::server::Connection;

/// Why a stream has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Its credential was revoked.
    Revoked,
    /// The server stops.
    Stopping,
}

/// Holds a stream to its credential and to the server.
pub(crate) struct Tether {
    device: Arc<Mutex<Option<String>>>,
    /// One for the whole life of the stream, since it is looked at for each event that is sent.
    pulled: BoxFuture<'static, End>,
    end: Option<End>,
    connection: Option<Connection>,
}

impl Tether {
    /// Made before the credential is checked, so that no revocation falls between.
    pub(crate) fn new(api: &Api) -> Self {
        let device = Arc::default();
        let pulled = pulled(Arc::clone(&device), api.revoked.subscribe(), api.stopping.clone());
        Tether { device, pulled: Box::pin(pulled), end: None, connection: None }
    }

    /// The connection that stays once a caller is known.
    pub(crate) fn on(self, connection: Option<&Connection>) -> Self {
        Tether { connection: connection.cloned(), ..self }
    }

    /// Holds the stream to the credential of this caller.
    pub(crate) fn hold(&mut self, caller: &Caller) {
        self.device.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&caller.device);
        if let Some(connection) = &self.connection {
            connection.authenticate();
        }
    }

    /// Ends when the stream has to. It may be dropped while it waits.
    pub(crate) async fn cut(&mut self) -> End {
        match self.end {
            Some(end) => end,
            None => *self.end.insert((&mut self.pulled).await),
        }
    }
}

async fn pulled(
    device: Arc<Mutex<Option<String>>>,
    mut revoked: broadcast::Receiver<String>,
    stopping: CancellationToken,
) -> End {
    let stopped = pin!(stopping.cancelled());
    let revoked = async {
        loop {
            let revoked = revoked.recv().await;
            let device = device.lock().unwrap_or_else(PoisonError::into_inner);
            match revoked {
                Ok(revoked) if device.as_ref() == Some(&revoked) => return,
                // One of those that were missed may have been ours, so the client has to show itself again.
                Err(RecvError::Lagged(_)) if device.is_some() => return,
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break,
            }
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        () = stopped => End::Stopping,
        () = revoked => End::Revoked,
    }
}

/// When a client is to come back to a server that restarts: not all of them at once.
pub(crate) fn retry_ms(ids: &Ids) -> u64 {
    let id = ids.next();
    let chance = id.get(..8).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default();
    500 + chance % 4500
}
