//! Configuration of sessions.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tidings::transport::Transport;
use tidings::{Ids, SessionOwner};
use tidings_agent::Clock;
use tidings_agent::session::Batches;
use tidings_api::Code;
use tidings_journal::Key;

use super::starting::launch;
use crate::Error;
use crate::folder_policies::FolderPolicies;
#[cfg(unix)]
use crate::hosts::Hosts;
use crate::limits::{ABANDONED_AFTER, GROWING_SETTLES_AFTER, LIVE_MAX, PARK_AFTER};
use crate::trust::Trust;

/// Configuration of sessions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The `claude` program; it is searched for if there is none.
    pub claude: Option<PathBuf>,
    /// Arguments before our own, for a stand-in.
    pub claude_args: Vec<String>,
    /// True if `claude` is a stand-in that plays a script.
    pub demo: bool,
    /// The real `claude` beside a stand-in, for sessions that are not demos.
    pub beside_demo: Option<Real>,
    /// The configuration folder of the CLI, for sessions that are imported or deleted.
    pub config_dir: Option<PathBuf>,
    /// The whole environment of the agents.
    pub environment: Vec<(String, String)>,
    /// Other agents, which sessions can choose by name.
    pub agents: Vec<AgentProgram>,
    /// The folders that sessions may work in; empty for all.
    pub roots: Vec<PathBuf>,
    /// Folders that no policy and no grant opens to an agent: the data folder of the server.
    pub protected: Vec<PathBuf>,
    /// Trusted folders, whose own commands may run; without it, all are trusted.
    pub trust: Option<Trust>,
    /// Policies for the sessions that people start themselves; without it, all of them ask.
    pub policies: Option<FolderPolicies>,
    /// Shows the sessions that people start themselves, too.
    pub observe: Option<Observe>,
    /// True if modes that skip permission requests may be used at all.
    pub allow_bypass: bool,
    /// Agents that run at the same time.
    pub live_max: usize,
    /// Time after which an unused agent is ended.
    pub park_after: Option<Duration>,
    /// Time without a client that could answer after which the policy `unattended` decides open requests.
    pub abandoned_after: Duration,
    /// Time limit for an answer to a request.
    pub ask_limit: Option<Duration>,
    /// Rule for asking about several tool calls together.
    pub batches: Batches,
    /// The transport for new agents.
    pub carrier: Carrier,
    /// Agent hosts, which keep agents across server restarts; without them agents end with the server.
    #[cfg(unix)]
    pub hosts: Option<Hosts>,
    /// The command that runs these sessions, for other processes that want to continue one of them.
    pub runner: Runner,
    /// The clock.
    pub clock: Clock,
    /// The source of ids.
    pub ids: Ids,
}

/// The command that runs sessions, as users of other processes know it.
#[derive(Debug, Clone)]
pub struct Runner {
    /// The command, such as `tidings serve`.
    pub command: String,
    /// The data folder by which `tidings attach` finds it; none if it cannot be attached to.
    pub data: Option<PathBuf>,
}

impl Default for Runner {
    fn default() -> Self {
        Runner { command: "tidings serve".to_owned(), data: None }
    }
}

impl Runner {
    /// The owner of a session, for the lock of its agent.
    pub(super) fn owner_of(&self, key: &Key) -> SessionOwner {
        let owner = SessionOwner::new(self.command.as_str());
        let Some(data) = self.data.as_ref().and_then(|data| data.to_str()) else { return owner };
        let is_plain = data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
        let quoted = if is_plain { data.to_owned() } else { format!("'{}'", data.replace('\'', r"'\''")) };
        owner.attached_by(format!("tidings attach {key} --data {quoted}"))
    }
}

/// Configuration of sessions that people start themselves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Observe {
    /// A file with the folders whose sessions are not observed, one per line.
    pub ignored_folders: Option<PathBuf>,
    /// True if permission requests of sessions without a person are held for an answer.
    pub hold_unattended: bool,
    /// The data folder, in which sessions of `tidings claude` describe their terminals.
    pub data: Option<PathBuf>,
    /// True if prompts may be typed into panes of tmux.
    pub type_into_tmux: bool,
    /// True if prompts may be sent to the messaging sockets of processes.
    pub send_messages: bool,
    /// Time without growth after which a session file without a known process counts as left.
    pub files_settle_after: Duration,
}

impl Default for Observe {
    fn default() -> Self {
        Observe {
            ignored_folders: None,
            hold_unattended: false,
            data: None,
            type_into_tmux: false,
            send_messages: false,
            files_settle_after: GROWING_SETTLES_AFTER,
        }
    }
}

