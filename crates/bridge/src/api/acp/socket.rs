//! An editor on the WebSocket `/v1/acp`.

use std::sync::Arc;

use tidings_acp::limits::MESSAGE_BYTES_MAX;
use tidings_acp::lines::LongLine;
use tidings_sessions::Caller;
use tokio::sync::mpsc;

use super::connection::EditorConnection;
use crate::api::Api;
use crate::api::stream_lifetime::{StreamLifetime, retry_ms};
use crate::api::ws::close::Close;
use crate::api::ws::heartbeat::Heartbeat;
use crate::api::ws::link::{Message, WebSocket};
use crate::api::ws::socket::{close_socket, received};
use crate::limits::WRITE_WAIT;

/// Serves one editor until the connection ends.
pub(super) async fn serve(api: Api, caller: Caller, lifetime: StreamLifetime, socket: WebSocket) {
    let Ok(_permit) = Arc::clone(&api.sockets).try_acquire_owned() else {
        return close_socket(socket, &Close::too_many(&api, None)).await;
    };
    let retry_ms = retry_ms(&api.sessions.config().ids);
    let (connection, lines) = EditorConnection::new(api, caller);
    let mut editor = EditorSocket { connection, lifetime, socket, heartbeat: Heartbeat::new(), retry_ms };
    let close = Box::pin(editor.run(lines)).await;
    let EditorSocket { socket, .. } = editor;
    close_socket(socket, &close).await;
}

struct EditorSocket {
    connection: EditorConnection,
    lifetime: StreamLifetime,
    socket: WebSocket,
    heartbeat: Heartbeat,
    retry_ms: u64,
}

impl EditorSocket {
    async fn run(&mut self, mut lines: mpsc::Receiver<String>) -> Close {
        loop {
            let step = tokio::select! {
                biased;
                end = self.lifetime.ended() => Err(Close::from_end(end, self.retry_ms)),
                message = self.socket.recv() => match received(message) {
                    Ok(message) => Box::pin(self.receive(message)).await,
                    Err(close) => Err(close),
                },
                Some(line) = lines.recv() => self.write_all(line, &mut lines).await,
                ping = self.heartbeat.next() => match ping {
                    Ok(ping) => self.send(ping).await,
                    Err(close) => Err(close),
                },
            };
            if let Err(close) = step {
                return close;
            }
        }
    }

    async fn send(&mut self, message: Message) -> Result<(), Close> {
        match tokio::time::timeout(WRITE_WAIT, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Close::Gone),
            Err(_) => Err(Close::Behind),
        }
    }

    /// Writes a line, and those that are ready too.
    async fn write_all(&mut self, first: String, lines: &mut mpsc::Receiver<String>) -> Result<(), Close> {
        let socket = &mut self.socket;
        let writing = async {
            let mut next = Some(first);
            while let Some(line) = next {
                socket.feed(Message::from(line)).await?;
                next = lines.try_recv().ok();
            }
            socket.flush().await
        };
        tokio::select! {
            biased;
            done = writing => done.map_err(|_| Close::Gone),
            end = self.lifetime.ended() => Err(Close::from_end(end, self.retry_ms)),
            () = tokio::time::sleep(WRITE_WAIT) => Err(Close::Behind),
        }
    }

    async fn receive(&mut self, message: Message) -> Result<(), Close> {
        self.heartbeat.answered();
        let Message::Text(text) = message else { return Ok(()) };
        let response = match LongLine::of_message(&text, MESSAGE_BYTES_MAX) {
            None => self.connection.receive(&text).await,
            Some(long) if long.is_response() => self.connection.receive(&long.error()).await,
            Some(long) => Ok(Some(long.error())),
        };
        match response {
            Ok(Some(response)) => self.send(Message::from(response)).await,
            Ok(None) => Ok(()),
            Err(_) => Err(Close::Behind),
        }
    }
}
