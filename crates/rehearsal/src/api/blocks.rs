//! The blocks of an answer in the format of the API.

use serde_json::Value;

use super::chunks;
use super::ids::ApiIds;
use super::json::{Object, json};
use crate::script::{Block, Table};

/// A block of an answer in the format of the API.
#[derive(Debug, Clone)]
pub(super) struct Rendered {
    /// `content_block` of `content_block_start`.
    pub(super) start: Object,
    /// The `delta` of each `content_block_delta`.
    pub(super) deltas: Vec<Object>,
    /// The block in a message that is not streamed.
    pub(super) whole: Object,
    /// Id of a tool call.
    pub(super) call_id: Option<String>,
}

/// Renders a block in the format of the API, split into deltas of `chars` characters.
pub(super) fn render(block: &Block, chars: usize, ids: &mut ApiIds) -> Rendered {
    if let Some(text) = &block.text {
        let deltas = chunks::plain(text, chars).into_iter().map(text_delta).collect();
        return text_block(json(text), deltas);
    }
    if let Some(text) = &block.raw_text {
        let quoted = |text: &str| format!("\"{text}\"");
        let delta = |text: &str| Object::typed("text_delta").with_json("text", quoted(text));
        return text_block(quoted(text), chunks::escaped(text, chars).into_iter().map(delta).collect());
    }
    if let Some(thinking) = &block.thinking {
        let signature = block.signature.clone().unwrap_or_else(|| ids.signature());
        return thought(thinking, &signature, chars);
    }
    if let Some(data) = &block.redacted_thinking {
        return at_once(Object::typed("redacted_thinking").with("data", data));
    }
    if let Some(name) = &block.tool {
        let id = block.id.clone().unwrap_or_else(|| ids.tool());
        let start = Object::typed("tool_use").with("id", &id).with("name", name);
        return call(start, &block.input, chars, Some(id));
    }
    raw(block.raw.as_ref().unwrap_or(&Table::new()), chars)
}

fn text_block(text: String, deltas: Vec<Object>) -> Rendered {
    let start = Object::typed("text").with("text", "");
    Rendered { whole: start.clone().with_json("text", text), start, deltas, call_id: None }
}

fn text_delta(text: &str) -> Object {
    Object::typed("text_delta").with("text", text)
}

fn thought(thinking: &str, signature: &str, chars: usize) -> Rendered {
    let start = Object::typed("thinking").with("thinking", "").with("signature", "");
    let pieces = chunks::plain(thinking, chars).into_iter();
    let mut deltas: Vec<_> =
        pieces.map(|text| Object::typed("thinking_delta").with("thinking", text)).collect();
    deltas.push(Object::typed("signature_delta").with("signature", signature));
    let whole = start.clone().with("thinking", thinking).with("signature", signature);
    Rendered { start, deltas, whole, call_id: None }
}

/// A tool call; the API starts its input with an empty delta.
fn call(block: Object, input: &Table, chars: usize, call_id: Option<String>) -> Rendered {
    let input = json(input);
    let pieces = [""].into_iter().chain(chunks::plain(&input, chars));
    let deltas = pieces.map(|text| Object::typed("input_json_delta").with("partial_json", text)).collect();
    let start = block.with_json("input", "{}".to_owned());
    Rendered { whole: start.clone().with_json("input", input), start, deltas, call_id }
}

fn at_once(block: Object) -> Rendered {
    Rendered { start: block.clone(), deltas: Vec::new(), whole: block, call_id: None }
}

/// A block of any other kind. Content that clients assemble from deltas is sent in deltas, since they discard
/// what is already in the start of the block.
fn raw(table: &Table, chars: usize) -> Rendered {
    let block = Object::from(table);
    let text = |key: &str| table.get(key).and_then(Value::as_str);
    match (text("type"), table.get("input"), text("text")) {
        (Some(kind), Some(Value::Object(input)), _) if kind.ends_with("tool_use") => {
            // Calls of the API's own tools run there, and are not checked.
            let id = text("id").filter(|_| kind == "tool_use");
            call(block, input, chars, id.map(str::to_owned))
        }
        (Some("text"), _, Some(text)) => {
            let citations = table.get("citations").and_then(Value::as_array);
            let mut start = block.clone().with("text", "");
            let mut deltas: Vec<_> = chunks::plain(text, chars).into_iter().map(text_delta).collect();
            if let Some(citations) = citations {
                start = start.with("citations", [(); 0]);
                let delta = |citation| Object::typed("citations_delta").with("citation", citation);
                deltas.splice(0..0, citations.iter().map(delta));
            }
            Rendered { start, deltas, whole: block, call_id: None }
        }
        _ => at_once(block),
    }
}
