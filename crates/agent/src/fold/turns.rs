//! Turns: the queued prompts, the open turn, and the prompts that it answers.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use tidings_protocol::ui::{Role, TurnId};

use super::limits::{PROMPTS_MAX, UNNAMED_MAX};

/// The turns of user and agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Turns {
    /// The agent's open turn.
    pub(super) open: Option<OpenTurn>,
    /// Number of agent turns so far.
    count: u64,
    /// Number of the last user turn.
    last_user: u64,
    waiting: VecDeque<QueuedPrompt>,
    /// True if the agent reports when it starts a prompt; otherwise the order is inferred.
    #[serde(rename = "tells")]
    reports_lifecycle: bool,
    /// True if prompts are recorded at all; a recording of one direction has none.
    #[serde(rename = "told")]
    has_prompts: bool,
    /// Ids of the last prompts, to recognise their echoes.
    known: VecDeque<String>,
    /// Texts of the last prompts without an id; their echoes have one.
    unnamed: VecDeque<String>,
    /// True if a background task has ended since the last turn, which makes the agent begin one.
    pub(super) notified: bool,
}

/// A turn of the agent in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenTurn {
    pub(super) id: TurnId,
    pub(super) answers: Vec<TurnId>,
    /// The cause of a turn that no prompt started.
    pub(super) origin: Option<String>,
    /// The command that the turn executes: as typed by the user, or by name if a front end sent it.
    pub(super) command: Option<String>,
    /// True if text was shown that the model did not write.
    pub(super) displayed: bool,
    /// An error that was shown already.
    pub(super) error: Option<String>,
}

impl OpenTurn {
    /// True if the turn executes a command that a front end sent by name.
    pub(super) fn is_named_command(&self) -> bool {
        self.command.as_ref().is_some_and(|command| !command.starts_with('/'))
    }
}

/// A prompt that no turn has answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct QueuedPrompt {
    uuid: Option<String>,
    turn_id: TurnId,
    command: Option<String>,
    is_started: bool,
}

impl Turns {
    /// Creates an empty state that continues the numbering of earlier turns.
    pub(super) fn after(user: u64, agent: u64) -> Self {
        Turns { count: agent, last_user: user, ..Turns::default() }
    }

    /// The turn to show events in: the open one, else the last, else the first.
    pub(super) fn current(&self) -> TurnId {
        self.open.as_ref().map_or(TurnId::new_assistant_turn(self.count.max(1)), |turn| turn.id)
    }

    /// Assigns the user turn of a prompt, unless it is given.
    pub(super) fn assign(&mut self, given: Option<TurnId>) -> TurnId {
        let turn_id = given
            .filter(|turn| turn.role == Role::User)
            .unwrap_or(TurnId::new_user_turn(self.last_user.saturating_add(1)));
        self.last_user = self.last_user.max(turn_id.sequence);
        turn_id
    }

    /// Queues a prompt.
    pub(super) fn queue(&mut self, uuid: Option<&str>, text: &str, turn_id: TurnId, command: Option<String>) {
        self.has_prompts = true;
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

    /// True if a prompt with this id was recorded.
    pub(super) fn is_known(&self, uuid: &str) -> bool {
        self.known.iter().any(|known| known == uuid)
    }

    /// Recognises the echo of a prompt that was sent without an id, and forgets the prompt.
    pub(super) fn take_echo(&mut self, text: &str) -> bool {
        let at = self.unnamed.iter().position(|sent| sent == text);
        at.is_some_and(|at| self.unnamed.remove(at).is_some())
    }

    /// Records that the agent reports the life cycle of prompts.
    pub(super) fn expect_lifecycle(&mut self) {
        self.reports_lifecycle = true;
    }

    /// Marks a prompt as started: in the open turn, or in the next.
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

    /// Removes a prompt that will not be answered, and returns its turn.
    pub(super) fn drop_prompt(&mut self, uuid: &str) -> Option<TurnId> {
        let at = self.waiting.iter().position(|prompt| prompt.uuid.as_deref() == Some(uuid))?;
        self.waiting.remove(at).map(|prompt| prompt.turn_id)
    }

    /// Opens a turn and returns it, unless one is open.
    pub(super) fn begin(&mut self) -> Option<&OpenTurn> {
        if self.open.is_some() {
            return None;
        }
        self.count += 1;
        let started = self.waiting.iter().any(|prompt| prompt.is_started);
        // If the agent does not report it, all queued prompts count as answered: the agent merges them.
        let reports_lifecycle = self.reports_lifecycle;
        let is_answered = |prompt: &QueuedPrompt| {
            if started { prompt.is_started } else { !reports_lifecycle || prompt.uuid.is_none() }
        };
        let mut answered = Vec::new();
        self.waiting.retain(|prompt| {
            let take = is_answered(prompt);
            if take {
                answered.push(prompt.clone());
            }
            !take
        });
        let command = match &answered[..] {
            [only] => only.command.clone(),
            _ => None,
        };
        let by_itself = answered.is_empty() && (self.notified || self.has_prompts);
        let origin = by_itself.then(|| if self.notified { "task-notification" } else { "agent" }.to_owned());
        let answers = answered.iter().map(|prompt| prompt.turn_id).collect();
        let id = TurnId::new_assistant_turn(self.count);
        Some(&*self.open.insert(OpenTurn { id, answers, origin, command, displayed: false, error: None }))
    }

    /// Ends the open turn.
    pub(super) fn end(&mut self) -> Option<OpenTurn> {
        self.notified = false;
        self.open.take()
    }
}

/// The slash command at the start of a prompt, with the slash.
pub(super) fn command_of(text: &str) -> Option<String> {
    let word = text.split_whitespace().next()?;
    let name = word.strip_prefix('/')?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':');
    (!name.is_empty() && name.chars().all(is_name)).then(|| word.to_owned())
}
