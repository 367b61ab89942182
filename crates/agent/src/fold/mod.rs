//! Conversion of frames into events.
//!
//! A [`Fold`] holds the state of one session: what it has shown so far.
//! It has no clock, does no I/O and draws no random numbers, so that the same inputs always give the same
//! events, live and from a recording.
//!
//! ```
//! use tidings_agent::UiMessage;
//! use tidings_agent::fold::{Fold, FoldOptions, Input};
//! use tidings_protocol::FrameRef;
//!
//! let line = br#"{"type":"assistant","message":{"content":[{"type":"text","text":"Hello"}]}}"#;
//! let mut fold = Fold::new(1, FoldOptions::default());
//! let mut events = Vec::new();
//! fold.step(Input::Frame(&FrameRef::decode(line)?), &mut events);
//! assert!(events.iter().any(|event| matches!(event, UiMessage::TextChunk { text, .. } if text == "Hello")));
//! # Ok::<(), tidings_protocol::DecodeError>(())
//! ```
//!
//! Invariants of every event stream:
//!
//! - The text of a turn is the concatenation of its chunks, minus the text that `Retracted` events remove
//!   from the end.
//! - Streamed text is not shown again when the complete block comes.
//! - `Complete` is the last event of its turn. It follows only from a result of the agent, or from the
//!   agent's end.
//! - Events of a sub-agent are wrapped into its `Lane`.
//! - The tokens of a response are counted once, even if it comes in several frames.
//! - A frame that has no event of its own becomes a `RawFrame`.

mod agents;
mod assistant;
mod calls;
mod frames;
mod input;
mod limits;
mod out;
mod read;
mod recorded;
mod result;
mod shown;
mod snapshot;
mod stream;
mod system;
mod text_progress;
mod todos;
mod tokens;
mod turns;
mod user;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tidings_protocol::FrameRef;
use tidings_protocol::ui::{
    PermissionResolved, PlanProposed, SessionPhase, SessionStarted, SessionStateChanged, TurnId, TurnStarted,
    UiMessage, UserPrompt,
};

pub use input::{COMMAND, Exit, Input, OpenedRequest, Prompt, SettledRequest};
pub use result::EXITED;
pub use snapshot::{RestoreError, Snapshot};

use agents::{SubAgentFacts, SubAgents};
use calls::Calls;
use limits::ASKS_MAX;
use out::Out;
use shown::ShownBlocks;
use todos::Todos;
use tokens::Tokens;
use turns::{Turns, command_of};

use crate::progress::ProgressParser;

/// Options of a fold.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct FoldOptions {
    /// Detect progress in the text of the model, such as "Running test 5 of 20".
    pub text_progress: bool,
    /// Number of the last user turn before the folded frames; user turns are counted on from it.
    pub user_turns: u64,
    /// Number of the last agent turn before the folded frames.
    pub agent_turns: u64,
    /// The total cost that the agent last reported before the folded frames, in US dollars.
    pub reported_usd: f64,
}

/// The state machine that turns the frames of one session into events.
#[derive(Debug)]
pub struct Fold {
    handle: i64,
    options: FoldOptions,
    parser: ProgressParser,
    state: State,
}

/// The state of a fold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct State {
    session: Session,
    turns: Turns,
    /// The lane of the main conversation.
    shown: ShownBlocks,
    tokens: Tokens,
    agents: SubAgents,
    calls: Calls,
    todos: Todos,
    /// Tool calls of the open requests.
    asks: BTreeSet<String>,
    /// The dialog in the agent's own terminal that it waits in, if no request is about it.
    #[serde(default)]
    dialog: Option<String>,
    /// The call whose plan was shown last.
    plan: Option<String>,
    phase: Option<SessionPhase>,
    now_ms: Option<i64>,
}

/// Facts about the session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Session {
    id: Option<String>,
    model: Option<String>,
    permission_mode: Option<String>,
    commands: BTreeSet<String>,
    /// The agent's own total cost at its last result, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reported_usd: Option<f64>,
}

impl Fold {
    /// Creates the fold of a new session; `handle` is the number that its events carry.
    pub fn new(handle: i64, options: FoldOptions) -> Self {
        let turns = Turns::after(options.user_turns, options.agent_turns);
        let state = State { turns, ..State::default() };
        Self { handle, options, parser: ProgressParser::default(), state }
    }

