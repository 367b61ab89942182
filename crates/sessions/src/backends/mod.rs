//! The seam between a session and its agent, wherever the agent lives.
//!
//! A session has at most one backend that it may use: Claude Code that this server runs ([`ClaudeCode`]),
//! another agent that it runs ([`AcpAgent`]), or a process outside of it (`ObservedProcess`). API, page and
//! command line ask what it offers, not which kind it is.
//!
//! Events and answers do not pass this trait. A backend hands its events to the `JournalSink` of the session,
//! and waits for answers in the session's registries of permissions and questions: they outlive it.

mod acp_agent;
mod claude_code;

use futures_core::future::BoxFuture;
use tidings_agent::Command;
use tidings_api::{Code, ModelChoice, ModelList, Rewound, SessionCapability, SessionCommand};
use tidings_protocol::control::SlashCommand;

pub(crate) use self::acp_agent::{AcpAgent, refusal_of_agent};
pub(crate) use self::claude_code::{ClaudeCode, EFFORT};

use super::live_session::{LiveSession, Memory};
use super::settings::Queued;
use crate::Error;
use crate::text::Way;

/// The result of a call to a backend.
pub(crate) type BackendCall<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// The agent of a session.
pub(crate) trait Backend: Send + Sync {
    /// The actions that it offers now.
    fn offer(&self) -> Offer;

    /// The way by which a text reaches it.
    fn text_way(&self) -> Way;

    /// Hands it a prompt.
    fn prompt<'a>(&'a self, queued: &'a Queued) -> BackendCall<'a, PromptOutcome>;

    /// Interrupts the turn. Fails if there is none.
    fn interrupt(&self) -> BackendCall<'_, ()>;

    /// Ends it, and waits until its last events are stored.
    fn close(&self) -> BoxFuture<'_, ()>;

    /// True if it has ended, or cannot be reached any more.
    fn is_closed(&self) -> bool;

    /// True if it works on something without a turn, which would end with it.
    fn works_in_background(&self) -> bool {
        false
    }

    /// Runs a command, whose end an event reports.
    fn run(&self, command: Command) -> BackendCall<'_, ()> {
        let capability = match command {
            Command::Interrupt => SessionCapability::Interrupt,
            Command::Compact => SessionCapability::Compact,
            Command::Clear => SessionCapability::Clear,
            _ => SessionCapability::Stop,
        };
        refuse(&self.offer(), capability)
    }

    /// Changes a setting.
    fn set<'a>(&'a self, setting: Setting<'a>) -> BackendCall<'a, ()> {
        let capability = match setting {
            Setting::Model(_) => SessionCapability::SetModel,
            Setting::Mode(_) => SessionCapability::SetMode,
            Setting::Option { .. } => SessionCapability::SetOption,
        };
        refuse(&self.offer(), capability)
    }

    /// Restores files to their state before a prompt, or only says which ones it would restore.
    fn rewind<'a>(&'a self, _prompt: &'a str, _dry_run: bool) -> BackendCall<'a, Rewound> {
        refuse(&self.offer(), SessionCapability::Rewind)
    }

    /// The models that it can use, if it says so.
    fn models(&self) -> Vec<ModelChoice> {
        Vec::new()
    }

    /// Its slash commands, with their descriptions, if it says so.
    fn commands(&self) -> Vec<SlashCommand> {
        Vec::new()
    }

    /// The models, modes and options that it offers at this moment.
    fn choices(&self) -> BoxFuture<'_, ModelList> {
        Box::pin(async { ModelList { items: self.models(), ..ModelList::default() } })
    }
}

/// Refuses an action that a backend does not offer.
fn refuse<'a, T: Send + 'a>(offer: &Offer, capability: SessionCapability) -> BackendCall<'a, T> {
    let refusal = offer.refusal(capability);
    Box::pin(async move { Err(refusal) })
}

/// The actions that a backend offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) capabilities: Vec<SessionCapability>,
    /// The reason why others are missing, for people.
    pub(crate) limited: Option<String>,
}

/// The result of handing over a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromptOutcome {
    /// The agent has it.
    Handed,
    /// The agent cannot take it now, and has seen nothing of it.
    NotNow,
}

/// A setting of a running agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting<'a> {
    /// The model; none for the default.
    Model(Option<&'a str>),
    /// The permission mode.
    Mode(&'a str),
    /// An option of the agent.
    Option { id: &'a str, value: &'a str },
}

impl Offer {
    fn refusal(&self, capability: SessionCapability) -> Error {
        let message = self
            .limited
            .clone()
            .unwrap_or_else(|| format!("The agent of this session does not offer {capability:?}"));
        Error::new(Code::Conflict, message, "the session's `capabilities` list what it offers now")
    }
}

impl Memory {
    /// The actions that the session's backend offers. Without one, the next prompt starts its agent.
    pub(crate) fn offer(&self) -> Offer {
        match (&self.observed, &self.agent) {
            (Some(observed), _) => observed.offer(),
            (None, Some(agent)) => agent.offer(),
            (None, None) => match &self.settings.launch.backend {
                Some(name) => AcpAgent::offer_before_start(name),
                None => ClaudeCode::full_offer(),
            },
        }
    }
}

impl LiveSession {
    /// Refuses an action that the session's backend does not offer.
    pub(crate) fn check_offered(&self, capability: SessionCapability) -> Result<(), Error> {
        let offer = self.memory().offer();
        if offer.capabilities.contains(&capability) { Ok(()) } else { Err(offer.refusal(capability)) }
    }
}

/// The capability that a command needs.
pub(crate) fn capability_of(command: SessionCommand) -> SessionCapability {
    match command {
        SessionCommand::Interrupt => SessionCapability::Interrupt,
        SessionCommand::Compact => SessionCapability::Compact,
        SessionCommand::Clear => SessionCapability::Clear,
        SessionCommand::Stop => SessionCapability::Stop,
        SessionCommand::Mode => SessionCapability::SetMode,
        SessionCommand::Model => SessionCapability::SetModel,
        SessionCommand::Option => SessionCapability::SetOption,
        SessionCommand::Rewind => SessionCapability::Rewind,
        SessionCommand::TakeOver => SessionCapability::TakeOver,
    }
}
