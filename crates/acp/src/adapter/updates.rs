//! Notifications of the agent.

use serde_json::{Value, json};

use super::frames::{items, text};
use super::state::{Adapter, Phase};
use super::turn::BlockKind;
use crate::rpc::Id;

impl Adapter {
    pub(super) fn agent_notifies(&mut self, method: &str, params: &Value) {
        match method {
            "session/update" => {
                let session = params["sessionId"].as_str();
                // Updates may come before the response that names the session.
                let is_ours = self.session.is_none() || session == self.session.as_deref();
                if is_ours {
                    self.update(&params["update"]);
                } else {
                    self.show_source();
                }
            }
            "$/cancel_request" => {
                let id = Id::of_number(&params["requestId"]);
                self.withdraw_ask(&id);
            }
            "elicitation/complete" => {
                self.emit(json!({"type": "system", "subtype": "elicitation_complete"}));
            }
            _ => self.show_source(),
        }
    }

    fn update(&mut self, update: &Value) {
        let kind = text(update, "sessionUpdate");
        let own = update["messageId"].as_str();
        match kind {
            "available_commands_update" => return self.commands_changed(update),
            "current_mode_update" => {
                self.choices.note_mode(text(update, "currentModeId"));
                return self.report_settings(false);
            }
            "config_option_update" => {
                let before = self.choices.options();
                self.choices.read(update);
                return self.report_settings(before != self.choices.options());
            }
            "session_info_update" => {
                if let Some(title) = update["title"].as_str() {
                    self.emit(json!({"type": "system", "subtype": "session_title_changed", "title": title}));
                }
                return;
            }
            "usage_update" => return self.note_cost(&update["cost"]),
            "notice" => return self.notice(update),
            _ => {}
        }
        if self.phase == Phase::Starting {
            if !self.settings.replay {
                // The agent replays what the host has seen.
                return;
            }
            match kind {
                "user_message_chunk" => return self.replay_prompt(&chunk_text(&update["content"])),
                _ => self.begin_replayed_turn(),
            }
        }
        if self.turn.is_none() {
            // Late: a message now would begin a turn that nothing ends.
            return self.show_source();
        }
        match kind {
            "agent_message_chunk" => self.chunk(BlockKind::Text, update, own),
            "agent_thought_chunk" => self.chunk(BlockKind::Thinking, update, own),
            // The host knows its prompts.
            "user_message_chunk" => {}
            "tool_call" | "tool_call_update" => self.update_call(update),
            "plan" => {
                let todos: Vec<Value> = items(update, "entries").iter().map(todo).collect();
                self.emit_plan(&json!(todos));
            }
            "compaction_update" => self.compaction(update),
            _ => self.show_source(),
        }
    }

    fn chunk(&mut self, kind: BlockKind, update: &Value, own: Option<&str>) {
        let content = &update["content"];
        match text(content, "type") {
            "image" | "audio" => self.show_source(),
            _ => {
                let delta = chunk_text(content);
                if delta.is_empty() {
                    return;
                }
                self.append(kind, &delta, own);
            }
        }
    }

    fn commands_changed(&mut self, update: &Value) {
        let command = |command: &Value| {
            json!({"name": text(command, "name"), "description": text(command, "description"),
                   "argumentHint": text(&command["input"], "hint")})
        };
        self.commands = items(update, "availableCommands").iter().map(command).collect();
        if self.phase == Phase::Ready {
            let commands = self.commands.clone();
            self.emit(json!({"type": "system", "subtype": "commands_changed", "commands": commands}));
        }
    }

    fn note_cost(&mut self, cost: &Value) {
        if text(cost, "currency").eq_ignore_ascii_case("USD") {
            let amount = cost["amount"].as_f64().filter(|amount| amount.is_finite() && *amount >= 0.0);
            self.cost_usd = amount.or(self.cost_usd);
        }
    }

    fn notice(&mut self, update: &Value) {
        let (title, description) = (text(update, "title"), text(update, "description"));
        let sentence =
            if description.is_empty() { title.to_owned() } else { format!("{title}: {description}") };
        self.inform(&sentence);
    }

    fn compaction(&mut self, update: &Value) {
        match text(update, "status") {
            "in_progress" => {
                self.emit(json!({"type": "system", "subtype": "status", "status": "compacting"}));
            }
            "completed" => {
                self.emit(json!({"type": "system", "subtype": "status", "status": null}));
                let metadata = json!({"trigger": "auto"});
                self.emit(
                    json!({"type": "system", "subtype": "compact_boundary", "compact_metadata": metadata}),
                );
            }
            _ => {
                let error = text(update, "error");
                self.emit(json!({
                    "type": "system", "subtype": "status", "status": null, "compact_error": error,
                }));
            }
        }
    }
}

/// The text of a block.
fn chunk_text(content: &Value) -> String {
    match text(content, "type") {
        "text" => text(content, "text").to_owned(),
        "resource_link" => format!("[{}]({})", text(content, "name"), text(content, "uri")),
        "resource" => text(&content["resource"], "text").to_owned(),
        _ => String::new(),
    }
}

fn todo(entry: &Value) -> Value {
    json!({"content": text(entry, "content"), "status": text(entry, "status"), "activeForm": text(entry, "content")})
}
