//! A request to the API, as far as the stand-in uses it.

use tidings_protocol::json::Raw;

use super::log::MessageShape;
use super::other_apis::ApiKind;
use super::safeguards;
use crate::input_schema;
use crate::player::Request;

/// A request to the API, as far as the stand-in uses it.
///
/// A request is refused by itself only if the API would refuse it whatever the model: for a tool whose input
/// is not an object. A script that wants another request to fail defines an error.
#[derive(Debug, Default)]
pub(super) struct ApiCall {
    pub(super) request: Request,
    pub(super) kind: ApiKind,
    pub(super) stream: bool,
    /// True if the request asks for a check of the answer's tool calls, as the CLI does in auto mode.
    pub(super) checks_tools: bool,
    pub(super) max_tokens: Option<u64>,
    pub(super) messages: Vec<MessageShape>,
    /// Number of characters in the whole input of the model.
    pub(super) chars: usize,
    /// The API's error message, if it would refuse the request.
    pub(super) refusal: Option<String>,
}

impl ApiCall {
    /// Reads a request's body.
    pub(super) fn read(body: Raw<'_>) -> Self {
        let mut call = ApiCall {
            stream: body.get("stream").and_then(Raw::bool).unwrap_or_default(),
            checks_tools: safeguards::are_requested(body),
            max_tokens: body.get("max_tokens").and_then(Raw::u64),
            ..ApiCall::default()
        };
        call.request.model = string(body, "model").unwrap_or_default();
        let tools = body.get("tools");
        call.request.tools = items(tools).filter_map(|tool| string(tool, "name")).collect();
        call.refusal = input_schema::refusal_of_tools(items(tools));
        call.chars = tools.map_or(0, |tools| tools.as_str().len());
        if let Some(system) = body.get("system") {
            call.request.texts.extend(content(system));
        }
        for message in items(body.get("messages")) {
            call.add(message);
        }
        call.chars += call.request.texts.iter().map(|text| text.chars().count()).sum::<usize>();
        call
    }

    /// True if the CLI only checks that the API is available: a request for one token without tools.
    pub(super) fn is_probe(&self) -> bool {
        self.kind == ApiKind::Messages
            && self.max_tokens.is_some_and(|max| max <= 1)
            && self.request.tools.is_empty()
    }

    fn add(&mut self, message: Raw<'_>) {
        let role = string(message, "role").unwrap_or_default();
        let body = message.get("content");
        let blocks = match body {
            Some(body) if body.is_array() => {
                items(Some(body)).filter_map(|block| string(block, "type")).collect()
            }
            Some(_) => vec!["string".to_owned()],
            None => Vec::new(),
        };
        let texts = body.map(content).unwrap_or_default();
        if role == "user" {
            self.request.last = texts.join("\n");
        }
        self.request.texts.extend(texts);
        self.messages.push(MessageShape { role, blocks });
    }
}

/// Texts of a content: a string, or a list of blocks.
fn content(content: Raw<'_>) -> Vec<String> {
    match content.text() {
        Some(text) => vec![text.get().into_owned()],
        None => items(Some(content)).flat_map(block).collect(),
    }
}

/// Texts of a block. The text of a tool call is its input as JSON; those of a tool result are in its content.
fn block(block: Raw<'_>) -> Vec<String> {
    let mut texts: Vec<_> = ["text", "thinking"].iter().filter_map(|key| string(block, key)).collect();
    texts.extend(block.get("input").map(|input| input.as_str().to_owned()));
    texts.extend(block.get("content").map(content).unwrap_or_default());
    texts
}

pub(super) fn items(list: Option<Raw<'_>>) -> impl Iterator<Item = Raw<'_>> {
    list.filter(|list| list.is_array()).into_iter().flat_map(Raw::items)
}

pub(super) fn string(object: Raw<'_>, key: &str) -> Option<String> {
    object.get(key).and_then(Raw::text).map(|text| text.get().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_all_kinds_are_found_and_half_a_character_costs_nothing() {
        let body = r#"{
            "model": "claude-x", "max_tokens": 64, "stream": true,
            "system": [{"type": "text", "text": "You are terse."}],
            "tools": [{"name": "Bash"}, {"type": "web_search", "name": "web_search"}],
            "messages": [
                {"role": "user", "content": "run \ud83d it"},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "x"},
                    {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a.txt"}]},
                    {"type": "tool_result", "tool_use_id": "u", "content": "b.txt"},
                    {"type": "text", "text": "go on"}
                ]}
            ]
        }"#;
        let call = ApiCall::read(Raw::parse(body).unwrap());
        let texts =
            ["You are terse.", "run \u{fffd} it", "hm", r#"{"command": "ls"}"#, "a.txt", "b.txt", "go on"];
        assert_eq!(call.request.texts, texts);
        assert_eq!(call.request.last, "a.txt\nb.txt\ngo on");
        assert_eq!(call.request.tools, ["Bash", "web_search"]);
        assert_eq!(call.messages[2].blocks, ["tool_result", "tool_result", "text"]);
        assert_eq!(call.messages[0].blocks, ["string"]);
        assert!(call.stream && !call.is_probe());
    }

    #[test]
    fn a_probe_wants_no_words_and_offers_no_tools() {
        let is_probe = |body: &str| ApiCall::read(Raw::parse(body).unwrap()).is_probe();
        assert!(is_probe(r#"{"max_tokens":1}"#));
        assert!(!is_probe(r#"{"max_tokens":1,"tools":[{"name":"Bash"}]}"#));
        assert!(!is_probe(r#"{"max_tokens":2}"#));
        assert!(!is_probe("{}"));
    }
}
