//! The launch request of a host. Its sender decides everything: a host searches for nothing and inherits
//! nothing.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::HostFolder;
use super::wire::TerminalSize;
use crate::error::{Error, ErrorKind};
use crate::find::{self, Search};
use crate::limits::{SPOOL_BYTES_MAX, SPOOL_SLACK_BYTES};
use crate::options::{Arg, EnvBase, Launch, Orphans};
use crate::session_lock::{LockRequest, SessionOwner};
use crate::transport::process::command;

/// The launch request of a host.
#[derive(Clone, Serialize, Deserialize)]
pub struct Start {
    program: Word,
    args: Vec<Argument>,
    env: Vec<(Word, Word)>,
    cwd: Option<Word>,
    pub(super) user: Option<(u32, u32)>,
    pub(super) orphans: Orphans,
    pub(super) lease_ms: u64,
    pub(super) spool_bytes_max: u64,
    /// Servers of earlier versions send none.
    #[serde(default)]
    lock: Option<LockRequest>,
    /// The first size of the terminal that the program gets; without one it gets pipes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) terminal: Option<TerminalSize>,
}

/// A program to run in a terminal of its own.
#[derive(Debug)]
pub struct TerminalStart {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its complete environment.
    pub env: BTreeMap<OsString, OsString>,
    /// A variable that has the process id of the host.
    pub host_variable: Option<String>,
    /// Its working folder.
    pub cwd: PathBuf,
    /// The first size of the terminal.
    pub size: TerminalSize,
    /// The session that it continues, if it is known: the configuration folder of Claude Code, and the id. It
    /// is locked until the program has described itself.
    pub session: Option<(PathBuf, String, SessionOwner)>,
}

/// An argument of a command line, which need not be valid UTF-8.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Word {
    Text(String),
    Bytes(Vec<u8>),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Argument {
    Word(Word),
    File { name: String, contents: String },
}

impl Start {
    /// Finds the program and resolves everything that it is started with.
    pub fn of(launch: &Launch, lease: Duration, spool_bytes_max: Option<u64>) -> Result<Self, Error> {
        let search = Search::from_environment();
        let search = Search { program: launch.program.clone().or(search.program), ..search };
        let program = search.find()?;
        if let Some(cwd) = &launch.cwd {
            command::check_folder(cwd)?;
        }
        let (program, args) = command::program_and_args(&program, launch);
        let line = launch.line_bytes_max as u64 + SPOOL_SLACK_BYTES;
        Ok(Start {
            program: program.into_os_string().into(),
            args: args.into_iter().map(Argument::of).collect(),
            env: environment(launch).into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: launch.cwd.clone().map(|cwd| cwd.into_os_string().into()),
            user: launch.user.map(|user| (user.uid, user.gid)),
            orphans: launch.orphans,
            lease_ms: u64::try_from(lease.as_millis()).unwrap_or(u64::MAX),
            // A line that does not fit into the spool could never be sent.
            spool_bytes_max: spool_bytes_max.unwrap_or(SPOOL_BYTES_MAX).max(line),
            lock: LockRequest::of(launch),
            terminal: None,
        })
    }

    /// The launch of a program in a terminal. What it leaves behind goes on, as in any other terminal.
    pub fn of_terminal(start: TerminalStart) -> Self {
        let TerminalStart { program, args, env, cwd, size, session, .. } = start;
        let word = |(name, value): (OsString, OsString)| (name.into(), value.into());
        Start {
            program: program.into_os_string().into(),
            args: args.into_iter().map(|arg| Argument::Word(arg.into())).collect(),
            env: env.into_iter().map(word).collect(),
            cwd: Some(cwd.into_os_string().into()),
            user: None,
            orphans: Orphans::Keep,
            lease_ms: 0,
            spool_bytes_max: 0,
            lock: session.and_then(|(folder, id, owner)| LockRequest::named(&folder, id, owner)),
            terminal: Some(size.bounded()),
        }
    }

    /// The lock that the host takes before it starts the agent.
    pub(super) fn lock(&self, host: &str) -> Option<LockRequest> {
        let lock = self.lock.clone();
        // No server adopts the program in a terminal.
        if self.terminal.is_some() { lock } else { lock.map(|lock| lock.under_host(host)) }
    }

    /// The command. Arguments that are passed as files get theirs in the folder of the host.
    pub(super) fn command(self, folder: &HostFolder) -> Result<Command, Error> {
        let mut command = Command::new(OsString::from(self.program));
        for argument in self.args {
            match argument {
                Argument::Word(word) => drop(command.arg(OsString::from(word))),
                Argument::File { name, contents } => {
                    let path = folder.argument_file(&name, &contents).map_err(|source| {
                        let message = format!("Failed to write `{name}` for the agent");
                        let hint = "free space in the folder of the hosts";
                        Error::new(ErrorKind::Spawn, message, hint).caused_by(source)
                    })?;
                    command.arg(path);
                }
            }
        }
        let pairs = self.env.into_iter();
        command.env_clear();
        command.envs(pairs.map(|(name, value)| (OsString::from(name), OsString::from(value))));
        if let Some(cwd) = self.cwd {
            let cwd = OsString::from(cwd);
            command.current_dir(&cwd).env("PWD", cwd);
        }
        if let Some((uid, gid)) = self.user {
            std::os::unix::process::CommandExt::gid(&mut command, gid);
            std::os::unix::process::CommandExt::uid(&mut command, uid);
        }
        Ok(command)
    }
}

/// The complete environment of the CLI.
fn environment(launch: &Launch) -> BTreeMap<OsString, OsString> {
    let mut all = match launch.environment.base {
        EnvBase::Inherit => find::all_variables(),
        _ => BTreeMap::new(),
    };
    let mut changes = Command::new("");
    command::environment(&mut changes, launch);
    for (name, value) in changes.get_envs() {
        match value {
            Some(value) => drop(all.insert(name.to_owned(), value.to_owned())),
            None => drop(all.remove(name)),
        }
    }
    all
}

impl From<OsString> for Word {
    fn from(word: OsString) -> Self {
        word.into_string().map_or_else(|word| Word::Bytes(word.as_bytes().to_vec()), Word::Text)
    }
}

impl From<Word> for OsString {
    fn from(word: Word) -> Self {
        match word {
            Word::Text(text) => text.into(),
            Word::Bytes(bytes) => OsString::from_vec(bytes),
        }
    }
}

impl Argument {
    fn of(arg: Arg) -> Self {
        match arg {
            Arg::Text(text) => Argument::Word(Word::Text(text)),
            Arg::Path(path) => Argument::Word(path.into_os_string().into()),
            Arg::File { name, contents } => Argument::File { name, contents },
        }
    }
}

/// Omits arguments and variables, which contain secrets.
impl fmt::Debug for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start")
            .field("lease_ms", &self.lease_ms)
            .field("spool_bytes_max", &self.spool_bytes_max)
            .finish_non_exhaustive()
    }
}
