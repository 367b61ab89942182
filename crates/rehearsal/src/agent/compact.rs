//! `/compact`: replaces the conversation by its summary.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::frames::Frame;
use super::model::ModelAnswer;
use super::prompt::Prompt;
use super::result::Ending;
use super::session::Session;
use super::stop::Flow;
use super::usage::Tokens;
use crate::script::Turn;

/// Prompt for the summary.
const ASK: &str = "Write a summary of the conversation so far, from which a new session can proceed.";

impl Session {
    /// Requests a summary from the model and continues with it.
    pub(super) fn compact(
        &mut self,
        conversation: &mut Conversation,
        prompt: &Prompt,
        instructions: &str,
    ) -> Flow<Ending> {
        let started = self.now();
        let before = self.context.context();
        self.emit(Frame::system("status").with("status", "compacting"))?;
        let custom = if instructions.is_empty() { Value::Null } else { json!(instructions) };
        let input = json!({"trigger": "manual", "custom_instructions": custom});
        self.run_hooks("PreCompact", Some("manual"), None, None, &input)?;
        conversation.add(format!("{ASK} {instructions}"));
        let answer = self.ask_model(conversation)?;
        conversation.texts.pop();
        let turn = match answer {
            ModelAnswer::Turn(turn) => turn,
            ModelAnswer::Failed(failure) => {
                let frame =
                    Frame::system("status").with("status", Value::Null).with("compact_result", "failed");
                self.emit(frame.with("compact_error", failure.text.as_str()))?;
                self.emit_init()?;
                return Ok(Ending::local(&failure.text, Some("compact")));
            }
        };
        let summary = answer_text(&turn);
        let model = self.model.clone();
        let tokens = Tokens::of(turn.usage, conversation.texts.iter().map(String::len).sum(), summary.len());
        self.ledger.spend(&model, tokens);
        self.run_hooks(
            "SessionStart",
            Some("compact"),
            None,
            None,
            &json!({"source": "compact", "model": model}),
        )?;
        let input = json!({"trigger": "manual", "compact_summary": summary});
        self.run_hooks("PostCompact", Some("manual"), None, None, &input)?;
        self.emit(Frame::system("status").with("status", Value::Null).with("compact_result", "success"))?;
        self.emit_init()?;
        self.boundary(conversation, before, started)?;
        self.summary(conversation, &summary)?;
        self.replayed_text("<local-command-stdout>Compacted</local-command-stdout>")?;
        let uuid = prompt.uuid.clone().unwrap_or_else(|| self.ids.uuid());
        self.note_prompt(conversation, prompt, &uuid)?;
        Ok(Ending::local("", Some("compact")))
    }

    fn boundary(&mut self, conversation: &mut Conversation, before: u64, started: u64) -> Flow {
        let duration_ms = self.now().saturating_sub(started);
        let after = before / 4;
        let dropped = before - after;
        let wire = json!({
            "trigger": "manual", "pre_tokens": before, "post_tokens": after, "cumulative_dropped_tokens": dropped,
            "duration_ms": duration_ms,
        });
        let disk = json!({
            "trigger": "manual", "preTokens": before, "postTokens": after, "cumulativeDroppedTokens": dropped,
            "durationMs": duration_ms,
        });
        let logical = conversation.file.parent.clone();
        let frame = Frame::system("compact_boundary")
            .with("compact_metadata", wire)
            .with("logical_parent_uuid", logical);
        let uuid = self.emit(frame)?;
        self.note_boundary(conversation, disk, &uuid)
    }

    fn summary(&mut self, conversation: &mut Conversation, summary: &str) -> Flow {
        let summary =
            summary.split_once("<summary>").map_or(summary, |(_, rest)| rest.trim_end_matches("</summary>"));
        let text = format!(
            "This session is being continued from a previous conversation.\n\nSummary:\n{}",
            summary.trim()
        );
        let message = json!({"role": "user", "content": text});
        let stamp = self.stamp();
        let frame = Frame::new("user")
            .with("message", message.clone())
            .with("session_id", self.id.as_str())
            .with("parent_tool_use_id", Value::Null)
            .with("uuid", self.ids.uuid())
            .with("timestamp", stamp)
            .with("isReplay", false)
            .with("isSynthetic", true);
        let uuid = self.emit(frame)?;
        self.note_summary(conversation, &message, &uuid)?;
        conversation.texts.clear();
        conversation.add(text);
        Ok(())
    }
}

/// Text of an answer.
pub(super) fn answer_text(turn: &Turn) -> String {
    turn.content().iter().filter_map(|block| block.text.clone()).collect::<Vec<_>>().join("\n")
}
