//! Frames in, events out.
//!
//! A [`Fold`] is one session's memory of what it has shown. It has no clock, does no I/O and draws no random numbers, so
//! that the same inputs always give the same events, live and from a recording.
//!
//! ```
//! use tidings_agent::UiMessage;
//! use tidings_agent::fold::{Fold, FoldOptions, Input};
//! use tidings_protocol::FrameRef;
//!
//! let line = br#"{"type":"assistant","message":{"content":[{"type":"text","text":"Hello"}]},"session_id":"s"}"#;
//! let mut fold = Fold::new(1, FoldOptions::default());
//! let mut events = Vec::new();
//! fold.step(Input::Frame(&FrameRef::decode(line)?), &mut events);
//! assert!(events.iter().any(|event| matches!(event, UiMessage::TextChunk { text, .. } if text == "Hello")));
//! # Ok::<(), tidings_protocol::DecodeError>(())
//! ```
//!
//! What holds for every stream of events:
//!
//! - The text of a turn is its chunks put together, less what is taken back by `Retracted`, always from the end.
//! - What was streamed is not shown again when the whole block comes.
//! - `Complete` is the last event of its turn, and only a result of the agent, or its end, brings it.
//! - What happens inside a sub-agent is wrapped into its `Lane`.
//! - A response is counted once, however many frames it comes in.
//! - A frame that has no event of its own is a `RawFrame`.

mod agents;
mod assistant;
mod calls;
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
use tidings_protocol::ui::{
    PermissionResolved, PlanProposed, SessionPhase, SessionStarted, SessionStateChanged, TurnId, TurnStarted,
    UiMessage, UserPrompt,
};
use tidings_protocol::{FrameRef, Kind};

pub use input::{Asked, COMMAND, Exit, Input, Prompt, Settled};
pub use result::EXITED;
pub use snapshot::{RestoreError, Snapshot};

use agents::{Agents, Facts};
use calls::Calls;
use limits::ASKS_MAX;
use out::Out;
use shown::Shown;
use todos::Todos;
use tokens::Tokens;
use turns::{Turns, command_of};

use crate::progress::ProgressParser;

/// What a fold may do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoldOptions {
    /// Look for progress in what the model writes: "Running test 5 of 20".
    pub text_progress: bool,
    /// The highest turn of the person before what is folded; its own turns are counted on from there.
    pub user_turns: u64,
    /// The same of the agent.
    pub agent_turns: u64,
}

/// One session, from what its agent writes to what people see.
#[derive(Debug)]
pub struct Fold {
    handle: i64,
    options: FoldOptions,
    parser: ProgressParser,
    state: State,
}

/// Everything a fold remembers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct State {
    session: Session,
    turns: Turns,
    /// The lane of the main conversation.
    shown: Shown,
    tokens: Tokens,
    agents: Agents,
    calls: Calls,
    todos: Todos,
    /// What waits for a person: calls.
    asks: BTreeSet<String>,
    /// The call whose plan was told last.
    plan: Option<String>,
    phase: Option<SessionPhase>,
    now_ms: Option<i64>,
}

/// What is known of the session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Session {
    id: Option<String>,
    model: Option<String>,
    permission_mode: Option<String>,
    commands: BTreeSet<String>,
}

impl Fold {
    /// A session that nothing is known of; `handle` is the number that its events carry.
    pub fn new(handle: i64, options: FoldOptions) -> Self {
        let turns = Turns::after(options.user_turns, options.agent_turns);
        let state = State { turns, ..State::default() };
        Self { handle, options, parser: ProgressParser::default(), state }
    }

    /// The number that events carry.
    pub fn handle(&self) -> i64 {
        self.handle
    }

    /// The agent's own name of the session, as soon as it has told it.
    pub fn cli_session_id(&self) -> Option<&str> {
        self.state.session.id.as_deref()
    }

    /// The turn of the agent that is under way.
    pub fn open_turn(&self) -> Option<TurnId> {
        self.state.turns.open.as_ref().map(|turn| turn.id)
    }

    /// Whether a call was shown.
    pub(crate) fn has_begun(&self, tool_use_id: &str) -> bool {
        self.state.calls.has_begun(tool_use_id)
    }

    /// Whether a prompt of that id was told.
    pub(crate) fn knows_prompt(&self, uuid: &str) -> bool {
        self.state.turns.knows(uuid)
    }

    /// What waits for a person: calls.
    pub(crate) fn open_asks(&self) -> impl Iterator<Item = &str> {
        self.state.asks.iter().map(String::as_str)
    }

    /// Something does not wait for a person any more, and how that ended was told before.
    pub(crate) fn forget_ask(&mut self, tool_use_id: &str, events: &mut Vec<UiMessage>) {
        if self.state.asks.remove(tool_use_id) {
            self.enter(self.resting_phase(), &mut Out { events, handle: self.handle, agent: None });
        }
    }

    /// The plan that an open call proposes. The agent leaves it out when it asks about the call.
    pub(crate) fn plan_of(&self, tool_use_id: &str) -> Option<&str> {
        self.state.calls.get(tool_use_id)?.input.as_ref()?.get("plan")?.as_str()
    }

