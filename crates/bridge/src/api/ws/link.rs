//! A WebSocket connection that writes long messages in several frames.
//!
//! The library copies each frame into a buffer that never shrinks. So a long message is sent as several
//! frames, each after the one before was written.

use axum::http::HeaderValue;
use axum::response::Response;
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tidings_journal::limits::LONG_EVENT_BYTES;
use tidings_sessions::Error;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Error as SocketError};

pub(crate) use tokio_tungstenite::tungstenite::protocol::CloseFrame;
pub(crate) use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::http::UpgradeRequest;
use crate::limits::{CHUNK_BYTES, MESSAGE_BYTES_MAX, SOCKET_READ_BYTES};

/// The WebSocket of a client.
#[derive(Debug)]
pub(crate) struct WebSocket(WebSocketStream<TokioIo<Upgraded>>);

impl WebSocket {
    /// The next message; `None` when the connection has ended.
    pub(crate) async fn recv(&mut self) -> Option<Result<Message, SocketError>> {
        self.0.next().await
    }

    /// Writes a message and flushes it.
    pub(crate) async fn send(&mut self, message: Message) -> Result<(), SocketError> {
        self.feed(message).await?;
        self.flush().await
    }

    /// Writes a message that is sent with the next flush. The frames of a long message are sent before this
    /// returns.
    pub(crate) async fn feed(&mut self, message: Message) -> Result<(), SocketError> {
        match message {
            Message::Text(text) if text.len() >= LONG_EVENT_BYTES => self.send_parts([text.into()]).await,
            message => self.0.feed(message).await,
        }
    }

    /// Writes one text message that consists of these parts, which are not copied as a whole.
    pub(crate) async fn send_parts<const N: usize>(&mut self, parts: [Bytes; N]) -> Result<(), SocketError> {
        let starts = |part: &Bytes| (0..part.len()).step_by(CHUNK_BYTES);
        let mut left: usize = parts.iter().map(|part| starts(part).count()).sum();
        let mut data = Data::Text;
        for part in parts {
            for start in starts(&part) {
                left -= 1;
                let chunk = part.slice(start..part.len().min(start + CHUNK_BYTES));
                let frame = Frame::message(chunk, OpCode::Data(data), left == 0);
                self.0.send(Message::Frame(frame)).await?;
                data = Data::Continue;
            }
        }
        Ok(())
    }

    pub(crate) async fn flush(&mut self) -> Result<(), SocketError> {
        self.0.flush().await
    }
}

/// Accepts an upgrade request, and calls `serve` once the connection is upgraded.
pub(crate) fn upgrade<F: Future<Output = ()> + Send + 'static>(
    request: UpgradeRequest,
    protocol: Option<HeaderValue>,
    serve: impl FnOnce(WebSocket) -> F + Send + 'static,
) -> Result<Response, Error> {
    upgrade_with(request, protocol, MESSAGE_BYTES_MAX, serve)
}

/// The same with another limit on the bytes of a client's message.
pub(crate) fn upgrade_with<F: Future<Output = ()> + Send + 'static>(
    request: UpgradeRequest,
    protocol: Option<HeaderValue>,
    message_bytes_max: usize,
    serve: impl FnOnce(WebSocket) -> F + Send + 'static,
) -> Result<Response, Error> {
    let (response, connection) = request.accept(protocol)?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(message_bytes_max))
        .max_frame_size(Some(message_bytes_max))
        .read_buffer_size(SOCKET_READ_BYTES)
        .write_buffer_size(CHUNK_BYTES);
    drop(tokio::spawn(async move {
        // The upgrade fails if the client disconnected before the response.
        let Ok(upgraded) = connection.await else { return };
        let stream = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config));
        serve(WebSocket(stream.await)).await;
    }));
    Ok(response)
}
