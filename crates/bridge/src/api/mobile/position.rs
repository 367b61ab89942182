//! Ids of messages that contain their position, so that a phone can resume after the last message that it
//! has.

use std::fmt;
use std::str::FromStr;

use tidings_journal::Cursor;

/// The position of a message: the event that it was made from, and its number among the messages of that
/// event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessagePosition {
    pub(crate) cursor: Cursor,
    pub(crate) number: usize,
}

impl MessagePosition {
    /// The position after all messages of an event.
    pub(crate) fn after(cursor: Cursor) -> Self {
        MessagePosition { cursor, number: usize::from(u16::MAX) }
    }

    /// The id of a message without an event that is sent at this position, such as a heartbeat. A phone can
    /// resume with it as with any other id.
    pub(crate) fn id_with(self, name: &str) -> String {
        format!("{self}~{name}")
    }
}

impl fmt::Display for MessagePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.cursor, self.number)
    }
}

impl FromStr for MessagePosition {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.split_once('~').map_or(text, |(position, _)| position);
        let (cursor, number) = text.rsplit_once(':').ok_or(())?;
        Ok(MessagePosition { cursor: cursor.parse().map_err(drop)?, number: number.parse().map_err(drop)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_parsed_as_it_is_written() {
        let name = "00c0ffee00c0ffee:42:1";
        assert_eq!(name.parse::<MessagePosition>().map(|position| position.to_string()), Ok(name.to_owned()));
        let position: MessagePosition = name.parse().unwrap();
        assert_eq!(position.id_with("f00").parse(), Ok(position));
        for wrong in ["", "~", "toolu_1", "00c0ffee00c0ffee:42", "a:b:c"] {
            assert_eq!(wrong.parse::<MessagePosition>(), Err(()), "{wrong}");
        }
    }
}
