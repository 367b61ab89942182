//! A turn: its messages, blocks and end.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::calls::ToolCall;
use super::effect::Effect;
use super::frames::text;
use super::state::Adapter;
use crate::limits::BLOCK_BYTES_MAX;
use crate::rpc::RpcError;

/// The running turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) number: u64,
    pub(super) is_cancelled: bool,
    begun_ms: u64,
    prompt: Option<String>,
    message: Option<OpenMessage>,
    /// Tool calls of the turn, by the agent's ids.
    pub(super) calls: BTreeMap<String, ToolCall>,
    /// The last text, which is the result.
    result: String,
    denials: Vec<Value>,
    plans: u64,
}

/// A message of the agent that is not complete.
#[derive(Debug)]
struct OpenMessage {
    id: String,
    /// The agent's own id of it.
    own: Option<String>,
    blocks: u64,
    block: Option<OpenBlock>,
    has_calls: bool,
}

#[derive(Debug)]
struct OpenBlock {
    kind: BlockKind,
    text: String,
}

/// Kind of a block of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Text,
    Thinking,
}

impl BlockKind {
    /// The block with a text in it.
    fn block(self, text: &str) -> Value {
        match self {
            BlockKind::Text => json!({"type": "text", "text": text}),
            BlockKind::Thinking => json!({"type": "thinking", "thinking": text, "signature": ""}),
        }
    }

    fn delta(self, text: &str) -> Value {
        match self {
            BlockKind::Text => json!({"type": "text_delta", "text": text}),
            BlockKind::Thinking => json!({"type": "thinking_delta", "thinking": text}),
        }
    }
}

impl Adapter {
    pub(super) fn begin_turn(&mut self, prompt: Option<String>) {
        self.turns_begun += 1;
        let prompts: Vec<&String> = prompt.iter().collect();
        let init = json!({
            "type": "system", "subtype": "init", "cwd": self.settings.cwd, "tools": [], "mcp_servers": [],
            "model": self.model_label(), "permissionMode": self.choices.mode(),
            "slash_commands": self.commands.iter().map(|command| text(command, "name")).collect::<Vec<_>>(),
            "apiKeySource": "none", "claude_code_version": self.facts.label, "output_style": "default",
            "user_message_uuids": prompts,
        });
        let status = json!({
            "type": "system", "subtype": "status", "status": "requesting", "user_message_uuids": prompts,
        });
        let begun_ms = (self.clock)();
        self.turn = Some(Turn { number: self.turns_begun, begun_ms, prompt, ..Turn::default() });
        self.emit_numbered(init);
        self.emit(status);
    }

    fn model_label(&self) -> String {
        self.choices.model().map_or_else(|| self.facts.label.clone(), str::to_owned)
    }

    /// Appends a delta of text.
    pub(super) fn append(&mut self, kind: BlockKind, text: &str, own: Option<&str>) {
        self.show_held_calls();
        let Some(turn) = &self.turn else { return };
        let is_other = turn.message.as_ref().is_some_and(|message| {
            message.has_calls || (own.is_some() && message.own.is_some() && message.own.as_deref() != own)
        });
        if is_other {
            self.close_message();
        }
        self.open_message(own);
        let is_full =
            |block: &OpenBlock| block.kind != kind || block.text.len() + text.len() > BLOCK_BYTES_MAX;
        if self.message().and_then(|message| message.block.as_ref()).is_some_and(is_full) {
            self.close_block();
        }
        let Some(message) = self.message() else { return };
        let index = message.blocks;
        if message.block.is_none() {
            message.block = Some(OpenBlock { kind, text: String::new() });
            let block = kind.block("");
            self.stream(&json!({"type": "content_block_start", "index": index, "content_block": block}));
        }
        if let Some(block) = self.message().and_then(|message| message.block.as_mut()) {
            block.text.push_str(text);
        }
        self.stream(&json!({"type": "content_block_delta", "index": index, "delta": kind.delta(text)}));
    }

    fn message(&mut self) -> Option<&mut OpenMessage> {
        self.turn.as_mut()?.message.as_mut()
    }