    /// Takes one thing that happened and appends what is to be seen of it.
    #[inline]
    pub fn step(&mut self, input: Input<'_>, out: &mut Vec<UiMessage>) {
        match input {
            Input::Frame(frame) => self.frame(frame, out),
            Input::Prompt(prompt) => self.prompt(prompt, out),
            Input::Asked(asked) => self.asked(asked, out),
            Input::Settled(settled) => self.settled(settled, out),
            Input::Exited(exit) => self.exited(exit, out),
            Input::Tick(now_ms) => {
                self.state.now_ms = Some(now_ms);
                self.state.calls.tick(now_ms, &mut Out { events: out, handle: self.handle, agent: None });
            }
        }
    }

    #[inline]
    fn frame(&mut self, frame: &FrameRef<'_>, events: &mut Vec<UiMessage>) {
        let agent = frame.parent_tool_use_id();
        let mut out = Out { events, handle: self.handle, agent: agent.as_deref() };
        match frame.kind() {
            Kind::StreamEvent => self.stream_event(frame, &mut out),
            Kind::Assistant => self.assistant(frame, &mut out),
            Kind::User => self.user(frame, &mut out),
            Kind::Result => self.result(frame, &mut out),
            Kind::System => self.system(frame, &mut out.unwrapped()),
            // The client answers these; what they ask of people comes as an input of its own.
            Kind::ControlRequest
            | Kind::ControlResponse
            | Kind::ControlCancelRequest
            | Kind::KeepAlive
            | Kind::UpdateEnvironmentVariables => {}
            _ => self.other(frame, &mut out.unwrapped()),
        }
    }

    fn prompt(&mut self, prompt: &Prompt, events: &mut Vec<UiMessage>) {
        let turn_id = self.state.turns.number(prompt.turn_id);
        let mut command = command_of(&prompt.text);
        if prompt.origin.as_deref() == Some(COMMAND) {
            // Whoever gave it knows it by its name.
            command = command.map(|command| command.trim_start_matches('/').to_owned());
        }
        self.state.turns.wait(prompt.uuid.as_deref(), &prompt.text, turn_id, command);
        let mut event = UserPrompt::new(self.handle, prompt.text.as_str());
        event.uuid.clone_from(&prompt.uuid);
        event.turn_id = Some(turn_id);
        event.origin.clone_from(&prompt.origin);
        event.attachments.clone_from(&prompt.attachments);
        events.push(event.into());
    }

    fn asked(&mut self, asked: &Asked, events: &mut Vec<UiMessage>) {
        let session_id = self.handle;
        match asked {
            Asked::Permission { request, details } => {
                self.ask(&details.tool_use_id);
                events.push(details.clone().into());
                let (tool_use_id, request) = (details.tool_use_id.clone(), request.clone());
                events.push(UiMessage::PermissionRequired { tool_use_id, request, session_id });
            }
            Asked::Batch { batch_id, requests } => {
                for (_, details) in requests {
                    self.ask(&details.tool_use_id);
                    events.push(details.clone().into());
                }
                let requests = requests.iter().map(|(request, _)| request.clone()).collect();
                let batch_id = batch_id.clone();
                events.push(UiMessage::BatchPermissionRequired { batch_id, requests, session_id });
            }
            Asked::Questions { request, details, plan } => {
                self.ask(&details.tool_use_id);
                // The call itself may have had the plan, and then it is known.
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

    fn settled(&mut self, settled: &Settled, events: &mut Vec<UiMessage>) {
        let (tool_use_id, event) = match settled {
            Settled::Permission(event) => (&event.tool_use_id, UiMessage::from(event.clone())),
            Settled::Questions(event) => (&event.tool_use_id, UiMessage::from(event.clone())),
        };
        self.state.asks.remove(tool_use_id);
        if let Settled::Permission(PermissionResolved { updated_input: Some(input), .. }) = settled {
            self.state.calls.change(tool_use_id, input);
        }
        events.push(event);
        self.enter(self.resting_phase(), &mut Out { events, handle: self.handle, agent: None });
    }

    /// What the session is doing when nothing special is going on.
    fn resting_phase(&self) -> SessionPhase {
        if !self.state.asks.is_empty() {
            SessionPhase::WaitingForPerson
        } else if self.state.turns.open.is_some() {
            SessionPhase::Running
        } else {
            SessionPhase::Idle
        }
    }

    /// Tells what the session is doing, when that is news.
    fn enter(&mut self, phase: SessionPhase, out: &mut Out<'_>) {
        if self.state.phase != Some(phase) {
            self.state.phase = Some(phase);
            out.push(SessionStateChanged::new(self.handle, phase));
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

    /// Notes the session that a frame names, where no `init` has.
    fn note_session(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        if self.state.session.id.is_none()
            && let Some(id) = frame.session_id().filter(|id| !id.is_empty())
        {
            out.unwrapped().push(SessionStarted::new(self.handle, id.as_ref()));
            self.state.session.id = Some(id.into_owned());
        }
    }

    /// Makes sure that the sub-agent of a frame is known.
    fn meet_agent(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        use read::Members as _;
        let Some(agent) = out.agent else { return };
        let facts = Facts {
            task_id: frame.string("agent_id"),
            agent_type: frame.string("subagent_type"),
            description: frame.string("task_description"),
            ..Facts::default()
        };
        let State { agents, turns, calls, .. } = &mut self.state;
        agents.meet(agent, turns.current(), facts, calls, out);
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
        self.state.phase = Some(SessionPhase::Ended);
        let mut event = SessionStateChanged::new(self.handle, SessionPhase::Ended);
        event.exit_code = exit.code;
        event.signal = exit.signal;
        event.error.clone_from(&exit.error);
        out.push(event);
    }
}
