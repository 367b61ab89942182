//! The Responses API and `generateContent`, as far as a turn of an agent needs them: texts and tool calls.

use serde_json::{Value, json};
use tidings_protocol::json::Raw;

use super::body::Step;
use super::chunks;
use super::ids::ApiIds;
use super::request::{ApiCall, items, string};
use crate::script::{Pace, Turn};

/// The API that a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ApiKind {
    /// The Messages API.
    #[default]
    Messages,
    /// The Responses API, which Codex uses.
    Responses,
    /// `generateContent` and `streamGenerateContent`, which Gemini uses.
    Gemini,
}

impl ApiKind {
    /// The API of a path that asks for an answer, and true if the path asks for a stream.
    pub(super) fn of(path: &str) -> Option<(Self, bool)> {
        match path {
            "/v1/messages" => Some((ApiKind::Messages, false)),
            "/v1/responses" => Some((ApiKind::Responses, false)),
            _ => {
                let call = path.strip_prefix("/v1beta/models/")?.split_once(':')?.1;
                match call {
                    "generateContent" => Some((ApiKind::Gemini, false)),
                    "streamGenerateContent" => Some((ApiKind::Gemini, true)),
                    _ => None,
                }
            }
        }
    }
}

/// Reads a request of the Responses API.
pub(super) fn read_responses(body: Raw<'_>) -> ApiCall {
    let mut call = ApiCall {
        kind: ApiKind::Responses,
        stream: body.get("stream").and_then(Raw::bool).unwrap_or_default(),
        ..ApiCall::default()
    };
    call.request.model = string(body, "model").unwrap_or_default();
    call.request.tools = items(body.get("tools")).filter_map(|tool| string(tool, "name")).collect();
    call.request.texts.extend(string(body, "instructions"));
    for item in items(body.get("input")) {
        let mut texts: Vec<String> =
            items(item.get("content")).filter_map(|part| string(part, "text")).collect();
        texts.extend(["output", "arguments"].iter().filter_map(|key| string(item, key)));
        call.request.last = texts.join("\n");
        call.request.texts.extend(texts);
    }
    call
}

/// Reads a request of `generateContent`.
pub(super) fn read_gemini(body: Raw<'_>, path: &str, stream: bool) -> ApiCall {
    let mut call = ApiCall { kind: ApiKind::Gemini, stream, ..ApiCall::default() };
    let model = path.strip_prefix("/v1beta/models/").and_then(|rest| rest.split_once(':'));
    call.request.model = model.map_or_else(String::new, |(model, _)| model.to_owned());
    let declared = items(body.get("tools")).flat_map(|tool| items(tool.get("functionDeclarations")));
    call.request.tools = declared.filter_map(|tool| string(tool, "name")).collect();
    if let Some(system) = body.get("systemInstruction") {
        call.request.texts.extend(items(system.get("parts")).filter_map(|part| string(part, "text")));
    }
    for content in items(body.get("contents")) {
        let mut texts = Vec::new();
        for part in items(content.get("parts")) {
            texts.extend(string(part, "text"));
            let nested = ["functionCall", "functionResponse"].iter().filter_map(|key| part.get(key));
            texts.extend(nested.map(|value| value.as_str().to_owned()));
        }
        call.request.last = texts.join("\n");
        call.request.texts.extend(texts);
    }
    call
}

/// The events of a response of the Responses API.
pub(super) fn responses_events(turn: &Turn, pace: Pace, call: &ApiCall, ids: &mut ApiIds) -> Vec<Step> {
    let id = ids.message();
    let mut steps = Vec::new();
    let mut number = 0;
    let mut push = |wait_ms, kind: &str, mut body: Value| {
        body["type"] = json!(kind);
        body["sequence_number"] = json!(number);
        number += 1;
        steps.push(Step { wait_ms, ..Step::now(format!("event: {kind}\ndata: {body}\n\n")) });
    };
    let response = |status: &str| json!({"id": id, "object": "response", "status": status, "model": call.request.model, "output": []});
    push(0, "response.created", json!({"response": response("in_progress")}));
    for (index, block) in turn.content().into_iter().enumerate() {
        let item = ids.message();
        if let Some(text) = &block.text {
            let message = |text: &str| {
                json!({
                    "type": "message", "id": item, "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": text, "annotations": []}],
                })
            };
            let begun = json!({"type": "message", "id": item, "role": "assistant", "status": "in_progress", "content": []});
            push(0, "response.output_item.added", json!({"output_index": index, "item": begun}));
            for delta in chunks::plain(text, pace.chunk_chars) {
                let body =
                    json!({"item_id": item, "output_index": index, "content_index": 0, "delta": delta});
                push(pace.chunk_delay_ms, "response.output_text.delta", body);
            }
            push(0, "response.output_item.done", json!({"output_index": index, "item": message(text)}));
        } else if let Some(tool) = &block.tool {
            let call_id = block.id.clone().unwrap_or_else(|| ids.tool());
            let arguments = Value::Object(block.input.clone()).to_string();
            let item = json!({
                "type": "function_call", "id": item, "call_id": call_id, "name": tool, "arguments": arguments,
                "status": "completed",
            });
            push(0, "response.output_item.added", json!({"output_index": index, "item": item}));
            push(0, "response.output_item.done", json!({"output_index": index, "item": item}));
        }
    }
    let mut done = response("completed");
    done["usage"] = json!({
        "input_tokens": call.chars / 4, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": call.chars / 4 + 10,
    });
    push(0, "response.completed", json!({"response": done}));
    steps
}

