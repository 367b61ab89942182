//! Assigns frames to turns, and turns to the prompts that they answer.
//!
//! There is no result per prompt. Queued prompts are merged into one turn, prompts that arrive while a turn
//! runs may be folded into it, and the CLI begins turns by itself when background work ends. Counting results
//! is therefore wrong: every prompt has a uuid, the CLI reports its state in `command_lifecycle` frames, and
//! turns name the prompts that they answer. For a CLI too old for that, the order of its results decides.
//!
//! This is a state machine without clocks, tasks or locks: the same frames give the same turns.

mod reading;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use tidings_protocol::json::Raw;
use tidings_protocol::messages::{OriginKind, SystemView};
use tidings_protocol::view::Block;
use tidings_protocol::{Frame, Kind, Outcome};

use super::event::{TurnEnd, TurnId, TurnOutcome};
use crate::limits::{CALLS_REMEMBERED_MAX, PROMPTS_OPEN_MAX};
use crate::options::Options;
pub(crate) use reading::outcome;
use reading::{member, tasks, text, uuids};

#[derive(Debug, Default)]
pub(super) struct Turns {
    next: u64,
    /// Open prompts, in the order in which they were sent.
    prompts: VecDeque<OpenPrompt>,
    current: Option<Current>,
    /// The turn that ended last: the lifecycle of a prompt that was folded into it may end later.
    last: Option<Arc<TurnEnd>>,
    /// Tool calls with the turns that made them, for late frames of their sub-agents.
    calls: HashMap<String, TurnId>,
    calls_in_order: VecDeque<String>,
    /// Tool calls without a result.
    running: HashSet<String>,
    /// True if the CLI sends `command_lifecycle` frames.
    has_lifecycle: bool,
    /// True if a turn must end with a structured output.
    wants_output: bool,
    /// The state of the session as last reported by the CLI.
    state: Option<SessionState>,
    /// Background agents and workflows that begin a turn when they end.
    tasks: HashSet<String>,
    /// Everything that runs in the background, commands included.
    background: HashSet<String>,
}

#[derive(Debug)]
struct OpenPrompt {
    uuid: String,
    turn: Option<TurnId>,
    /// True if a result has arrived since it was sent.
    has_result: bool,
}

#[derive(Debug)]
struct Current {
    id: TurnId,
    /// Shared, because every frame of the turn is delivered with them.
    prompts: Arc<Vec<String>>,
    /// True if the turn runs; false if it is only announced.
    running: bool,
    interrupted: bool,
    /// A line was lost that may have been its result.
    lost_line: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionState {
    Idle,
    Busy,
}

/// The meaning of a frame for the turns.
#[derive(Debug, Default)]
pub(super) struct TurnUpdate {
    /// The turn that the frame belongs to.
    pub(super) turn: Option<TurnId>,
    /// The prompts of that turn.
    pub(super) prompts: Arc<Vec<String>>,
    /// A turn that begins with the frame.
    pub(super) started: Option<(TurnId, Vec<String>)>,
    /// The turns that end with the frame.
    pub(super) ended: Vec<Arc<TurnEnd>>,
}

impl Turns {
    /// The turns of a session that has these options.
    pub(super) fn new(options: &Options) -> Self {
        Turns { wants_output: options.wants_output(), ..Turns::default() }
    }

    /// Registers a prompt that is about to be sent. Returns `false` if too many are open.
    pub(super) fn sent(&mut self, uuid: &str) -> bool {
        if self.prompts.len() >= PROMPTS_OPEN_MAX {
            return false;
        }
        self.prompts.push_back(OpenPrompt { uuid: uuid.to_owned(), turn: None, has_result: false });
        true
    }

    /// Removes a prompt that could not be sent.
    pub(super) fn unsent(&mut self, uuid: &str) {
        self.prompts.retain(|prompt| prompt.uuid != uuid);
    }

    /// True if a turn runs.
    pub(super) fn is_running(&self) -> bool {
        self.current.as_ref().is_some_and(|turn| turn.running)
    }

    /// The running turn.
    pub(super) fn running_turn(&self) -> Option<TurnId> {
        self.current.as_ref().filter(|turn| turn.running).map(|turn| turn.id)
    }

    /// True if a turn runs or a prompt is open.
    pub(super) fn is_busy(&self) -> bool {
        self.current.is_some() || !self.prompts.is_empty()
    }

    /// True if no turn runs, no prompt is open, and no background agent will begin a turn.
    pub(super) fn is_idle(&self) -> bool {
        !self.is_busy() && self.state.map_or(self.tasks.is_empty(), |state| state == SessionState::Idle)
    }

