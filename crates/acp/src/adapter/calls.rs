//! Tool calls of the running turn.

use serde_json::Value;
use tidings_protocol::messages::{Content, ContentBlock, Image};

use super::frames::{items, text};
use super::state::Adapter;
use super::tools::{self, CallFacts};
use crate::limits::CALLS_MAX;
use crate::text::bounded;

/// A tool call.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolCall {
    /// Its id for the host.
    pub(super) tool_use_id: String,
    pub(super) facts: CallFacts,
    /// True once the host knows its name and input.
    is_shown: bool,
    output: Option<Value>,
    is_ended: bool,
    /// Times that the agent asked about it.
    pub(super) times_asked: u64,
}

/// Ids of calls in the protocol are up to the agent; the host uses those that are short and plain.
const ID_BYTES_MAX: usize = 128;

impl Adapter {
    /// Takes a new call, or a change of one: the protocol has both, and agents mix them.
    pub(super) fn update_call(&mut self, update: &Value) {
        let own = text(update, "toolCallId").to_owned();
        let Some(turn) = &self.turn else { return self.show_source() };
        let is_new = !turn.calls.contains_key(&own);
        if own.is_empty() || (is_new && turn.calls.len() >= CALLS_MAX) {
            return self.show_source();
        }
        if turn.calls.get(&own).is_some_and(|call| call.is_ended) {
            // A late or repeated update of a call that has its result.
            return self.show_source();
        }
        if is_new {
            self.show_held_calls();
        }
        let tool_use_id = self.id_of_call(&own);
        let Some(turn) = &mut self.turn else { return };
        let call = turn.calls.entry(own.clone()).or_default();
        if is_new {
            call.tool_use_id = tool_use_id;
        }
        call.update(update);
        let has_content = !call.facts.content.is_empty();
        let has_input = call.facts.input.as_object().is_some_and(|input| !input.is_empty());
        let status = text(update, "status").to_owned();
        let is_ended = matches!(status.as_str(), "completed" | "failed");
        if is_ended || status == "in_progress" || has_input || has_content {
            self.show_call(&own);
        } else if is_new {
            let (id, name) = (call.tool_use_id.clone(), tools::tool(&call.facts).name);
            self.announce_call(&id, name);
        }
        if is_ended {
            let end = if status == "failed" { CallEnd::Failed } else { CallEnd::Done };
            self.end_call(&own, end);
        }
    }

    fn id_of_call(&mut self, own: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        if own.len() <= ID_BYTES_MAX && own.chars().all(is_plain) {
            return own.to_owned();
        }
        self.made += 1;
        format!("call-{}", self.made)
    }

    /// Shows a call with its input, once.
    pub(super) fn show_call(&mut self, own: &str) {
        let Some(call) = self.turn.as_mut().and_then(|turn| turn.calls.get_mut(own)) else { return };
        if std::mem::replace(&mut call.is_shown, true) {
            return;
        }
        let (id, tool) = (call.tool_use_id.clone(), tools::tool(&call.facts));
        self.emit_call(&id, tool);
    }

    /// Shows the calls whose input did not come.
    pub(super) fn show_held_calls(&mut self) {
        let Some(turn) = &self.turn else { return };
        let held = turn.calls.iter().filter(|(_, call)| !call.is_shown);
        let held: Vec<String> = held.map(|(own, _)| own.clone()).collect();
        for own in held {
            self.show_call(&own);
        }
    }

    fn end_call(&mut self, own: &str, end: CallEnd) {
        let Some(call) = self.turn.as_mut().and_then(|turn| turn.calls.get_mut(own)) else { return };
        call.is_ended = true;
        let (id, content) = (call.tool_use_id.clone(), call.result());
        self.emit_result(&id, &content, end);
    }
}

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallEnd {
    Done,
    Failed,
}

impl ToolCall {
    /// Takes the fields that an update has; the others stay.
    pub(super) fn update(&mut self, update: &Value) {
        let facts = &mut self.facts;
        if let Some(title) = update["title"].as_str() {
            title.clone_into(&mut facts.title);
        }
        if let Some(kind) = update["kind"].as_str() {
            kind.clone_into(&mut facts.kind);
        }
        if let Some(name) = update["name"].as_str() {
            facts.name = Some(name.to_owned());
        }
        let is_empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
        if let Some(input) = update.get("rawInput").filter(|input| !input.is_null() && !is_empty(input)) {
            facts.input = input.clone();
        }
        if update["content"].is_array() {
            facts.content = items(update, "content").to_vec();
        }
        if update["locations"].is_array() {
            facts.locations = items(update, "locations").to_vec();
        }
        if let Some(output) = update.get("rawOutput").filter(|output| !output.is_null()) {
            self.output = Some(output.clone());
        }
    }

    /// The result of the call: its content, or else its raw output.
    fn result(&self) -> Content {
        let shown: Vec<ContentBlock> = self.facts.content.iter().filter_map(result_block).collect();
        if !shown.is_empty() {
            return shown.into();
        }
        Content::text(match &self.output {
            Some(Value::String(output)) => bounded(output),
            Some(output) => bounded(&raw_text(output)),
            None => String::new(),
        })
    }
}

/// A part of a result; differences are part of the call.
fn result_block(content: &Value) -> Option<ContentBlock> {
    let text = match text(content, "type") {
        "content" => {
            let block = &content["content"];
            match text(block, "type") {
                "text" => bounded(text(block, "text")),
                "image" => return Some(ContentBlock::Image(image(block))),
                "resource_link" => format!("[{}]({})", text(block, "name"), text(block, "uri")),
                _ => bounded(&block.to_string()),
            }
        }
        "diff" => return None,
        _ => bounded(&content.to_string()),
    };
    Some(ContentBlock::Text { text })
}

fn image(block: &Value) -> Image {
    let mut image = Image::default();
    "base64".clone_into(&mut image.source.kind);
    image.source.media_type = block["mimeType"].as_str().map(str::to_owned);
    image.source.data = block["data"].as_str().map(str::to_owned);
    image
}

/// The text in a raw output, in the members that agents use for it, or its JSON.
fn raw_text(output: &Value) -> String {
    let keys = ["output", "formatted_output", "aggregated_output", "stdout", "text", "content"];
    keys.iter().find_map(|key| output[*key].as_str()).map_or_else(|| output.to_string(), str::to_owned)
}
