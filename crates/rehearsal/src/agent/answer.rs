//! Answers of the model as frames: one `assistant` frame per block, and stream events around it.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::frames::Frame;
use super::model::Failure;
use super::session::Session;
use super::stop::Flow;
use super::surrogates::replace_lone_surrogates;
use super::tools::Call;
use super::turn::Stream;
use super::usage::Tokens;
use crate::script::{Block, Turn};

/// The end of the stream of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockEnd {
    Whole,
    /// The user interrupted it.
    Aborted,
}

impl Session {
    /// Sends an answer block by block; returns its tool calls.
    pub(super) fn send_answer(&mut self, conversation: &mut Conversation, turn: &Turn) -> Flow<Vec<Call>> {
        let pace = turn.pace.unwrap_or(self.script.pace);
        let blocks = turn.content();
        let contents: Vec<Value> = blocks.iter().map(|block| self.content(block)).collect();
        let asked = conversation.texts.iter().map(String::len).sum();
        let answered = contents.iter().map(|content| block_text(content).len()).sum();
        let mut stream = Stream {
            message_id: self.ids.message(),
            request_id: self.ids.request(),
            model: self.model.clone(),
            tokens: Tokens::of(turn.usage, asked, answered),
            left: turn.hold_after,
            ..Stream::default()
        };
        let main = conversation.agent.is_none();
        if main {
            self.with_turn(|turn| turn.stream = Some(stream.clone()));
        }
        self.pause(pace.delay_ms)?;
        self.replay()?;
        self.stream_start(conversation, &stream)?;
        let mut calls = Vec::new();
        let mut uuids = Vec::new();
        for (index, (block, content)) in blocks.iter().zip(&contents).enumerate() {
            stream.index = index;
            self.stream_block(conversation, &mut stream, content, pace)?;
            let uuid = self.assistant_frame(conversation, &stream, content, BlockEnd::Whole)?;
            uuids.push(uuid.clone());
            self.stream_event(conversation, &stream, json!({"type": "content_block_stop", "index": index}))?;
            if content["type"] == "tool_use" {
                calls.push(Call::new(content, block, uuid));
            }
        }
        let mut usage = stream.tokens.in_delta();
        let thought: usize = blocks.iter().filter_map(|block| block.thinking.as_deref()).map(str::len).sum();
        if thought > 0 {
            usage["output_tokens_details"] = json!({"thinking_tokens": thought / 4});
        }
        let delta = json!({"stop_reason": turn.stop_reason(), "stop_sequence": null});
        self.stream_event(
            conversation,
            &stream,
            json!({"type": "message_delta", "delta": delta, "usage": usage}),
        )?;
        self.stream_event(conversation, &stream, json!({"type": "message_stop"}))?;
        self.complete_answer(conversation, turn, &stream, &contents, &uuids)?;
        Ok(calls)
    }

    /// Completes an answer: counts it, records it and adds it to the conversation.
    fn complete_answer(
        &mut self,
        conversation: &mut Conversation,
        turn: &Turn,
        stream: &Stream,
        contents: &[Value],
        uuids: &[String],
    ) -> Flow {
        self.ledger.spend(&stream.model, stream.tokens);
        self.api_ms += 1;
        if conversation.agent.is_none() {
            self.context = stream.tokens;
            let last = contents.iter().rev().find(|content| content["type"] == "text");
            let last = last.and_then(|content| content["text"].as_str()).unwrap_or_default().to_owned();
            let reason = Value::from(turn.stop_reason());
            let tokens = stream.tokens;
            self.with_turn(|state| {
                state.stream = None;
                state.tokens.add(tokens);
                state.first_request.get_or_insert(tokens);
                state.stop_reason = reason;
                state.last_text = last;
            });
        }
        self.note_answer(conversation, turn, stream, contents, uuids)?;
        conversation.add(contents.iter().map(block_text).collect::<Vec<_>>().join("\n"));
        Ok(())
    }

