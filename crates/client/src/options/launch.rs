//! The plan of a start: program, arguments, environment and handshake.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tidings_protocol::control::Initialize;
use tidings_protocol::json::Extra;

use crate::error::Error;
use crate::limits::{ARGUMENT_BYTES_MAX, COMMAND_LINE_BYTES_MAX};
use crate::session_lock::{LockedSession, SessionOwner};

/// The result of [`Options::plan`](crate::Options::plan): the process to start, and the handshake.
#[derive(Clone)]
#[non_exhaustive]
pub struct Plan {
    /// The process to start.
    pub launch: Launch,
    /// The handshake.
    pub initialize: Initialize,
    /// Warnings about options that are valid but perhaps not intended.
    pub warnings: Vec<String>,
}

/// The process to start, for transports that start one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Launch {
    /// The program; searched for if it is not set.
    pub program: Option<PathBuf>,
    /// The runtime of the program if it is a script; `node` if it is not set.
    pub runtime: Option<PathBuf>,
    /// Arguments of the runtime.
    pub runtime_args: Vec<String>,
    /// Arguments of the program.
    pub args: Vec<Arg>,
    /// The environment.
    pub environment: Environment,
    /// The working folder.
    pub cwd: Option<PathBuf>,
    /// The system user that it runs as.
    pub user: Option<User>,
    /// The longest line that is kept, in bytes.
    pub line_bytes_max: usize,
    /// The treatment of processes that a session leaves behind.
    pub orphans: Orphans,
    /// The command that starts it, as other processes show it that want the same session.
    pub owner: SessionOwner,
    /// The configuration folder of Claude Code; by default the one that the environment names.
    pub config_dir: Option<PathBuf>,
    /// The session that it writes.
    pub(crate) locked_session: LockedSession,
    session_mark: String,
}

/// A command line argument.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arg {
    /// A literal argument.
    Text(String),
    /// A path, which need not be valid UTF-8.
    Path(PathBuf),
    /// The path of a file with these contents, which the transport writes with access for the owner only.
    File {
        /// The file name.
        name: String,
        /// The contents: long, or secret, or both.
        contents: String,
    },
}

/// The environment of the process.
#[derive(Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Environment {
    /// The variables that it starts from.
    pub base: EnvBase,
    /// Variables that are removed from an inherited environment.
    pub remove: Vec<String>,
    /// Variables that are set unless they exist.
    pub set_if_unset: BTreeMap<String, String>,
    /// Variables that are set.
    pub set: BTreeMap<String, String>,
}

/// The variables that an environment starts from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EnvBase {
    /// The environment of this process.
    #[default]
    Inherit,
    /// These variables of this process.
    Only(Vec<String>),
    /// No variables.
    Empty,
}

/// The treatment of processes that a session leaves behind: background tools, MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Orphans {
    /// They are stopped with the session.
    #[default]
    Sweep,
    /// They keep running; useful for a development server that a tool started.
    Keep,
}

/// A system user, by numeric id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    /// The user id.
    pub uid: u32,
    /// The group id.
    pub gid: u32,
}

impl Plan {
    pub(super) fn new(session_mark: String) -> Self {
        let launch = Launch {
            program: None,
            runtime: None,
            runtime_args: Vec::new(),
            args: Vec::new(),
            environment: Environment::default(),
            cwd: None,
            user: None,
            line_bytes_max: tidings_protocol::ndjson::LINE_BYTES_MAX,
            orphans: Orphans::default(),
            owner: SessionOwner::default(),
            config_dir: None,
            locked_session: LockedSession::None,
            session_mark,
        };
        Plan { launch, initialize: Initialize::default(), warnings: Vec::new() }
    }

    /// `--flag`
    pub(super) fn flag(&mut self, flag: &str) {
        self.launch.args.push(Arg::Text(format!("--{flag}")));
    }

    /// Makes the CLI wait for the handshake before it reads its settings.
    pub(super) fn await_initialize(&mut self) {
        let flag = Arg::Text("--await-initialize".to_owned());
        if !self.launch.args.contains(&flag) {
            self.launch.args.push(flag);
        }
    }

    /// `--flag=value`, as a single argument, so that a value may begin with a dash.
    pub(super) fn value(&mut self, flag: &str, value: impl std::fmt::Display) {
        self.launch.args.push(Arg::Text(format!("--{flag}={value}")));
    }

    /// `--flag path`
    pub(super) fn path(&mut self, flag: &str, path: &std::path::Path) {
        self.flag(flag);
        self.launch.args.push(Arg::Path(path.to_owned()));
    }

    /// `--flag file`, with the contents in the file.
    pub(super) fn file(&mut self, flag: &str, name: &str, contents: String) {
        self.flag(flag);
        self.launch.args.push(Arg::File { name: name.to_owned(), contents });
    }

    pub(super) fn env(&mut self, name: &str, value: impl Into<String>) {
        self.launch.environment.set.insert(name.to_owned(), value.into());
    }

    /// Refuses arguments for which the operating system would return an unhelpful error.
    pub(super) fn check(&self) -> Result<(), Error> {
        let args = self.launch.args.iter().map(|arg| match arg {
            Arg::Text(text) => text.as_str(),
            Arg::Path(path) => path.to_str().unwrap_or_default(),
            Arg::File { name, .. } => name,
        });
        let mut total = 0;
        for arg in args {
            if arg.contains('\0') {
                let message = format!("An argument contains a NUL byte: `{arg:?}`");
                return Err(Error::invalid(message, "remove it"));
            }
            total += arg.len() + 1;
            if arg.len() > ARGUMENT_BYTES_MAX || total > COMMAND_LINE_BYTES_MAX {
                let start: String = arg.chars().take(40).collect();
                let message = format!("The command line is too long at `{start}…`");
                return Err(Error::invalid(
                    message,
                    "put rules and lists into `Options::settings`, which are passed as a file",
                ));
            }
        }
        Ok(())
    }
}

impl Launch {
    /// The arguments with file contents inlined, for a transport whose other end has no access to files of
    /// this machine.
    pub fn inline_args(&self) -> Vec<String> {
        let text = |arg: &Arg| match arg {
            Arg::Text(text) => text.clone(),
            Arg::Path(path) => path.to_string_lossy().into_owned(),
            Arg::File { contents, .. } => contents.clone(),
        };
        self.args.iter().map(text).collect()
    }

    /// An id that is unique to this session.
    pub(crate) fn session_mark(&self) -> &str {
        &self.session_mark
    }
}

/// Omits what may be secret.
impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Managed settings that are too long for the command line.
        let mut initialize = self.initialize.clone();
        initialize.extra = Extra::default();
        f.debug_struct("Plan")
            .field("launch", &self.launch)
            .field("initialize", &initialize)
            .field("warnings", &self.warnings)
            .finish()
    }
}

/// Omits values, which may be secrets; [`Launch::inline_args`] has them.
impl fmt::Debug for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arg::Text(text) => match text.split_once('=') {
                _ if !text.starts_with("--") => f.write_str("…"),
                Some((flag, _)) => write!(f, "{flag}=…"),
                None => f.write_str(text),
            },
            Arg::Path(path) => path.fmt(f),
            Arg::File { name, .. } => write!(f, "File({name:?})"),
        }
    }
}

/// Omits the values of variables, which are often secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("base", &self.base)
            .field("remove", &self.remove)
            .field("set_if_unset", &self.set_if_unset.keys())
            .field("set", &self.set.keys())
            .finish()
    }
}
