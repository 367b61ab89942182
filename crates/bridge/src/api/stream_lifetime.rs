//! The end of a stream from outside: its credential is revoked, or the server stops.

use std::pin::pin;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use parking_lot::Mutex;
use tidings::Ids;
use tidings_sessions::Caller;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::Api;
use crate::http::Connection;

/// The reason why a stream must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// The credential of the stream was revoked.
    Revoked,
    /// The server stops.
    Stopping,
}

/// Binds the lifetime of a stream to its credential and to the server.
pub(crate) struct StreamLifetime {
    device: Arc<Mutex<Option<String>>>,
    /// Created once per stream, because it is polled for each event that is sent.
    end_future: BoxFuture<'static, StreamEnd>,
    end: Option<StreamEnd>,
    connection: Option<Connection>,
}

impl StreamLifetime {
    /// Must be called before the credential is checked, so that no revocation is missed in between.
    pub(crate) fn new(api: &Api) -> Self {
        let device = Arc::default();
        let end_future = wait_for_end(Arc::clone(&device), api.revoked.subscribe(), api.stopping.clone());
        StreamLifetime { device, end_future: Box::pin(end_future), end: None, connection: None }
    }

    /// Sets the connection to mark as authenticated once the caller is known.
    pub(crate) fn with_connection(self, connection: Option<&Connection>) -> Self {
        StreamLifetime { connection: connection.cloned(), ..self }
    }

    /// Binds the stream to the credential of this caller.
    pub(crate) fn bind(&mut self, caller: &Caller) {
        self.device.lock().clone_from(&caller.device);
        if let Some(connection) = &self.connection {
            connection.authenticate();
        }
    }

    /// Waits until the stream must end. Cancel safe.
    pub(crate) async fn ended(&mut self) -> StreamEnd {
        match self.end {
            Some(end) => end,
            None => *self.end.insert((&mut self.end_future).await),
        }
    }
}

async fn wait_for_end(
    device: Arc<Mutex<Option<String>>>,
    mut revoked: broadcast::Receiver<String>,
    stopping: CancellationToken,
) -> StreamEnd {
    let stopped = pin!(stopping.cancelled());
    let revoked = async {
        loop {
            let revoked = revoked.recv().await;
            let device = device.lock();
            match revoked {
                Ok(revoked) if device.as_ref() == Some(&revoked) => return,
                // A missed revocation may have been this one, so the client has to authenticate again.
                Err(RecvError::Lagged(_)) if device.is_some() => return,
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break,
            }
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        () = stopped => StreamEnd::Stopping,
        () = revoked => StreamEnd::Revoked,
    }
}

/// A random delay before a client reconnects to a restarting server, so that not all clients come at once.
pub(crate) fn retry_ms(ids: &Ids) -> u64 {
    let id = ids.next();
    let chance = id.get(..8).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default();
    500 + chance % 4500
}
