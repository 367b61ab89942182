//! Turns: which prompts wait, which turn is open, what it answers.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use tidings_protocol::ui::{Role, TurnId};

use super::limits::{PROMPTS_MAX, UNNAMED_MAX};

/// The turns of both sides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Turns {
    /// The agent's turn that is open.
    pub(super) open: Option<Turn>,
    /// The agent's turns so far.
    count: u64,
    /// The highest of the person's turns so far.
    last_user: u64,
    waiting: VecDeque<QueuedPrompt>,
    /// The agent tells when it takes a prompt up, so that there is no need to guess.
    tells: bool,
    /// Whether prompts are told at all; a recording of one direction has none.
    told: bool,
    /// The ids of the last prompts, so that an echo is known as one.
    known: VecDeque<String>,
    /// The words of the last prompts that were sent without an id; their echo has one.
    unnamed: VecDeque<String>,
    /// A background task has ended since the last turn, which makes the agent begin one.
    pub(super) notified: bool,
}

/// A turn of the agent that is under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Turn {
    pub(super) id: TurnId,
    pub(super) answers: Vec<TurnId>,
    /// What made the agent begin by itself.
    pub(super) origin: Option<String>,
    /// The command that the turn carries out: as it was typed, or by its name where a front end gave it.
    pub(super) command: Option<String>,
    /// Text was shown that the model did not write.
    pub(super) displayed: bool,
    /// An error that was shown already.
    pub(super) error: Option<String>,
}

impl Turn {
    /// Whether it carries out a command that a front end gave by its name.
    pub(super) fn is_ordered(&self) -> bool {
        self.command.as_ref().is_some_and(|command| !command.starts_with('/'))
    }
}

/// A prompt that no turn has answered yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct QueuedPrompt {
    uuid: Option<String>,
    turn_id: TurnId,
    command: Option<String>,
    is_started: bool,
}

impl Turns {
    /// Turns that are counted on from others.
    pub(super) fn after(user: u64, agent: u64) -> Self {
        Turns { count: agent, last_user: user, ..Turns::default() }
    }

    /// The turn to show things in: the open one, or the last, or the first before there is any.
    pub(super) fn current(&self) -> TurnId {
        self.open.as_ref().map_or(TurnId::new_assistant_turn(self.count.max(1)), |turn| turn.id)
    }

    /// The person's turn of a prompt, counted where it is not given.
    pub(super) fn number(&mut self, given: Option<TurnId>) -> TurnId {
        let turn_id = given
            .filter(|turn| turn.role == Role::User)
            .unwrap_or(TurnId::new_user_turn(self.last_user.saturating_add(1)));
        self.last_user = self.last_user.max(turn_id.sequence);
        turn_id
    }

    /// A prompt was sent, or one is heard of that was sent before.
    pub(super) fn wait(&mut self, uuid: Option<&str>, text: &str, turn_id: TurnId, command: Option<String>) {
        self.told = true;
        if self.waiting.len() >= PROMPTS_MAX {
            self.waiting.pop_front();
        }
        let (last, name, max) = match uuid {
            Some(uuid) => (&mut self.known, uuid, PROMPTS_MAX),
            None => (&mut self.unnamed, text, UNNAMED_MAX),
        };
        if last.len() >= max {
            last.pop_front();
        }
        last.push_back(name.to_owned());
        self.waiting.push_back(QueuedPrompt {
            uuid: uuid.map(str::to_owned),
            turn_id,
            command,
            is_started: false,
        });
    }

    /// Whether a prompt is known by its id.
    pub(super) fn knows(&self, uuid: &str) -> bool {
        self.known.iter().any(|known| known == uuid)
    }

    /// Whether an echo is that of a prompt that was sent without an id.
    pub(super) fn recognise(&mut self, text: &str) -> bool {
        let at = self.unnamed.iter().position(|sent| sent == text);
        at.is_some_and(|at| self.unnamed.remove(at).is_some())
    }

    /// The agent tells how prompts fare.
    pub(super) fn hear(&mut self) {
        self.tells = true;
    }

    /// The agent takes prompts up: into the turn that is open, or the next one.
    pub(super) fn start(&mut self, uuid: &str) {
        let Some(at) = self.waiting.iter().position(|prompt| prompt.uuid.as_deref() == Some(uuid)) else {
            return;
        };
        match &mut self.open {
            Some(turn) => {
                if let Some(prompt) = self.waiting.remove(at) {
                    turn.answers.push(prompt.turn_id);
                    turn.origin = None;
                }
            }
            None => self.waiting[at].is_started = true,
        }
    }

    /// A prompt will not be answered; gives the turn that it was.
    pub(super) fn drop_prompt(&mut self, uuid: &str) -> Option<TurnId> {
        let at = self.waiting.iter().position(|prompt| prompt.uuid.as_deref() == Some(uuid))?;
        self.waiting.remove(at).map(|prompt| prompt.turn_id)
    }

    /// Opens a turn, unless one is open. Gives it when it is new.
    pub(super) fn begin(&mut self) -> Option<&Turn> {
        if self.open.is_some() {
            return None;
        }
        self.count += 1;
        let started = self.waiting.iter().any(|prompt| prompt.is_started);
        // Without word from the agent every prompt that waits is taken to be answered: it merges those that wait.
        let tells = self.tells;
        let is_answered =
            |prompt: &QueuedPrompt| if started { prompt.is_started } else { !tells || prompt.uuid.is_none() };
        let mut taken = Vec::new();
        self.waiting.retain(|prompt| {
            let take = is_answered(prompt);
            if take {
                taken.push(prompt.clone());
            }
            !take
        });
        let command = match &taken[..] {
            [only] => only.command.clone(),
            _ => None,
        };
        let by_itself = taken.is_empty() && (self.notified || self.told);
        let origin = by_itself.then(|| if self.notified { "task-notification" } else { "agent" }.to_owned());
        let answers = taken.iter().map(|prompt| prompt.turn_id).collect();
        let id = TurnId::new_assistant_turn(self.count);
        Some(&*self.open.insert(Turn { id, answers, origin, command, displayed: false, error: None }))
    }

    /// Ends the open turn.
    pub(super) fn end(&mut self) -> Option<Turn> {
        self.notified = false;
        self.open.take()
    }
}

/// The name of the slash command that a prompt calls, with the slash.
pub(super) fn command_of(text: &str) -> Option<String> {
    let word = text.split_whitespace().next()?;
    let name = word.strip_prefix('/')?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':');
    (!name.is_empty() && name.chars().all(is_name)).then(|| word.to_owned())
}
