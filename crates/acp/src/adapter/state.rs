//! State of the adapter, and its two inputs.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use serde_json::Value;
use tidings_protocol::FrameRef;
use tidings_protocol::control::SlashCommand;
use tidings_protocol::json::Raw;
use tidings_protocol::messages::Message as HostMessage;

use super::asks::{Allowance, HostRequest};
use super::effect::Effect;
use super::frames::has;
use super::modes::Choices;
use super::prompt::Prompt;
use super::turn::Turn;
use crate::rpc::{self, Id, Message, RpcError};

/// Settings of an adapter, from the command line that the host uses.
#[derive(Debug, Clone, Default)]
pub struct AdapterSettings {
    /// Name of the agent in messages.
    pub name: String,
    /// Working folder, an absolute path.
    pub cwd: String,
    /// Additional folders.
    pub folders: Vec<String>,
    /// Session of the agent to continue.
    pub resume: Option<String>,
    /// True if the host has not seen the conversation of that session yet.
    pub replay: bool,
    /// Model to use.
    pub model: Option<String>,
    /// Permission mode to begin with, in the words of Claude Code.
    pub mode: Option<String>,
    /// Options of the agent that were chosen in an earlier run: values by their ids.
    pub options: BTreeMap<String, String>,
    /// MCP servers by name, in the format of Claude Code.
    pub mcp_servers: Vec<(String, Value)>,
    /// Text appended to the system prompt.
    pub append_system_prompt: Option<String>,
    /// Method to authenticate with, if the agent needs that before a session.
    pub authenticate: Option<String>,
    /// True if the host wants deltas.
    pub partial_messages: bool,
    /// Version of this program.
    pub version: String,
}

/// The adapter between a host and one agent.
pub struct Adapter {
    pub(super) settings: AdapterSettings,
    pub(super) ids: Box<dyn FnMut() -> String + Send>,
    pub(super) clock: Box<dyn FnMut() -> u64 + Send>,
    pub(super) phase: Phase,
    /// Id of the host's handshake, until it is answered.
    pub(super) handshake: Option<String>,
    /// Session of the agent.
    pub(super) session: Option<String>,
    pub(super) facts: AgentFacts,
    pub(super) choices: Choices,
    /// The permission mode that the host has set.
    pub(super) host_mode: String,
    pub(super) commands: Vec<SlashCommand>,
    /// Prompts that wait for the turn to end: the protocol has one prompt at a time.
    pub(super) queue: VecDeque<Prompt>,
    pub(super) turn: Option<Turn>,
    pub(super) turns_begun: u64,
    /// A prompt of an earlier run, while the agent replays it.
    pub(super) replayed_prompt: String,
    /// Requests to the agent without a response, by id.
    pub(super) calls: BTreeMap<String, OutgoingCall>,
    pub(super) calls_made: u64,
    /// Requests to the host without a response, by id.
    pub(super) asks: BTreeMap<String, HostRequest>,
    /// Permissions that were given, and whose action the agent has yet to request from the client's file
    /// system or terminals.
    pub(super) allowances: Vec<Allowance>,
    /// Calls of ours that the caller performs for a request of the agent, by the request's id.
    pub(super) performed: BTreeMap<String, String>,
    /// Requests and terminals of the agent so far, for ids.
    pub(super) made: u64,
    pub(super) cost_usd: Option<f64>,
    pub(super) host_left: bool,
    pub(super) out: Vec<Effect>,
}

/// Progress of the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Phase {
    /// The agent starts, or opens the session.
    Starting,
    /// The session is open.
    Ready,
    /// The session could not be opened, for this reason.
    Failed(String),
}

/// The agent, as it describes itself.
#[derive(Debug, Default)]
pub(super) struct AgentFacts {
    /// Name and version.
    pub(super) label: String,
    pub(super) capabilities: Value,
    pub(super) auth_methods: Vec<Value>,
}

/// A request of ours to the agent.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OutgoingCall {
    Initialize,
    Authenticate,
    New,
    /// `session/load` or `session/resume`.
    Continue,
    /// A setting of the start.
    FirstSetting,
    /// An option of an earlier run.
    FirstOption {
        id: String,
        value: String,
    },
    /// A setting that the host changes, by the id of its request.
    Setting {
        request: String,
        change: SettingChange,
    },
    /// A prompt, by the number of its turn.
    Prompt(u64),
}

/// A setting that the host changes. It is also the reply to its request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum SettingChange {
    /// A permission mode, and the agent's own that fits it.
    Mode { mode: String, own: String },
    /// A model.
    Model { model: String },
    /// An option of the agent.
    Option { option: String, value: String },
}

impl std::fmt::Debug for Adapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Adapter")
            .field("session", &self.session)
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

impl Adapter {
    /// An adapter that begins with the handshake. `ids` makes ids of messages, and `clock` has the time in
    /// milliseconds.
    pub fn new(
        settings: AdapterSettings,
        ids: impl FnMut() -> String + Send + 'static,
        clock: impl FnMut() -> u64 + Send + 'static,
    ) -> Self {
        let mut adapter = Adapter {
            settings,
            ids: Box::new(ids),
            clock: Box::new(clock),
            phase: Phase::Starting,
            handshake: None,
            session: None,
            facts: AgentFacts::default(),
            choices: Choices::default(),
            host_mode: "default".to_owned(),
            commands: Vec::new(),
            queue: VecDeque::new(),
            turn: None,
            turns_begun: 0,
            replayed_prompt: String::new(),
            calls: BTreeMap::new(),
            calls_made: 0,
            asks: BTreeMap::new(),
            allowances: Vec::new(),
            performed: BTreeMap::new(),
            made: 0,
            cost_usd: None,
            host_left: false,
            out: Vec::new(),
        };
        adapter.begin();
        adapter
    }

