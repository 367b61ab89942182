//! Prompts of the host, as the agent gets them.

use serde_json::{Value, json};

use super::frames::text;
use super::state::{Adapter, OutgoingCall, Phase};
use super::turn::Turn;
use crate::limits::PROMPTS_MAX;

/// A prompt that waits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Prompt {
    pub(super) uuid: Option<String>,
    content: Value,
}

impl Adapter {
    pub(super) fn queue_prompt(&mut self, message: &Value) {
        let uuid = message["uuid"].as_str().map(str::to_owned);
        if self.queue.len() >= PROMPTS_MAX {
            self.lifecycle(uuid.as_deref(), "refused");
            return;
        }
        self.lifecycle(uuid.as_deref(), "queued");
        self.queue.push_back(Prompt { uuid, content: message["message"]["content"].clone() });
        self.start_next_prompt();
    }

    pub(super) fn start_next_prompt(&mut self) {
        if self.phase != Phase::Ready || self.turn.is_some() {
            return;
        }
        let Some(prompt) = self.queue.pop_front() else { return };
        self.lifecycle(prompt.uuid.as_deref(), "started");
        let blocks = self.blocks(&prompt.content);
        self.begin_turn(prompt.uuid);
        let number = self.turn.as_ref().map_or(0, |turn: &Turn| turn.number);
        let params = json!({"sessionId": self.session, "prompt": blocks});
        self.call("session/prompt", &params, OutgoingCall::Prompt(number));
    }

    /// Reports the state of a prompt.
    pub(super) fn lifecycle(&mut self, uuid: Option<&str>, state: &str) {
        if let Some(uuid) = uuid {
            self.emit(json!({"type": "command_lifecycle", "command_uuid": uuid, "state": state}));
        }
    }

    /// The content of a prompt in the protocol's blocks.
    fn blocks(&mut self, content: &Value) -> Vec<Value> {
        let Some(blocks) = content.as_array() else {
            return vec![text_block(content.as_str().unwrap_or_default())];
        };
        blocks.iter().map(|block| self.block(block)).collect()
    }

    fn block(&mut self, block: &Value) -> Value {
        let source = &block["source"];
        let (kind, data) = (text(source, "media_type"), text(source, "data"));
        let title = block["title"].as_str().unwrap_or("attachment");
        let uri = format!("attachment:///{}", title.replace(['/', ' '], "_"));
        let takes_resources = self.is_capable("promptCapabilities/embeddedContext");
        match text(block, "type") {
            "text" => text_block(text(block, "text")),
            "image" if self.is_capable("promptCapabilities/image") => {
                json!({"type": "image", "mimeType": kind, "data": data})
            }
            "document" if text(source, "type") == "text" && takes_resources => {
                json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": data}})
            }
            "document" if text(source, "type") == "text" => {
                text_block(&format!("<context ref=\"{title}\">\n{data}\n</context>"))
            }
            "document" if takes_resources => {
                json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "blob": data}})
            }
            other => {
                let note = format!("This agent does not take attachments of the kind `{other}` ({kind})");
                self.inform(&note);
                text_block(&format!("[An attachment of the kind {other} ({kind}) was left out]"))
            }
        }
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