    /// Sends one block to the host.
    pub(super) fn assistant_frame(
        &mut self,
        conversation: &Conversation,
        stream: &Stream,
        content: &Value,
        end: BlockEnd,
    ) -> Flow<String> {
        let message = json!({
            "model": stream.model, "id": stream.message_id, "type": "message", "role": "assistant", "content": [content],
            "stop_reason": null, "stop_sequence": null, "usage": stream.tokens.at_start(), "context_management": null,
        });
        let stamp = self.stamp();
        let thinking = content["type"] == "thinking";
        let frame = Frame::new("assistant")
            .with("message", message)
            .with("parent_tool_use_id", conversation.parent())
            .with("session_id", self.id.as_str())
            .with("uuid", self.ids.uuid())
            .with("timestamp", stamp)
            .with("request_id", stream.request_id.as_str())
            .maybe("thinking_duration_ms", thinking.then_some(1))
            .maybe("thinking_display", thinking.then_some("updates"))
            .maybe("tool_use_meta", self.tool_meta(content))
            .maybe("aborted", (end == BlockEnd::Aborted).then_some(true));
        let frame = match &conversation.agent {
            Some(agent) => {
                let shown = content["type"] == "tool_use"
                    || self.args.has("forward-subagent-text")
                    || (agent.background && content["type"] == "text");
                let frame = frame
                    .with("agent_id", agent.id.as_str())
                    .with("subagent_type", agent.kind.as_str())
                    .with("task_description", agent.description.as_str());
                if !shown {
                    return Ok(frame.get("uuid").and_then(Value::as_str).unwrap_or_default().to_owned());
                }
                frame
            }
            None => self.naming(frame),
        };
        self.emit(frame)
    }

    /// Sends the message of the CLI in the model's place when the API failed.
    pub(super) fn send_failure(&mut self, conversation: &mut Conversation, failure: &Failure) -> Flow {
        self.replay()?;
        let message = self.synthetic_message(&failure.text, "stop_sequence", Some(""));
        let stamp = self.stamp();
        let request_id = failure.status.map(|_| self.ids.request());
        let frame = Frame::new("assistant")
            .with("message", message.clone())
            .with("parent_tool_use_id", conversation.parent())
            .with("session_id", self.id.as_str())
            .with("uuid", self.ids.uuid())
            .with("timestamp", stamp)
            .with("error", failure.name)
            .maybe("request_id", request_id)
            .with("is_api_error_message", true)
            .maybe("api_error_status", failure.status)
            .maybe("api_error_type", failure.kind.as_deref());
        let frame = self.naming(frame);
        let uuid = self.emit(frame)?;
        self.with_turn(|turn| turn.stop_reason = json!("stop_sequence"));
        self.note_failure(conversation, &message, failure, &uuid)
    }

    /// A message that no model wrote.
    pub(super) fn synthetic_message(&mut self, text: &str, stop: &str, sequence: Option<&str>) -> Value {
        json!({
            "diagnostics": null, "id": self.ids.uuid(), "container": null, "model": "<synthetic>", "role": "assistant",
            "stop_details": null, "stop_reason": stop, "stop_sequence": sequence, "type": "message",
            "usage": {
                "output_tokens_details": null, "input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0, "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
                "service_tier": null, "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
                "inference_geo": null, "iterations": null, "speed": null, "fallback_credit": null,
            },
            "content": [{"type": "text", "text": text}], "context_management": null,
        })
    }

    /// Adds the ids of the answered messages to the first frame of an answer.
    pub(super) fn naming(&mut self, frame: Frame) -> Frame {
        match self.uuids_once() {
            Some((last, all)) => {
                self.with_turn(|turn| turn.named = true);
                frame.with("user_message_uuid", last).with("user_message_uuids", all)
            }
            None => frame,
        }
    }

    pub(super) fn content(&mut self, block: &Block) -> Value {
        if let Some(text) = &block.text {
            json!({"type": "text", "text": text})
        } else if let Some(raw) = &block.raw_text {
            let quoted = format!("\"{raw}\"");
            let text = serde_json::from_str::<String>(&replace_lone_surrogates(&quoted))
                .unwrap_or_else(|_| raw.clone());
            json!({"type": "text", "text": text})
        } else if let Some(thinking) = &block.thinking {
            json!({"type": "thinking", "thinking": thinking, "signature": block.signature.as_deref().unwrap_or("c2lnbmVk")})
        } else if let Some(data) = &block.redacted_thinking {
            json!({"type": "redacted_thinking", "data": data})
        } else if let Some(name) = &block.tool {
            let id = block.id.clone().unwrap_or_else(|| self.ids.tool());
            json!({"type": "tool_use", "id": id, "name": name, "input": block.input})
        } else {
            Value::Object(block.raw.clone().unwrap_or_default())
        }
    }
}

/// A block as text, for matching.
pub(super) fn block_text(content: &Value) -> String {
    match content["type"].as_str() {
        Some("text") => content["text"].as_str().unwrap_or_default().to_owned(),
        Some("tool_use") => format!("{} {}", content["name"].as_str().unwrap_or_default(), content["input"]),
        Some("thinking") => String::new(),
        _ => content.to_string(),
    }
}
