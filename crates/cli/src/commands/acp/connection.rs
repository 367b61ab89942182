//! The connection to a server: a WebSocket over whatever the other commands use.

use std::time::Duration;

use tidings_acp::limits::SERVER_MESSAGE_BYTES_MAX;
use tidings_api::Code;
use tidings_base::backoff::Backoff;
use tidings_remote::{Error, RemoteServer, RemoteSocket, SocketData};

/// Pause before the second attempt to reconnect; each further pause is twice as long.
const PAUSE_FIRST: Duration = Duration::from_millis(200);

/// Upper bound of the pause.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Time after which the editor's requests fail because the server does not come back. An upgrade takes
/// seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// A connection to `/v1/acp`.
pub(super) struct Connection(RemoteSocket);

impl Connection {
    pub(super) async fn open(remote: &RemoteServer) -> Result<Self, Error> {
        remote.socket("/v1/acp", SERVER_MESSAGE_BYTES_MAX).await.map(Connection)
    }

    /// The next message; `None` when the connection is lost. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<String> {
        loop {
            if let SocketData::Text(text) = self.0.next().await? {
                return Some(text);
            }
        }
    }

    /// The next message, if it is there.
    pub(super) fn ready(&mut self) -> Option<String> {
        match self.0.ready()? {
            SocketData::Text(text) => Some(text),
            SocketData::Binary(_) => None,
        }
    }

    pub(super) async fn send_all(&mut self, lines: Vec<String>) -> Result<(), Error> {
        self.0.send_all(lines.into_iter().map(SocketData::Text)).await
    }

    pub(super) async fn close(self) {
        self.0.close().await;
    }
}

/// Connects again, as often as needed. Only a refused credential is an error.
pub(super) async fn open_again(remote: &RemoteServer) -> Result<Connection, Error> {
    let mut backoff = Backoff::new(PAUSE_FIRST, PAUSE_MAX);
    loop {
        match Connection::open(remote).await {
            Ok(connection) => return Ok(connection),
            Err(error) if matches!(error.code(), Code::Unauthorized | Code::Forbidden) => return Err(error),
            Err(_) => {}
        }
        tokio::time::sleep(backoff.pause()).await;
    }
}