    /// True if anything runs in the background, as far as the CLI reports it.
    ///
    /// A session counts as idle while a command runs there, as in the official SDKs: it may be a server that
    /// never ends.
    pub(super) fn works_in_background(&self) -> bool {
        !self.tasks.is_empty() || !self.background.is_empty()
    }

    /// True if nothing is left that could begin a turn.
    pub(super) fn is_done(&self) -> bool {
        self.is_idle() && !self.works_in_background()
    }

    /// True if the session is idle after at least one turn.
    pub(super) fn is_settled(&self) -> bool {
        self.is_idle() && self.last.is_some()
    }

    /// True if a tool is running.
    pub(super) fn runs_tools(&self) -> bool {
        !self.running.is_empty()
    }

    /// Marks the running turn as interrupted.
    pub(super) fn interrupting(&mut self) {
        if let Some(turn) = &mut self.current {
            turn.interrupted = true;
        }
    }

    /// Processes a frame from the CLI.
    pub(super) fn observe(&mut self, frame: &Frame) -> TurnUpdate {
        let mut update = TurnUpdate::default();
        match frame.kind() {
            Kind::System => self.system(frame, &mut update),
            Kind::Assistant | Kind::StreamEvent | Kind::User => self.observe_message(frame, &mut update),
            Kind::Result => {
                self.result(frame, &mut update);
                return update;
            }
            Kind::Unknown if frame.type_name().as_deref() == Some("command_lifecycle") => {
                self.lifecycle(frame, &mut update);
                return update;
            }
            _ => {}
        }
        if update.turn.is_none()
            && let Some(current) = &self.current
        {
            update.turn = Some(current.id);
            update.prompts = Arc::clone(&current.prompts);
        }
        update
    }

    fn system(&mut self, frame: &Frame, update: &mut TurnUpdate) {
        match frame.system() {
            SystemView::Init(_) => self.begin(&uuids(frame), update),
            SystemView::SessionStateChanged(_) => self.state_changed(frame, update),
            SystemView::TaskStarted(_) => self.task_started(frame),
            // The frame lists all tasks, so a task that ended without a notification is removed too.
            SystemView::BackgroundTasksChanged(_) => {
                self.background = tasks(frame, CALLS_REMEMBERED_MAX);
            }
            SystemView::TaskNotification(_) => self.forget_task(frame),
            SystemView::TaskUpdated(_) => {
                let status = frame.get("patch").and_then(|patch| patch.get("status")?.text());
                if status.is_some_and(|status| matches!(&*status.get(), "completed" | "failed" | "killed")) {
                    self.forget_task(frame);
                }
            }
            _ => {}
        }
    }

    fn task_started(&mut self, frame: &Frame) {
        let Some(task) = text(frame, "task_id") else { return };
        let begins_a_turn =
            matches!(text(frame, "task_type").as_deref(), Some("local_agent" | "local_workflow"));
        if begins_a_turn && self.tasks.len() < CALLS_REMEMBERED_MAX {
            self.tasks.insert(task.clone());
        }
        // A long foreground command is also a task, and its turn waits for it. An older CLI does not
        // report the difference.
        let is_waited_for = frame.get("is_backgrounded").and_then(Raw::bool) == Some(false);
        if !is_waited_for && self.background.len() < CALLS_REMEMBERED_MAX {
            self.background.insert(task);
        }
    }

    fn forget_task(&mut self, frame: &Frame) {
        if let Some(task) = text(frame, "task_id") {
            self.tasks.remove(&task);
            self.background.remove(&task);
        }
    }

    fn state_changed(&mut self, frame: &Frame, update: &mut TurnUpdate) {
        let idle = text(frame, "state").as_deref() == Some("idle");
        self.state = Some(if idle { SessionState::Idle } else { SessionState::Busy });
        if idle && self.current.as_ref().is_some_and(|current| current.lost_line) {
            self.end_without_result(update);
        }
        // A CLI without lifecycle frames has merged the remaining prompts into the turn that ended last.
        if idle
            && !self.has_lifecycle
            && self.current.is_none()
            && let Some(last) = self.last.clone()
        {
            let merged: Vec<String> = self
                .prompts
                .iter()
                .filter(|prompt| prompt.has_result)
                .map(|prompt| prompt.uuid.clone())
                .collect();
            if !merged.is_empty() {
                self.prompts.retain(|prompt| !prompt.has_result);
                update.ended.push(Arc::new(TurnEnd { prompts: merged, ..TurnEnd::clone(&last) }));
            }
        }
    }

