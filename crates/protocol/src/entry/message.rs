//! The `message` of an entry: a string or an API message.

use crate::json::{Cursor, Misfit, Reading, Wire, object, write_string};
use crate::messages::ApiMessage;

/// The `message` of an entry.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EntryMessage {
    /// A string, as in the session specification.
    Text(String),
    /// An API message, as in real files.
    Api(Box<ApiMessage>),
}

impl EntryMessage {
    /// The text, or the text blocks as one string.
    pub fn text(&self) -> String {
        match self {
            EntryMessage::Text(text) => text.clone(),
            EntryMessage::Api(message) => message.content.joined_text(),
        }
    }

    /// The API message, if it is one.
    pub fn api(&self) -> Option<&ApiMessage> {
        match self {
            EntryMessage::Text(_) => None,
            EntryMessage::Api(message) => Some(message),
        }
    }

    /// Sets the role implied by the entry's kind, if the file omits it.
    pub(super) fn imply_role(&mut self, role: &str) {
        if let EntryMessage::Api(message) = self
            && message.role_implied
        {
            role.clone_into(&mut message.role);
        }
    }
}

impl From<&str> for EntryMessage {
    fn from(text: &str) -> Self {
        EntryMessage::Text(text.to_owned())
    }
}

impl From<String> for EntryMessage {
    fn from(text: String) -> Self {
        EntryMessage::Text(text)
    }
}

impl From<ApiMessage> for EntryMessage {
    fn from(message: ApiMessage) -> Self {
        EntryMessage::Api(Box::new(message))
    }
}

impl Wire for EntryMessage {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        if let Some(text) = cursor.text() {
            return Ok(EntryMessage::Text(text.get().into_owned()));
        }
        if cursor.peek() != b'{' {
            return Err(Misfit::here(cursor, "a string or an API message"));
        }
        ApiMessage::read(cursor, reading).map(EntryMessage::from)
    }

    fn write(&self, out: &mut String) {
        match self {
            EntryMessage::Text(text) => write_string(text, out),
            EntryMessage::Api(message) => message.write(out),
        }
    }
}

object!(@through_wire EntryMessage);
