//! The stored settings of a session, as JSON in its row: how a client changes and sees them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_agent::permissions::CodeSources;
use tidings_api::{
    Accepted, Attachment, Budget, Code, CreateSession, Delivery, PatchSession, Policy, QueueState,
    QueuedInput, SessionOrigin, SessionView, SessionWorktree, Totals,
};
use tidings_base::plural::counted;
use tidings_journal::{ClientId, Session};
use tidings_protocol::ui::TurnId;
use tidings_transcript::manage::prompt_line;

use super::backends::{AcpAgent, ClaudeCode, Offer};
use super::live_session::Change;
use super::remote::{RemoteSession, continued_elsewhere};
use super::running::command_ids;
use super::surviving::after_limit::AfterLimit;
use super::view::{self, PendingCounts};
use crate::Error;
use crate::limits::{COMMANDS_REMEMBERED, ERROR_CHARS, LAUNCH_BYTES_MAX};
use crate::text::{self, Denies, Way};

/// Everything that is stored about a session besides its events.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SessionSettings {
    pub(super) launch: Launch,
    pub(super) budget: Budget,
    pub(super) totals: Totals,
    /// The part of the totals that was used before this server resumed the session; budgets do not include
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) used_before: Option<Totals>,
    /// Milliseconds that its turns took together.
    pub(super) turns_ms: u64,
    /// The total cost that the agent last reported.
    pub(super) cost_told: f64,
    /// The part of the total cost that was counted from the entries of processes outside of this server.
    pub(super) observed_cost: f64,
    /// The number of the last prompt's turn.
    pub(super) last_turn: u64,
    /// The number of the agent's last turn; the next process continues from there.
    pub(super) last_answer: u64,
    /// Prompts that the agent has not certainly received, the oldest first.
    pub(super) queue: Vec<Queued>,
    /// The session of the CLI whose history this one began with, and the copy of it that was made for this
    /// one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) continued: Vec<String>,
    /// The first prompt, in one line.
    pub(super) first_prompt: Option<String>,
    /// The last prompt, in one line.
    pub(super) last_prompt: Option<String>,
    /// The last line of the agent's text.
    pub(super) last_line: Option<String>,
    /// The error, if it failed.
    pub(super) error: Option<String>,
    /// True if `error` is an interrupt of the last turn.
    pub(super) turn_interrupted: bool,
    /// True if its newest process runs without the folder's own settings and commands: checked before each
    /// start, and stored for a server that adopts the process.
    pub(super) untrusted: bool,
    /// The rules against reading credentials with which its newest process was started; stored for a server
    /// that adopts the process.
    pub(super) denies: Denies,
    /// Commands that were run lately, for clients that missed the response; the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) done: Vec<CompletedCommand>,
    /// Where the session was started.
    pub(super) origin: SessionOrigin,
    /// True while its agent runs outside of this server.
    pub(super) is_observed: bool,
    /// The files of the session, and how far their entries are stored as events.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) followed: Vec<FollowedFile>,
    /// Continuing by itself after a limit of the plan.
    #[serde(skip_serializing_if = "AfterLimit::is_default")]
    pub(super) after_limit: AfterLimit,
    /// The commit that the folder was at when the session began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) base_commit: Option<String>,
    /// The repositories that code could come from when the session began.
    #[serde(skip_serializing_if = "is_unknown")]
    pub(super) sources: CodeSources,
    /// The git worktree that was made for the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) worktree: Option<SessionWorktree>,
    /// The digest of the command that created the session. Sessions of earlier versions have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) made_of: Option<String>,
    /// The session as its owner describes it, if that is another server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) remote: Option<RemoteSession>,
    /// The server of the fleet that continues the session, if this one was lost for a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) continued_on: Option<String>,
}

fn is_unknown(sources: &CodeSources) -> bool {
    *sources == CodeSources::Unknown
}

/// A file of an observed session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct FollowedFile {
    /// The sub-agent that it belongs to; empty for the main file.
    pub(super) agent: String,
    /// The offset up to which its entries are stored as events.
    pub(super) end: u64,
}

/// A command that was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CompletedCommand {
    /// The id from its client.
    pub(super) client_id: String,
    /// The digest of the command. Commands of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) what: Option<String>,
    pub(super) seq: u64,
    pub(super) cursor: String,
}

