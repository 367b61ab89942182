//! A WebSocket of the server, over whatever the other requests use.

use std::time::Duration;

use base64::Engine as _;
use bytes::Bytes;
use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use reqwest::{Method, StatusCode, Upgraded};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::error::{Error, ErrorKind};
use crate::server::RemoteServer;
use crate::sse::cut;

/// Time for the close frame of the server.
const CLOSE_MAX: Duration = Duration::from_secs(1);

/// A WebSocket of the server. It does not connect again by itself: what is to be sent again depends on what
/// it is used for.
#[derive(Debug)]
pub struct RemoteSocket {
    socket: WebSocketStream<Upgraded>,
    silence_max: Duration,
}

/// A message of a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SocketData {
    /// A text, which is JSON.
    Text(String),
    /// Bytes of a terminal.
    Binary(Bytes),
}

impl RemoteServer {
    /// Opens the WebSocket of a route, such as `/v1/acp`, with an upper bound of its messages.
    pub async fn socket(&self, path: &str, message_bytes_max: usize) -> Result<RemoteSocket, Error> {
        let key = base64::engine::general_purpose::STANDARD.encode(uuid::Uuid::new_v4().as_bytes());
        let request = self
            .request(Method::GET, path)
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", key);
        let opening = async {
            let response = self.checked(request.send().await.map_err(|error| self.failed(&error))?).await?;
            if response.status() != StatusCode::SWITCHING_PROTOCOLS {
                let message = "The server did not open a WebSocket";
                return Err(Error::new(ErrorKind::Response, message, "update the server"));
            }
            response.upgrade().await.map_err(|error| self.failed(&error))
        };
        let opened = tokio::time::timeout(self.options().answer_max, opening).await;
        let upgraded = opened.map_err(|_| cut("the server does not open a WebSocket"))??;
        let config = WebSocketConfig::default()
            .max_message_size(Some(message_bytes_max))
            .max_frame_size(Some(message_bytes_max));
        let socket = WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await;
        Ok(RemoteSocket { socket, silence_max: self.options().silence_max })
    }
}

impl RemoteSocket {
    /// The next message; `None` when the connection is lost or closed. Cancel safe.
    pub async fn next(&mut self) -> Option<SocketData> {
        loop {
            match tokio::time::timeout(self.silence_max, self.socket.next()).await {
                Ok(Some(Ok(message))) => {
                    // Pings are answered by the library.
                    match data(message) {
                        Ok(Some(data)) => return Some(data),
                        Ok(None) => {}
                        Err(Closed) => return None,
                    }
                }
                Ok(Some(Err(_)) | None) | Err(_) => return None,
            }
        }
    }

    /// The next message, if it is there.
    pub fn ready(&mut self) -> Option<SocketData> {
        data(self.socket.next().now_or_never()??.ok()?).ok()?
    }

    /// Sends messages together.
    pub async fn send_all(&mut self, messages: impl IntoIterator<Item = SocketData>) -> Result<(), Error> {
        let failed = |_| cut("the connection was lost");
        for message in messages {
            let message = match message {
                SocketData::Text(text) => Message::from(text),
                SocketData::Binary(bytes) => Message::Binary(bytes),
            };
            self.socket.feed(message).await.map_err(failed)?;
        }
        self.socket.flush().await.map_err(failed)
    }

    /// Closes the connection.
    pub async fn close(mut self) {
        drop(tokio::time::timeout(CLOSE_MAX, self.socket.close(None)).await);
    }
}

/// The server closes the connection.
struct Closed;

/// The data of a message; none of a ping.
fn data(message: Message) -> Result<Option<SocketData>, Closed> {
    match message {
        Message::Text(text) => Ok(Some(SocketData::Text(text.as_str().to_owned()))),
        Message::Binary(bytes) => Ok(Some(SocketData::Binary(bytes))),
        Message::Close(_) => Err(Closed),
        _ => Ok(None),
    }
}
