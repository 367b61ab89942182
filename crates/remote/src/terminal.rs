//! The terminal of a session.

use bytes::Bytes;
use serde::Deserialize;
use tidings_api::Code;

use crate::error::{Error, ErrorKind};
use crate::sessions::RemoteSession;
use crate::socket::{RemoteSocket, SocketData};

/// Upper bound of a message of a terminal: a whole screen.
const MESSAGE_BYTES_MAX: usize = 4 << 20;

/// Keys in one message, at most.
const KEYS_BYTES_MAX: usize = 64 << 10;

/// The terminal of a session: its output, and keys for it.
///
/// It does not connect again by itself. A new connection begins with the whole screen.
#[derive(Debug)]
pub struct RemoteTerminal {
    socket: RemoteSocket,
}

/// An update of a [`RemoteTerminal`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TerminalUpdate {
    /// The first update. The whole screen follows.
    Ready {
        /// Size of the terminal.
        size: ScreenSize,
        /// True if this client may send keys and sizes.
        takes_keys: bool,
    },
    /// Output for a terminal emulator, which must not answer queries in it.
    Output(Bytes),
    /// The terminal has another size now.
    Size(ScreenSize),
    /// Output was skipped, because this client was too slow: clear the screen. The whole screen follows.
    Redraw,
    /// Keys or a size of this client were refused. The connection stays.
    Refused(Error),
    /// The program has ended.
    Ended {
        /// Its exit code; none if a signal has ended it.
        code: Option<i32>,
        /// Signal that has ended it.
        signal: Option<i32>,
    },
}

/// Size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct ScreenSize {
    /// Number of lines.
    pub rows: u16,
    /// Number of columns.
    pub cols: u16,
}

/// A text message of the server.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum TerminalMessage {
    Ready {
        #[serde(flatten)]
        size: ScreenSize,
        keys: bool,
    },
    Size(ScreenSize),
    Redraw,
    Error {
        code: String,
        message: String,
        #[serde(default)]
        hint: String,
    },
    Ended {
        code: Option<i32>,
        signal: Option<i32>,
    },
    #[serde(other)]
    Unknown,
}

impl RemoteSession {
    /// Opens the terminal of the session, which needs the capability `terminal`.
    pub async fn terminal(&self) -> Result<RemoteTerminal, Error> {
        let socket = self.server().socket(&self.path("/terminal"), MESSAGE_BYTES_MAX).await?;
        Ok(RemoteTerminal { socket })
    }
}

impl RemoteTerminal {
    /// The next update; `None` when the connection is lost or closed. Cancel safe.
    pub async fn next(&mut self) -> Option<TerminalUpdate> {
        loop {
            let update = match self.socket.next().await? {
                SocketData::Binary(output) => Some(TerminalUpdate::Output(output)),
                SocketData::Text(text) => update(&text),
            };
            // Messages that only later versions know are skipped.
            if update.is_some() {
                return update;
            }
        }
    }

    /// Sends keys, which needs the scope `admin`.
    pub async fn send_keys(&mut self, keys: &[u8]) -> Result<(), Error> {
        let parts = keys.chunks(KEYS_BYTES_MAX).map(|part| SocketData::Binary(Bytes::copy_from_slice(part)));
        self.socket.send_all(parts).await
    }

    /// Tells the size that this client shows; `None` if its size counts no more. The terminal has the
    /// smallest size of all clients. Needs the scope `admin`.
    pub async fn resize(&mut self, size: Option<ScreenSize>) -> Result<(), Error> {
        let message = match size {
            Some(ScreenSize { rows, cols }) => {
                serde_json::json!({"type": "resize", "rows": rows, "cols": cols})
            }
            None => serde_json::json!({"type": "resize"}),
        };
        self.socket.send_all([SocketData::Text(message.to_string())]).await
    }

    /// Closes the connection.
    pub async fn close(self) {
        self.socket.close().await;
    }
}

fn update(text: &str) -> Option<TerminalUpdate> {
    Some(match serde_json::from_str(text).ok()? {
        TerminalMessage::Ready { size, keys } => TerminalUpdate::Ready { size, takes_keys: keys },
        TerminalMessage::Size(size) => TerminalUpdate::Size(size),
        TerminalMessage::Redraw => TerminalUpdate::Redraw,
        TerminalMessage::Ended { code, signal } => TerminalUpdate::Ended { code, signal },
        TerminalMessage::Error { code, message, hint } => {
            let known = Code::ALL.iter().copied().find(|known| known.as_str() == code);
            let kind = known.map_or(ErrorKind::RefusedOtherwise, ErrorKind::Refused);
            TerminalUpdate::Refused(Error::new(kind, message, &hint))
        }
        TerminalMessage::Unknown => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_documentation_are_understood() {
        let size = ScreenSize { rows: 24, cols: 80 };
        let ready = update(r#"{"type":"ready","rows":24,"cols":80,"keys":true}"#);
        assert!(matches!(ready, Some(TerminalUpdate::Ready { size: s, takes_keys: true }) if s == size));
        let resized = update(r#"{"type":"size","rows":24,"cols":80}"#);
        assert!(matches!(resized, Some(TerminalUpdate::Size(s)) if s == size));
        assert!(matches!(update(r#"{"type":"redraw"}"#), Some(TerminalUpdate::Redraw)));
        let ended = update(r#"{"type":"ended","code":null,"signal":9}"#);
        assert!(matches!(ended, Some(TerminalUpdate::Ended { code: None, signal: Some(9) })));
        let refused = update(r#"{"type":"error","code":"forbidden","message":"No","hint":"Go"}"#);
        let Some(TerminalUpdate::Refused(error)) = refused else { panic!("{refused:?}") };
        assert_eq!((error.kind(), error.message()), (ErrorKind::Refused(Code::Forbidden), "No"));
        assert!(update(r#"{"type":"of a later version"}"#).is_none());
        assert!(update("no JSON").is_none());
    }
}
