//! Batches of all calls of one message, announced before the agent asks about the first.

use std::sync::Arc;

use tidings::{Frame, Kind};
use tidings_protocol::messages::{ContentBlock, Message};

use super::Batches;
use super::pending_requests::PendingRequests;
use crate::fold::{OpenedRequest, SettledRequest};
use crate::permissions::{Ask, SessionFacts};
use crate::policy::PolicyDecision;
use crate::questions::Inquiry;
use crate::request_table::AskKey;

/// The calls of the message that is being streamed, and those that were announced before the agent asked.
#[derive(Debug, Default)]
pub(super) struct AnnouncedCalls {
    message: Option<String>,
    /// True while more calls may come.
    is_being_written: bool,
    calls: Vec<Ask>,
    /// Requests that came while the message was being streamed; they wait until it is complete.
    asked: Vec<Arc<Ask>>,
    shown: Vec<AskKey>,
}

impl PendingRequests {
    /// Collects calls from frames, and returns a batch when the message is complete.
    pub(super) fn collect_calls(&mut self, frame: &Frame, facts: &SessionFacts) -> Option<OpenedRequest> {
        if self.setup.batches != Batches::PerMessage || frame.parent_tool_use_id().is_some() {
            return None;
        }
        match frame.kind() {
            Kind::Assistant => {
                let Message::Assistant(assistant) = frame.message() else { return None };
                let message = assistant.message.id.clone();
                let is_being_written = self.announced.is_being_written;
                let batch = if self.announced.message == message { None } else { self.announce() };
                self.announced.is_being_written = is_being_written;
                self.announced.message = message;
                for block in &assistant.message.content {
                    if let ContentBlock::ToolUse { id, name, input } = block {
                        let input = input.clone().into();
                        self.announced.calls.push(Ask::announced(self.setup.handle, id, name, input, facts));
                    }
                }
                batch
            }
            Kind::StreamEvent if has(frame, b"\"message_start\"") => {
                let batch = self.announce();
                self.announced.is_being_written = true;
                batch
            }
            Kind::StreamEvent if !has(frame, b"\"message_stop\"") => None,
            _ => self.announce(),
        }
    }

    /// True if a request must wait until its message is complete.
    pub(super) fn is_early(&self, ask: &Ask) -> bool {
        self.announced.is_being_written && ask.agent_id.is_none()
    }

    /// Holds a request until its message is complete.
    pub(super) fn postpone(&mut self, ask: Arc<Ask>) {
        self.announced.asked.push(ask);
    }

    /// Drops a held request that was settled.
    pub(super) fn forget(&mut self, key: &AskKey) {
        self.announced.asked.retain(|ask| ask.key != *key);
    }

    /// Ends the message: groups its calls into a batch, if at least two of them need a decision of the user.
    pub(super) fn announce(&mut self) -> Option<OpenedRequest> {
        self.announced.is_being_written = false;
        let asked = std::mem::take(&mut self.announced.asked);
        let batch = self.batch(&asked);
        for ask in asked {
            if !self.is_in_batch(&ask.key) {
                self.gather(ask);
            }
        }
        batch
    }

    fn batch(&mut self, asked: &[Arc<Ask>]) -> Option<OpenedRequest> {
        let mut calls = std::mem::take(&mut self.announced.calls);
        let now = self.setup.clock.now();
        let permissions = &self.setup.permissions;
        calls.retain(|ask| {
            self.setup.policy.decide(ask, now).decision == PolicyDecision::AskUser
                && !Inquiry::is_asked_by(&ask.tool_name)
                && permissions.find_satisfying(ask, now).is_none()
                // The agent may have asked, and the user may have answered, before this frame was processed.
                && permissions.outcome(&ask.key).is_none()
                && (!self.has(&ask.key) || asked.iter().any(|asked| asked.key == ask.key))
        });
        if calls.len() < 2 {
            return None;
        }
        for ask in &calls {
            // The agent may have asked about the first already; a request that cannot be opened now is opened
            // when the agent asks.
            drop(permissions.announce(ask.clone(), now));
        }
        let open = |ask: Ask| permissions.get(&ask.key).filter(|open| open.digest == ask.digest);
        let calls: Vec<Arc<Ask>> = calls.into_iter().filter_map(open).collect();
        if calls.is_empty() {
            return None;
        }
        self.announced.shown.extend(calls.iter().map(|ask| ask.key.clone()));
        Some(self.open_batch(calls))
    }

    /// Ends the turn: withdraws announced calls that the agent never asked about, with their held answers.
    pub(super) fn end_turn(&mut self) -> Vec<SettledRequest> {
        let shown = std::mem::take(&mut self.announced.shown);
        shown.iter().filter_map(|key| self.withdraw(key)).collect()
    }
}

fn has(frame: &Frame, word: &[u8]) -> bool {
    frame.raw().windows(word.len()).any(|part| part == word)
}