    /// The number that events carry.
    pub fn handle(&self) -> i64 {
        self.handle
    }

    /// The agent's own session id, once a frame has contained it.
    pub fn cli_session_id(&self) -> Option<&str> {
        self.state.session.id.as_deref()
    }

    /// The agent's turn in progress.
    pub fn open_turn(&self) -> Option<TurnId> {
        self.state.turns.open.as_ref().map(|turn| turn.id)
    }

    /// True if a call was shown.
    pub(crate) fn has_begun(&self, tool_use_id: &str) -> bool {
        self.state.calls.has_begun(tool_use_id)
    }

    /// True if a prompt with this id was recorded.
    pub(crate) fn knows_prompt(&self, uuid: &str) -> bool {
        self.state.turns.is_known(uuid)
    }

    /// Tool calls of the open requests.
    pub(crate) fn open_asks(&self) -> impl Iterator<Item = &str> {
        self.state.asks.iter().map(String::as_str)
    }

    /// Drops an open request whose outcome was reported before.
    pub(crate) fn forget_ask(&mut self, tool_use_id: &str, events: &mut Vec<UiMessage>) {
        if self.state.asks.remove(tool_use_id) {
            self.enter(self.resting_phase(), &mut Out { events, handle: self.handle, agent: None });
        }
    }

    /// The plan that an open call proposes. The agent omits it from the request about the call.
    pub(crate) fn plan_of(&self, tool_use_id: &str) -> Option<&str> {
        self.state.calls.get(tool_use_id)?.input.as_ref()?.get("plan")?.as_str()
    }

    /// Processes one input and appends the resulting events.
    #[inline]
    pub fn step(&mut self, input: Input<'_>, out: &mut Vec<UiMessage>) {
        match input {
            Input::Frame(frame) => self.frame(frame, out),
            Input::Prompt(prompt) => self.prompt(prompt, out),
            Input::RequestOpened(asked) => self.asked(asked, out),
            Input::RequestSettled(settled) => self.settled(settled, out),
            Input::Exited(exit) => self.exited(exit, out),
            Input::Tick(now_ms) => {
                self.state.now_ms = Some(now_ms);
                self.state.calls.tick(now_ms, &mut Out { events: out, handle: self.handle, agent: None });
            }
        }
    }

    fn prompt(&mut self, prompt: &Prompt, events: &mut Vec<UiMessage>) {
        let turn_id = self.state.turns.assign(prompt.turn_id);
        let mut command = command_of(&prompt.text);
        if prompt.origin.as_deref() == Some(COMMAND) {
            // A command of a front end is reported by its name, without the slash.
            command = command.map(|command| command.trim_start_matches('/').to_owned());
        }
        self.state.turns.queue(prompt.uuid.as_deref(), &prompt.text, turn_id, command);
        let mut event = UserPrompt::new(self.handle, prompt.text.as_str());
        event.uuid.clone_from(&prompt.uuid);
        event.turn_id = Some(turn_id);
        event.origin.clone_from(&prompt.origin);
        event.attachments.clone_from(&prompt.attachments);
        events.push(event.into());
    }

    fn asked(&mut self, asked: &OpenedRequest, events: &mut Vec<UiMessage>) {
        let session_id = self.handle;
        match asked {
            OpenedRequest::Permission { request, details } => {
                self.ask(&details.tool_use_id);
                events.push(details.clone().into());
                let (tool_use_id, request) = (details.tool_use_id.clone(), request.clone());
                events.push(UiMessage::PermissionRequired { tool_use_id, request, session_id });
            }
            OpenedRequest::Batch { batch_id, requests } => {
                for (_, details) in requests {
                    self.ask(&details.tool_use_id);
                    events.push(details.clone().into());
                }
                let requests = requests.iter().map(|(request, _)| request.clone()).collect();
                let batch_id = batch_id.clone();
                events.push(UiMessage::BatchPermissionRequired { batch_id, requests, session_id });
            }
            OpenedRequest::Questions { request, details, plan } => {
                self.ask(&details.tool_use_id);
                // The plan may have been shown with the call already.
                let is_news = |plan: &&PlanProposed| self.state.plan.as_ref() != Some(&plan.tool_use_id);
                events.extend(plan.as_ref().filter(is_news).cloned().map(UiMessage::from));
                events.push(details.clone().into());
                let (tool_use_id, request) = (details.tool_use_id.clone(), request.clone());
                events.push(UiMessage::UserInteractionRequired { tool_use_id, request, session_id });
            }
        }
        self.enter(SessionPhase::WaitingForPerson, &mut Out { events, handle: self.handle, agent: None });
    }

