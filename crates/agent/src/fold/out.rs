//! Output of a fold: events, wrapped into the lane of a sub-agent if they belong to one.

use tidings_protocol::ui::{Lane, UiMessage};

/// Event output of one lane.
pub(super) struct Out<'a> {
    pub(super) events: &'a mut Vec<UiMessage>,
    pub(super) handle: i64,
    /// The sub-agent that the events belong to.
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

    /// Emits a message for logs.
    pub(super) fn system(&mut self, message: impl Into<String>) {
        let session_id = Some(self.handle);
        self.push(UiMessage::System { message: message.into(), session_id });
    }

    /// Emits an error.
    pub(super) fn error(&mut self, message: impl Into<String>) {
        let session_id = Some(self.handle);
        self.push(UiMessage::Error { message: message.into(), session_id });
    }

    /// Emits text that the model did not write, unless it is empty: some commands print nothing.
    pub(super) fn display(&mut self, content: impl Into<String>) {
        let content = content.into();
        if !content.is_empty() {
            self.push(UiMessage::Display { content, session_id: self.handle });
        }
    }

    /// The same output for events of the session as a whole.
    pub(super) fn unwrapped(&mut self) -> Out<'_> {
        Out { events: self.events, handle: self.handle, agent: None }
    }
}
