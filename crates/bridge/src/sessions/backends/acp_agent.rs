//! Other agents, which an adapter runs in place of Claude Code.

use futures_core::future::BoxFuture;
use tidings::permissions::PermissionMode;
use tidings_agent::{AgentSession, Command};
use tidings_protocol::api::{ModelChoice, SessionCapability};
use tidings_protocol::json::Raw;

use super::{Backend, BackendCall, ClaudeCode, Offer, PromptOutcome, Setting};
use crate::error::{Code, Error};
use crate::sessions::settings::Queued;

/// A running agent of the Agent Client Protocol. Its adapter speaks the control protocol of Claude Code, as
/// far as the agent can do what is asked for.
pub(in crate::sessions) struct AcpAgent {
    name: String,
    adapted: ClaudeCode,
    session: AgentSession,
}

/// Actions on every such agent.
const ALWAYS: [SessionCapability; 4] = [
    SessionCapability::Prompt,
    SessionCapability::Interrupt,
    SessionCapability::Answer,
    SessionCapability::Stop,
];

impl AcpAgent {
    pub(in crate::sessions) fn new(name: &str, session: AgentSession) -> Self {
        AcpAgent { name: name.to_owned(), adapted: ClaudeCode(session.clone()), session }
    }

    /// The actions that are offered before the agent runs, and has said what it can do.
    pub(in crate::sessions) fn offer_before_start(name: &str) -> Offer {
        Offer { capabilities: ALWAYS.to_vec(), limited: Some(limits(name)) }
    }

    /// The permission modes that fit those of the agent.
    fn fitting_modes(&self) -> Vec<String> {
        let info = self.session.client().info();
        let own = info.extra.get("agent").and_then(|agent| agent.get("modes"));
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

    /// True if the agent has a slash command of this name.
    fn has_command(&self, name: &str) -> bool {
        self.session.client().info().commands.iter().any(|command| command.name == name)
    }
}

/// The reason with which an agent refused a request, without the name of the request. Other errors stay.
pub(in crate::sessions) fn refusal_of_agent(name: &str, error: Error) -> Error {
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
        if !self.adapted.models().is_empty() {
            capabilities.push(SessionCapability::SetModel);
        }
        if !self.fitting_modes().is_empty() {
            capabilities.push(SessionCapability::SetMode);
        }
        if self.has_command("compact") {
            capabilities.push(SessionCapability::Compact);
        }
        if self.has_command("clear") {
            capabilities.push(SessionCapability::Clear);
        }
        Offer { capabilities, limited: Some(limits(&self.name)) }
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
            self.adapted.set(setting).await.map_err(|error| refusal_of_agent(&self.name, error))
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.adapted.close()
    }

    fn is_closed(&self) -> bool {
        self.adapted.is_closed()
    }

    fn models(&self) -> Vec<ModelChoice> {
        self.adapted.models()
    }

    fn modes(&self) -> Option<Vec<String>> {
        Some(self.fitting_modes())
    }
}