    fn ask(&mut self, tool_use_id: &str) {
        if self.state.asks.len() < ASKS_MAX {
            self.state.asks.insert(tool_use_id.to_owned());
        }
    }

    fn settled(&mut self, settled: &SettledRequest, events: &mut Vec<UiMessage>) {
        let (tool_use_id, event) = match settled {
            SettledRequest::Permission(event) => (&event.tool_use_id, UiMessage::from(event.clone())),
            SettledRequest::Questions(event) => (&event.tool_use_id, UiMessage::from(event.clone())),
        };
        self.state.asks.remove(tool_use_id);
        if let SettledRequest::Permission(PermissionResolved { updated_input: Some(input), .. }) = settled {
            self.state.calls.change(tool_use_id, input);
        }
        events.push(event);
        self.enter(self.resting_phase(), &mut Out { events, handle: self.handle, agent: None });
    }

    /// The phase of the session, if nothing else is known about it than the inputs so far.
    pub(crate) fn phase(&self) -> SessionPhase {
        self.state.phase.unwrap_or_else(|| self.resting_phase())
    }

    /// The phase of the session when no special one applies.
    fn resting_phase(&self) -> SessionPhase {
        if !self.state.asks.is_empty() || self.state.dialog.is_some() {
            SessionPhase::WaitingForPerson
        } else if self.state.turns.open.is_some() {
            SessionPhase::Running
        } else {
            SessionPhase::Idle
        }
    }

    /// Reports a change of phase.
    fn enter(&mut self, phase: SessionPhase, out: &mut Out<'_>) {
        if self.state.phase != Some(phase) {
            self.state.phase = Some(phase);
            let mut event = SessionStateChanged::new(self.handle, phase);
            if phase == SessionPhase::WaitingForPerson && self.state.asks.is_empty() {
                event.waits_for.clone_from(&self.state.dialog);
            }
            out.push(event);
        }
    }

    /// Opens a turn, unless one is open.
    fn begin_turn(&mut self, out: &mut Out<'_>) {
        let Some(turn) = self.state.turns.begin() else { return };
        let mut event = TurnStarted::new(self.handle, turn.id);
        event.answers.clone_from(&turn.answers);
        event.origin.clone_from(&turn.origin);
        self.state.shown.clear();
        self.state.tokens.clear();
        self.parser.reset();
        out.push(event);
        self.enter(self.resting_phase(), out);
    }

    /// Records the session id of a frame, if no `init` frame has come.
    fn note_session(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        if self.state.session.id.is_none()
            && let Some(id) = frame.session_id().filter(|id| !id.is_empty())
        {
            out.unwrapped().push(SessionStarted::new(self.handle, id.as_ref()));
            self.state.session.id = Some(id.into_owned());
        }
    }

    /// Registers the sub-agent of a frame.
    fn register_agent(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        use read::Members as _;
        let Some(agent) = out.agent else { return };
        let facts = SubAgentFacts {
            task_id: frame.string("agent_id"),
            agent_type: frame.string("subagent_type"),
            description: frame.string("task_description"),
            ..SubAgentFacts::default()
        };
        let State { agents, turns, calls, .. } = &mut self.state;
        agents.register(agent, turns.current(), facts, calls, out);
    }

    fn exited(&mut self, exit: &Exit, events: &mut Vec<UiMessage>) {
        let out = &mut Out { events, handle: self.handle, agent: None };
        if self.state.turns.open.is_some() {
            let why =
                exit.error.clone().unwrap_or_else(|| "The agent ended in the middle of a turn".to_owned());
            self.break_off(&why, out);
        }
        self.state.calls.end_all("The agent ended before the call did", out);
        self.state.agents.end_all(out);
        self.state.asks.clear();
        self.state.dialog = None;
        self.state.phase = Some(SessionPhase::Ended);
        let mut event = SessionStateChanged::new(self.handle, SessionPhase::Ended);
        event.unreported_cost_usd = self.unreported_usd();
        event.exit_code = exit.code;
        event.signal = exit.signal;
        event.error.clone_from(&exit.error);
        out.push(event);
    }
}