/// Launch settings of its process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Launch {
    pub(super) policy: Policy,
    pub(super) model: Option<String>,
    pub(super) permission_mode: Option<String>,
    pub(super) append_system_prompt: Option<String>,
    pub(super) allowed_tools: Vec<String>,
    pub(super) mcp_config: Option<Value>,
    pub(super) add_dirs: Vec<String>,
    /// The CLI session to resume on the first start.
    pub(super) resume: Option<String>,
    /// Resumes in a copy of it.
    pub(super) fork: bool,
    pub(super) keep_frames: bool,
    pub(super) demo: bool,
    /// The name of an agent other than Claude Code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) backend: Option<String>,
    /// Options of that agent which were set, values by their ids.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) options: BTreeMap<String, String>,
    /// The id that the CLI session gets on the first start; by default one that the CLI chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cli_session: Option<String>,
}

/// A prompt in the queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Queued {
    /// The id with which it is sent.
    pub(super) id: String,
    pub(super) turn_id: TurnId,
    pub(super) content: String,
    #[serde(default)]
    pub(super) attachments: Vec<Attachment>,
    #[serde(default)]
    pub(super) delivery: Delivery,
    pub(super) at: String,
    pub(super) state: QueueState,
    /// True if it is typed into a terminal; then no agent of this server gets it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) typed: bool,
    /// The origin, if no person sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<String>,
    /// True if the agent may interpret the text; otherwise it is data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) interpreted: bool,
}

impl Default for Launch {
    fn default() -> Self {
        Launch {
            policy: Policy::Ask,
            model: None,
            permission_mode: None,
            append_system_prompt: None,
            allowed_tools: Vec::new(),
            mcp_config: None,
            add_dirs: Vec::new(),
            resume: None,
            fork: false,
            keep_frames: false,
            demo: false,
            backend: None,
            options: BTreeMap::new(),
            cli_session: None,
        }
    }
}

impl SessionSettings {
    /// The last user turn that was sent to an agent. Uncertain prompts count as sent.
    pub(super) fn turns_sent(&self) -> u64 {
        let unsent = self.queue.iter().filter(|queued| queued.state != QueueState::Uncertain);
        let first = unsent.map(|queued| queued.turn_id.sequence).min();
        first.map_or(self.last_turn, |first| first.saturating_sub(1).min(self.last_turn))
    }

    /// The result of a command that was run before. Another command with the same id is refused.
    pub(super) fn done_before(&self, id: &ClientId, what: &str) -> Result<Option<Accepted>, Error> {
        let Some(done) = self.done.iter().find(|done| done.client_id == id.as_str()) else { return Ok(None) };
        if done.what.as_ref().is_some_and(|before| before != what) {
            return Err(command_ids::used_elsewhere());
        }
        Ok(Some(Accepted { turn_id: None, seq: done.seq, cursor: done.cursor.clone(), rewind: None }))
    }

    /// Stores the result of a command.
    pub(super) fn remember(&mut self, id: &ClientId, what: String, seq: u64, cursor: String) {
        let surplus = (self.done.len() + 1).saturating_sub(COMMANDS_REMEMBERED);
        drop(self.done.drain(..surplus));
        self.done.push(CompletedCommand { client_id: id.to_string(), what: Some(what), seq, cursor });
    }

    /// The settings of a new session.
    pub(super) fn of(new: &CreateSession, demo: bool) -> Self {
        let launch = Launch {
            policy: new.policy.unwrap_or(Policy::Ask),
            model: new.model.clone(),
            permission_mode: new.permission_mode.clone(),
            append_system_prompt: new.append_system_prompt.clone(),
            allowed_tools: new.allowed_tools.clone(),
            mcp_config: new.mcp_config.clone(),
            add_dirs: new.add_dirs.clone(),
            resume: new.resume.clone(),
            fork: new.fork,
            keep_frames: new.keep_frames,
            demo,
            backend: new.backend.clone(),
            options: BTreeMap::new(),
            cli_session: None,
        };
        let budget =
            Budget { max_turns: new.max_turns, budget_usd: new.budget_usd, max_seconds: new.max_seconds };
        let after_limit = AfterLimit::new(new.continue_after_limit);
        SessionSettings { launch, budget, after_limit, ..SessionSettings::default() }
    }