    fn open_message(&mut self, own: Option<&str>) {
        if self.turn.as_ref().is_none_or(|turn| turn.message.is_some()) {
            return;
        }
        let id = format!("msg_{}", (self.ids)());
        let message = json!({
            "id": id, "type": "message", "role": "assistant", "model": self.model_label(), "content": [],
            "stop_reason": null, "stop_sequence": null,
        });
        if let Some(turn) = &mut self.turn {
            let own = own.map(str::to_owned);
            turn.message = Some(OpenMessage { id, own, blocks: 0, block: None, has_calls: false });
        }
        self.stream(&json!({"type": "message_start", "message": message}));
    }

    /// Sends a complete block of the open message.
    fn emit_block(&mut self, block: &Value) {
        let Some(id) = self.message().map(|message| message.id.clone()) else { return };
        let message = json!({
            "id": id, "type": "message", "role": "assistant", "model": self.model_label(), "content": [block],
            "stop_reason": null, "stop_sequence": null,
        });
        self.emit_numbered(json!({"type": "assistant", "message": message, "parent_tool_use_id": null}));
        let Some(message) = self.message() else { return };
        let index = message.blocks;
        message.blocks += 1;
        self.stream(&json!({"type": "content_block_stop", "index": index}));
    }

    fn close_block(&mut self) {
        let Some(block) = self.message().and_then(|message| message.block.take()) else { return };
        self.emit_block(&block.kind.block(&block.text));
        if let Some(turn) = self.turn.as_mut().filter(|_| block.kind == BlockKind::Text) {
            turn.result = block.text;
        }
    }

