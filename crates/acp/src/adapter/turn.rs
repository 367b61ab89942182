//! A turn: its messages and blocks.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tidings_protocol::json::{Extra, Json};
use tidings_protocol::messages::{
    ApiMessage, ApiStopReason, AssistantMessage, Content, ContentBlock, InitDetails, Message,
    PermissionDenial, Status, SystemMessage, UserMessage,
};
use tidings_protocol::stream::{Delta, Event};
use tidings_protocol::tools::{TodoWriteInput, TodoWriteItem};

use super::calls::{CallEnd, ToolCall};
use super::state::Adapter;
use super::tools::ToolUse;
use crate::limits::BLOCK_BYTES_MAX;
use crate::rpc;

/// The running turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) number: u64,
    pub(super) is_cancelled: bool,
    pub(super) begun_ms: u64,
    pub(super) prompt: Option<String>,
    message: Option<OpenMessage>,
    /// Tool calls of the turn, by the agent's ids.
    pub(super) calls: BTreeMap<String, ToolCall>,
    /// The last text, which is the result.
    pub(super) result: String,
    pub(super) denials: Vec<PermissionDenial>,
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
    /// The block with a text in it, and its members without a field of their own.
    fn block(self, text: &str) -> (ContentBlock, Extra) {
        let mut extra = Extra::default();
        let text = text.to_owned();
        match self {
            BlockKind::Text => (ContentBlock::Text { text }, extra),
            BlockKind::Thinking => {
                // A thought of the API is signed, and one of another agent is not.
                extra.insert("signature", &String::new());
                (ContentBlock::Thinking { thinking: text }, extra)
            }
        }
    }

    fn delta(self, text: &str) -> Delta {
        match self {
            BlockKind::Text => Delta::text(text),
            BlockKind::Thinking => Delta::thinking(text),
        }
    }
}

impl Adapter {
    pub(super) fn begin_turn(&mut self, prompt: Option<String>) {
        self.turns_begun += 1;
        let prompts: Vec<String> = prompt.iter().cloned().collect();
        let mut details = InitDetails::default();
        details.cwd = Some(self.settings.cwd.clone());
        details.model = Some(self.model_label());
        details.permission_mode = Some(self.choices.mode().into());
        details.slash_commands = Some(self.commands.iter().map(|command| command.name.clone()).collect());
        details.api_key_source = Some("none".to_owned());
        details.claude_code_version = Some(self.facts.label.clone());
        details.output_style = Some("default".to_owned());
        details.uuid = Some((self.ids)());
        details.extra.insert("user_message_uuids", &prompts);
        let mut status = Status::of(Some("requesting"));
        status.extra.insert("user_message_uuids", &prompts);
        let begun_ms = (self.clock)();
        self.turn = Some(Turn { number: self.turns_begun, begun_ms, prompt, ..Turn::default() });
        self.emit_system(SystemMessage::init(self.session_id(), &details));
        self.emit_system(SystemMessage::Status(status));
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
            let (block, extra) = kind.block("");
            self.stream(Event::block_start(index, block, extra));
        }
        if let Some(block) = self.message().and_then(|message| message.block.as_mut()) {
            block.text.push_str(text);
        }
        self.stream(Event::block_delta(index, kind.delta(text)));
    }

    fn message(&mut self) -> Option<&mut OpenMessage> {
        self.turn.as_mut()?.message.as_mut()
    }

    fn open_message(&mut self, own: Option<&str>) {
        if self.turn.as_ref().is_none_or(|turn| turn.message.is_some()) {
            return;
        }
        let id = format!("msg_{}", (self.ids)());
        let start = ApiMessage::response(&*id, self.model_label(), Content::default());
        if let Some(turn) = &mut self.turn {
            let own = own.map(str::to_owned);
            turn.message = Some(OpenMessage { id, own, blocks: 0, block: None, has_calls: false });
        }
        self.stream(Event::message_start(start));
    }

    /// Sends a complete block of the open message, with its members that have no field of their own.
    fn emit_block(&mut self, block: ContentBlock, extra: Extra) {
        let Some(id) = self.message().map(|message| message.id.clone()) else { return };
        let mut content = Content::default();
        content.push(block, extra);
        let message = ApiMessage::response(id, self.model_label(), content);
        self.emit_numbered(Message::Assistant(AssistantMessage::new(message)));
        let Some(message) = self.message() else { return };
        let index = message.blocks;
        message.blocks += 1;
        self.stream(Event::block_stop(index));
    }

    fn close_block(&mut self) {
        let Some(open) = self.message().and_then(|message| message.block.take()) else { return };
        let (block, extra) = open.kind.block(&open.text);
        self.emit_block(block, extra);
        if let Some(turn) = self.turn.as_mut().filter(|_| open.kind == BlockKind::Text) {
            turn.result = open.text;
        }
    }

    pub(super) fn close_message(&mut self) {
        self.close_block();
        let Some(turn) = &mut self.turn else { return };
        if turn.message.take().is_some() {
            self.stream(Event::message_delta(ApiStopReason::END_TURN));
            self.stream(Event::message_stop());
        }
    }

    /// Sends the call of a tool, complete with its input.
    pub(super) fn emit_call(&mut self, tool_use_id: &str, tool: ToolUse) {
        self.close_block();
        self.open_message(None);
        if let Some(message) = self.message() {
            message.has_calls = true;
        }
        let ToolUse { name, input } = tool;
        let call = ContentBlock::ToolUse { id: tool_use_id.to_owned(), name, input };
        self.emit_block(call, Extra::default());
    }

    /// Announces the call of a tool whose input is not complete.
    pub(super) fn announce_call(&mut self, tool_use_id: &str, name: String) {
        self.close_block();
        self.open_message(None);
        let Some(message) = self.message() else { return };
        message.has_calls = true;
        let index = message.blocks;
        let input = Value::Object(Map::new());
        let call = ContentBlock::ToolUse { id: tool_use_id.to_owned(), name, input };
        self.stream(Event::block_start(index, call, Extra::default()));
    }

    /// Sends the result of a tool.
    pub(super) fn emit_result(&mut self, tool_use_id: &str, content: &Content, end: CallEnd) {
        let is_error = end == CallEnd::Failed;
        self.close_message();
        let block = ContentBlock::ToolResult {
            tool_use_id: tool_use_id.to_owned(),
            content: rpc::to_value(content),
            is_error,
        };
        // A success says so, too.
        let mut extra = Extra::default();
        extra.insert("is_error", &is_error);
        let mut content = Content::default();
        content.push(block, extra);
        self.emit_numbered(Message::User(UserMessage::prompt(content)));
    }

    /// A to-do list as a call that Claude Code would make.
    pub(super) fn emit_plan(&mut self, todos: Vec<TodoWriteItem>) {
        let Some(turn) = &mut self.turn else { return };
        turn.plans += 1;
        let id = format!("plan-{}-{}", turn.number, turn.plans);
        let mut input = TodoWriteInput::default();
        input.todos = todos;
        self.emit_call(&id, ToolUse::of("TodoWrite", &input));
        self.emit_result(&id, &Content::text("Updated"), CallEnd::Done);
    }

    pub(super) fn note_denial(&mut self, tool_use_id: &str, tool: &ToolUse) {
        if let Some(turn) = &mut self.turn {
            let mut denial = PermissionDenial::default();
            denial.tool_name.clone_from(&tool.name);
            denial.tool_use_id = Some(tool_use_id.to_owned());
            denial.tool_input = Some(Json::from(&tool.input));
            turn.denials.push(denial);
        }
    }
}
