//! Recovery from answers that are cut off.

use serde_json::{Value, json};

use super::answer::BlockEnd;
use super::conversation::Conversation;
use super::frames::Frame;
use super::model::Failure;
use super::result::Ending;
use super::session::Session;
use super::stop::Flow;
use super::turn::{Stream, UserText};
use super::usage::Tokens;
use crate::script::Turn;

/// Maximum number of continuations after the output limit.
const RESUMPTIONS_MAX: usize = 3;

/// Message for the model after the output limit.
const LIMIT_HIT: &str = "Output token limit hit. Go on where you stopped, in smaller pieces.";

/// Message for the model after a broken stream.
const CUT_OFF: &str =
    "Your response above was cut off. Go on where it stops, or answer anew if nothing is left of it.";

/// Continuation after an answer that was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resume {
    /// Complete blocks are kept, and the model receives a message.
    Continue,
    /// No block was complete, and the request is repeated.
    Retry,
}

impl Session {
    /// Sends an answer with a broken stream: `error_event` after its blocks, `cut_after` inside the last one.
    pub(super) fn send_broken_answer(
        &mut self,
        conversation: &mut Conversation,
        turn: &Turn,
    ) -> Flow<Resume> {
        let pace = turn.pace.unwrap_or(self.script.pace);
        let contents: Vec<Value> = turn.content().iter().map(|block| self.content(block)).collect();
        let whole = if turn.cut_after.is_some() { contents.len().saturating_sub(1) } else { contents.len() };
        let asked = conversation.texts.iter().map(String::len).sum();
        let mut tokens = Tokens::of(turn.usage, asked, 0);
        tokens.output = tokens.output.min(3);
        let mut stream = Stream {
            message_id: self.ids.message(),
            request_id: self.ids.request(),
            model: self.model.clone(),
            tokens,
            ..Stream::default()
        };
        self.replay()?;
        self.stream_start(conversation, &stream)?;
        for (index, content) in contents.iter().enumerate() {
            stream.index = index;
            self.stream_block(conversation, &mut stream, content, pace)?;
            if index < whole {
                let uuid = self.assistant_frame(conversation, &stream, content, BlockEnd::Whole)?;
                self.note_aborted(conversation, &stream, content, &uuid)?;
                conversation.add(super::answer::block_text(content));
            }
            self.stream_event(conversation, &stream, json!({"type": "content_block_stop", "index": index}))?;
        }
        self.stream_abandoned(conversation, &stream, whole)?;
        let model = self.model.clone();
        self.ledger.spend(&model, tokens);
        self.with_turn(|turn| {
            turn.stream = None;
            turn.tokens.add(tokens);
        });
        if whole > 0 {
            self.user_text(conversation, CUT_OFF, UserText::Synthetic)?;
            return Ok(Resume::Continue);
        }
        self.emit_retry(conversation, &Failure::dropped(), 1, None)?;
        Ok(Resume::Retry)
    }

    /// Continues after the output limit, at most three times.
    pub(super) fn resume_after_limit(
        &mut self,
        conversation: &mut Conversation,
        times: usize,
    ) -> Flow<Option<Ending>> {
        if times < RESUMPTIONS_MAX {
            self.user_text(conversation, LIMIT_HIT, UserText::Synthetic)?;
            return Ok(None);
        }
        let text = "API Error: the response exceeded the output token maximum.";
        let message = self.synthetic_message(text, "stop_sequence", Some(""));
        let stamp = self.stamp();
        let frame = Frame::new("assistant")
            .with("message", message.clone())
            .with("parent_tool_use_id", conversation.parent())
            .with("session_id", self.id.as_str())
            .with("uuid", self.ids.uuid())
            .with("timestamp", stamp)
            .with("error", "max_output_tokens")
            .with("is_api_error_message", true)
            .with("api_error", "max_output_tokens")
            .with("api_error_params", json!({"cut": "output_limit"}));
        let uuid = self.emit(frame)?;
        let failure = Failure { status: None, kind: None, name: "max_output_tokens", text: text.to_owned() };
        self.note_failure(conversation, &message, &failure, &uuid)?;
        self.with_turn(|turn| turn.stop_reason = json!("stop_sequence"));
        Ok(Some(Ending::api_error(&failure).with("api_error", json!("max_output_tokens"))))
    }
}

/// True if the stream of this answer breaks.
pub(super) fn has_broken_stream(turn: &Turn) -> bool {
    turn.error_event.is_some() || turn.cut_after.is_some()
}
