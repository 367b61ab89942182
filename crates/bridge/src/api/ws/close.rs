//! Close codes of a WebSocket, which clients can branch on (F97).

use tidings_sessions::Error;

use super::link::{CloseFrame, Message};
use crate::api::Api;
use crate::api::stream_lifetime::{StreamEnd, retry_ms};

/// The reason why a WebSocket ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Close {
    /// The connection is lost.
    Gone,
    /// The client sent a close frame and waits for ours.
    Left,
    /// A message exceeds the size limit.
    TooLong,
    /// The client violated the WebSocket protocol.
    Broken,
    /// The credential is missing, wrong or revoked.
    NoCredential,
    /// The credential lacks a scope.
    Forbidden,
    /// The client has read nothing for too long.
    Behind,
    /// Too many sockets or failed attempts; the client may come again after this many milliseconds.
    TooMany(u64),
    /// The program in the terminal has ended.
    Ended,
    /// The server restarts; the client may reconnect after this many milliseconds.
    Restart(u64),
}

impl Close {
    pub(crate) fn from_end(end: StreamEnd, retry_ms: u64) -> Self {
        match end {
            StreamEnd::Revoked => Close::NoCredential,
            StreamEnd::Stopping => Close::Restart(retry_ms),
        }
    }

    /// Refuses a client because of too many sockets or failed attempts.
    pub(crate) fn too_many(api: &Api, error: Option<&Error>) -> Self {
        let wait = error.and_then(Error::retry_after);
        Close::TooMany(wait.unwrap_or_else(|| retry_ms(&api.sessions.config().ids)))
    }

    /// The close frame to send; `None` if the connection is lost, or if the library already answers the
    /// client's frame.
    pub(crate) fn message(&self) -> Option<Message> {
        let (code, reason) = match self {
            Close::Gone | Close::Left => return None,
            Close::Ended => (1000, "ended".to_owned()),
            Close::Broken => (1002, "not understood".to_owned()),
            Close::TooLong => (1009, "message too long".to_owned()),
            Close::Restart(ms) => (1012, retry_reason(*ms)),
            Close::NoCredential => (4401, "unauthorized".to_owned()),
            Close::Forbidden => (4403, "forbidden".to_owned()),
            Close::Behind => (4409, "resync".to_owned()),
            Close::TooMany(ms) => (4429, retry_reason(*ms)),
        };
        Some(Message::Close(Some(CloseFrame { code: u16::into(code), reason: reason.into() })))
    }
}

/// The reason of a close frame after which the client may come again.
fn retry_reason(ms: u64) -> String {
    format!(r#"{{"retry_after_ms":{ms}}}"#)
}