    /// Changes what a client has set; the rest is stored in the row.
    pub(super) fn apply(&mut self, patch: PatchSession, now: Timestamp) -> Change {
        let PatchSession { title, labels, budget, policy, continue_after_limit, client_id: _ } = patch;
        self.budget = budget.unwrap_or_else(|| self.budget.clone());
        self.launch.policy = policy.unwrap_or(self.launch.policy);
        if let Some(is_on) = continue_after_limit {
            self.after_limit.set(is_on, now);
        }
        Change { title, labels, ..Change::default() }
    }

    /// The session as clients see it.
    pub(super) fn view(&self, row: &Session, pending: PendingCounts) -> SessionView {
        if let Some(remote) = &self.remote {
            return SessionView {
                handle: view::number(row.handle),
                key: row.key.to_string(),
                active: row.active.to_string(),
                cursor: row.head.to_string(),
                head: row.head.seq,
                floor: row.floor,
                node: Some(remote.node.clone()),
                ..remote.view.value.clone()
            };
        }
        let offer = match (self.limited(), &self.launch.backend) {
            (Some(limited), _) => Offer { capabilities: Vec::new(), limited: Some(limited) },
            (None, Some(name)) => AcpAgent::offer_before_start(name),
            (None, None) => ClaudeCode::full_offer(),
        };
        SessionView {
            handle: view::number(row.handle),
            key: row.key.to_string(),
            cwd: row.cwd.clone(),
            title: row.title.clone(),
            first_prompt: self.first_prompt.clone(),
            last_prompt: self.last_prompt.clone(),
            labels: row.labels.clone(),
            state: view::phase(&row.state),
            error: self.error.clone(),
            turn_interrupted: self.turn_interrupted,
            stalled: None,
            untrusted: false,
            cli_session_ids: self.cli_session_ids(row),
            model: self.launch.model.clone(),
            permission_mode: self.launch.permission_mode.clone(),
            policy: self.launch.policy,
            created: row.created.to_string(),
            active: row.active.to_string(),
            cursor: row.head.to_string(),
            head: row.head.seq,
            floor: row.floor,
            continue_after_limit: self.after_limit.is_on,
            continues_at: self.after_limit.continues_at().map(|at| at.to_string()),
            totals: self.totals.clone(),
            budget: self.budget.clone(),
            pending_permissions: pending.permissions,
            pending_questions: pending.questions,
            waits_for: None,
            queued: self.queue.len() as u64,
            last_line: self.last_line.clone(),
            demo: self.launch.demo,
            backend: self.launch.backend.clone(),
            origin: self.origin,
            capabilities: offer.capabilities,
            limited: offer.limited,
            worktree: self.worktree.clone(),
            node: row.node.clone(),
            unreachable: None,
            behind: None,
            project: None,
        }
    }

    /// The sessions of the CLI that it has used; before its first prompt the copy that was made for it.
    fn cli_session_ids(&self, row: &Session) -> Vec<String> {
        let copy = self.continued.get(1).filter(|_| row.cli_sessions.is_empty());
        row.cli_sessions.iter().chain(copy).cloned().collect()
    }

    /// True if the worktree in which the agent worked was removed: no agent can start there again.
    pub(super) fn lost_worktree(&self) -> bool {
        self.worktree.as_ref().is_some_and(|worktree| worktree.removed)
    }

    /// The reason for which this server offers nothing but reading.
    fn limited(&self) -> Option<String> {
        if let Some(node) = &self.continued_on {
            Some(continued_elsewhere(node))
        } else if self.is_observed {
            Some("It runs outside of this server".to_owned())
        } else if self.lost_worktree() {
            Some("Its git worktree was removed; the branch still exists".to_owned())
        } else {
            None
        }
    }

    /// Refuses settings that would leave no room for prompts and for the agent's reports.
    pub(super) fn check_length(&self) -> Result<(), Error> {
        let bytes = self.text().len();
        if bytes > LAUNCH_BYTES_MAX {
            let message =
                format!("The launch settings have {bytes} bytes, and the limit is {LAUNCH_BYTES_MAX}");
            return Err(Error::new(
                Code::TooLarge,
                message,
                "put long instructions into a file of the folder",
            ));
        }
        Ok(())
    }

    /// Sets or clears the error.
    pub(super) fn fail(&mut self, error: Option<&str>) {
        self.error = error.map(|error| error.chars().take(ERROR_CHARS).collect());
        self.turn_interrupted = false;
    }

