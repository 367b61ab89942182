//! Calls of tools.

use tidings_protocol::ui::UiMessage;

use super::Compactor;
use super::lanes::Lanes;
use super::latest::Latest;

/// A call of a tool.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) card: usize,
    pub(super) others: Vec<usize>,
    pub(super) progress: Option<usize>,
    pub(super) is_over: bool,
}

impl Compactor {
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
            self.calls.insert(id, Call { card, others: Vec::new(), progress: None, is_over });
            return;
        };
        match &event {
            UiMessage::ToolPreparing(_) => {}
            UiMessage::ToolExecuting { .. } => {
                let card = &mut self.entries[call.card];
                if let Some(UiMessage::ToolPreparing(_) | UiMessage::ToolExecuting { .. }) = card.event {
                    // The announcement is not needed any more; the call stands where it was announced.
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

    /// Takes a call out, unless it is not known.
    pub(super) fn forget_call(&mut self, id: &str) -> bool {
        let Some(call) = self.calls.remove(id) else { return false };
        // Another call with its id is not one that the turn has begun.
        self.turn_calls.retain(|begun| begun != id);
        for at in call.others.into_iter().chain([call.card]).chain(call.progress) {
            self.forget(at);
        }
        true
    }
}

/// The call that an event is about.
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

/// Whether an event has something of a call that may have been cut: what it took, what it gave, or what was said to the
/// sub-agent that it started and by it.
pub(crate) fn tells_of(event: &UiMessage, id: &str) -> bool {
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
