//! How sessions are run.

use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tidings::Ids;
use tidings::transport::Transport;
use tidings_agent::Clock;
use tidings_agent::session::Batches;

use super::launch;
use crate::auth::trust::Trust;
#[cfg(unix)]
use crate::hosts::Hosts;
use crate::limits::{ABANDONED_AFTER, LIVE_MAX, PARK_AFTER};

/// How sessions are run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The `claude` to run; it is looked for where none is named.
    pub claude: Option<PathBuf>,
    /// Arguments that come before those of ours, for a stand-in.
    pub claude_args: Vec<String>,
    /// Whether `claude` is a stand-in that plays a script.
    pub demo: bool,
    /// The real one beside a stand-in, for sessions that are no demo.
    pub beside_demo: Option<Real>,
    /// Where the CLI keeps its sessions, for those that are adopted or deleted.
    pub config_dir: Option<PathBuf>,
    /// The whole environment of the agents.
    pub environment: Vec<(String, String)>,
    /// The folders that sessions may work in; everywhere if there are none.
    pub roots: Vec<PathBuf>,
    /// Folders whose own commands may run; where it is not known, all of them.
    pub trust: Option<Trust>,
    /// Whether modes that ask nobody may be used at all.
    pub allow_bypass: bool,
    /// Agents that run at the same time.
    pub live_max: usize,
    /// After how long an agent that nobody uses is ended.
    pub park_after: Option<Duration>,
    /// After how long without anybody who could answer the policy `unattended` decides what a person was asked.
    pub abandoned_after: Duration,
    /// How long a question waits for an answer.
    pub ask_limit: Option<Duration>,
    /// Which calls are asked about together.
    pub batches: Batches,
    /// What carries the lines of the agents.
    pub carrier: Carrier,
    /// The processes that keep agents while the server comes and goes; without them agents end with the server.
    #[cfg(unix)]
    pub hosts: Option<Hosts>,
    /// What time it is.
    pub clock: Clock,
    /// Where ids come from.
    pub ids: Ids,
}

/// A Claude Code, and where it keeps its sessions.
#[derive(Debug, Clone)]
pub struct Real {
    /// The program.
    pub claude: PathBuf,
    /// Where it keeps its sessions.
    pub config_dir: PathBuf,
}

impl Config {
    /// The Claude Code of real sessions, if there is one.
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

    /// Where the CLI of a session keeps its sessions.
    pub(super) fn config_dir(&self, is_demo: bool) -> Option<&Path> {
        match &self.beside_demo {
            Some(real) if self.demo && !is_demo => Some(&real.config_dir),
            _ => self.config_dir.as_deref(),
        }
    }
}

/// Makes what carries the lines of one agent.
#[derive(Clone)]
pub struct Carrier(Arc<Make>);

type Make = dyn Fn(&Config) -> Box<dyn Transport> + Send + Sync;

impl Carrier {
    /// A carrier of one's own.
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
            roots: Vec::new(),
            trust: None,
            allow_bypass: false,
            live_max: LIVE_MAX,
            park_after: Some(PARK_AFTER),
            abandoned_after: ABANDONED_AFTER,
            ask_limit: None,
            batches: Batches::default(),
            carrier: Carrier::new(launch::carrier),
            #[cfg(unix)]
            hosts: None,
            clock: Clock::default(),
            ids: Ids::default(),
        }
    }
}