    /// Processes a message of the model, of the user or of a sub-agent.
    fn observe_message(&mut self, frame: &Frame, update: &mut TurnUpdate) {
        // A delta contains no information on tools that the whole message, which follows, does not
        // contain.
        let whole = frame.kind() != Kind::StreamEvent;
        if whole {
            self.note_tools(frame);
        }
        if let Some(call) = frame.parent_tool_use_id() {
            // A background sub-agent outlives its turn, and does not belong to the next one.
            if let Some(turn) = self.calls.get(&*call) {
                update.turn = Some(*turn);
                if let Some(current) = self.current.as_ref().filter(|current| current.id == *turn) {
                    update.prompts = Arc::clone(&current.prompts);
                }
            }
        } else if frame.kind() == Kind::Assistant || (frame.kind() == Kind::StreamEvent && !self.is_running())
        {
            // Stream events are frequent, and only the first can begin a turn.
            self.begin(&uuids(frame), update);
        }
        let turn = update.turn.or_else(|| self.current.as_ref().map(|current| current.id));
        if let Some(turn) = turn.filter(|_| whole) {
            for call in frame.tool_calls() {
                self.remember_call(&call.id, turn);
            }
        }
    }

    fn note_tools(&mut self, frame: &Frame) {
        for block in frame.content_blocks() {
            match block {
                Block::ToolUse { id, .. } if self.running.len() < CALLS_REMEMBERED_MAX => {
                    self.running.insert(id.get().into_owned());
                }
                Block::ToolResult { tool_use_id, .. } => {
                    self.running.remove(&*tool_use_id.get());
                }
                _ => {}
            }
        }
    }

    fn remember_call(&mut self, call: &str, turn: TurnId) {
        if self.calls.insert(call.to_owned(), turn).is_none() {
            self.calls_in_order.push_back(call.to_owned());
        }
        if self.calls_in_order.len() > CALLS_REMEMBERED_MAX
            && let Some(oldest) = self.calls_in_order.pop_front()
        {
            self.calls.remove(&oldest);
        }
    }

    /// Begins a turn if none runs, and assigns the named prompts to it.
    fn begin(&mut self, named: &[String], update: &mut TurnUpdate) {
        let is_new = self.current.as_ref().is_none_or(|turn| !turn.running);
        if self.current.is_none() {
            self.open();
        }
        for uuid in named {
            self.join(uuid);
        }
        let oldest =
            self.prompts.iter().find(|prompt| prompt.turn.is_none()).map(|prompt| prompt.uuid.clone());
        if is_new
            && !self.has_lifecycle
            && self.current.as_ref().is_some_and(|turn| turn.prompts.is_empty())
            && let Some(uuid) = oldest
        {
            self.join(&uuid);
        }
        if let Some(turn) = &mut self.current {
            turn.running = true;
            if is_new {
                update.started = Some((turn.id, turn.prompts.to_vec()));
            }
        }
    }

    fn open(&mut self) -> TurnId {
        self.next += 1;
        let id = TurnId(self.next);
        self.current = Some(Current {
            id,
            prompts: Arc::default(),
            running: false,
            interrupted: false,
            lost_line: false,
        });
        self.running.clear();
        id
    }

    /// Assigns a prompt to the current turn.
    fn join(&mut self, uuid: &str) {
        let Some(turn) = &mut self.current else { return };
        if let Some(prompt) = self.prompts.iter_mut().find(|prompt| prompt.uuid == uuid) {
            prompt.turn = Some(turn.id);
            if !turn.prompts.iter().any(|other| other == uuid) {
                Arc::make_mut(&mut turn.prompts).push(uuid.to_owned());
            }
        }
    }

    /// Processes a `command_lifecycle` frame, which reports the state of a prompt.
    fn lifecycle(&mut self, frame: &Frame, update: &mut TurnUpdate) {
        self.has_lifecycle = true;
        let Some(uuid) = text(frame, "command_uuid") else { return };
        let state = text(frame, "state").unwrap_or_default();
        if state == "started" {
            if self.prompts.iter().any(|prompt| prompt.uuid == uuid) {
                if self.current.is_none() {
                    self.open();
                }
                self.join(&uuid);
            }
        } else if matches!(state.as_str(), "completed" | "cancelled" | "discarded" | "refused") {
            self.end_prompt(&uuid, &state, update);
        }
        let turn = self.prompts.iter().find(|prompt| prompt.uuid == uuid).and_then(|prompt| prompt.turn);
        let last =
            || self.last.as_ref().filter(|last| last.prompts.contains(&uuid)).and_then(|last| last.turn);
        update.turn = turn.or_else(last);
        update.prompts = Arc::new(vec![uuid]);
    }

