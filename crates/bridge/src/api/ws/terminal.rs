//! The WebSocket `/v1/sessions/{id}/terminal`: the terminal of a session. Looking needs `read`, keys need
//! `admin`, since keys can answer any dialog.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Extensions;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use tidings::host::terminal::{TerminalHost, TerminalReader, TerminalRole, TerminalSize, TerminalWriter};
use tidings::host::wire::{FromHost, Message as HostMessage, ToHost};
use tidings_api::{Code, Scope};
use tidings_sessions::{Caller, Error};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::close::Close;
use super::heartbeat::Heartbeat;
use super::link::{self, Message, WebSocket};
use super::socket::{close_socket, received};
use crate::api::stream_lifetime::{StreamLifetime, retry_ms};
use crate::api::{Api, PROTOCOL, visibility};
use crate::http::{Path, UpgradeRequest};
use crate::limits::{TERMINAL_KEYS_BYTES_MAX, TERMINAL_MESSAGES_WAITING, WRITE_WAIT};

/// Opens a WebSocket with the terminal of a session.
///
/// Binary messages are bytes of the terminal and keys; text messages are JSON with a `type`: `ready`, `size`,
/// `redraw`, `ended` and `error` from the server, `resize` from the client. Keys and sizes need `admin`.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/sessions/{id}/terminal", tag = "events",
    params(("id" = String, Path, description = "The key or the number of the session")),
    responses((status = 101, description = "The terminal: binary messages, and JSON in text messages")),
))]
pub(crate) async fn terminal(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    extensions: Extensions,
    upgrade: Result<UpgradeRequest, Error>,
) -> Result<Response, Error> {
    visibility::check(&api.sessions, &caller, &id).await?;
    let host = api.sessions.terminal(&id).await?;
    let upgrade = upgrade?;
    let protocol = upgrade.offered(PROTOCOL);
    let mut lifetime = StreamLifetime::new(&api).with_connection(extensions.get());
    lifetime.bind(&caller);
    link::upgrade(upgrade, protocol, move |socket| serve(api, caller, lifetime, host, socket))
}

/// A text message of a client.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum TerminalRequest {
    Resize {
        #[serde(default)]
        rows: Option<u16>,
        #[serde(default)]
        cols: Option<u16>,
    },
}

async fn serve(api: Api, caller: Caller, lifetime: StreamLifetime, host: TerminalHost, socket: WebSocket) {
    let Ok(_permit) = Arc::clone(&api.sockets).try_acquire_owned() else {
        return close_socket(socket, &Close::too_many(&api, None)).await;
    };
    let has_keys = caller.scopes.has(Scope::Admin);
    let role = if has_keys { TerminalRole::Keys } else { TerminalRole::Look };
    let Ok((reader, writer)) = host.attach(role, None).await else {
        return close_socket(socket, &Close::Ended).await;
    };
    let retry_ms = retry_ms(&api.sessions.config().ids);
    let mut viewer =
        TerminalViewer { socket, writer, has_keys, is_ready: false, heartbeat: Heartbeat::new() };
    let close = viewer.run(read_ahead(reader), lifetime, retry_ms).await;
    close_socket(viewer.socket, &close).await;
}

/// Reads messages in a task, since a part of one would be lost if reading was interrupted.
fn read_ahead(mut reader: TerminalReader) -> mpsc::Receiver<HostMessage<FromHost>> {
    let (messages, received) = mpsc::channel(TERMINAL_MESSAGES_WAITING);
    drop(tokio::spawn(async move {
        while let Ok(Some(message)) = reader.next().await {
            if messages.send(message).await.is_err() {
                return;
            }
        }
    }));
    received
}

fn resized(size: Option<TerminalSize>) -> HostMessage<ToHost> {
    HostMessage::new(ToHost::Resize { size })
}

struct TerminalViewer {
    socket: WebSocket,
    writer: TerminalWriter,
    has_keys: bool,
    is_ready: bool,
    heartbeat: Heartbeat,
}

impl TerminalViewer {
    async fn run(
        &mut self,
        mut messages: mpsc::Receiver<HostMessage<FromHost>>,
        mut lifetime: StreamLifetime,
        retry_ms: u64,
    ) -> Close {
        loop {
            let step = tokio::select! {
                biased;
                end = lifetime.ended() => Err(Close::from_end(end, retry_ms)),
                message = self.socket.recv() => match received(message) {
                    Ok(message) => self.receive(message).await,
                    Err(close) => Err(close),
                },
                message = messages.recv() => match message {
                    Some(message) => self.show(message).await,
                    None => Err(Close::Ended),
                },
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

    /// Passes a message of the host on.
    async fn show(&mut self, message: HostMessage<FromHost>) -> Result<(), Close> {
        match message.head {
            FromHost::Out { .. } => self.send(Message::Binary(message.bytes.into())).await,
            FromHost::Screen => {
                if std::mem::replace(&mut self.is_ready, true) {
                    self.say(&json!({"type": "redraw"})).await?;
                }
                self.send(Message::Binary(message.bytes.into())).await
            }
            FromHost::Size(TerminalSize { rows, cols }) if self.is_ready => {
                self.say(&json!({"type": "size", "rows": rows, "cols": cols})).await
            }
            FromHost::Size(TerminalSize { rows, cols }) => {
                self.say(&json!({"type": "ready", "rows": rows, "cols": cols, "keys": self.has_keys})).await
            }
            FromHost::Exit { code, signal, .. } => {
                let mut message = json!({"type": "ended", "code": code});
                if let Some(signal) = signal {
                    message["signal"] = signal.into();
                }
                self.say(&message).await?;
                Err(Close::Ended)
            }
            _ => Ok(()),
        }
    }

    /// Takes a message of the client.
    async fn receive(&mut self, message: Message) -> Result<(), Close> {
        self.heartbeat.answered();
        let message = match message {
            Message::Binary(keys) if keys.len() > TERMINAL_KEYS_BYTES_MAX => {
                let hint = "send less at once";
                return self.refuse(&Error::new(Code::TooLarge, "These are too many keys", hint)).await;
            }
            Message::Binary(keys) => HostMessage::with(ToHost::Keys, keys.to_vec()),
            Message::Text(text) => match serde_json::from_str(&text) {
                Ok(TerminalRequest::Resize { rows: Some(rows), cols: Some(cols) })
                    if TerminalSize::RANGE.contains(&rows) && TerminalSize::RANGE.contains(&cols) =>
                {
                    resized(Some(TerminalSize { rows, cols }))
                }
                Ok(TerminalRequest::Resize { rows: None, cols: None }) => resized(None),
                Ok(_) | Err(_) => {
                    let hint = "send keys as binary messages, or `resize` with `rows` and `cols`";
                    return self
                        .refuse(&Error::new(Code::Invalid, "This message is not understood", hint))
                        .await;
                }
            },
            _ => return Ok(()),
        };
        if !self.has_keys {
            let error = Error::new(Code::Forbidden, "Keys need the scope `admin`", "send a prompt instead");
            return self.refuse(&error).await;
        }
        match timeout(WRITE_WAIT, self.writer.send(&message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Close::Ended),
        }
    }

    async fn refuse(&mut self, error: &Error) -> Result<(), Close> {
        let message = error.to_string();
        self.say(&json!({"type": "error", "code": error.code().as_str(), "message": message, "hint": error.hint()})).await
    }

    async fn say(&mut self, message: &Value) -> Result<(), Close> {
        self.send(Message::from(message.to_string())).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Close> {
        match timeout(WRITE_WAIT, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Close::Gone),
            Err(_) => Err(Close::Behind),
        }
    }
}
