use std::collections::BTreeMap;
use std::path::PathBuf;

use tidings_protocol::control::Initialize;

use crate::error::Error;
use crate::limits::{ARGUMENT_BYTES_MAX, COMMAND_LINE_BYTES_MAX};

/// What options come to: what is started, and what is said first.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Plan {
    /// What is started.
    pub launch: Launch,
    /// What is said first.
    pub initialize: Initialize,
    /// What is allowed but perhaps not meant, for people to read.
    pub warnings: Vec<String>,
}

/// What is started: for carriers that start something.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Launch {
    /// The program; looked for when it is not named.
    pub program: Option<PathBuf>,
    /// What runs the program if it is a script; `node` when it is not named.
    pub runtime: Option<PathBuf>,
    /// Arguments of the runtime.
    pub runtime_args: Vec<String>,
    /// Arguments of the program.
    pub args: Vec<Arg>,
    /// The environment.
    pub environment: Environment,
    /// The folder that it works in.
    pub cwd: Option<PathBuf>,
    /// The user that it runs as.
    pub user: Option<User>,
    /// The longest line that is kept.
    pub line_bytes_max: usize,
    /// What happens to processes that a session leaves behind.
    pub orphans: Orphans,
    session_mark: String,
}

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arg {
    /// As it stands.
    Text(String),
    /// A path, which need not be text.
    Path(PathBuf),
    /// The path of a file with these contents, which the carrier writes for nobody else to read.
    File {
        /// Its name.
        name: String,
        /// What stands in it: long, or secret, or both.
        contents: String,
    },
}

/// The environment of what is started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Environment {
    /// What it begins with.
    pub base: EnvBase,
    /// Variables that are taken out of an inherited one.
    pub remove: Vec<String>,
    /// Variables that are set unless they are there.
    pub set_if_unset: BTreeMap<String, String>,
    /// Variables that are set.
    pub set: BTreeMap<String, String>,
}

/// What an environment begins with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EnvBase {
    /// The environment of this process.
    #[default]
    Inherit,
    /// These variables of it.
    Only(Vec<String>),
    /// Nothing.
    Empty,
}

/// What happens to processes that a session leaves behind: tools in the background, MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Orphans {
    /// They are ended with it.
    #[default]
    Sweep,
    /// They stay, as a development server that a tool started may be meant to.
    Keep,
}

/// A user of the system, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    /// The user.
    pub uid: u32,
    /// The group.
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
            session_mark,
        };
        Plan { launch, initialize: Initialize::default(), warnings: Vec::new() }
    }

    /// `--flag`
    pub(super) fn flag(&mut self, flag: &str) {
        self.launch.args.push(Arg::Text(format!("--{flag}")));
    }

    /// `--flag=value`: in one word, so that a value may begin with a dash.
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

    /// What the system would refuse with a word that explains nothing.
    pub(super) fn check(&self) -> Result<(), Error> {
        let args = self.launch.args.iter().map(|arg| match arg {
            Arg::Text(text) => text.as_str(),
            Arg::Path(path) => path.to_str().unwrap_or_default(),
            Arg::File { name, .. } => name,
        });
        let mut total = 0;
        for arg in args {
            if arg.contains('\0') {
                let message = format!("An argument holds a NUL, which no command line can: `{arg:?}`");
                return Err(Error::invalid(message, "take it out"));
            }
            total += arg.len() + 1;
            if arg.len() > ARGUMENT_BYTES_MAX || total > COMMAND_LINE_BYTES_MAX {
                let start: String = arg.chars().take(40).collect();
                let message = format!("The command line is too long at `{start}…`");
                return Err(Error::invalid(
                    message,
                    "put rules and lists into `Options::settings`, which go by a file",
                ));
            }
        }
        Ok(())
    }
}

impl Launch {
    /// The arguments with files in place, for a carrier whose other end sees no files of this machine.
    pub fn inline_args(&self) -> Vec<String> {
        let text = |arg: &Arg| match arg {
            Arg::Text(text) => text.clone(),
            Arg::Path(path) => path.to_string_lossy().into_owned(),
            Arg::File { contents, .. } => contents.clone(),
        };
        self.args.iter().map(text).collect()
    }

    /// Tells this session apart from all others.
    pub(crate) fn session_mark(&self) -> &str {
        &self.session_mark
    }
}
