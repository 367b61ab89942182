//! Where events go: straight out, or wrapped into the lane of a sub-agent.

use tidings_protocol::ui::{Lane, UiMessage};

/// Takes events of one lane.
pub(super) struct Out<'a> {
    pub(super) events: &'a mut Vec<UiMessage>,
    pub(super) handle: i64,
    /// The sub-agent that they belong to.
    pub(super) agent: Option<&'a str>,
}

impl Out<'_> {
    #[inline]
    pub(super) fn push(&mut self, event: impl Into<UiMessage>) {
        let event = event.into();
        self.events.push(match self.agent {
            None => event,
            Some(agent) => Lane::new(self.handle, agent, Box::new(event)).into(),
        });
    }

    /// A note for logs.
    pub(super) fn system(&mut self, message: impl Into<String>) {
        let session_id = Some(self.handle);
        self.push(UiMessage::System { message: message.into(), session_id });
    }

    /// Something went wrong.
    pub(super) fn error(&mut self, message: impl Into<String>) {
        let session_id = Some(self.handle);
        self.push(UiMessage::Error { message: message.into(), session_id });
    }

    /// Text that the model did not write. Some commands print nothing.
    pub(super) fn display(&mut self, content: impl Into<String>) {
        let content = content.into();
        if !content.is_empty() {
            self.push(UiMessage::Display { content, session_id: self.handle });
        }
    }

    /// The same place for events of the session as a whole.
    pub(super) fn unwrapped(&mut self) -> Out<'_> {
        Out { events: self.events, handle: self.handle, agent: None }
    }
}
