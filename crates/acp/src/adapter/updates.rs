//! Notifications of the agent.

use serde::Serialize;
use serde_json::Value;
use tidings_protocol::control::SlashCommand;
use tidings_protocol::messages::{
    CommandsChanged, CompactBoundary, CompactMetadata, ElicitationComplete, Status, SystemMessage,
};
use tidings_protocol::tools::TodoWriteItem;

use super::frames::{items, text};
use super::state::{Adapter, Phase};
use super::turn::BlockKind;
use crate::rpc::Id;

/// Body of `session_title_changed`, which the vendor does not publish.
#[derive(Debug, Serialize)]
struct SessionTitleChanged<'a> {
    title: &'a str,
}

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
                self.emit_system(SystemMessage::ElicitationComplete(ElicitationComplete::default()));
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
                    let body = SessionTitleChanged { title };
                    self.emit_unpublished("system", Some("session_title_changed"), body);
                }
                return;
            }
            "usage_update" => return self.note_cost(&update["cost"]),
            "notice" => return self.notice(update),
            _ => {}
        }
        if self.phase == Phase::Starting {
            // The agent replays what the host has seen, or its new session has no id yet.
            if !self.settings.replay || self.session.is_none() {
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
            "plan" => self.emit_plan(items(update, "entries").iter().map(todo).collect()),
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
            let hint = text(&command["input"], "hint");
            SlashCommand::new(text(command, "name"), text(command, "description"), hint)
        };
        self.commands = items(update, "availableCommands").iter().map(command).collect();
        if self.phase == Phase::Ready {
            let mut changed = CommandsChanged::default();
            changed.commands.clone_from(&self.commands);
            self.emit_system(SystemMessage::CommandsChanged(changed));
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
            "in_progress" => self.emit_system(SystemMessage::Status(Status::of(Some("compacting")))),
            "completed" => {
                self.emit_system(SystemMessage::Status(Status::of(None)));
                let mut metadata = CompactMetadata::default();
                metadata.trigger = Some("auto".to_owned());
                let mut boundary = CompactBoundary::default();
                boundary.compact_metadata = Some(metadata);
                self.emit_system(SystemMessage::Compacted(boundary));
            }
            _ => {
                let mut status = Status::of(None);
                status.compact_error = Some(text(update, "error").to_owned());
                self.emit_system(SystemMessage::Status(status));
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

fn todo(entry: &Value) -> TodoWriteItem {
    let mut item = TodoWriteItem::default();
    text(entry, "content").clone_into(&mut item.content);
    item.status = Some(text(entry, "status").into());
    item.active_form = Some(item.content.clone());
    item
}
