//! Interrupts of a turn by the host.

use serde_json::{Value, json};

use super::answer::BlockEnd;
use super::conversation::Conversation;
use super::result::Ending;
use super::session::Session;
use super::stop::{Flow, Stop};
use super::tools::Outcome;
use super::turn::{TurnPhase, UserText};

/// Result of a call that was stopped.
const REJECTED: &str =
    "The user does not want to proceed with this tool use. Stop, and wait to be told how to go on.";

impl Session {
    /// `interrupt`: withdraws open requests, writes the receipt, and ends the turn.
    pub(super) fn interrupt(&mut self, id: Option<&Value>, request: &Value) -> Flow {
        for open in std::mem::take(&mut self.open) {
            self.cancel(&open)?;
        }
        let waiting: Vec<String> = self.queue.iter().filter_map(|prompt| prompt.uuid.clone()).collect();
        let receipt = if request.get("cancel_queued") == Some(&Value::Bool(true)) {
            self.queue.clear();
            json!({"still_queued": [], "cancelled": waiting})
        } else {
            json!({"still_queued": waiting})
        };
        let cancelled = receipt.get("cancelled").and_then(Value::as_array).cloned().unwrap_or_default();
        self.answer(id, Some(receipt))?;
        for uuid in cancelled.iter().filter_map(Value::as_str) {
            self.lifecycle(uuid, "cancelled")?;
        }
        if self.turn.is_some() { Err(Stop::Interrupted) } else { Ok(()) }
    }

    /// Sends the frames that end an interrupted turn.
    pub(super) fn interrupted(&mut self, conversation: &mut Conversation) -> Flow {
        let (stream, calls, phase, preempted) = self
            .turn
            .as_mut()
            .map(|turn| (turn.stream.take(), std::mem::take(&mut turn.calls), turn.phase, turn.preempted))
            .unwrap_or_default();
        if phase == TurnPhase::Model {
            if let Some(stream) = stream {
                let content = json!({"type": "text", "text": stream.text});
                let begun = stream.in_text && !stream.text.is_empty();
                if begun {
                    self.ledger.spend(&stream.model, stream.tokens.cut_off(&stream.text));
                    let uuid = self.assistant_frame(conversation, &stream, &content, BlockEnd::Aborted)?;
                    self.note_aborted(conversation, &stream, &content, &uuid)?;
                    conversation.add(stream.text.as_str());
                }
                if !preempted {
                    self.user_text(conversation, "[Request interrupted by user]", UserText::Plain)?;
                }
                if begun {
                    self.close_stream(conversation, &stream)?;
                }
            } else if !preempted {
                self.user_text(conversation, "[Request interrupted by user]", UserText::Plain)?;
            }
            return self.aborted("aborted_streaming");
        }
        for call in calls {
            let meta = json!({"id": call.id, "non_execution_kind": "user-rejected"});
            let mut outcome = Outcome::error(REJECTED).with_meta(meta);
            outcome.output = json!("User rejected tool use");
            if call.asked {
                self.deny(&call.id, &call.name, &call.input);
            }
            self.tool_result(conversation, &call.id, &call.assistant_uuid, &outcome)?;
        }
        self.user_text(conversation, "[Request interrupted by user for tool use]", UserText::Plain)?;
        self.aborted("aborted_tools")
    }

    fn aborted(&mut self, terminal: &'static str) -> Flow {
        let reason = self.turn.as_ref().map(|turn| turn.stop_reason.clone()).unwrap_or_default();
        let reason = reason.as_str().unwrap_or("null");
        let text = format!("[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={reason}");
        self.result(Ending::error("error_during_execution", terminal, &text))?;
        if self.leaving {
            // An interrupt by signal also ends the process, with success.
            self.exit_code = 0;
        }
        Ok(())
    }

    /// Sends the events that a host needs to close an incomplete stream.
    fn close_stream(&mut self, conversation: &Conversation, stream: &super::turn::Stream) -> Flow {
        self.stream_event(
            conversation,
            stream,
            json!({"type": "content_block_stop", "index": stream.index}),
        )?;
        let delta =
            json!({"container": null, "stop_details": null, "stop_reason": null, "stop_sequence": null});
        let mut usage = stream.tokens.in_delta();
        usage["output_tokens_details"] = json!({"thinking_tokens": 0});
        usage["iterations"] = json!([]);
        usage["server_tool_use"] = json!({"web_search_requests": 0, "web_fetch_requests": 0});
        usage["fallback_credit"] = Value::Null;
        let end =
            json!({"type": "message_delta", "context_management": null, "delta": delta, "usage": usage});
        self.stream_event(conversation, stream, end)?;
        self.stream_abandoned(conversation, stream, stream.index + 1)
    }
}
