//! One turn: from the prompts of the host to the result.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::frames::Frame;
use super::model::{Failure, ModelAnswer};
use super::prompt::Prompt;
use super::recover::{Resume, has_broken_stream};
use super::result::Ending;
use super::session::Session;
use super::stop::{Flow, Stop};
use super::tools::{AfterTools, OpenCall};
use super::usage::Tokens;

/// State of a turn.
#[derive(Debug, Default)]
pub(super) struct TurnState {
    /// Ids that the host gave to the messages of this turn.
    pub(super) uuids: Vec<String>,
    /// Ids of messages that joined later.
    pub(super) absorbed: Vec<String>,
    pub(super) prompt_id: String,
    pub(super) origin: Option<Value>,
    /// Echoes of the host's messages.
    pub(super) replays: Vec<Frame>,
    pub(super) started_ms: u64,
    /// Number of requests to the model and of tool results, as the CLI counts turns.
    pub(super) rounds: usize,
    pub(super) tokens: Tokens,
    pub(super) denials: Vec<Value>,
    pub(super) stop_reason: Value,
    pub(super) last_text: String,
    pub(super) structured: Option<Value>,
    /// Errors of structured outputs that did not match the schema.
    pub(super) misfits: Vec<String>,
    /// True if a frame has named the messages that it answers.
    pub(super) named: bool,
    /// The current stream.
    pub(super) stream: Option<Stream>,
    /// Calls without a result.
    pub(super) calls: Vec<OpenCall>,
    pub(super) phase: TurnPhase,
    /// True if a more urgent message ended the turn.
    pub(super) preempted: bool,
    pub(super) stop_hook_active: bool,
    pub(super) first_request: Option<Tokens>,
}

/// Phase of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum TurnPhase {
    #[default]
    Model,
    Tools,
}

/// An answer that is being streamed.
#[derive(Debug, Clone, Default)]
pub(super) struct Stream {
    pub(super) message_id: String,
    pub(super) request_id: String,
    pub(super) model: String,
    pub(super) index: usize,
    pub(super) text: String,
    pub(super) tokens: Tokens,
    /// True if a text block is open.
    pub(super) in_text: bool,
    /// Deltas until the answer is held, see `Turn::hold_after`.
    pub(super) left: Option<usize>,
}

/// A text that the CLI adds to the conversation in the user's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UserText {
    Plain,
    /// Marked as `isSynthetic`.
    Synthetic,
}

impl Session {
    /// Answers the messages.
    pub(super) fn run_turn(&mut self, prompts: &[Prompt]) -> Flow {
        let uuids: Vec<String> = prompts.iter().filter_map(|prompt| prompt.uuid.clone()).collect();
        self.emit_state("running")?;
        for uuid in &uuids {
            self.lifecycle(uuid, "started")?;
        }
        self.turns += 1;
        self.turn = Some(TurnState {
            prompt_id: self.ids.uuid(),
            origin: prompts[0].origin.clone(),
            started_ms: self.now(),
            uuids: uuids.clone(),
            ..TurnState::default()
        });
        let mut conversation = std::mem::take(&mut self.conversation);
        let played = self.play_turn(&mut conversation, prompts);
        let finished = match played {
            Ok(ending) => {
                let absorbed = self.turn.as_ref().map(|turn| turn.absorbed.clone()).unwrap_or_default();
                let told = absorbed.iter().try_for_each(|uuid| self.lifecycle(uuid, "completed"));
                told.and_then(|()| self.result(ending)).map(|()| "completed")
            }
            Err(Stop::Interrupted) => self.interrupted(&mut conversation).map(|()| "cancelled"),
            Err(stop) => Err(stop),
        };
        self.conversation = conversation;
        self.turn = None;
        let state = finished?;
        if self.queue.is_empty() {
            self.emit_state("idle")?;
        }
        for uuid in &uuids {
            self.lifecycle(uuid, state)?;
        }
        Ok(())
    }