    /// Ends a prompt. Most have already ended with the result of their turn.
    fn end_prompt(&mut self, uuid: &str, state: &str, update: &mut TurnUpdate) {
        let Some(index) = self.prompts.iter().position(|prompt| prompt.uuid == uuid) else { return };
        let turn = self.prompts[index].turn;
        let current = self.current.as_ref().map(|current| current.id);
        if turn.is_some() && turn == current {
            if state == "completed" {
                if self.current.as_ref().is_some_and(|current| current.lost_line) {
                    return self.end_without_result(update);
                }
                // It was folded into the running turn, and ends with it.
                return;
            }
            if let Some(current) = &mut self.current {
                Arc::make_mut(&mut current.prompts).retain(|other| other != uuid);
            }
        }
        self.prompts.remove(index);
        let prompts = vec![uuid.to_owned()];
        let end = match &self.last {
            Some(last) if state == "completed" => TurnEnd { prompts, ..TurnEnd::clone(last) },
            _ => TurnEnd { turn, prompts, origin: None, outcome: TurnOutcome::Dropped, result: None },
        };
        update.ended.push(Arc::new(end));
        // The turn was announced, and its prompt cancelled before it began.
        if self.current.as_ref().is_some_and(|current| !current.running && current.prompts.is_empty()) {
            self.current = None;
        }
    }

    /// Processes a line that was dropped or unreadable, given its beginning.
    ///
    /// If it was a result, its turn ends here. If it may have been one, the turn ends when the CLI reports
    /// that the prompt is done or the session is idle.
    pub(super) fn lost_line(&mut self, head: &str) -> TurnUpdate {
        let mut update = TurnUpdate::default();
        match member(head, "type").as_deref() {
            Some("result") => {
                if self.current.is_none() {
                    self.open();
                }
                self.end_without_result(&mut update);
            }
            Some(_) => {}
            None => {
                if let Some(turn) = &mut self.current {
                    turn.lost_line = true;
                }
            }
        }
        update
    }

    fn end_without_result(&mut self, update: &mut TurnUpdate) {
        let Some(turn) = self.current.take() else { return };
        self.end(turn, None, TurnOutcome::ResultLost, None, update);
    }

    fn result(&mut self, frame: &Frame, update: &mut TurnUpdate) {
        if self.current.is_none() {
            self.open();
        }
        for uuid in uuids(frame) {
            self.join(&uuid);
        }
        let origin = frame.get("origin").and_then(|origin| origin.get("kind")?.text());
        let origin = origin.map(|kind| OriginKind::from(&*kind.get()));
        let Some(turn) = self.current.take() else { return };
        // Commands of the CLI itself answer without the model.
        let is_models = frame.get("num_turns").and_then(Raw::u64) != Some(0);
        let by_itself = origin.as_ref().is_some_and(|kind| *kind == OriginKind::TASK_NOTIFICATION);
        let lacks_output =
            self.wants_output && is_models && !by_itself && frame.get("structured_output").is_none();
        // An interrupt is not a failure, even if the CLI reports it as one.
        let outcome = match outcome(frame) {
            TurnOutcome::Failed(Outcome::Failed) if turn.interrupted => TurnOutcome::Cancelled,
            TurnOutcome::Completed if lacks_output => TurnOutcome::Failed(Outcome::StructuredOutput),
            other => other,
        };
        self.end(turn, origin, outcome, Some(frame), update);
    }

    fn end(
        &mut self,
        mut turn: Current,
        origin: Option<OriginKind>,
        outcome: TurnOutcome,
        result: Option<&Frame>,
        update: &mut TurnUpdate,
    ) {
        let by_itself = origin.as_ref().is_some_and(|kind| *kind == OriginKind::TASK_NOTIFICATION);
        if turn.prompts.is_empty() && !self.has_lifecycle && !by_itself {
            // Only the order assigns this result to a prompt.
            Arc::make_mut(&mut turn.prompts).extend(self.prompts.front().map(|prompt| prompt.uuid.clone()));
        }
        self.prompts.retain(|prompt| !turn.prompts.contains(&prompt.uuid));
        for prompt in &mut self.prompts {
            prompt.has_result = true;
        }
        self.running.clear();
        let end = Arc::new(TurnEnd {
            turn: Some(turn.id),
            prompts: turn.prompts.to_vec(),
            origin,
            outcome,
            result: result.cloned(),
        });
        self.last = Some(Arc::clone(&end));
        update.turn = Some(turn.id);
        update.prompts = turn.prompts;
        update.ended.push(end);
    }
}

#[cfg(test)]
mod tests;
