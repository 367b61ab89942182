//! All calls of one message in one batch, before the agent asks about the first.

use tidings::{Frame, Kind};
use tidings_protocol::messages::{ContentBlock, Message};
use tidings_protocol::ui::UiMessage;

use super::Batches;
use super::asking::Asking;
use super::notes::Note;
use crate::desk::AskKey;
use crate::fold::Asked;
use crate::pending::Outcome;
use crate::permissions::{Ask, Emit};
use crate::policy::PolicyDecision;
use crate::questions::Inquiry;

/// The calls of the message that is being written, and those that were shown before the agent asked.
#[derive(Debug, Default)]
pub(super) struct Announced {
    message: Option<String>,
    calls: Vec<Ask>,
    shown: Vec<AskKey>,
}

impl Asking {
    /// Listens for calls. A batch comes of it when the message is whole.
    pub(super) fn hear(&self, frame: &Frame) -> Option<Asked> {
        if self.setup.batches != Batches::PerMessage || frame.parent_tool_use_id().is_some() {
            return None;
        }
        match frame.kind() {
            Kind::Assistant => {
                let Message::Assistant(assistant) = frame.message() else { return None };
                let message = assistant.message.id.clone();
                let batch = if self.state().announced.message == message { None } else { self.announce() };
                let folder = self.folder();
                let mut state = self.state();
                state.announced.message = message;
                for block in &assistant.message.content {
                    if let ContentBlock::ToolUse { id, name, input } = block {
                        let input = input.clone().into();
                        let ask = Ask::announced(self.setup.handle, id, name, input, folder.as_deref());
                        state.announced.calls.push(ask);
                    }
                }
                batch
            }
            Kind::StreamEvent if !frame.raw().windows(14).any(|part| part == b"\"message_stop\"") => None,
            _ => self.announce(),
        }
    }

    /// The calls of the message as one batch, if somebody has to be asked about several of them.
    pub(super) fn announce(&self) -> Option<Asked> {
        let mut calls = std::mem::take(&mut self.state().announced.calls);
        let now = self.setup.clock.now();
        calls.retain(|ask| {
            let decided = self.setup.policy.decide(ask, now);
            decided.decision == PolicyDecision::AskUser
                && !Inquiry::is_asked_by(&ask.tool_name)
                && self.setup.permissions.find_satisfying(ask, now).is_none()
        });
        if calls.len() < 2 {
            return None;
        }
        self.state().announced.shown.extend(calls.iter().map(|ask| ask.key.clone()));
        self.shown(Emit::Batch(calls.into_iter().map(Into::into).collect()))
    }

    /// The turn is over: what was shown and never asked about is taken back.
    pub(super) fn end_of_turn(&self, event: &UiMessage) {
        if !matches!(event, UiMessage::Complete { .. }) {
            return;
        }
        let shown = std::mem::take(&mut self.state().announced.shown);
        for key in shown {
            if self.setup.permissions.cancel(&key).is_ok() {
                self.notes.tell_now(Note::Decided(self.resolved(&key, &Outcome::Cancelled)));
            }
        }
    }
}
