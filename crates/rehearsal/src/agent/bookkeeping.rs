//! Lines of the session file outside of the conversation: the queue, the title, the costs.

use serde_json::json;

use super::conversation::Conversation;
use super::prompt::Prompt;
use super::session::Session;
use super::stop::Flow;
use super::usage::shown_dollars;

impl Session {
    /// Records an operation on the queue.
    pub(super) fn note_queue(&mut self, operation: &str, content: Option<&str>) {
        let stamp = self.stamp();
        let mut entry = json!({"type": "queue-operation", "operation": operation, "timestamp": stamp, "sessionId": self.id});
        if let Some(content) = content {
            entry["content"] = json!(content);
        }
        self.append(None, &entry);
    }

    /// Records a message that joined a turn.
    pub(super) fn note_absorbed(&mut self, conversation: &mut Conversation, prompt: &Prompt) -> Flow {
        let stamp = self.stamp();
        let entry = json!({
            "type": "queue-operation", "operation": "remove", "timestamp": stamp, "sessionId": self.id,
            "content": prompt.text, "reason": "absorbed_mid_turn",
        });
        self.append(None, &entry);
        let uuid = self.ids.uuid();
        let attachment = json!({
            "type": "queued_command", "prompt": prompt.text, "source_uuid": prompt.uuid, "delivery_id": self.ids.uuid(),
            "commandMode": "prompt", "timestamp": stamp,
        });
        let mut entry = self.chained(conversation, "attachment", &uuid);
        entry.insert("attachment".to_owned(), attachment);
        self.write(conversation, entry)
    }

    pub(super) fn note_title(&mut self, title: &str) {
        let entry = json!({"type": "custom-title", "customTitle": title, "sessionId": self.id});
        self.append(None, &entry);
    }

    /// Writes the cost of the session so far, for a later resumption.
    pub(super) fn close_transcript(&mut self) {
        if self.turns == 0 {
            return;
        }
        let now = self.now();
        let entry = json!({
            "type": "cost-state", "sessionId": self.id, "totalCostUSD": shown_dollars(self.ledger.cost_nano()),
            "totalAPIDuration": self.api_ms, "totalAPIDurationWithoutRetries": self.api_ms, "totalToolDuration": 0,
            "totalLinesAdded": 0, "totalLinesRemoved": 0, "totalDuration": now.saturating_sub(self.started_ms),
            "startTime": self.started_ms, "modelUsage": self.ledger.by_model(), "hasUnknownModelCost": false,
        });
        self.append(None, &entry);
    }
}