    /// Takes a prompt as the last one, unless it is a command.
    pub(super) fn note_last_prompt(&mut self, prompt: &str) {
        self.last_prompt = last_prompt_line(prompt).or(self.last_prompt.take());
    }

    /// Takes a prompt as the first one, if there was none with text before.
    pub(super) fn note_prompt(&mut self, prompt: &str) {
        if self.first_prompt.is_none() {
            self.first_prompt = prompt_line(prompt);
        }
    }

    /// Begins with the totals of a session that this one resumes.
    pub(super) fn begin_with(&mut self, used: Totals) {
        self.totals.turns += used.turns;
        self.totals.cost_usd += used.cost_usd;
        self.used_before = Some(used);
    }

    /// Dollars of the budget that are used up.
    pub(super) fn budget_used_usd(&self) -> f64 {
        self.totals.cost_usd - self.used_before.as_ref().map_or(0.0, |before| before.cost_usd)
    }

    /// Turns of the budget that are used up.
    fn budget_used_turns(&self) -> u64 {
        self.totals.turns.saturating_sub(self.used_before.as_ref().map_or(0, |before| before.turns))
    }

    /// Parses stored settings. Those of a later version that cannot be parsed count as empty.
    pub(super) fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The limit that is reached once `turns` more turns are over, in words; none while there is something
    /// left.
    fn exhausted(&self, turns: u64) -> Option<String> {
        let Budget { max_turns, budget_usd, max_seconds } = &self.budget;
        if let Some(max) = max_turns.filter(|max| self.budget_used_turns().saturating_add(turns) >= *max) {
            return Some(format!("The session has used its budget of {}", counted(max, "turn")));
        }
        if let Some(max) = budget_usd.filter(|max| self.budget_used_usd() >= *max) {
            return Some(format!("The session has used its budget of ${max:.2}"));
        }
        if let Some(max) = max_seconds.filter(|max| self.turns_ms >= max.saturating_mul(1000)) {
            return Some(format!("The session has used its budget of {}", counted(max, "second")));
        }
        None
    }

    /// Refuses more work if the budget is used up.
    pub(super) fn check_budget(&self) -> Result<(), Error> {
        self.check_budget_after(0)
    }

    /// The same once `turns` more turns are over.
    pub(super) fn check_budget_after(&self, turns: u64) -> Result<(), Error> {
        let refused = |why| Error::new(Code::BudgetExhausted, why, "give the session a larger budget");
        self.exhausted(turns).map_or(Ok(()), |why| Err(refused(why)))
    }

    /// True if a prompt waits for its turn.
    pub(super) fn has_waiting(&self) -> bool {
        self.queue.iter().any(|queued| queued.state == QueueState::Waiting && !queued.typed)
    }

    /// True if a prompt was handed to the agent, and its turn has not begun.
    pub(super) fn has_handed(&self) -> bool {
        self.queue.iter().any(|queued| queued.state == QueueState::Handed)
    }

    /// Marks handed prompts as uncertain after the agent is gone.
    pub(super) fn mark_handed_uncertain(&mut self) {
        for queued in self.queue.iter_mut().filter(|queued| queued.state == QueueState::Handed) {
            queued.state = QueueState::Uncertain;
        }
    }
}

impl Queued {
    /// Refuses a text that is data, and that an agent would interpret.
    pub(super) fn check_way(&self, way: Way) -> Result<(), Error> {
        if self.interpreted { Ok(()) } else { text::check_plain(way, &self.content) }
    }

    pub(super) fn view(&self) -> QueuedInput {
        QueuedInput {
            id: self.id.clone(),
            turn_id: self.turn_id,
            content: self.content.clone(),
            attachments: self.attachments.len() as u64,
            at: self.at.clone(),
            state: self.state,
        }
    }
}

/// A prompt as the name of a session, unless it is a command.
pub(super) fn last_prompt_line(prompt: &str) -> Option<String> {
    prompt_line(prompt).filter(|line| !line.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of an earlier version have no digests of their commands: any command with their id is taken for
    /// the same.
    #[test]
    fn commands_of_an_earlier_version_are_recognized() {
        let settings = SessionSettings::parse(r#"{"done":[{"client_id":"one","seq":3,"cursor":"c:3"}]}"#);
        let id = ClientId::new("one").unwrap();
        assert_eq!(settings.done_before(&id, "anything").unwrap().map(|done| done.seq), Some(3));
        assert_eq!(settings.made_of, None);
    }
}
