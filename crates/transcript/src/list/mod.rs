//! The sessions of all projects, with the details that stand at the ends of their files.
//!
//! Listing a thousand sessions takes a few hundredths of a second, because only the ends are read. Fields
//! that need a whole pass (turns, messages, branches, cost) stay empty here; [`fill()`] adds them.

mod fill;
mod projects;
mod stored;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

pub use fill::{Effort, Filled, fill};
pub use stored::{fill_stored, list_stored};

use crate::manage::{SessionDetails, SessionDetailsReader};
use crate::roots::SessionFiles;

/// Selection and order of a list.
#[derive(Debug, Clone, Default)]
pub struct ListFilter {
    /// Only sessions whose folder or project name contains this text, ignoring case.
    pub project: Option<String>,
    /// Only sessions with this tag.
    pub tag: Option<String>,
    /// Only sessions whose last git branch is this one.
    pub branch: Option<String>,
    /// Only sessions of this folder and of those below it.
    pub path: Option<PathBuf>,
    /// Only sessions changed since this time.
    pub since: Option<SystemTime>,
    /// Maximum number of sessions.
    pub limit: Option<usize>,
    /// Order of the list.
    pub first: First,
}

/// The order of a list, named after its first item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum First {
    /// Last changed first.
    #[default]
    Newest,
    /// Least recently changed first.
    Oldest,
    /// Most bytes first.
    Largest,
}

/// One session of a list, in the form that scripts see. Fields that need a whole pass over the file are
/// `None` until they are filled in.
#[derive(Debug, Clone, Serialize)]
pub struct ListedSession {
    /// Session id.
    pub id: String,
    /// Path of its main file, or of its first sub-agent's if that is gone.
    pub path: String,
    /// Short name of the working folder: the last part of the path, or more parts if that is ambiguous.
    pub project: String,
    /// The working folder; a session moves with it when it is renamed. `None` if the file does not contain
    /// it.
    pub cwd: Option<String>,
    /// Display name: title, last prompt, summary or first prompt.
    pub title: Option<String>,
    /// Time of the first entry.
    #[serde(serialize_with = "iso")]
    pub created: Option<Timestamp>,
    /// Time of the last write to its file.
    #[serde(serialize_with = "iso")]
    pub modified: Option<Timestamp>,
    /// Number of the user's turns.
    pub turns: Option<u64>,
    /// Number of turns and responses.
    pub messages: Option<u64>,
    /// Number of sub-agents.
    pub subagents: u64,
    /// Number of abandoned branches.
    pub branches: Option<u64>,
    /// Size of its files in bytes, sub-agents included.
    pub bytes: u64,
    /// Cost in dollars, sub-agents included.
    pub cost_usd: Option<f64>,
    /// The model that answered last.
    pub model: Option<String>,
    /// The last git branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The user's tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Name of the agent, in lists of several agents.
    #[serde(rename = "backend", skip_serializing_if = "Option::is_none")]
    pub agent: Option<&'static str>,
    /// Version of the other agent that began the session, if it is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The session of the other agent that started this one as a sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// Number of sessions in a list: a session in several folders counts once, empty files do not count.
pub fn count(found: &[SessionFiles]) -> usize {
    let filled = found.iter().filter(|session| session.bytes() > 0);
    filled.map(|session| session.id.as_str()).collect::<HashSet<&str>>().len()
}

/// Reads the ends of the files of the selected sessions. A session in several folders is listed once, in its
/// last written version; empty files are not sessions.
pub fn list<'f>(found: &'f [SessionFiles], wanted: &ListFilter) -> Vec<(&'f SessionFiles, ListedSession)> {
    let mut sessions: Vec<&SessionFiles> = found.iter().collect();
    sessions.retain(|session| {
        let young = wanted.since.is_none_or(|since| session.modified().is_some_and(|at| at >= since));
        young && session.bytes() > 0
    });
    sessions.sort_by(|a, b| b.modified().cmp(&a.modified()).then_with(|| a.id.cmp(&b.id)));
    let mut seen = HashSet::new();
    sessions.retain(|session| seen.insert(&session.id));
    match wanted.first {
        First::Newest => {}
        First::Oldest => sessions.reverse(),
        First::Largest => sessions.sort_by_key(|session| std::cmp::Reverse(session.bytes())),
    }
    let mut reader = SessionDetailsReader::default();
    let mut rows = Vec::new();
    for session in sessions {
        if wanted.limit.is_some_and(|limit| rows.len() >= limit) {
            break;
        }
        let row = listed(session, &mut reader);
        let fits = |filter: &Option<String>, value: &Option<String>| filter.is_none() || filter == value;
        let inside = |path: &PathBuf| row.cwd.as_ref().is_some_and(|cwd| Path::new(cwd).starts_with(path));
        let placed = wanted.path.as_ref().is_none_or(inside) && fits(&wanted.branch, &row.branch);
        if fits(&wanted.tag, &row.tag)
            && placed
            && wanted.project.as_deref().is_none_or(|part| projects::fits(&row, part))
        {
            rows.push((session, row));
        }
    }
    projects::name(&mut rows);
    rows
}

fn listed(session: &SessionFiles, reader: &mut SessionDetailsReader) -> ListedSession {
    // An unreadable file is listed all the same, with its name and size.
    let facts = |reader: &mut SessionDetailsReader, file| reader.read(file).ok().flatten();
    let main = session.main.as_ref().and_then(|main| facts(reader, &main.path));
    let known = main.is_some();
    // If a session's own file is gone, its first sub-agent's file has at least the folder and the time.
    let agent = || session.agents.first().and_then(|agent| facts(reader, &agent.file.path));
    let facts: Option<SessionDetails> = main.or_else(agent);
    let facts = facts.as_ref();
    ListedSession {
        id: session.id.clone(),
        path: session.files().next().map(|file| file.path.display().to_string()).unwrap_or_default(),
        project: session.folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        cwd: facts.and_then(|facts| facts.cwd.clone()),
        title: facts.filter(|_| known).and_then(SessionDetails::name).map(str::to_owned),
        created: facts.and_then(|facts| facts.created),
        modified: session.modified().and_then(|at| Timestamp::try_from(at).ok()),
        turns: None,
        messages: None,
        subagents: session.agents.len() as u64,
        branches: None,
        bytes: session.bytes(),
        cost_usd: None,
        model: facts.and_then(|facts| facts.model.clone()),
        branch: facts.and_then(|facts| facts.git_branch.clone()),
        tag: facts.and_then(|facts| facts.tag.clone()),
        agent: None,
        version: None,
        parent: None,
    }
}

#[expect(clippy::ref_option, reason = "serde hands a reference to the field")]
fn iso<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.collect_str(&format_args!("{time:.3}")),
        None => serializer.serialize_none(),
    }
}
