//! Ends of turns, and the turns of a conversation that the agent replays.

use serde_json::Value;
use tidings_protocol::messages::{
    ApiStopReason, CliSessionState, Content, ContentBlock, Message, ResultDetails, ResultError,
    ResultMessage, ResultSubtype, SessionStateChangedFrame, SystemMessage, TerminalReason, UsageInfo,
    UserMessage,
};

use super::effect::Effect;
use super::frames::text;
use super::state::Adapter;
use super::turn::Turn;
use crate::rpc::RpcError;

/// The end of a turn.
enum TurnEnd {
    /// The agent has finished, for this reason.
    Finished(ApiStopReason, Option<Box<UsageInfo>>),
    /// The agent has used up its requests to the model.
    MaxTurns,
    /// The turn failed, for this reason.
    Failed(String),
    /// The user has interrupted it.
    Interrupted,
}

impl Adapter {
    /// The agent has answered a prompt, which ends its turn.
    pub(super) fn prompt_answered(&mut self, number: u64, result: Result<Value, RpcError>) {
        if self.turn.as_ref().is_none_or(|turn| turn.number != number) {
            // The turn was ended because the agent did not confirm that it stopped.
            return;
        }
        match result {
            Ok(answer) => match text(&answer, "stopReason") {
                "cancelled" => self.end_interrupted_turn(),
                "max_turn_requests" => self.end_turn(TurnEnd::MaxTurns),
                reason => self.end_turn(TurnEnd::Finished(reason.into(), usage(&answer["usage"]))),
            },
            Err(_) if self.turn.as_ref().is_some_and(|turn| turn.is_cancelled) => self.end_interrupted_turn(),
            Err(error) => self.end_turn_with_error(&error_text(&error)),
        }
    }

    pub(super) fn end_turn_with_error(&mut self, text: &str) {
        self.end_turn(TurnEnd::Failed(text.to_owned()));
    }

    pub(super) fn end_interrupted_turn(&mut self) {
        self.show_held_calls();
        self.close_message();
        let note = ContentBlock::Text { text: "[Request interrupted by user]".to_owned() };
        self.emit_numbered(Message::User(UserMessage::prompt(vec![note])));
        self.end_turn(TurnEnd::Interrupted);
    }

    fn end_turn(&mut self, end: TurnEnd) {
        self.show_held_calls();
        self.close_message();
        self.cancel_asks();
        self.allowances.clear();
        let Some(turn) = self.turn.take() else { return };
        let prompt = turn.prompt.clone();
        let state = match end {
            TurnEnd::Finished(..) | TurnEnd::MaxTurns | TurnEnd::Failed(_) => "completed",
            TurnEnd::Interrupted => "cancelled",
        };
        let result = self.result(turn, end);
        self.emit_numbered(Message::Result(result));
        self.lifecycle(prompt.as_deref(), state);
        if self.host_left {
            self.out.push(Effect::Exit(0));
            return;
        }
        let mut idle = SessionStateChangedFrame::default();
        idle.state = CliSessionState::IDLE;
        self.emit_system(SystemMessage::SessionStateChanged(idle));
        self.start_next_prompt();
    }

    /// The result of a turn.
    fn result(&mut self, turn: Turn, end: TurnEnd) -> ResultMessage {
        let duration_ms = Some((self.clock)().saturating_sub(turn.begun_ms));
        let (num_turns, total_cost_usd) = (Some(1), self.cost_usd);
        let mut details = ResultDetails::default();
        details.permission_denials = Some(turn.denials);
        details.user_message_uuids = Some(turn.prompt.into_iter().collect());
        let mut error = ResultError::default();
        (error.subtype, error.errors) = match end {
            TurnEnd::Finished(stop_reason, usage) => {
                details.is_error = Some(false);
                details.stop_reason = Some(stop_reason);
                // A success has a result, also if it is empty.
                details.extra.insert("result", &turn.result);
                return ResultMessage::Success {
                    result: turn.result,
                    duration_ms,
                    num_turns,
                    session_id: None,
                    total_cost_usd,
                    usage: usage.map(|usage| *usage),
                    details: Box::new(details),
                };
            }
            TurnEnd::MaxTurns => (ResultSubtype::ERROR_MAX_TURNS, Vec::new()),
            TurnEnd::Failed(why) => (ResultSubtype::ERROR_DURING_EXECUTION, vec![why]),
            TurnEnd::Interrupted => {
                details.terminal_reason = Some(TerminalReason::ABORTED_STREAMING);
                (ResultSubtype::ERROR_DURING_EXECUTION, vec!["The turn was interrupted".to_owned()])
            }
        };
        details.is_error = Some(true);
        (error.duration_ms, error.num_turns) = (duration_ms, num_turns);
        (error.total_cost_usd, error.details) = (total_cost_usd, details);
        ResultMessage::Failed(Box::new(error))
    }

    /// A prompt of an earlier run, which the agent replays.
    pub(super) fn replay_prompt(&mut self, text: &str) {
        if self.replayed_prompt.is_empty() {
            self.end_replayed_turn();
        }
        self.replayed_prompt.push_str(text);
    }

    /// Begins the turn of a replayed prompt, before its answer.
    pub(super) fn begin_replayed_turn(&mut self) {
        if self.turn.is_some() {
            return;
        }
        let prompt = std::mem::take(&mut self.replayed_prompt);
        if !prompt.is_empty() {
            self.emit_numbered(Message::User(UserMessage::prompt(Content::text(prompt))));
        }
        self.begin_turn(None);
    }

    /// Ends the turn of a replayed prompt.
    pub(super) fn end_replayed_turn(&mut self) {
        if self.turn.is_some() {
            self.end_turn(TurnEnd::Finished(ApiStopReason::END_TURN, None));
        }
    }
}

/// Tokens of a turn, if the agent counts them.
fn usage(counts: &Value) -> Option<Box<UsageInfo>> {
    let count = |key: &str| counts[key].as_u64();
    let mut usage = UsageInfo::new(count("inputTokens")?, count("outputTokens")?);
    usage.cache_read_input_tokens = Some(count("cachedReadTokens").unwrap_or_default());
    usage.cache_creation_input_tokens = Some(count("cachedWriteTokens").unwrap_or_default());
    Some(Box::new(usage))
}

/// An error of the agent, with its details if they are text.
pub(super) fn error_text(error: &RpcError) -> String {
    let details = error.data.as_ref().and_then(|data| {
        data.as_str()
            .or_else(|| data["details"].as_str())
            .or_else(|| data["message"].as_str())
            .map(str::to_owned)
    });
    match details {
        Some(details) if !error.message.contains(&details) => format!("{}: {details}", error.message),
        _ => error.message.clone(),
    }
}
