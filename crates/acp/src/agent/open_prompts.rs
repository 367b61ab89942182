//! The prompts of an editor that wait for the end of their turn.
//!
//! A prompt is bound to its turn by ids and not by order: the agent starts turns by itself, merges prompts,
//! and drops some (F47).

use std::collections::BTreeSet;

use tidings_protocol::ui::{StopReason, TurnId, UiMessage};

/// Stop reason of a turn that ended with its agent.
const EXITED: &str = "exited";

/// The end of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptEnd {
    /// The model finished.
    EndTurn,
    /// The answer reached the token limit.
    MaxTokens,
    /// The turn reached its limit of requests.
    MaxTurns,
    /// The model refused.
    Refusal,
    /// The user cancelled it.
    Cancelled,
    /// It failed, for this reason.
    Failed(String),
}

/// Prompts that wait for the end of their turn, each with a value of the caller.
#[derive(Debug)]
pub struct OpenPrompts<T> {
    prompts: Vec<OpenPrompt<T>>,
    /// Background sub-agents that still work: a prompt that started them stays open, since their permission
    /// requests need one (F46).
    background: BTreeSet<String>,
    /// The turn that is under way.
    turn: Option<TurnId>,
}

#[derive(Debug)]
struct OpenPrompt<T> {
    value: T,
    /// Sequence number of the event that announced it.
    seq: u64,
    uuid: Option<String>,
    user_turn: Option<TurnId>,
    agent_turn: Option<TurnId>,
    is_cancelled: bool,
    /// The end of its turn, while background sub-agents work.
    end: Option<PromptEnd>,
}

impl<T> Default for OpenPrompts<T> {
    fn default() -> Self {
        OpenPrompts { prompts: Vec::new(), background: BTreeSet::new(), turn: None }
    }
}

impl<T> OpenPrompts<T> {
    /// Adds a prompt whose event has this sequence number. Pass that event and all later ones to
    /// [`observe`](Self::observe).
    pub fn add(&mut self, value: T, seq: u64) {
        self.prompts.push(OpenPrompt {
            value,
            seq,
            uuid: None,
            user_turn: None,
            agent_turn: None,
            is_cancelled: false,
            end: None,
        });
    }

    /// Number of open prompts.
    pub fn len(&self) -> usize {
        self.prompts.len()
    }

    /// True if no prompt is open.
    pub fn is_empty(&self) -> bool {
        self.prompts.is_empty()
    }

    /// True if the prompt with this id is open here, and was therefore sent by this editor.
    pub fn has(&self, uuid: &str) -> bool {
        self.prompts.iter().any(|prompt| prompt.uuid.as_deref() == Some(uuid))
    }

    /// True if the turn that is under way answers an open prompt.
    pub fn has_running(&self) -> bool {
        self.turn.is_some() && self.prompts.iter().any(|prompt| prompt.agent_turn == self.turn)
    }

    /// True if an open prompt was cancelled.
    pub fn is_cancelling(&self) -> bool {
        self.prompts.iter().any(|prompt| prompt.is_cancelled)
    }

    /// Marks all prompts as cancelled. Returns the ids of those that are known, and may still be queued.
    pub fn cancel(&mut self) -> Vec<String> {
        for prompt in &mut self.prompts {
            prompt.is_cancelled = true;
        }
        self.prompts
            .iter()
            .filter(|prompt| prompt.agent_turn.is_none())
            .filter_map(|prompt| prompt.uuid.clone())
            .collect()
    }

    /// True if the turn that has begun answers a cancelled prompt only: it must be interrupted.
    pub fn must_interrupt(&self, event: &UiMessage) -> bool {
        let UiMessage::TurnStarted(started) = event else { return false };
        let mut answered =
            self.prompts.iter().filter(|prompt| prompt.agent_turn == Some(started.turn_id)).peekable();
        answered.peek().is_some() && answered.all(|prompt| prompt.is_cancelled)
    }

    /// Takes the prompts whose value matches.
    pub fn take(&mut self, matches: impl Fn(&T) -> bool) -> Vec<T> {
        self.take_where(|prompt| matches(&prompt.value))
    }

    /// Takes all prompts: the agent or the session has ended (F57).
    pub fn take_all(&mut self, end: &PromptEnd) -> Vec<(T, PromptEnd)> {
        self.turn = None;
        self.background.clear();
        let ended = std::mem::take(&mut self.prompts).into_iter();
        ended
            .map(|prompt| (prompt.end_or(end.clone()), prompt.value))
            .map(|(end, value)| (value, end))
            .collect()
    }

