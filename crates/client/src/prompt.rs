use tidings_protocol::messages::{Content, ContentBlock, Message, Priority, UserMessage};

use crate::ids::Ids;

/// What is said to the model: a text, or blocks with pictures and documents among them.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt(UserMessage);

impl Prompt {
    /// A prompt with this content.
    pub fn new(content: impl Into<Content>) -> Self {
        Prompt(UserMessage::prompt(content))
    }

    /// When it is taken up if a turn is under way: [`Priority::NOW`] interrupts the turn.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.0.priority = Some(priority);
        self
    }

    /// It is only kept, and the model is not asked to answer it.
    #[must_use]
    pub fn without_answer(mut self) -> Self {
        self.0.should_query = Some(false);
        self
    }

    /// It is taken word for word: no slash commands, no files by `@path`.
    #[must_use]
    pub fn verbatim(mut self) -> Self {
        self.0.client_composed = Some(true);
        self
    }

    /// Its id, a UUID. One is made if none is given; the same id twice is one prompt for the CLI.
    #[must_use]
    pub fn uuid(mut self, uuid: impl Into<String>) -> Self {
        self.0.uuid = Some(uuid.into());
        self
    }

    /// The id and the line, with an id made if there is none.
    pub(crate) fn into_line(mut self, ids: &Ids, verbatim: Verbatim) -> (String, String) {
        if verbatim == Verbatim::Always {
            self.0.client_composed = Some(true);
        }
        let uuid = self.0.uuid.get_or_insert_with(|| ids.next()).clone();
        (uuid, Message::User(self.0).to_line())
    }
}

/// Whether every prompt of a session is taken word for word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verbatim {
    Always,
    AsMarked,
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Prompt::new(Content::text(text))
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Prompt::new(Content::text(text))
    }
}

impl From<&String> for Prompt {
    fn from(text: &String) -> Self {
        Prompt::new(Content::text(text))
    }
}

impl From<Vec<ContentBlock>> for Prompt {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Prompt::new(blocks)
    }
}

impl From<UserMessage> for Prompt {
    fn from(message: UserMessage) -> Self {
        Prompt(message)
    }
}
