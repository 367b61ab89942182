//! The id of a session, checked before it becomes part of a path.

use std::fmt;

use crate::{Error, ErrorKind};

/// The id of a session: 32 hexadecimal digits in five groups. Only such ids may become part of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(String);

impl SessionId {
    /// Checks and wraps an id.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if is_uuid(text) {
            return Ok(SessionId(text.to_owned()));
        }
        Err(Error::new(
            ErrorKind::Invalid,
            format!("Not a session id: `{text}`"),
            "an id looks like 550e8400-e29b-41d4-a716-446655440000",
        ))
    }

    /// The id of an existing session file: its name, which need not be a uuid if the user renamed it.
    pub(super) fn of_file(stem: &str) -> Self {
        SessionId(stem.to_owned())
    }

    /// The id as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns true for an id of a session or of a message.
pub(super) fn is_uuid(text: &str) -> bool {
    let mut groups = text.split('-');
    let fits = [8, 4, 4, 4, 12].iter().all(|len| {
        groups.next().is_some_and(|group| group.len() == *len && group.bytes().all(|b| b.is_ascii_hexdigit()))
    });
    fits && groups.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_uuids_are_session_ids() {
        for (text, fits) in [
            ("550e8400-e29b-41d4-a716-446655440000", true),
            ("550E8400-E29B-41D4-A716-446655440000", true),
            ("550e8400-e29b-41d4-a716-44665544000", false),
            ("550e8400-e29b-41d4-a716-446655440000-", false),
            ("550e8400-e29b-41d4-a716-446655440000\n", false),
            ("550e8400e29b41d4a716446655440000", false),
            ("../../../../etc/passwd", false),
            ("..", false),
            ("", false),
            ("g50e8400-e29b-41d4-a716-446655440000", false),
        ] {
            assert_eq!(SessionId::parse(text).is_ok(), fits, "{text:?}");
        }
    }
}
