//! Sessions that other agents stored: Codex, Gemini CLI and opencode.
//!
//! ```no_run
//! use tidings_transcript::agents::{AgentKind, open};
//!
//! let store = open(AgentKind::Codex, "/home/dev/.codex".as_ref())?;
//! for session in store.scan()?.sessions {
//!     let conversation = store.read(&session)?;
//!     println!("{}: {} entries", session.files.id, conversation.lines.len());
//! }
//! # Ok::<(), tidings_transcript::Error>(())
//! ```
//!
//! Each agent has one module behind [`AgentStore`]. A session becomes the entries that Claude Code would have
//! written, so that one renderer, one search and one ledger serve all agents; [`AgentStore::records`] returns
//! what the agent itself stored. Nothing is guessed: what a file does not tell stays unknown, records of an
//! unknown kind are counted and kept, and damaged lines are reported and skipped.
//!
//! Reading changes no byte and leaves no file behind, and no link inside a root is followed.

mod codex;
mod drafts;
mod gemini;
#[cfg(feature = "opencode")]
mod opencode;
mod tree;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::LazyLock;

use jiff::Timestamp;

use crate::cost::ResponseUsage;
use crate::id_prefix::names_id;
use crate::limits::{DAMAGED_REPORTED_MAX, UNKNOWN_KINDS_MAX};
use crate::named::{alternatives, named};
use crate::reader::EntryLines;
use crate::roots::{FileInfo, SessionFiles, no_such_session};
use crate::session::Session;
use crate::{Error, ErrorKind, Finding};

named! {
    /// An agent other than Claude Code.
    ///
    /// The enum is exhaustive: code that handles every agent does not compile when one is added.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum AgentKind {
        /// Codex CLI: rollout files.
        Codex = "codex",
        /// Gemini CLI: files with patch lines.
        Gemini = "gemini",
        /// opencode: a database.
        Opencode = "opencode",
    }
}

impl AgentKind {
    /// The name of the program, for people.
    pub fn title(self) -> &'static str {
        match self {
            AgentKind::Codex => "Codex",
            AgentKind::Gemini => "Gemini CLI",
            AgentKind::Opencode => "opencode",
        }
    }
}

impl fmt::Display for AgentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

impl FromStr for AgentKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        AgentKind::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| {
            static HINT: LazyLock<String> =
                LazyLock::new(|| format!("use {}", alternatives(&AgentKind::ALL.map(AgentKind::as_str))));
            Error::new(ErrorKind::Invalid, format!("No such agent: `{text}`"), &HINT)
        })
    }
}

/// The sessions that one agent stored under one root.
pub trait AgentStore: fmt::Debug {
    /// The agent.
    fn kind(&self) -> AgentKind;

    /// Finds the sessions, last changed first. Of each only the beginning is read.
    fn scan(&self) -> Result<StoreScan, Error>;

    /// Reads a session.
    fn read(&self, session: &StoredSession) -> Result<Conversation, Error>;

    /// Calls `each` for every record of a session as the agent stored it, one JSON value each; damaged lines
    /// are included as they are.
    fn records(
        &self,
        session: &StoredSession,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error>;
}

/// Opens the sessions of an agent under a root, the folder in which the agent keeps its data.
pub fn open(kind: AgentKind, root: &Path) -> Result<Box<dyn AgentStore>, Error> {
    let root = tree::root(root)?;
    match kind {
        AgentKind::Codex => Ok(Box::new(codex::CodexStore::new(root))),
        AgentKind::Gemini => Ok(Box::new(gemini::GeminiStore::new(root))),
        #[cfg(feature = "opencode")]
        AgentKind::Opencode => Ok(Box::new(opencode::OpencodeStore::new(root))),
        #[cfg(not(feature = "opencode"))]
        AgentKind::Opencode => {
            let message = "This build cannot read sessions of opencode";
            Err(Error::new(ErrorKind::Invalid, message, "build it with the feature `opencode`"))
        }
    }
}

/// The sessions under a root.
#[derive(Debug, Default)]
pub struct StoreScan {
    /// The sessions, last changed first.
    pub sessions: Vec<StoredSession>,
    /// Errors about files that could not be read.
    pub unreadable: Vec<Error>,
}

impl StoreScan {
    /// Finds a session by its id, by a [prefix](crate::id_prefix) that no other session has, or by its file.
    pub fn find(&self, name: &str) -> Result<&StoredSession, Error> {
        let path = std::fs::canonicalize(name).ok();
        let is_file = |session: &&StoredSession| {
            let main = session.files.main.as_ref().map(|file| &file.path);
            path.is_some() && main == path.as_ref()
        };
        let of_file: Vec<&StoredSession> = self.sessions.iter().filter(is_file).collect();
        if let [session] = of_file[..] {
            return Ok(session);
        }
        if let Some(session) = self.sessions.iter().find(|session| session.files.id == name) {
            return Ok(session);
        }
        let fits = |session: &&StoredSession| names_id(name, &session.files.id);
        let fitting: Vec<&StoredSession> = self.sessions.iter().filter(fits).collect();
        match fitting[..] {
            [] => Err(no_such_session(name)),
            [session] => Ok(session),
            _ => {
                let message = format!("{} sessions begin with `{name}`", fitting.len());
                Err(Error::new(ErrorKind::Ambiguous, message, "give more characters of the id"))
            }
        }
    }

