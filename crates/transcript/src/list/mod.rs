//! The sessions of all projects, with what their files' ends tell.
//!
//! A thousand sessions cost a few hundredths of a second, because only the ends are read. What needs a whole pass
//! (turns, messages, branches, cost) is left open here and filled in by whoever has it.

mod fill;
mod projects;

use std::collections::HashSet;
use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

pub use fill::{Effort, Filled, fill};

use crate::manage::{Facts, FactsReader};
use crate::roots::SessionFiles;

/// Which sessions, and in which order.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// A part of the folder that a session worked in, or of its project's name; upper and lower case are the same.
    pub project: Option<String>,
    /// Those with this tag.
    pub tag: Option<String>,
    /// Changed since then.
    pub since: Option<SystemTime>,
    /// Not more than these.
    pub limit: Option<usize>,
    /// What comes first.
    pub first: First,
}

/// What comes first in a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum First {
    /// What changed last.
    #[default]
    Newest,
    /// What changed first.
    Oldest,
    /// What has the most bytes.
    Largest,
}

/// One session of a list, as scripts see it. What needs a whole pass over the file is `None` until somebody fills it in.
#[derive(Debug, Clone, Serialize)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Path of its main file, or of its first sub-agent's where that is gone.
    pub path: String,
    /// A name for the folder it worked in: the last part of the path, or more of it where that is not enough.
    pub project: String,
    /// That folder; a session moves with it when it is renamed, and one without any says nothing.
    pub cwd: Option<String>,
    /// What to call it: title, last prompt, summary or first prompt.
    pub title: Option<String>,
    /// When its first entry was written.
    #[serde(serialize_with = "iso")]
    pub created: Option<Timestamp>,
    /// When its file was last written to.
    #[serde(serialize_with = "iso")]
    pub modified: Option<Timestamp>,
    /// What a person asked, in numbers.
    pub turns: Option<u64>,
    /// Entries of a person, the model and its tools.
    pub messages: Option<u64>,
    /// Its sub-agents.
    pub subagents: u64,
    /// Ways that were left for another one.
    pub branches: Option<u64>,
    /// Size of its files, those of sub-agents too.
    pub bytes: u64,
    /// Dollars, sub-agents too.
    pub cost_usd: Option<f64>,
    /// The model that answered last.
    pub model: Option<String>,
    /// A person's tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// Number of sessions that a list has: a session that lies in several folders counts once, files without a byte do not
/// count.
pub fn count(found: &[SessionFiles]) -> usize {
    let filled = found.iter().filter(|session| session.bytes() > 0);
    filled.map(|session| session.id.as_str()).collect::<HashSet<&str>>().len()
}

/// Reads the ends of the files of the wanted sessions. A session that lies in several folders is listed once, as it
/// was written last; files without a byte are no sessions.
pub fn list<'f>(found: &'f [SessionFiles], wanted: &Wanted) -> Vec<(&'f SessionFiles, Listed)> {
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
    let mut reader = FactsReader::default();
    let mut rows = Vec::new();
    for session in sessions {
        if wanted.limit.is_some_and(|limit| rows.len() >= limit) {
            break;
        }
        let row = listed(session, &mut reader);
        let tagged = wanted.tag.as_ref().is_none_or(|tag| row.tag.as_ref() == Some(tag));
        if tagged && wanted.project.as_deref().is_none_or(|part| projects::fits(&row, part)) {
            rows.push((session, row));
        }
    }
    projects::name(&mut rows);
    rows
}

fn listed(session: &SessionFiles, reader: &mut FactsReader) -> Listed {
    // A file that cannot be read is listed all the same, with what its name and size tell.
    let facts = |reader: &mut FactsReader, file| reader.read(file).ok().flatten();
    let main = session.main.as_ref().and_then(|main| facts(reader, &main.path));
    let known = main.is_some();
    // Of a session whose own file is gone, the first sub-agent knows at least where and when.
    let agent = || session.agents.first().and_then(|agent| facts(reader, &agent.file.path));
    let facts: Option<Facts> = main.or_else(agent);
    let facts = facts.as_ref();
    Listed {
        id: session.id.clone(),
        path: session.files().next().map(|file| file.path.display().to_string()).unwrap_or_default(),
        project: session.folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        cwd: facts.and_then(|facts| facts.cwd.clone()),
        title: facts.filter(|_| known).and_then(Facts::name).map(str::to_owned),
        created: facts.and_then(|facts| facts.created),
        modified: session.modified().and_then(|at| Timestamp::try_from(at).ok()),
        turns: None,
        messages: None,
        subagents: session.agents.len() as u64,
        branches: None,
        bytes: session.bytes(),
        cost_usd: None,
        model: facts.and_then(|facts| facts.model.clone()),
        tag: facts.and_then(|facts| facts.tag.clone()),
    }
}

#[expect(clippy::ref_option, reason = "serde hands a reference to the field")]
fn iso<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.collect_str(&format_args!("{time:.3}")),
        None => serializer.serialize_none(),
    }
}
