//! The records of a rollout file.

use std::collections::HashSet;

use jiff::Timestamp;
use tidings_protocol::json::Raw;

use crate::agents::tree::{string, time};

/// One line of a rollout file.
#[derive(Debug, Clone)]
pub(super) struct RolloutRecord<'a> {
    pub(super) at: Option<Timestamp>,
    /// `response_item`, `event_msg`, …; empty if the line has no type.
    pub(super) kind: String,
    pub(super) payload: Raw<'a>,
    /// The `type` of the payload, for kinds whose payload has one.
    pub(super) subkind: String,
    pub(super) whole: Raw<'a>,
}

impl<'a> RolloutRecord<'a> {
    pub(super) fn of(whole: Raw<'a>) -> Self {
        let at = time(string(whole, "timestamp").as_deref());
        let kind = string(whole, "type").unwrap_or_default();
        if let Some(payload) = whole.get("payload") {
            let subkind = string(payload, "type").unwrap_or_default();
            return RolloutRecord { at, kind, payload, subkind, whole };
        }
        // The first versions wrote response items without an envelope, after a line with the id.
        if is_response_item(&kind) {
            return RolloutRecord { at, kind: "response_item".into(), payload: whole, subkind: kind, whole };
        }
        if kind.is_empty() && whole.get("id").is_some() && whole.get("timestamp").is_some() {
            let kind = "session_meta".to_owned();
            return RolloutRecord { at, kind, payload: whole, subkind: String::new(), whole };
        }
        if kind.is_empty() && whole.get("record_type").is_some() {
            return RolloutRecord { at, kind: "state".into(), payload: whole, subkind: String::new(), whole };
        }
        RolloutRecord { at, kind, payload: whole, subkind: String::new(), whole }
    }

    /// The name under which an unknown record is counted.
    pub(super) fn name(&self) -> String {
        match (self.kind.as_str(), self.subkind.as_str()) {
            ("", _) => "(no type)".to_owned(),
            (kind, "") => kind.to_owned(),
            (kind, subkind) => format!("{kind}/{subkind}"),
        }
    }
}

/// Response items that are part of the conversation.
pub(super) fn is_response_item(kind: &str) -> bool {
    matches!(
        kind,
        "message"
            | "agent_message"
            | "reasoning"
            | "local_shell_call"
            | "function_call"
            | "tool_search_call"
            | "function_call_output"
            | "custom_tool_call"
            | "custom_tool_call_output"
            | "tool_search_output"
            | "web_search_call"
            | "image_generation_call"
    )
}

/// Response items without anything to show.
pub(super) fn is_silent_item(kind: &str) -> bool {
    matches!(
        kind,
        "additional_tools"
            | "compaction"
            | "compaction_summary"
            | "compaction_trigger"
            | "context_compaction"
            | "ghost_snapshot"
    )
}

/// Records beside the conversation. Their contents are also elsewhere, or only Codex needs them.
pub(super) fn is_silent_record(kind: &str) -> bool {
    matches!(kind, "world_state" | "inter_agent_communication_metadata" | "security_risk_score" | "state")
}

/// Events that repeat response items, or that only Codex needs.
pub(super) fn is_silent_event(kind: &str) -> bool {
    matches!(
        kind,
        "task_started"
            | "turn_started"
            | "task_complete"
            | "turn_complete"
            | "token_count"
            | "user_message"
            | "agent_message"
            | "agent_reasoning"
            | "agent_reasoning_raw_content"
            | "agent_reasoning_section_break"
            | "thread_settings_applied"
            | "thread_goal_updated"
            | "thread_name_updated"
            | "session_configured"
            | "exec_command_begin"
            | "exec_command_end"
            | "exec_command_output_delta"
            | "patch_apply_begin"
            | "patch_apply_updated"
            | "patch_apply_end"
            | "mcp_tool_call_begin"
            | "mcp_tool_call_end"
            | "web_search_begin"
            | "web_search_end"
            | "image_generation_begin"
            | "image_generation_end"
            | "view_image_tool_call"
            | "context_compacted"
            | "turn_diff"
            | "plan_update"
            | "sub_agent_activity"
            | "item_started"
            | "hook_started"
            | "hook_completed"
            | "entered_review_mode"
            | "exited_review_mode"
            | "undo_completed"
            | "collab_agent_spawn_begin"
            | "collab_agent_spawn_end"
            | "collab_agent_interaction_begin"
            | "collab_agent_interaction_end"
            | "collab_waiting_begin"
            | "collab_waiting_end"
            | "collab_close_begin"
            | "collab_close_end"
            | "collab_resume_begin"
            | "collab_resume_end"
            | "guardian_assessment"
            | "dynamic_tool_call_request"
            | "dynamic_tool_call_response"
            | "thread_queue_changed"
            | "model_reroute"
            | "model_verification"
            | "mcp_startup_update"
            | "mcp_startup_complete"
            | "terminal_interaction"
            | "exec_approval_request"
            | "apply_patch_approval_request"
            | "request_permissions"
            | "request_user_input"
            | "elicitation_request"
            | "raw_response_item"
            | "raw_response_completed"
            | "agent_message_content_delta"
            | "reasoning_content_delta"
            | "reasoning_raw_content_delta"
            | "plan_delta"
            | "shutdown_complete"
    )
}