    fn sort(&mut self) {
        self.sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.files.id.cmp(&b.files.id)));
    }
}

/// A session in a list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoredSession {
    /// The agent.
    pub agent: AgentKind,
    /// Its id and its file; several sessions of opencode are in one file.
    pub files: SessionFiles,
    /// The title that the agent stored.
    pub name: Option<String>,
    /// The beginning of the first prompt, if the session has no title.
    pub first_prompt: Option<String>,
    /// Working folder.
    pub cwd: Option<String>,
    /// The git branch at the start.
    pub branch: Option<String>,
    /// Version of the agent that began the session.
    pub version: AgentVersion,
    /// Time of the first record.
    pub created: Option<Timestamp>,
    /// Time of the last change.
    pub modified: Option<Timestamp>,
    /// Size of its records in bytes.
    pub bytes: u64,
    /// The session that started it as a sub-agent.
    pub parent: Option<String>,
}

impl StoredSession {
    /// A session with nothing but an id and a file.
    fn of_file(agent: AgentKind, id: String, file: &FileInfo) -> Self {
        let folder = file.path.parent().unwrap_or(Path::new("")).to_owned();
        StoredSession {
            agent,
            files: SessionFiles { id, folder, main: Some(file.clone()), agents: Vec::new() },
            name: None,
            first_prompt: None,
            cwd: None,
            branch: None,
            version: AgentVersion::NotRecorded,
            created: None,
            modified: Timestamp::try_from(file.modified).ok(),
            bytes: file.bytes,
            parent: None,
        }
    }

    /// The title for lists: the one that the agent stored, or the first prompt.
    pub fn title(&self) -> Option<&str> {
        self.name.as_deref().or(self.first_prompt.as_deref())
    }
}

/// The version of an agent that wrote a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentVersion {
    /// The session does not contain it.
    NotRecorded,
    /// A version whose sessions are known.
    Known(String),
    /// A version whose sessions may have another form. They are read as far as they can be.
    Unknown(String),
}

impl AgentVersion {
    /// A version, known if its part before the first dot is one of `majors`.
    fn of(version: Option<String>, majors: &[&str]) -> Self {
        let Some(version) = version.filter(|version| !version.is_empty()) else {
            return AgentVersion::NotRecorded;
        };
        let major = version.split('.').next().unwrap_or_default();
        if majors.contains(&major) { AgentVersion::Known(version) } else { AgentVersion::Unknown(version) }
    }

    /// The version, if it is recorded.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            AgentVersion::NotRecorded => None,
            AgentVersion::Known(version) | AgentVersion::Unknown(version) => Some(version),
        }
    }
}

/// A session that was read.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Conversation {
    /// The entries that Claude Code would have written.
    pub lines: EntryLines,
    /// The usage of each response that the agent recorded.
    pub usage: Vec<ResponseUsage>,
    /// Number of prompts.
    pub prompts: u64,
    /// Number of prompts and responses.
    pub messages: u64,
    /// The model that answered last.
    pub model: Option<String>,
    /// Records that could not be read, or whose kind is not known.
    pub report: ReadReport,
}

impl Conversation {
    /// The session as a tree, for exports.
    pub fn session(&self, files: &SessionFiles) -> Result<Session, Error> {
        Session::of_lines(files, self.lines.clone(), self.report.damaged.clone())
    }
}

/// Remarks about a session that was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadReport {
    /// Number of records, read or not.
    pub records: u64,
    /// Lines that could not be read, with the reason; at most [`DAMAGED_REPORTED_MAX`].
    pub damaged: Vec<Finding>,
    /// Number of lines that could not be read.
    pub damaged_lines: u64,
    /// Number of records of each unknown kind.
    pub unknown: BTreeMap<String, u64>,
}

impl ReadReport {
    fn damage(&mut self, finding: Finding) {
        self.damaged_lines += 1;
        if self.damaged.len() < DAMAGED_REPORTED_MAX {
            self.damaged.push(finding);
        }
    }

    fn unknown_kind(&mut self, kind: &str) {
        let is_new = !self.unknown.contains_key(kind);
        let kind = if is_new && self.unknown.len() >= UNKNOWN_KINDS_MAX { "(others)" } else { kind };
        *self.unknown.entry(kind.to_owned()).or_default() += 1;
    }
}