    fn play_turn(&mut self, conversation: &mut Conversation, prompts: &[Prompt]) -> Flow<Ending> {
        if let Some((name, arguments)) = prompts[0].command()
            && let Some(ending) = self.slash(conversation, &prompts[0], name, arguments)?
        {
            return Ok(ending);
        }
        let text = prompts.iter().map(|prompt| prompt.text.as_str()).collect::<Vec<_>>().join("\n");
        let verdict = self.run_hooks("UserPromptSubmit", None, None, None, &json!({"prompt": text}))?;
        self.emit_init()?;
        if let Some((kind, kept, reason)) = verdict.refuses_prompt() {
            return self.refused_prompt(kind, kept, &reason, &text);
        }
        let uuids: Vec<String> =
            prompts.iter().map(|prompt| prompt.uuid.clone().unwrap_or_else(|| self.ids.uuid())).collect();
        self.prepare_replay(prompts, &uuids);
        for (prompt, uuid) in prompts.iter().zip(&uuids) {
            self.note_prompt(conversation, prompt, uuid)?;
            conversation.add(prompt.text.as_str());
        }
        if prompts[0].silent {
            self.replay()?;
            return Ok(Ending::local("", None));
        }
        for context in &verdict.context {
            conversation.add(format!("UserPromptSubmit hook additional context: {context}"));
        }
        if self.over_budget() {
            return Ok(self.budget_ending());
        }
        self.converse(conversation)
    }

    /// Requests answers of the model and runs its tools until it stops.
    fn converse(&mut self, conversation: &mut Conversation) -> Flow<Ending> {
        let rounds_max = self.args.get("max-turns").and_then(|max| max.parse::<usize>().ok());
        let (mut requests, mut resumptions) = (0, 0);
        let mut again = false;
        self.count_round();
        loop {
            if self.streams() && !std::mem::take(&mut again) {
                let uuids = self.uuids_once().map(|(_, all)| all);
                let status = Frame::system("status").with("status", "requesting");
                self.emit(status.maybe("user_message_uuids", uuids))?;
            }
            requests += 1;
            let turn = match self.ask_model(conversation)? {
                ModelAnswer::Turn(turn) => turn,
                ModelAnswer::Failed(failure) => return self.api_failed(conversation, &failure),
            };
            if has_broken_stream(&turn) {
                again = self.send_broken_answer(conversation, &turn)? == Resume::Retry;
                continue;
            }
            let calls = self.send_answer(conversation, &turn)?;
            if self.over_budget() {
                return Ok(self.budget_ending());
            }
            let after = self.run_calls(conversation, calls)?;
            self.emit_scripted(&turn.after)?;
            match after {
                AfterTools::Nothing if turn.stop_reason() == "max_tokens" => {
                    if let Some(ending) = self.resume_after_limit(conversation, resumptions)? {
                        return Ok(ending);
                    }
                    resumptions += 1;
                    continue;
                }
                AfterTools::Nothing => match self.may_stop(conversation)? {
                    Some(ending) => return Ok(ending),
                    None => continue,
                },
                AfterTools::Deferred(call) => return Ok(Ending::deferred(call)),
                AfterTools::Stopped => return Ok(Ending::hook_stopped()),
                AfterTools::Structured(value) => {
                    self.with_turn(|turn| turn.structured = Some(value.clone()));
                    return Ok(Ending::completed(value.to_string()));
                }
                AfterTools::Continue => self.absorb(conversation)?,
            }
            let misfits = self.turn.as_ref().map(|turn| turn.misfits.as_slice()).unwrap_or_default();
            if let [.., last] = misfits
                && misfits.len() >= super::schema::ATTEMPTS_MAX
            {
                let text = format!(
                    "Failed to provide valid structured output after {} attempts — last StructuredOutput error: {last}",
                    misfits.len()
                );
                let (subtype, terminal) =
                    ("error_max_structured_output_retries", "structured_output_retry_exhausted");
                return Ok(Ending::error(subtype, terminal, &text));
            }
            if rounds_max.is_some_and(|max| requests >= max) {
                let text = format!("Reached maximum number of turns ({requests})");
                return Ok(Ending::error("error_max_turns", "max_turns", &text));
            }
        }
    }

