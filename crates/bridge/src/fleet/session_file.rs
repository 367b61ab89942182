//! A session file for Claude Code, written from the events of a session.

use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tidings_protocol::ui::UiMessage;

/// The result of a tool that was lost with its server.
const LOST: &str = "The server of this session was lost before the tool ended.";

/// Collects the messages of a conversation: prompts, texts, tool calls and their results.
#[derive(Debug, Default)]
pub(super) struct SessionFileWriter {
    messages: Vec<Value>,
    text: String,
    open_calls: Vec<String>,
}

impl SessionFileWriter {
    /// The id of the session file that continues a session: always the same for one session.
    pub(super) fn id_of(key: &str) -> String {
        let hash = Sha256::digest(format!("tidings-continue {key}"));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }

    pub(super) fn push(&mut self, event: &UiMessage) {
        match event {
            UiMessage::TextChunk { text, .. } => self.text.push_str(text),
            UiMessage::UserPrompt(prompt) => {
                self.end_calls();
                self.messages.push(user(&json!(prompt.text)));
            }
            UiMessage::ToolExecuting { tool_use_id, tool_name, input, .. } => {
                self.end_text();
                let call = json!({"type": "tool_use", "id": tool_use_id, "name": tool_name, "input": input});
                self.messages.push(assistant(&call));
                self.open_calls.push(tool_use_id.clone());
            }
            UiMessage::ToolCompleted { tool_use_id, result, .. } => self.end_call(tool_use_id, result, false),
            UiMessage::Retracted(retracted) => {
                if let Some(rest) = self.text.strip_suffix(&retracted.text) {
                    self.text.truncate(rest.len());
                }
            }
            UiMessage::TextEnded(_) | UiMessage::Complete { .. } => self.end_text(),
            _ => {}
        }
    }

    /// The file, with one entry per line.
    pub(super) fn finish(
        mut self,
        (cwd, id, model): (&str, &str, &str),
        now: Timestamp,
        mut next_id: impl FnMut() -> String,
    ) -> String {
        self.end_calls();
        let mut file = String::new();
        let mut parent = Value::Null;
        for mut message in self.messages {
            let uuid = next_id();
            if message["role"] == "assistant" {
                message["id"] = json!(format!("msg_{uuid}"));
                message["model"] = json!(model);
            }
            let entry = json!({
                "parentUuid": parent,
                "isSidechain": false,
                "type": message["role"],
                "uuid": uuid,
                "userType": "external",
                "entrypoint": "sdk-cli",
                "cwd": cwd,
                "sessionId": id,
                "gitBranch": "",
                "version": env!("CARGO_PKG_VERSION"),
                "timestamp": now.to_string(),
                "message": message,
            });
            file.push_str(&entry.to_string());
            file.push('\n');
            parent = Value::String(uuid);
        }
        file
    }

    fn end_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !text.trim().is_empty() {
            self.messages.push(assistant(&json!({"type": "text", "text": text})));
        }
    }

    fn end_call(&mut self, id: &str, result: &str, is_error: bool) {
        self.end_text();
        let Some(at) = self.open_calls.iter().position(|open| open == id) else { return };
        self.open_calls.remove(at);
        let result =
            json!({"type": "tool_result", "tool_use_id": id, "content": result, "is_error": is_error});
        self.messages.push(user(&json!([result])));
    }

    /// Ends the calls without a result: the API accepts no call without one.
    fn end_calls(&mut self) {
        self.end_text();
        for id in self.open_calls.clone() {
            self.end_call(&id, LOST, true);
        }
    }
}

fn user(content: &Value) -> Value {
    json!({"role": "user", "content": content})
}

fn assistant(block: &Value) -> Value {
    json!({
        "type": "message", "role": "assistant", "content": [block], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_written_with_a_result_for_every_call() {
        let mut writer = SessionFileWriter::default();
        let events = [
            json!({"UserPrompt": {"session_id": 1, "text": "look"}}),
            json!({"TextChunk": {"session_id": 1, "turn_id": "a1", "text": "I "}}),
            json!({"TextChunk": {"session_id": 1, "turn_id": "a1", "text": "look."}}),
            json!({"ToolExecuting": {"session_id": 1, "tool_use_id": "a", "tool_name": "Bash", "input": {"command": "ls"}}}),
            json!({"ToolCompleted": {"session_id": 1, "tool_use_id": "a", "result": "x"}}),
            json!({"ToolExecuting": {"session_id": 1, "tool_use_id": "b", "tool_name": "Bash", "input": {}}}),
        ];
        for event in events {
            writer.push(&serde_json::from_value(event).unwrap());
        }
        let mut number = 0;
        let file = writer.finish(("/p", "id", "claude"), Timestamp::UNIX_EPOCH, || {
            number += 1;
            number.to_string()
        });
        let entries: Vec<Value> = file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let kinds: Vec<&str> = entries.iter().map(|entry| entry["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["user", "assistant", "assistant", "user", "assistant", "user"]);
        assert_eq!(entries[1]["message"]["content"][0]["text"], "I look.");
        assert_eq!(entries[5]["message"]["content"][0]["content"], LOST);
        assert_eq!(entries[5]["parentUuid"], entries[4]["uuid"]);
        assert_eq!(SessionFileWriter::id_of("k"), SessionFileWriter::id_of("k"));
    }
}