/// An agent other than Claude Code, behind a program that speaks Claude Code's protocol.
#[derive(Debug, Clone)]
pub struct AgentProgram {
    /// The name by which sessions choose it.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Arguments before those that Claude Code would get.
    pub args: Vec<String>,
    /// Variables beside those of all agents.
    pub environment: Vec<(String, String)>,
}

/// A Claude Code program, and its configuration folder.
#[derive(Debug, Clone)]
pub struct Real {
    /// The program.
    pub claude: PathBuf,
    /// Its configuration folder.
    pub config_dir: PathBuf,
}

impl Config {
    /// The home folder of the agents, if it is known.
    pub fn home(&self) -> Option<&str> {
        let home = self.environment.iter().find(|(name, _)| name == "HOME" || name == "USERPROFILE");
        home.map(|(_, value)| value.as_str()).filter(|home| Path::new(home).is_absolute())
    }

    /// Another agent by its name.
    pub(super) fn agent(&self, name: &str) -> Result<&AgentProgram, Error> {
        self.agents.iter().find(|agent| agent.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.agents.iter().map(|agent| agent.name.as_str()).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let message = format!("This server has no agent `{name}`; its agents are: {known}");
            Error::new(Code::Invalid, message, "docs/agents.md says how agents are configured")
        })
    }

    /// The configuration with which a session is started: one with another agent has its program in place of
    /// `claude`.
    pub(super) fn for_backend(self: &Arc<Self>, backend: Option<&str>) -> Result<Arc<Config>, Error> {
        let Some(name) = backend else { return Ok(Arc::clone(self)) };
        let agent = self.agent(name)?;
        let mut environment = self.environment.clone();
        for (name, value) in &agent.environment {
            environment.retain(|(known, _)| known != name);
            environment.push((name.clone(), value.clone()));
        }
        Ok(Arc::new(Config {
            claude: Some(agent.program.clone()),
            claude_args: agent.args.clone(),
            demo: false,
            beside_demo: None,
            environment,
            ..Config::clone(self)
        }))
    }

    /// A path whose leading `~` is replaced by the home folder.
    pub(crate) fn with_home<'a>(&self, path: &'a str) -> Cow<'a, str> {
        match (path.strip_prefix('~'), self.home()) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                Cow::Owned(format!("{}{rest}", home.trim_end_matches('/')))
            }
            _ => Cow::Borrowed(path),
        }
    }

    /// The Claude Code for real sessions, if there is one.
    pub(crate) fn real_claude(&self) -> Option<&Path> {
        let claude = if self.demo {
            self.beside_demo.as_ref().map(|real| real.claude.as_path())
        } else {
            self.claude.as_deref()
        };
        claude.filter(|claude| claude.exists())
    }

    /// The program of a session.
    pub(super) fn program(&self, is_demo: bool) -> Option<&Path> {
        match &self.beside_demo {
            Some(real) if self.demo && !is_demo => Some(&real.claude),
            _ => self.claude.as_deref(),
        }
    }

    /// The program of sessions that are no demo.
    pub(super) fn real_program(&self) -> Option<&Path> {
        self.program(false)
    }

    /// The configuration folder of sessions that are no demo.
    pub(super) fn real_config_dir(&self) -> Option<&Path> {
        self.config_dir(false)
    }

    /// The configuration folder of a session's CLI.
    pub(super) fn config_dir(&self, is_demo: bool) -> Option<&Path> {
        match &self.beside_demo {
            Some(real) if self.demo && !is_demo => Some(&real.config_dir),
            _ => self.config_dir.as_deref(),
        }
    }
}

/// Creates the transport of an agent.
#[derive(Clone)]
pub struct Carrier(Arc<Make>);

type Make = dyn Fn(&Config) -> Box<dyn Transport> + Send + Sync;

impl Carrier {
    /// A custom transport.
    pub fn new(make: impl Fn(&Config) -> Box<dyn Transport> + Send + Sync + 'static) -> Self {
        Carrier(Arc::new(make))
    }
}

impl Deref for Carrier {
    type Target = Make;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Carrier")
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            claude: None,
            claude_args: Vec::new(),
            demo: false,
            beside_demo: None,
            config_dir: None,
            environment: Vec::new(),
            agents: Vec::new(),
            roots: Vec::new(),
            protected: Vec::new(),
            trust: None,
            policies: None,
            observe: None,
            allow_bypass: false,
            live_max: LIVE_MAX,
            park_after: Some(PARK_AFTER),
            abandoned_after: ABANDONED_AFTER,
            ask_limit: None,
            batches: Batches::default(),
            carrier: Carrier::new(launch::carrier),
            #[cfg(unix)]
            hosts: None,
            runner: Runner::default(),
            clock: Clock::default(),
            ids: Ids::default(),
        }
    }
}
