//! A prompt to the model: a text or blocks, with a priority and an id.

use tidings_protocol::messages::{Content, ContentBlock, Message, Priority, UserMessage};

use crate::ids::Ids;

/// A prompt to the model: a text, or blocks that may include images and documents.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt(UserMessage);

impl Prompt {
    /// A prompt with this content.
    pub fn new(content: impl Into<Content>) -> Self {
        Prompt(UserMessage::prompt(content))
    }

    /// Sets the priority while another turn runs: [`Priority::NOW`] interrupts that turn.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.0.priority = Some(priority);
        self
    }

    /// Adds the prompt to the conversation without requesting an answer from the model.
    #[must_use]
    pub fn without_answer(mut self) -> Self {
        self.0.should_query = Some(false);
        self
    }

    /// Sends the text verbatim: slash commands and `@path` references are not expanded.
    #[must_use]
    pub fn verbatim(mut self) -> Self {
        self.0.client_composed = Some(true);
        self
    }

    /// Sets the prompt's id, a UUID. By default a new one is generated; the CLI treats a repeated id as the
    /// same prompt.
    #[must_use]
    pub fn uuid(mut self, uuid: impl Into<String>) -> Self {
        self.0.uuid = Some(uuid.into());
        self
    }

    /// The prompt's id and its line; generates an id if there is none.
    pub(crate) fn into_line(mut self, ids: &Ids, verbatim: Verbatim) -> (String, String) {
        if verbatim == Verbatim::Always {
            self.0.client_composed = Some(true);
        }
        let uuid = self.0.uuid.get_or_insert_with(|| ids.next()).clone();
        (uuid, Message::User(self.0).to_line())
    }
}

/// Verbatim mode of a session: for every prompt, or for marked prompts only.
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