/// Items of `item_completed` events, all of which but plans repeat response items.
pub(super) fn is_known_item(kind: &str) -> bool {
    matches!(
        kind,
        "UserMessage"
            | "HookPrompt"
            | "AgentMessage"
            | "Plan"
            | "Reasoning"
            | "CommandExecution"
            | "DynamicToolCall"
            | "CollabAgentToolCall"
            | "SubAgentActivity"
            | "WebSearch"
            | "ImageView"
            | "Extension"
            | "ImageGeneration"
            | "EnteredReviewMode"
            | "ExitedReviewMode"
            | "FileChange"
            | "McpToolCall"
            | "ContextCompaction"
    )
}

/// The prompts of a session, from its events.
#[derive(Debug, Default)]
pub(super) struct Prompts {
    /// Prompts that the user typed; none in files without events.
    typed: HashSet<String>,
    /// Messages in the user's name, which the agent may have written or extended.
    messages: HashSet<String>,
}

impl Prompts {
    pub(super) fn add(&mut self, record: &RolloutRecord<'_>) {
        self.typed.extend(prompt_of_event(record));
        if is_user_message(record) {
            self.messages.extend(record.payload.get("content").map(texts));
        }
    }

    /// Returns true if the user typed this message.
    pub(super) fn contains(&self, record: &RolloutRecord<'_>) -> bool {
        if self.typed.is_empty() {
            return prompt_without_events(record).is_some();
        }
        record.payload.get("content").is_some_and(|content| self.typed.contains(&texts(content)))
    }

    /// The prompt of an event that no message repeats as it is.
    pub(super) fn only_in_event(&self, record: &RolloutRecord<'_>) -> Option<String> {
        prompt_of_event(record).filter(|prompt| !self.messages.contains(prompt))
    }
}

fn is_user_message(record: &RolloutRecord<'_>) -> bool {
    let is_message = record.kind == "response_item" && record.subkind == "message";
    is_message && string(record.payload, "role").is_some_and(|role| role == "user")
}

/// The prompt that an event contains, as the user typed it.
pub(super) fn prompt_of_event(record: &RolloutRecord<'_>) -> Option<String> {
    if record.kind != "event_msg" {
        return None;
    }
    match record.subkind.as_str() {
        "user_message" => string(record.payload, "message"),
        "item_completed" => {
            let item = record
                .payload
                .get("item")
                .filter(|item| string(*item, "type").is_some_and(|kind| kind == "UserMessage"))?;
            item.get("content").map(texts)
        }
        _ => None,
    }
    .filter(|prompt| !prompt.trim().is_empty())
}

/// The text of a user's message, in a file without events. What Codex itself adds begins with one of these.
pub(super) fn prompt_without_events(record: &RolloutRecord<'_>) -> Option<String> {
    const ADDED: [&str; 4] =
        ["<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>"];
    if !is_user_message(record) {
        return None;
    }
    let text = texts(record.payload.get("content")?);
    let is_added = ADDED.iter().any(|start| text.trim_start().starts_with(start));
    (!is_added && !text.trim().is_empty()).then_some(text)
}

/// The text of all parts that have some.
pub(super) fn texts(content: Raw<'_>) -> String {
    if let Some(text) = content.text() {
        return text.get().into_owned();
    }
    let parts: Vec<String> = content.items().filter_map(|part| string(part, "text")).collect();
    parts.join("\n")
}
