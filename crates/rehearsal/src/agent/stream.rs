//! Events of a streamed answer, for hosts that request them.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::frames::Frame;
use super::session::Session;
use super::stop::Flow;
use super::turn::Stream;
use crate::script::Pace;

impl Session {
    /// Sends the start of an answer.
    pub(super) fn stream_start(&mut self, conversation: &Conversation, stream: &Stream) -> Flow {
        if !self.streams() || conversation.agent.is_some() {
            return Ok(());
        }
        let message = json!({
            "model": stream.model, "id": stream.message_id, "type": "message", "role": "assistant", "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": stream.tokens.at_start(),
        });
        let frame = self.event_frame(stream, json!({"type": "message_start", "message": message}));
        let frame = frame.with("ttft_ms", 1).with("thinking_display", "updates");
        let frame = match self.uuids_once() {
            Some((last, all)) => frame
                .with("user_message_uuid", last)
                .with("user_message_uuids", all)
                .with("owed_rows", json!([])),
            None => frame,
        };
        self.emit(frame).map(drop)
    }

    /// Sends the start of a block and its deltas, at the pace of the script.
    pub(super) fn stream_block(
        &mut self,
        conversation: &Conversation,
        stream: &mut Stream,
        content: &Value,
        pace: Pace,
    ) -> Flow {
        let (empty, mut deltas) = deltas(content, pace.chunk_chars);
        let thinking = content["type"] == "thinking";
        let shown = self.streams() && conversation.agent.is_none();
        let index = stream.index;
        let mark = |frame: Frame| if thinking { frame.with("thinking_display", "updates") } else { frame };
        if shown {
            let start = json!({"type": "content_block_start", "index": index, "content_block": empty});
            let frame = mark(self.event_frame(stream, start));
            self.emit(frame)?;
        }
        let mut thought = 0;
        stream.text.clear();
        stream.in_text = content["type"] == "text";
        for (number, delta) in deltas.drain(..).enumerate() {
            if number > 0 {
                self.pause(pace.chunk_delay_ms)?;
            }
            let text = delta["text"].as_str().unwrap_or_default().to_owned();
            stream.text.push_str(&text);
            if shown {
                if let Some(thinking) = delta["thinking"].as_str() {
                    let before = tokens(thought);
                    thought += thinking.chars().count();
                    let frame = Frame::system("thinking_tokens").with("estimated_tokens", tokens(thought));
                    self.emit(frame.with("estimated_tokens_delta", tokens(thought) - before))?;
                }
                let signed = delta["type"] == "signature_delta";
                let frame = self.event_frame(
                    stream,
                    json!({"type": "content_block_delta", "index": index, "delta": delta}),
                );
                self.emit(if signed { frame } else { mark(frame) })?;
            }
            if conversation.agent.is_none() {
                // Only the delta is copied: copying the whole text each time would take quadratic time.
                self.with_turn(|turn| match &mut turn.stream {
                    Some(shared) if number > 0 => shared.text.push_str(&text),
                    shared => *shared = Some(stream.clone()),
                });
            }
            stream.left = stream.left.map(|left| left.saturating_sub(1));
            if stream.left == Some(0) {
                // An interrupt leaves this loop, like every wait.
                while self.pump(None)? {}
            }
        }
        self.pause(0)
    }

    /// Sends one event of a stream, if the host requested them.
    pub(super) fn stream_event(
        &mut self,
        conversation: &Conversation,
        stream: &Stream,
        event: Value,
    ) -> Flow {
        if !self.streams() || conversation.agent.is_some() {
            return Ok(());
        }
        let frame = self.event_frame(stream, event);
        self.emit(frame).map(drop)
    }

    pub(super) fn event_frame(&mut self, stream: &Stream, event: Value) -> Frame {
        Frame::new("stream_event")
            .with("event", event)
            .with("session_id", self.id.as_str())
            .with("parent_tool_use_id", Value::Null)
            .with("uuid", self.ids.uuid())
            .with("api_message_id", stream.message_id.as_str())
    }

    /// Ends an incomplete stream: everything from block `from` on is void.
    pub(super) fn stream_abandoned(
        &mut self,
        conversation: &Conversation,
        stream: &Stream,
        from: usize,
    ) -> Flow {
        if !self.streams() || conversation.agent.is_some() {
            return Ok(());
        }
        let left = json!({"api_message_id": stream.message_id, "from_block_index": from});
        let frame = self.event_frame(stream, json!({"type": "message_stop"}));
        self.emit(frame.with("abandoned_blocks", left)).map(drop)
    }
}

/// Estimated number of tokens: four characters per token.
fn tokens(chars: usize) -> usize {
    (chars + 2) / 4
}

/// The start of a block, and the deltas that fill it.
fn deltas(content: &Value, chunk_chars: usize) -> (Value, Vec<Value>) {
    let mut empty = content.clone();
    let pieces = |text: &str, kind: &str, key: &str| -> Vec<Value> {
        chunks(text, chunk_chars).into_iter().map(|piece| json!({"type": kind, key: piece})).collect()
    };
    match content["type"].as_str() {
        Some("text") => {
            empty["text"] = json!("");
            (empty, pieces(content["text"].as_str().unwrap_or_default(), "text_delta", "text"))
        }
        Some("thinking") => {
            empty["thinking"] = json!("");
            empty["signature"] = json!("");
            let mut deltas =
                pieces(content["thinking"].as_str().unwrap_or_default(), "thinking_delta", "thinking");
            deltas.push(json!({"type": "signature_delta", "signature": content["signature"]}));
            (empty, deltas)
        }
        Some("tool_use" | "server_tool_use") => {
            empty["input"] = json!({});
            let mut deltas = vec![json!({"type": "input_json_delta", "partial_json": ""})];
            deltas.extend(pieces(&content["input"].to_string(), "input_json_delta", "partial_json"));
            (empty, deltas)
        }
        _ => (empty, Vec::new()),
    }
}

fn chunks(text: &str, chars: usize) -> Vec<String> {
    if chars == 0 || text.is_empty() {
        return vec![text.to_owned()];
    }
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(chars).map(|piece| piece.iter().collect()).collect()
}
