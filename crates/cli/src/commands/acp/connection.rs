//! The connection to a server: a WebSocket over whatever the other commands use.

use std::time::Duration;

use anyhow::Context as _;
use base64::Engine as _;
use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use reqwest::{Method, StatusCode, Upgraded};
use tidings_acp::limits::SERVER_MESSAGE_BYTES_MAX;
use tidings_api::Code;
use tidings_base::backoff::Backoff;
use tidings_sessions::Error;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::commands::remote::Remote;

/// Pause before the second attempt to reconnect; each further pause is twice as long.
const PAUSE_FIRST: Duration = Duration::from_millis(200);

/// Upper bound of the pause.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Time after which the editor's requests fail because the server does not come back. An upgrade takes
/// seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// Silence after which the connection counts as lost. The server sends a ping every 15 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(45);

/// A connection to `/v1/acp`.
pub(super) struct Connection(WebSocketStream<Upgraded>);

impl Connection {
    pub(super) async fn open(remote: &Remote) -> anyhow::Result<Self> {
        let key = base64::engine::general_purpose::STANDARD.encode(uuid::Uuid::new_v4().as_bytes());
        let request = remote
            .request(Method::GET, "/v1/acp")
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", key)
            // The connection has no end.
            .timeout(Duration::MAX);
        let response = remote.send_upgrade(request).await?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let message = "The server did not open a WebSocket";
            return Err(Error::new(Code::Unavailable, message, "update the server").into());
        }
        let upgraded = response.upgrade().await.context("Failed to open the connection")?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(SERVER_MESSAGE_BYTES_MAX))
            .max_frame_size(Some(SERVER_MESSAGE_BYTES_MAX));
        Ok(Connection(WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await))
    }

    /// The next message; `None` when the connection is lost. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<String> {
        loop {
            match tokio::time::timeout(SILENCE_MAX, self.0.next()).await {
                Ok(Some(Ok(Message::Text(text)))) => return Some(text.as_str().to_owned()),
                Ok(Some(Ok(Message::Close(_)) | Err(_)) | None) | Err(_) => return None,
                // Pings are answered by the library.
                Ok(Some(Ok(_))) => {}
            }
        }
    }

    /// The next message, if it is there.
    pub(super) fn ready(&mut self) -> Option<String> {
        match self.0.next().now_or_never()?? {
            Ok(Message::Text(text)) => Some(text.as_str().to_owned()),
            _ => None,
        }
    }

    pub(super) async fn send_all(&mut self, lines: Vec<String>) -> anyhow::Result<()> {
        for line in lines {
            self.0.feed(Message::from(line)).await?;
        }
        Ok(self.0.flush().await?)
    }

    pub(super) async fn close(mut self) {
        drop(tokio::time::timeout(Duration::from_secs(1), self.0.close(None)).await);
    }
}

/// Connects again, as often as needed. Only a refused credential is an error.
pub(super) async fn open_again(remote: &Remote) -> anyhow::Result<Connection> {
    let mut backoff = Backoff::new(PAUSE_FIRST, PAUSE_MAX);
    loop {
        match Connection::open(remote).await {
            Ok(connection) => return Ok(connection),
            Err(error) => {
                let code = error.downcast_ref::<Error>().map(Error::code);
                if matches!(code, Some(Code::Unauthorized | Code::Forbidden)) {
                    return Err(error);
                }
            }
        }
        tokio::time::sleep(backoff.pause()).await;
    }
}