    /// Runs the Stop hooks; `None` means that the model continues.
    fn may_stop(&mut self, conversation: &mut Conversation) -> Flow<Option<Ending>> {
        let (active, last) = self
            .turn
            .as_ref()
            .map(|turn| (turn.stop_hook_active, turn.last_text.clone()))
            .unwrap_or_default();
        let input = json!({
            "stop_hook_active": active,
            "last_assistant_message": last,
            "background_tasks": [],
            "session_crons": [],
        });
        let verdict = self.run_hooks("Stop", None, None, None, &input)?;
        let Some(reason) = verdict.block.filter(|_| verdict.stop.is_none()) else {
            return Ok(Some(Ending::completed(last)));
        };
        self.with_turn(|turn| turn.stop_hook_active = true);
        let text = format!("Stop hook feedback:\n{reason}");
        self.user_text(conversation, &text, UserText::Synthetic)?;
        let notice = Frame::system("notification").with("key", "stop-hook-error");
        let notice =
            notice.with("text", "Stop hook error occurred · ctrl+o to see").with("priority", "immediate");
        self.emit(notice)?;
        Ok(None)
    }

    /// Sends a `user` frame with a text that the CLI adds to the conversation.
    pub(super) fn user_text(&mut self, conversation: &mut Conversation, text: &str, kind: UserText) -> Flow {
        let message = json!({"role": "user", "content": [{"type": "text", "text": text}]});
        let stamp = self.stamp();
        let frame = Frame::new("user")
            .with("message", message.clone())
            .with("parent_tool_use_id", conversation.parent())
            .with("timestamp", stamp)
            .maybe("isSynthetic", (kind == UserText::Synthetic).then_some(true));
        let uuid = self.emit(frame)?;
        self.note_user(conversation, &message, &uuid)?;
        conversation.add(text);
        self.count_round();
        Ok(())
    }

    /// Shows a permanent failure of the API as a message of the model.
    fn api_failed(&mut self, conversation: &mut Conversation, failure: &Failure) -> Flow<Ending> {
        self.send_failure(conversation, failure)?;
        let input = json!({"error": failure.name, "last_assistant_message": failure.text});
        self.run_hooks("StopFailure", None, None, None, &input)?;
        Ok(Ending::api_error(failure))
    }

    pub(super) fn count_round(&mut self) {
        self.with_turn(|turn| turn.rounds += 1);
    }

    /// Changes the current turn, if there is one.
    pub(super) fn with_turn(&mut self, change: impl FnOnce(&mut TurnState)) {
        if let Some(turn) = &mut self.turn {
            change(turn);
        }
    }

    /// Ids of the messages being answered: the last one, and all; only until a frame has named them.
    pub(super) fn uuids_once(&self) -> Option<(String, Vec<String>)> {
        let turn = self.turn.as_ref().filter(|turn| !turn.named)?;
        turn.uuids.last().map(|last| (last.clone(), turn.uuids.clone()))
    }

    fn over_budget(&self) -> bool {
        let budget = self.args.get("max-budget-usd").and_then(|budget| budget.parse::<f64>().ok());
        budget.is_some_and(|budget| super::usage::dollars(self.ledger.own_cost_nano()) >= budget)
    }

    fn budget_ending(&mut self) -> Ending {
        if self.turn.as_ref().is_some_and(|turn| turn.rounds == 0) {
            self.count_round();
        }
        let budget = self.args.get("max-budget-usd").unwrap_or_default().to_owned();
        Ending::error(
            "error_max_budget_usd",
            "budget_exhausted",
            &format!("Reached maximum budget (${budget})"),
        )
    }
}