    /// Takes an event with its sequence number. Returns the prompts that it ends.
    pub fn observe(&mut self, seq: u64, event: &UiMessage) -> Vec<(T, PromptEnd)> {
        match event {
            UiMessage::PromptQueued(queued) => {
                for prompt in self.prompts.iter_mut().filter(|prompt| prompt.seq == seq) {
                    prompt.uuid = Some(queued.uuid.clone());
                    prompt.user_turn = Some(queued.turn_id);
                }
            }
            UiMessage::UserPrompt(sent) => {
                for prompt in
                    self.prompts.iter_mut().filter(|prompt| prompt.uuid.is_some() && prompt.uuid == sent.uuid)
                {
                    prompt.user_turn = sent.turn_id.or(prompt.user_turn);
                }
            }
            UiMessage::PromptDropped(dropped) => {
                let is_it = |prompt: &OpenPrompt<T>| prompt.uuid.as_deref() == Some(&dropped.uuid);
                let reason = dropped.reason.clone().unwrap_or_default();
                let end = if reason.starts_with("cancelled") || reason == "discarded" {
                    PromptEnd::Cancelled
                } else {
                    PromptEnd::Failed(format!("The prompt was not sent: {reason}"))
                };
                return self.end(is_it, &end);
            }
            UiMessage::TurnStarted(started) => {
                self.turn = Some(started.turn_id);
                self.bind(started.turn_id, &started.answers);
            }
            UiMessage::TurnResult(result) => {
                self.bind(result.turn_id, &result.answers);
                let end = if result.is_interrupted() {
                    Some(PromptEnd::Cancelled)
                } else if result.subtype == "error_max_turns" {
                    Some(PromptEnd::MaxTurns)
                } else if result.is_error {
                    let error = result.error.clone();
                    Some(PromptEnd::Failed(
                        error.unwrap_or_else(|| format!("The turn failed: {}", result.subtype)),
                    ))
                } else {
                    None
                };
                for prompt in
                    self.prompts.iter_mut().filter(|prompt| prompt.agent_turn == Some(result.turn_id))
                {
                    prompt.end.clone_from(&end);
                }
            }
            UiMessage::Complete { turn_id, stop_reason, .. } => {
                if self.turn == Some(*turn_id) {
                    self.turn = None;
                }
                // The end of the agent is no end of an answer; the caller takes the prompts then.
                if stop_reason.as_str() == EXITED {
                    return Vec::new();
                }
                for prompt in self.prompts.iter_mut().filter(|prompt| prompt.agent_turn == Some(*turn_id)) {
                    prompt.end.get_or_insert_with(|| end_of(stop_reason));
                }
                return self.take_ended();
            }
            UiMessage::SubAgentStarted(started) if started.background && !started.estimated => {
                self.background.insert(started.agent_id.clone());
            }
            UiMessage::SubAgentEnded(ended) => {
                self.background.remove(&ended.agent_id);
                return self.take_ended();
            }
            _ => {}
        }
        Vec::new()
    }

    fn bind(&mut self, turn: TurnId, answers: &[TurnId]) {
        let answered =
            |prompt: &&mut OpenPrompt<T>| prompt.user_turn.is_some_and(|turn| answers.contains(&turn));
        for prompt in self.prompts.iter_mut().filter(answered) {
            prompt.agent_turn = Some(turn);
        }
    }

    /// Takes the prompts whose turn has ended, unless background sub-agents still work for them.
    fn take_ended(&mut self) -> Vec<(T, PromptEnd)> {
        let waits = !self.background.is_empty();
        let turn = self.turn;
        let is_over = |prompt: &OpenPrompt<T>| {
            let is_running = prompt.agent_turn.is_some() && prompt.agent_turn == turn;
            let has_ended = prompt.end.is_some() && !is_running;
            has_ended && (!waits || prompt.is_cancelled || prompt.end != Some(PromptEnd::EndTurn))
        };
        self.end(is_over, &PromptEnd::EndTurn)
    }

    fn end(&mut self, is_it: impl Fn(&OpenPrompt<T>) -> bool, end: &PromptEnd) -> Vec<(T, PromptEnd)> {
        let mut ended = Vec::new();
        let mut at = 0;
        while at < self.prompts.len() {
            if is_it(&self.prompts[at]) {
                let prompt = self.prompts.remove(at);
                ended.push((prompt.end_or(end.clone()), prompt.value));
            } else {
                at += 1;
            }
        }
        ended.into_iter().map(|(end, value)| (value, end)).collect()
    }

    fn take_where(&mut self, is_it: impl Fn(&OpenPrompt<T>) -> bool) -> Vec<T> {
        self.end(is_it, &PromptEnd::Cancelled).into_iter().map(|(value, _)| value).collect()
    }
}

impl<T> OpenPrompt<T> {
    /// A cancelled prompt ends as cancelled, however its turn ended.
    fn end_or(&self, end: PromptEnd) -> PromptEnd {
        if self.is_cancelled { PromptEnd::Cancelled } else { self.end.clone().unwrap_or(end) }
    }
}

fn end_of(reason: &StopReason) -> PromptEnd {
    match reason {
        StopReason::MaxTokens => PromptEnd::MaxTokens,
        StopReason::Other(reason) if reason == "refusal" => PromptEnd::Refusal,
        // The protocol has no word for other ends of an answer, such as a stop sequence.
        _ => PromptEnd::EndTurn,
    }
}