    fn close_message(&mut self) {
        self.close_block();
        let Some(turn) = &mut self.turn else { return };
        if turn.message.take().is_some() {
            self.stream(&json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null}}));
            self.stream(&json!({"type": "message_stop"}));
        }
    }

    /// Sends the call of a tool, complete with its input.
    pub(super) fn emit_call(&mut self, tool_use_id: &str, name: &str, input: &Value) {
        self.close_block();
        self.open_message(None);
        if let Some(message) = self.message() {
            message.has_calls = true;
        }
        self.emit_block(&json!({"type": "tool_use", "id": tool_use_id, "name": name, "input": input}));
    }

    /// Announces the call of a tool whose input is not complete.
    pub(super) fn announce_call(&mut self, tool_use_id: &str, name: &str) {
        self.close_block();
        self.open_message(None);
        let Some(message) = self.message() else { return };
        message.has_calls = true;
        let index = message.blocks;
        let block = json!({"type": "tool_use", "id": tool_use_id, "name": name, "input": {}});
        self.stream(&json!({"type": "content_block_start", "index": index, "content_block": block}));
    }

    /// Sends the result of a tool.
    pub(super) fn emit_result(&mut self, tool_use_id: &str, content: &Value, is_error: bool) {
        self.close_message();
        let result = json!({
            "type": "tool_result", "tool_use_id": tool_use_id, "content": content, "is_error": is_error,
        });
        self.emit_numbered(json!({
            "type": "user", "message": {"role": "user", "content": [result]}, "parent_tool_use_id": null,
        }));
    }

    /// A to-do list as a call that Claude Code would make.
    pub(super) fn emit_plan(&mut self, todos: &Value) {
        let Some(turn) = &mut self.turn else { return };
        turn.plans += 1;
        let id = format!("plan-{}-{}", turn.number, turn.plans);
        self.emit_call(&id, "TodoWrite", &json!({"todos": todos}));
        self.emit_result(&id, &json!("Updated"), false);
    }

    pub(super) fn note_denial(&mut self, tool_use_id: &str, name: &str, input: &Value) {
        if let Some(turn) = &mut self.turn {
            let denial = json!({"tool_name": name, "tool_use_id": tool_use_id, "tool_input": input});
            turn.denials.push(denial);
        }
    }

    /// The agent has answered a prompt, which ends its turn.
    pub(super) fn prompt_answered(&mut self, number: u64, result: Result<Value, RpcError>) {
        if self.turn.as_ref().is_none_or(|turn| turn.number != number) {
            // The turn was ended because the agent did not confirm that it stopped.
            return;
        }
        match result {
            Ok(answer) => match text(&answer, "stopReason") {
                "cancelled" => self.end_interrupted_turn(),
                "max_turn_requests" => {
                    let end = json!({"subtype": "error_max_turns", "is_error": true});
                    self.end_turn(end, "completed");
                }
                reason => {
                    let mut end = json!({"subtype": "success", "is_error": false, "stop_reason": reason});
                    if let Some(usage) = usage(&answer["usage"]) {
                        end["usage"] = usage;
                    }
                    self.end_turn(end, "completed");
                }
            },
            Err(_) if self.turn.as_ref().is_some_and(|turn| turn.is_cancelled) => self.end_interrupted_turn(),
            Err(error) => self.end_turn_with_error(&error_text(&error)),
        }
    }

    pub(super) fn end_turn_with_error(&mut self, text: &str) {
        let end = json!({"subtype": "error_during_execution", "is_error": true, "errors": [text]});
        self.end_turn(end, "completed");
    }

    pub(super) fn end_interrupted_turn(&mut self) {
        self.show_held_calls();
        self.close_message();
        self.emit_numbered(json!({
            "type": "user", "parent_tool_use_id": null,
            "message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]},
        }));
        let end = json!({
            "subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_streaming",
            "errors": ["The turn was interrupted"],
        });
        self.end_turn(end, "cancelled");
    }

    fn end_turn(&mut self, mut end: Value, state: &str) {
        self.show_held_calls();
        self.close_message();
        self.cancel_asks();
        self.allowances.clear();
        let Some(turn) = self.turn.take() else { return };
        end["type"] = json!("result");
        end["num_turns"] = json!(1);
        end["duration_ms"] = json!((self.clock)().saturating_sub(turn.begun_ms));
        end["permission_denials"] = json!(turn.denials);
        end["user_message_uuids"] = json!(turn.prompt.iter().collect::<Vec<_>>());
        if end["is_error"] == false {
            end["result"] = json!(turn.result);
        }
        if let Some(cost) = self.cost_usd {
            end["total_cost_usd"] = json!(cost);
        }
        self.emit_numbered(end);
        self.lifecycle(turn.prompt.as_deref(), state);
        if self.host_left {
            self.out.push(Effect::Exit(0));
            return;
        }
        self.emit(json!({"type": "system", "subtype": "session_state_changed", "state": "idle"}));
        self.start_next_prompt();
    }

    /// A prompt of an earlier run, which the agent replays.
    pub(super) fn replay_prompt(&mut self, text: &str) {
        if self.replayed_prompt.is_empty() {
            self.end_replayed_turn();
        }
        self.replayed_prompt.push_str(text);
    }

    /// Begins the turn of a replayed prompt, before its answer.
    pub(super) fn begin_replayed_turn(&mut self) {
        if self.turn.is_some() {
            return;
        }
        let prompt = std::mem::take(&mut self.replayed_prompt);
        if !prompt.is_empty() {
            self.emit_numbered(json!({
                "type": "user", "message": {"role": "user", "content": prompt}, "parent_tool_use_id": null,
            }));
        }
        self.begin_turn(None);
    }

    /// Ends the turn of a replayed prompt.
    pub(super) fn end_replayed_turn(&mut self) {
        if self.turn.is_some() {
            self.end_turn(
                json!({"subtype": "success", "is_error": false, "stop_reason": "end_turn"}),
                "completed",
            );
        }
    }
}

/// Tokens of a turn, if the agent counts them.
fn usage(usage: &Value) -> Option<Value> {
    let count = |key: &str| usage[key].as_u64();
    Some(json!({
        "input_tokens": count("inputTokens")?,
        "output_tokens": count("outputTokens")?,
        "cache_read_input_tokens": count("cachedReadTokens").unwrap_or_default(),
        "cache_creation_input_tokens": count("cachedWriteTokens").unwrap_or_default(),
    }))
}

/// An error of the agent, with its details if they are text.
pub(super) fn error_text(error: &RpcError) -> String {
    let details = error.data.as_ref().and_then(|data| {
        data.as_str()
            .or_else(|| data["details"].as_str())
            .or_else(|| data["message"].as_str())
            .map(str::to_owned)
    });
    match details {
        Some(details) if !error.message.contains(&details) => format!("{}: {details}", error.message),
        _ => error.message.clone(),
    }
}
