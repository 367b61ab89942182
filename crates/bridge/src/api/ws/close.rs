//! Why a WebSocket is closed, as a number that clients can branch on (F97).

use super::link::{CloseFrame, Message};

use crate::api::tether::End;

/// Why a WebSocket ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Close {
    /// The client is gone.
    Gone,
    /// The client has said goodbye, and waits for the same from us.
    Left,
    /// A message is longer than the server takes.
    TooLong,
    /// What comes in is not a WebSocket's.
    Broken,
    /// No credential, or one that counts no longer.
    NoCredential,
    /// The credential does not reach that far.
    Forbidden,
    /// It took nothing for too long.
    Behind,
    /// There are too many.
    TooMany,
    /// The server restarts; come back after so many milliseconds.
    Restart(u64),
}

impl Close {
    pub(crate) fn from_end(end: End, retry_ms: u64) -> Self {
        match end {
            End::Revoked => Close::NoCredential,
            End::Stopping => Close::Restart(retry_ms),
        }
    }

    /// What is said to the client; nothing where it is gone, or where its own goodbye is given back by the library below.
    pub(crate) fn message(&self) -> Option<Message> {
        let (code, reason) = match self {
            Close::Gone | Close::Left => return None,
            Close::Broken => (1002, "not understood".to_owned()),
            Close::TooLong => (1009, "message too long".to_owned()),
            Close::Restart(ms) => (1012, format!(r#"{{"retry_after_ms":{ms}}}"#)),
            Close::NoCredential => (4401, "unauthorized".to_owned()),
            Close::Forbidden => (4403, "forbidden".to_owned()),
            Close::Behind => (4409, "resync".to_owned()),
            Close::TooMany => (4429, "too many".to_owned()),
        };
        Some(Message::Close(Some(CloseFrame { code: u16::into(code), reason: reason.into() })))
    }
}