/// The events, or the one document, of a response of `generateContent`.
pub(super) fn gemini_steps(turn: &Turn, pace: Pace, call: &ApiCall) -> Vec<Step> {
    let mut parts: Vec<(u64, Value)> = Vec::new();
    for block in turn.content() {
        if let Some(text) = &block.text {
            let deltas = chunks::plain(text, pace.chunk_chars).into_iter();
            parts.extend(deltas.map(|delta| (pace.chunk_delay_ms, json!({"text": delta}))));
        } else if let Some(thought) = &block.thinking {
            parts.push((0, json!({"text": thought, "thought": true})));
        } else if let Some(tool) = &block.tool {
            parts.push((0, json!({"functionCall": {"name": tool, "args": block.input}})));
        }
    }
    let document = |parts: &[Value], is_last: bool| {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if is_last {
            candidate["finishReason"] = json!("STOP");
        }
        let input = call.chars / 4;
        json!({
            "candidates": [candidate], "modelVersion": call.request.model, "responseId": "rehearsed",
            "usageMetadata": {"promptTokenCount": input, "candidatesTokenCount": 10, "totalTokenCount": input + 10},
        })
    };
    if !call.stream {
        let all: Vec<Value> = parts.into_iter().map(|(_, part)| part).collect();
        return vec![Step::now(document(&all, true).to_string())];
    }
    let last = parts.len().saturating_sub(1);
    let step = |(at, (wait_ms, part)): (usize, (u64, Value))| {
        let text = format!("data: {}\r\n\r\n", document(&[part], at == last));
        Step { wait_ms, ..Step::now(text) }
    };
    parts.into_iter().enumerate().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    fn texts(steps: &[Step]) -> String {
        steps.iter().map(|step| String::from_utf8_lossy(&step.bytes).into_owned()).collect()
    }

    #[test]
    fn the_last_message_and_the_tools_of_each_api_are_found() {
        let body = r#"{"model":"m","stream":true,"instructions":"Be terse.","tools":[{"type":"function","name":"shell"}],
            "input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},
                     {"type":"function_call_output","call_id":"c","output":"done"}]}"#;
        let call = read_responses(Raw::parse(body).unwrap());
        assert_eq!((call.request.last.as_str(), call.stream), ("done", true));
        assert_eq!(call.request.tools, ["shell"]);
        assert_eq!(call.request.texts, ["Be terse.", "hi", "done"]);
        let body = r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],
            "tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}]}"#;
        let path = "/v1beta/models/g-1:streamGenerateContent";
        let (kind, stream) = ApiKind::of(path).unwrap();
        let call = read_gemini(Raw::parse(body).unwrap(), path, stream);
        assert_eq!((kind, call.request.model.as_str(), call.stream), (ApiKind::Gemini, "g-1", true));
        assert_eq!(call.request.tools, ["run_shell_command"]);
    }

    #[test]
    fn a_turn_is_the_same_in_each_api() {
        let script = "[[turn]]\n[[turn.block]]\ntext = \"Hello\"\n[[turn.block]]\ntool = \"shell\"\ninput = { command = \"ls\" }\n";
        let script = Script::parse(script).unwrap();
        let pace = Pace { chunk_chars: 3, ..Pace::default() };
        let call = ApiCall { stream: true, ..ApiCall::default() };
        let events = texts(&responses_events(&script.turns[0], pace, &call, &mut ApiIds::new(1)));
        assert!(events.contains(r#""delta":"Hel""#) && events.contains(r#""delta":"lo""#), "{events}");
        assert!(events.contains(r#""arguments":"{\"command\":\"ls\"}""#), "{events}");
        assert!(events.contains("event: response.completed"), "{events}");
        let events = texts(&gemini_steps(&script.turns[0], pace, &call));
        assert!(events.contains(r#"{"text":"Hel"}"#) && events.contains(r#""name":"shell""#), "{events}");
        assert_eq!(events.matches("finishReason").count(), 1);
    }
}
