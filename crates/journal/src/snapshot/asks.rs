//! Permission requests, questions and queued prompts.

use std::collections::HashSet;

use tidings_protocol::ui::UiMessage;

use super::SnapshotBuilder;
use super::latest::Latest;

/// Permission requests that were made together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) asked: Option<usize>,
    pub(super) waiting: HashSet<String>,
}

impl SnapshotBuilder {
    /// Adds the event of a request. A settled question needs no details, and a settled permission request is
    /// dropped as a whole: its tool call shows what it was.
    pub(super) fn ask(&mut self, seq: u64, lane: usize, event: UiMessage) {
        match &event {
            UiMessage::PermissionDetails(details) => {
                let id = details.tool_use_id.clone();
                if let Some(batch) = &details.batch_id {
                    self.batches.entry(batch.clone()).or_default().waiting.insert(id.clone());
                }
                let at = self.push(seq, lane, event);
                self.permissions.entry(id).or_default().push(at);
            }
            UiMessage::PermissionRequired { tool_use_id, .. } => {
                let id = tool_use_id.clone();
                let at = self.push(seq, lane, event);
                self.permissions.entry(id).or_default().push(at);
            }
            UiMessage::BatchPermissionRequired { batch_id, .. } => {
                let id = batch_id.clone();
                let at = self.push(seq, lane, event);
                if let Some(old) = self.batches.entry(id).or_default().asked.replace(at) {
                    self.forget(old);
                }
            }
            UiMessage::PermissionResolved(resolved) => {
                for at in self.permissions.remove(&resolved.tool_use_id).unwrap_or_default() {
                    self.forget(at);
                }
                let batch = resolved.batch_id.as_ref().and_then(|id| self.batches.get_mut(id));
                if let Some(batch) = batch
                    && batch.waiting.remove(&resolved.tool_use_id)
                    && batch.waiting.is_empty()
                    && let Some(asked) = batch.asked.take()
                {
                    self.forget(asked);
                }
                let changed = resolved.updated_input.is_some().then(|| resolved.tool_use_id.clone());
                let at = self.push(seq, lane, event);
                if let Some(id) = changed {
                    self.changed_inputs.push((id, at));
                }
            }
            UiMessage::QuestionDetails(details) => {
                let id = details.tool_use_id.clone();
                let at = self.push(seq, lane, event);
                self.questions.entry(id).or_default().push(at);
            }
            UiMessage::UserInteractionRequired { tool_use_id, .. } => {
                let id = tool_use_id.clone();
                let at = self.entries.len();
                self.push_item(seq, lane, event);
                self.questions.entry(id).or_default().push(at);
            }
            UiMessage::InteractionResolved(resolved) => {
                for at in self.questions.remove(&resolved.tool_use_id).unwrap_or_default() {
                    // A question in words is a part of the conversation.
                    if let Some(UiMessage::QuestionDetails(_)) = self.entries[at].event {
                        self.forget(at);
                    }
                }
                self.push(seq, lane, event);
            }
            _ => {}
        }
    }

    pub(super) fn prompt(&mut self, seq: u64, lane: usize, event: UiMessage) {
        match &event {
            UiMessage::PromptQueued(queued) => {
                let uuid = queued.uuid.clone();
                let at = self.push(seq, lane, event);
                if let Some(old) = self.queued.insert(uuid, at) {
                    self.forget(old);
                }
            }
            UiMessage::UserPrompt(prompt) => {
                self.forget_latest(&Latest::Suggestion);
                if let Some(at) = prompt.uuid.as_ref().and_then(|uuid| self.queued.remove(uuid)) {
                    // The prompt event repeats the text, but not its author.
                    match &mut self.entries[at].event {
                        Some(UiMessage::PromptQueued(queued)) if queued.by.is_some() => queued.text.clear(),
                        _ => self.forget(at),
                    }
                }
                self.push(seq, lane, event);
            }
            UiMessage::PromptDropped(dropped) => {
                self.queued.remove(&dropped.uuid);
                self.push(seq, lane, event);
            }
            _ => {}
        }
    }
}
