//! The process that holds a session, as others show it.

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};
use crate::process_identity::ProcessIdentity;

/// The command that starts an agent, as other processes show it to their users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionOwner {
    /// The command, such as `tidings run`.
    pub command: String,
    /// The command that shows the session to another user of the machine, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attach: Option<String>,
    /// The id of the agent host, if the agent has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl SessionOwner {
    /// A command.
    pub fn new(command: impl Into<String>) -> Self {
        SessionOwner { command: command.into(), attach: None, host: None }
    }

    /// Adds the command that shows the session.
    #[must_use]
    pub fn attached_by(mut self, attach: impl Into<String>) -> Self {
        self.attach = Some(attach.into());
        self
    }
}

/// The name of the program that uses this crate.
impl Default for SessionOwner {
    fn default() -> Self {
        let program = crate::find::own_name();
        SessionOwner::new(program.unwrap_or_else(|| "another program".to_owned()))
    }
}

/// The process that holds a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionHolder {
    /// The process.
    #[serde(flatten)]
    pub process: ProcessIdentity,
    /// Its command.
    #[serde(flatten)]
    pub owner: SessionOwner,
    /// The agent that it has started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<ProcessIdentity>,
}

/// The command of a `claude` that is not ours.
const CLAUDE: &str = "claude";

impl SessionHolder {
    /// This process.
    pub(super) fn new(owner: SessionOwner) -> Self {
        SessionHolder { process: ProcessIdentity::own(), owner, agent: None }
    }

    /// A process that has not described itself.
    pub(super) fn unknown() -> Self {
        let process = ProcessIdentity { pid: 0, start: None };
        SessionHolder { process, owner: SessionOwner::new("another process"), agent: None }
    }

    /// A `claude` that was started without us.
    #[cfg(feature = "sessions")]
    pub(super) fn claude(pid: u32, start: Option<String>) -> Self {
        let process = ProcessIdentity { pid, start };
        SessionHolder { agent: Some(process.clone()), process, owner: SessionOwner::new(CLAUDE) }
    }

    /// True if it is a process of ours, and not a `claude` of the user.
    pub fn is_ours(&self) -> bool {
        self.owner.command != CLAUDE
    }

    /// True if the holder or its agent runs.
    pub(super) fn is_alive(&self) -> bool {
        self.process.is_alive() || self.agent.as_ref().is_some_and(ProcessIdentity::is_alive)
    }

    /// The error of a start that it stands in the way of.
    pub fn refusal(&self) -> Error {
        let SessionHolder { process, owner, .. } = self;
        let message = match (owner.command.as_str(), process.pid) {
            (CLAUDE, pid) => format!("Another Claude Code process ({pid}) has this session open"),
            (_, 0) => "Another process has this session open".to_owned(),
            (command, pid) => format!("`{command}` (process {pid}) has this session open"),
        };
        let hint = match &owner.attach {
            Some(attach) => format!("`{attach}` attaches to it; end it there to continue it here"),
            None => "continue it there, or close it there and try again".to_owned(),
        };
        Error::new(ErrorKind::Taken, message, hint)
    }
}
