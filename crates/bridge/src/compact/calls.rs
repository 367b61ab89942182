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
        let id = match &event {
            UiMessage::ToolPreparing(event) => event.tool_use_id.clone(),
            UiMessage::ToolProgress(event) => event.tool_use_id.clone(),
            UiMessage::ToolDetails(event) => event.tool_use_id.clone(),
            UiMessage::ToolExecuting { tool_use_id, .. } | UiMessage::ToolCompleted { tool_use_id, .. } => {
                tool_use_id.clone()
            }
            _ => return,
        };
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
        for at in call.others.into_iter().chain([call.card]).chain(call.progress) {
            self.forget(at);
        }
        true
    }
}
