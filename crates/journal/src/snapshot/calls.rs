//! Tool calls.

use tidings_protocol::ui::UiMessage;

use super::SnapshotBuilder;
use super::lanes::Lanes;
use super::latest::Latest;

/// A tool call.
#[derive(Debug)]
pub(super) struct ToolCall {
    pub(super) card: usize,
    pub(super) others: Vec<usize>,
    pub(super) progress: Option<usize>,
    pub(super) is_over: bool,
}

impl SnapshotBuilder {
    pub(super) fn call(&mut self, seq: u64, lane: usize, event: UiMessage) {
        let Some(id) = call_of(&event).map(str::to_owned) else { return };
        self.forget_latest(&Latest::Retrying(lane));
        let Some(call) = self.calls.get_mut(&id) else {
            let is_over = matches!(event, UiMessage::ToolCompleted { .. });
            let card = self.push(seq, lane, event);
            self.lanes[lane].items.push(card);
            if lane == Lanes::MAIN {
                self.turn_calls.push(id.clone());
            }
            self.calls.insert(id, ToolCall { card, others: Vec::new(), progress: None, is_over });
            return;
        };
        match &event {
            UiMessage::ToolPreparing(_) => {}
            UiMessage::ToolExecuting { .. } => {
                let card = &mut self.entries[call.card];
                if let Some(UiMessage::ToolPreparing(_) | UiMessage::ToolExecuting { .. }) = card.event {
                    // The call replaces its announcement, at the same position.
                    card.event = Some(event);
                    card.last_seq = seq;
                } else {
                    let at = self.push(seq, lane, event);
                    self.remember(&id, at);
                }
            }
            UiMessage::ToolProgress(_) => {
                if call.is_over {
                    return;
                }
                if let Some(old) = call.progress.take() {
                    self.forget(old);
                }
                let at = self.push(seq, lane, event);
                if let Some(call) = self.calls.get_mut(&id) {
                    call.progress = Some(at);
                }
            }
            _ => {
                if matches!(event, UiMessage::ToolCompleted { .. }) {
                    call.is_over = true;
                    if let Some(progress) = call.progress.take() {
                        self.forget(progress);
                    }
                }
                let at = self.push(seq, lane, event);
                self.remember(&id, at);
            }
        }
    }

    fn remember(&mut self, id: &str, at: usize) {
        if let Some(call) = self.calls.get_mut(id) {
            call.others.push(at);
        }
    }

    /// Removes a call; false if it is unknown.
    pub(super) fn forget_call(&mut self, id: &str) -> bool {
        let Some(call) = self.calls.remove(id) else { return false };
        // Another call with the same id does not belong to this turn.
        self.turn_calls.retain(|begun| begun != id);
        for at in call.others.into_iter().chain([call.card]).chain(call.progress) {
            self.forget(at);
        }
        true
    }
}

/// The call that an event belongs to.
fn call_of(event: &UiMessage) -> Option<&str> {
    match event {
        UiMessage::ToolPreparing(event) => Some(&event.tool_use_id),
        UiMessage::ToolProgress(event) => Some(&event.tool_use_id),
        UiMessage::ToolDetails(event) => Some(&event.tool_use_id),
        UiMessage::ToolExecuting { tool_use_id, .. } | UiMessage::ToolCompleted { tool_use_id, .. } => {
            Some(tool_use_id)
        }
        _ => None,
    }
}

/// True if an event has content of a call that may have been cut: its input, its output, or the prompt and
/// summary of the sub-agent that it started.
pub fn belongs_to_call(event: &UiMessage, id: &str) -> bool {
    let event = match event {
        UiMessage::Lane(lane) => &lane.event,
        event => event,
    };
    match event {
        UiMessage::ToolPreparing(_) | UiMessage::ToolProgress(_) => false,
        UiMessage::SubAgentStarted(event) => event.agent_id == id,
        UiMessage::SubAgentEnded(event) => event.agent_id == id,
        UiMessage::PermissionResolved(event) => event.tool_use_id == id && event.updated_input.is_some(),
        event => call_of(event) == Some(id),
    }
}