    /// The effects since the last call.
    pub fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.out)
    }

    /// True if there are effects to perform.
    pub fn has_effects(&self) -> bool {
        !self.out.is_empty()
    }

    /// Takes a line of the host. Messages that only Claude Code sends are ignored.
    pub fn from_host(&mut self, line: &str) {
        let Ok(frame) = FrameRef::from_json(line) else { return };
        match frame.message() {
            HostMessage::User(prompt) => self.queue_prompt(prompt),
            HostMessage::ControlRequest { request_id, request } => self.control(&request_id, request.call),
            HostMessage::ControlResponse { request_id, response } => {
                self.host_answered(&request_id, response.outcome);
            }
            HostMessage::Unknown(unknown) => self.refuse_unreadable(&unknown),
            _ => {}
        }
    }

    /// Takes a line of the agent.
    pub fn from_agent(&mut self, line: &str) {
        let from = self.out.len();
        match Message::read(line) {
            Ok(message) => {
                match message {
                    Message::Request { id, method, params } => {
                        if let Some(params) = value(params.get()) {
                            self.agent_asks(id, &method, &params);
                        } else {
                            let why = "the parameters are nested too deeply";
                            self.refuse_agent(&id, &RpcError::params(&method, why));
                            self.show_source();
                        }
                    }
                    Message::Notification { method, params } => match value(params.get()) {
                        Some(params) => self.agent_notifies(&method, &params),
                        None => self.show_source(),
                    },
                    Message::Response { id, result } => {
                        let result = result.map(|result| value(result.get()).unwrap_or(Value::Null));
                        self.agent_answered(&id, result);
                    }
                }
                self.attach_source(from, line);
            }
            Err(error) => self.show_noise(line, &error.message),
        }
    }

    /// Takes the beginning of a line of the agent that was too long.
    pub fn from_agent_too_long(&mut self, head: &str, bytes: u64) {
        self.show_noise(head, &format!("A message of {bytes} bytes is too long"));
    }

    /// Answers a request of the agent that the caller has performed.
    pub fn answer(&mut self, id: &Id, result: &Result<Value, RpcError>) {
        self.show_performed(id, result);
        self.out.push(Effect::ToAgent(rpc::response(Some(id), result)));
    }

    /// The host has closed its end: the running turn may end, and no more come.
    pub fn host_ended(&mut self) {
        self.host_left = true;
        self.cancel_asks();
        if self.turn.is_none() {
            self.out.push(Effect::Exit(0));
        }
    }

    /// The agent has ended. `how` completes a sentence about it, with the end of its error output, and `code`
    /// is its exit code.
    pub fn agent_ended(&mut self, how: &str, code: u8) {
        let text = format!("{} ended {how}", self.settings.name);
        self.cancel_asks();
        match self.phase {
            Phase::Starting => self.fail(&text),
            Phase::Failed(_) => {}
            Phase::Ready => {
                // An agent that leaves in the middle of a turn has failed, whatever it says.
                let code = if self.turn.is_some() { code.max(1) } else { code };
                if self.turn.is_some() {
                    self.end_turn_with_error(&text);
                }
                self.out.push(Effect::Exit(code));
            }
        }
    }

    /// Answers a request of the agent.
    pub(super) fn answer_agent(&mut self, id: &Id, result: &impl Serialize) {
        self.out.push(Effect::ToAgent(rpc::success(Some(id), result)));
    }

    /// Answers a request of the agent with an error.
    pub(super) fn refuse_agent(&mut self, id: &Id, error: &RpcError) {
        self.out.push(Effect::ToAgent(rpc::failure(Some(id), error)));
    }

    pub(super) fn call(&mut self, method: &str, params: &impl Serialize, call: OutgoingCall) {
        self.calls_made += 1;
        let id = Id::of_number(&self.calls_made.into());
        self.calls.insert(id.as_json().to_owned(), call);
        self.out.push(Effect::ToAgent(rpc::request(&id, method, params)));
    }

    /// Id of the agent's session; empty before it has one.
    pub(super) fn session_id(&self) -> String {
        self.session.clone().unwrap_or_default()
    }

    /// True if the agent advertises a capability, by a path such as `promptCapabilities/image`.
    pub(super) fn is_capable(&self, path: &str) -> bool {
        let (object, key) = match path.rsplit_once('/') {
            Some((object, key)) => (self.facts.capabilities.pointer(&format!("/{object}")), key),
            None => (Some(&self.facts.capabilities), path),
        };
        object.is_some_and(|object| has(object, key))
    }

    fn agent_answered(&mut self, id: &Id, result: Result<Value, RpcError>) {
        let Some(call) = self.calls.remove(id.as_json()) else { return self.show_source() };
        match call {
            OutgoingCall::Initialize => self.initialized(result),
            OutgoingCall::Authenticate => self.authenticated(result),
            OutgoingCall::New | OutgoingCall::Continue => self.opened(result),
            OutgoingCall::FirstSetting => self.first_setting_made(result),
            OutgoingCall::FirstOption { id, value } => self.first_option_made(&id, &value, result),
            OutgoingCall::Setting { request, change } => self.setting_made(&request, &change, result),
            OutgoingCall::Prompt(turn) => self.prompt_answered(turn, result),
        }
    }
}

/// A tree, if its depth allows it; lone surrogates are replaced.
fn value(json: &str) -> Option<Value> {
    Raw::parse(json).ok()?.value().ok()
}
