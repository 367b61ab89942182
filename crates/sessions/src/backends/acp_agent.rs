//! Other agents, which an adapter runs in place of Claude Code.

use futures_core::future::BoxFuture;
use parking_lot::Mutex;
use tidings::control::ListModels;
use tidings::permissions::PermissionMode;
use tidings_acp::adapter::OPTIONS_SETTING;
use tidings_agent::{AgentSession, Command};
use tidings_api::{AgentOption, Code, ModelChoice, ModelList, SessionCapability};
use tidings_protocol::json::Raw;

use super::claude_code::choice;
use super::{Backend, BackendCall, ClaudeCode, Offer, PromptOutcome, Setting};
use crate::limits::AGENT_OFFER_WAIT;
use crate::settings::Queued;
use crate::text::Way;
use crate::{Error, capabilities};

/// A running agent of the Agent Client Protocol. Its adapter speaks the control protocol of Claude Code, as
/// far as the agent can do what is asked for.
pub(crate) struct AcpAgent {
    name: String,
    adapted: ClaudeCode,
    session: AgentSession,
    /// The models, modes and options of its last answer.
    last: Mutex<Option<ModelList>>,
}

/// Actions on every such agent.
const ALWAYS: [SessionCapability; 4] = [
    SessionCapability::Prompt,
    SessionCapability::Interrupt,
    SessionCapability::Answer,
    SessionCapability::Stop,
];

impl AcpAgent {
    pub(crate) fn new(name: &str, session: AgentSession) -> Self {
        let adapted = ClaudeCode(session.clone());
        AcpAgent { name: name.to_owned(), adapted, session, last: Mutex::default() }
    }

    /// The actions that are offered before the agent runs, and has said what it can do.
    pub(crate) fn offer_before_start(name: &str) -> Offer {
        Offer { capabilities: ALWAYS.to_vec(), limited: Some(limits(name)) }
    }

    /// Reads what it offered when it was asked last, or when it was started.
    fn known<T>(&self, read: impl FnOnce(&ModelList) -> T) -> T {
        let mut last = self.last.lock();
        if let Some(last) = &*last {
            return read(last);
        }
        let info = self.session.client().info();
        let agent = info.extra.get("agent");
        let offered = ModelList {
            items: info.models.into_iter().map(choice).collect(),
            modes: Some(fitting_modes(agent.and_then(|agent| agent.get("modes")))),
            options: options(agent.and_then(|agent| agent.get("options"))),
        };
        let result = read(&offered);
        *last = agent.is_some().then_some(offered);
        result
    }

    /// Asks it what it offers.
    async fn ask(&self) -> ModelList {
        let request = self.session.client().request_within(ListModels::default(), AGENT_OFFER_WAIT);
        let Ok(reply) = request.await else { return self.known(ModelList::clone) };
        let own = |key: &str| reply.extra.get(key);
        // An adapter of an earlier version lists its models only.
        let modes = match own("modes") {
            Some(modes) => Some(fitting_modes(Some(modes))),
            None => self.known(|known| known.modes.clone()),
        };
        let options = options(own("options"));
        let offered = ModelList { items: reply.models.into_iter().map(choice).collect(), modes, options };
        *self.last.lock() = Some(offered.clone());
        offered
    }

    /// True if the agent has a slash command of this name.
    fn has_command(&self, name: &str) -> bool {
        self.session.client().info().commands.iter().any(|command| command.name == name)
    }
}

/// The permission modes that fit those of an agent.
fn fitting_modes(own: Option<Raw<'_>>) -> Vec<String> {
    let own = own.into_iter().flat_map(Raw::items);
    let words = own.filter_map(|mode| Some(mode.get("permission_mode")?.text()?.get().into_owned()));
    let mut modes = Vec::new();
    for mode in words.filter(|mode| PermissionMode::KNOWN.contains(&mode.as_str())) {
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    modes
}

/// The options of an agent, with the scope that each needs.
fn options(own: Option<Raw<'_>>) -> Vec<AgentOption> {
    let own = own.into_iter().flat_map(Raw::items);
    let read = own.filter_map(|option| serde_json::from_str::<AgentOption>(option.as_str()).ok());
    let scoped = read.map(|option| {
        let scope = capabilities::of_option(option.category.as_deref()).scope().to_string();
        AgentOption { scope, ..option }
    });
    scoped.collect()
}

/// The reason with which an agent refused a request, without the name of the request. Other errors stay.
pub(crate) fn refusal_of_agent(name: &str, error: Error) -> Error {
    let refused = error.message().strip_prefix(name).and_then(|rest| rest.strip_prefix(" refused `"));
    let Some((_, reason)) = refused.and_then(|rest| rest.split_once("`: ")) else { return error };
    Error::new(Code::Conflict, reason.to_owned(), "docs/agents.md says what works with other agents")
}

fn limits(name: &str) -> String {
    format!("{name} does not offer everything that Claude Code does")
}

impl Backend for AcpAgent {
    fn offer(&self) -> Offer {
        let mut capabilities = ALWAYS.to_vec();
        self.known(|known| {
            if !known.items.is_empty() {
                capabilities.push(SessionCapability::SetModel);
            }
            if known.modes.as_ref().is_some_and(|modes| !modes.is_empty()) {
                capabilities.push(SessionCapability::SetMode);
            }
            if !known.options.is_empty() {
                capabilities.push(SessionCapability::SetOption);
            }
        });
        if self.has_command("compact") {
            capabilities.push(SessionCapability::Compact);
        }
        if self.has_command("clear") {
            capabilities.push(SessionCapability::Clear);
        }
        Offer { capabilities, limited: Some(limits(&self.name)) }
    }

    fn text_way(&self) -> Way {
        Way::OtherAgent
    }

    fn prompt<'a>(&'a self, queued: &'a Queued) -> BackendCall<'a, PromptOutcome> {
        self.adapted.prompt(queued)
    }

    fn interrupt(&self) -> BackendCall<'_, ()> {
        self.adapted.interrupt()
    }

    fn run(&self, command: Command) -> BackendCall<'_, ()> {
        self.adapted.run(command)
    }

    fn set<'a>(&'a self, setting: Setting<'a>) -> BackendCall<'a, ()> {
        Box::pin(async move {
            let set = match setting {
                Setting::Option { id, value } => {
                    let settings = serde_json::json!({ OPTIONS_SETTING: { id: value } });
                    self.session.client().apply_settings(&settings).await.map_err(Error::from)
                }
                Setting::Model(_) | Setting::Mode(_) => self.adapted.set(setting).await,
            };
            set.map_err(|error| refusal_of_agent(&self.name, error))
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.adapted.close()
    }

    fn is_closed(&self) -> bool {
        self.adapted.is_closed()
    }

    fn models(&self) -> Vec<ModelChoice> {
        self.known(|known| known.items.clone())
    }

    fn choices(&self) -> BoxFuture<'_, ModelList> {
        Box::pin(self.ask())
    }
}
