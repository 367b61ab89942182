//! Short texts that name things. Each has a type of its own, so that they cannot be confused.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{ErrorKind, JournalError};
use crate::limits::NAME_BYTES_MAX;

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks and keeps a name: not empty, at most 200 bytes, no control characters.
            pub fn new(text: impl AsRef<str>) -> Result<Self, JournalError> {
                check(text.as_ref(), $what).map(|()| $name(Arc::from(text.as_ref())))
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = JournalError;

            fn from_str(text: &str) -> Result<Self, JournalError> {
                $name::new(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

name!(
    /// The name of a session that clients use: it stays when the session goes from one CLI session to the
    /// next.
    Key,
    "The key of a session"
);
name!(
    /// The kind of an event. It is opaque to the journal.
    Kind,
    "The kind of an event"
);
name!(
    /// The id that a client gave its command, so that repeating it has no effect.
    ClientId,
    "The id of a command"
);
name!(
    /// The CLI's id of a question or a permission request: its `tool_use_id` or the id of its request.
    AskId,
    "The id of an ask"
);

impl Kind {
    /// A kind that is defined by this program.
    pub fn fixed(name: &'static str) -> Self {
        Kind(Arc::from(name))
    }
}

impl AskId {
    pub(crate) fn unknown(&self) -> JournalError {
        let hint = "list the open asks; it may have ended long ago";
        JournalError::new(ErrorKind::NotFound, format!("There is no ask `{self}`"), hint)
    }

    pub(crate) fn used_elsewhere(&self) -> JournalError {
        let message = format!("The id of the command that answers `{self}` was used for another command");
        JournalError::new(ErrorKind::Exists, message, "give each command an id of its own")
    }
}

fn check(text: &str, what: &str) -> Result<(), JournalError> {
    let hint = "use up to 200 bytes of plain text, such as a UUID";
    if text.is_empty() {
        return Err(JournalError::new(ErrorKind::Invalid, format!("{what} is empty"), hint));
    }
    if text.len() > NAME_BYTES_MAX {
        return Err(JournalError::new(ErrorKind::Invalid, format!("{what} is too long"), hint));
    }
    if text.chars().any(char::is_control) {
        return Err(JournalError::new(ErrorKind::Invalid, format!("{what} has control characters"), hint));
    }
    Ok(())
}
