//! `fork_session` of the official SDKs.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tidings_base::files;
use tidings_protocol::entry::{EntryKind, EntryRef};
use tidings_protocol::json::{Raw, Text, write_string};

use super::first_prompt::is_space;
use super::lines::{EntryPosition, each_entry, is_transcript};
use super::session_id::is_uuid;
use super::write::iso;
use super::{SessionDetailsReader, SessionFile};
use crate::error::At as _;
use crate::{Error, ErrorKind};

/// Parameters of a fork.
#[derive(Debug, Clone, Copy, Default)]
pub struct ForkOptions<'a> {
    /// The last entry to copy; `None` copies all.
    pub up_to: Option<&'a str>,
    /// The title; by default the session's own with `(fork)` appended.
    pub title: Option<&'a str>,
}

/// A session created as a copy of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forked {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// Its title.
    pub title: String,
    /// Number of copied entries.
    pub entries: usize,
}

/// `fork_session`: copies a session, so that the copy can continue separately.
///
/// Every entry gets a new id from `new_uuid` and a reference to its origin; sub-agents, progress and the file
/// history are not copied. `now` becomes the time of the copy's last entry, from which the CLI resumes.
pub fn fork_session(
    session: &SessionFile,
    fork: ForkOptions<'_>,
    now: Timestamp,
    mut new_uuid: impl FnMut() -> String,
) -> Result<Forked, Error> {
    if let Some(id) = fork.up_to.filter(|id| !is_uuid(id)) {
        let hint = "an id looks like 550e8400-e29b-41d4-a716-446655440000";
        return Err(Error::new(ErrorKind::Invalid, format!("Not a message id: `{id}`"), hint));
    }
    let mut source = ForkSource::read(session)?;
    source.cut(session, fork.up_to)?;
    let title = match fork.title.map(|title| title.trim_matches(is_space)).filter(|title| !title.is_empty()) {
        Some(title) => title.to_owned(),
        None => derived_title(&session.path)?,
    };
    let ids: HashMap<&str, String> = source.nodes.iter().map(|node| (&*node.uuid, new_uuid())).collect();
    let id = new_uuid();
    let path = session.path.with_file_name(format!("{id}.jsonl"));
    let copy = Copy { session, source: &source, ids: &ids, id: &id, now: iso(now) };
    let mut out = BufWriter::new(files::create_private(&path).at("create", &path)?);
    let written = copy.write(&mut out, &title, &mut new_uuid).and_then(|entries| {
        out.flush().at("write", &path)?;
        Ok(entries)
    });
    match written {
        Ok(entries) => Ok(Forked { id, path, title, entries }),
        Err(error) => {
            // A partial copy is removed; the original error is returned.
            drop(std::fs::remove_file(&path));
            Err(error)
        }
    }
}

/// The entries to copy.
struct ForkSource {
    nodes: Vec<SourceEntry>,
    /// The items of all `content-replacement` entries.
    replacements: Vec<String>,
}

struct SourceEntry {
    uuid: Box<str>,
    parent: Option<Box<str>>,
    is_progress: bool,
    spot: EntryPosition,
}

impl ForkSource {
    fn read(session: &SessionFile) -> Result<Self, Error> {
        let mut source = ForkSource { nodes: Vec::new(), replacements: Vec::new() };
        each_entry(&session.path, |entry, spot| {
            if is_transcript(entry.kind()) && !entry.is_sidechain() {
                let Some(uuid) = entry.uuid() else { return };
                source.nodes.push(SourceEntry {
                    uuid: uuid.into(),
                    parent: entry.parent_uuid().filter(|parent| !parent.is_empty()).map(Into::into),
                    is_progress: entry.kind() == EntryKind::Progress,
                    spot,
                });
            } else if entry.kind() == EntryKind::ContentReplacement
                && entry.session_id().as_deref() == Some(session.id.as_str())
            {
                let items = entry.get("replacements").into_iter().flat_map(Raw::items);
                source.replacements.extend(items.map(|item| item.as_str().to_owned()));
            }
        })?;
        Ok(source)
    }

    fn cut(&mut self, session: &SessionFile, up_to: Option<&str>) -> Result<(), Error> {
        if let Some(last) = up_to {
            let found = self.nodes.iter().position(|node| &*node.uuid == last).ok_or_else(|| {
                let message = format!("No message `{last}` in session `{}`", session.id);
                Error::new(ErrorKind::NotFound, message, "`tidings sessions tree --full` lists the ids")
            })?;
            self.nodes.truncate(found + 1);
        }
        if self.nodes.iter().all(|node| node.is_progress) {
            let message = format!("Session `{}` has no messages to fork", session.id);
            return Err(Error::new(ErrorKind::NotFound, message, ""));
        }
        Ok(())
    }
}

struct Copy<'a> {
    session: &'a SessionFile,
    source: &'a ForkSource,
    ids: &'a HashMap<&'a str, String>,
    id: &'a str,
    now: String,
}

impl Copy<'_> {
    fn write(
        &self,
        out: &mut BufWriter<File>,
        title: &str,
        new_uuid: &mut impl FnMut() -> String,
    ) -> Result<usize, Error> {
        let path = &self.session.path;
        let by_uuid: HashMap<&str, &SourceEntry> =
            self.source.nodes.iter().map(|node| (&*node.uuid, node)).collect();
        let parents = NearestParents::of(&self.source.nodes, &by_uuid);
        let last = self.source.nodes.iter().rposition(|node| !node.is_progress);
        let mut file = File::open(path).at("read", path)?;
        let mut entries = 0;
        for (at, node) in self.source.nodes.iter().enumerate().filter(|(_, node)| !node.is_progress) {
            let Some(entry) = node.spot.entry(&mut file, path)? else {
                let message = format!("`{}` changed while it was copied", path.display());
                return Err(Error::new(ErrorKind::Io, message, "try again"));
            };
            let line = self.line(&entry.as_ref(), node, parents.get(node), Some(at) == last);
            writeln!(out, "{line}").at("write", path)?;
            entries += 1;
        }
        let mut tail = String::new();
        if !self.source.replacements.is_empty() {
            tail.push_str("{\"type\":\"content-replacement\",\"sessionId\":");
            write_string(self.id, &mut tail);
            tail.push_str(",\"replacements\":[");
            tail.push_str(&self.source.replacements.join(","));
            tail.push(']');
            self.end(&mut tail, &new_uuid());
        }
        tail.push_str("{\"type\":\"custom-title\",\"sessionId\":");
        write_string(self.id, &mut tail);
        tail.push_str(",\"customTitle\":");
        write_string(title, &mut tail);
        self.end(&mut tail, &new_uuid());
        out.write_all(tail.as_bytes()).at("write", path)?;
        Ok(entries)
    }

    /// Appends the id and time of a line that the fork adds.
    fn end(&self, line: &mut String, uuid: &str) {
        line.push_str(",\"uuid\":");
        write_string(uuid, line);
        line.push_str(",\"timestamp\":");
        write_string(&self.now, line);
        line.push_str("}\n");
    }

    /// A copied entry: unchanged except for the references to the old session.
    fn line(&self, entry: &EntryRef<'_>, node: &SourceEntry, parent: Option<&str>, is_last: bool) -> String {
        let mapped = |uuid: Option<&str>| match uuid.and_then(|uuid| self.ids.get(uuid)) {
            Some(new) => quoted(new),
            None => "null".to_owned(),
        };
        let logical = entry.logical_parent_uuid();
        let from = format!(
            "{{\"sessionId\":{},\"messageUuid\":{}}}",
            quoted(self.session.id.as_str()),
            quoted(&node.uuid)
        );
        let mut changes = vec![
            ("uuid", mapped(Some(&node.uuid))),
            ("parentUuid", mapped(parent)),
            ("logicalParentUuid", mapped(logical.as_deref())),
            ("sessionId", quoted(self.id)),
        ];
        if is_last || entry.get("timestamp").is_none() {
            changes.push(("timestamp", quoted(&self.now)));
        }
        changes.push(("isSidechain", "false".to_owned()));
        changes.push(("forkedFrom", from));
        edited(entry.json(), changes)
    }
}

/// The nearest ancestor of each node that is not progress.
struct NearestParents<'n>(HashMap<&'n str, Option<&'n str>>);

impl<'n> NearestParents<'n> {
    fn of(nodes: &'n [SourceEntry], by_uuid: &HashMap<&'n str, &'n SourceEntry>) -> Self {
        let mut known: HashMap<&'n str, Option<&'n str>> = HashMap::new();
        for node in nodes {
            // Older versions wrote progress once a second: a walk over all of it per entry would be
            // quadratic.
            let mut walked = Vec::new();
            let mut at = node;
            let found = loop {
                if let Some(found) = known.get(&*at.uuid) {
                    break *found;
                }
                let above = at.parent.as_deref().and_then(|parent| by_uuid.get(parent).copied());
                walked.push(&*at.uuid);
                known.insert(&at.uuid, None);
                match above {
                    None => break None,
                    Some(above) if !above.is_progress => break Some(&*above.uuid),
                    Some(above) => at = above,
                }
            };
            known.extend(walked.into_iter().map(|uuid| (uuid, found)));
        }
        NearestParents(known)
    }

    fn get(&self, node: &SourceEntry) -> Option<&'n str> {
        self.0.get(&*node.uuid).copied().flatten()
    }
}

/// An object with some values replaced in place, missing ones added, and references to the old session left
/// out. Everything else keeps its bytes.
fn edited(object: Raw<'_>, mut changes: Vec<(&str, String)>) -> String {
    const LEFT_OUT: [&str; 4] = ["teamName", "agentName", "slug", "sourceToolAssistantUUID"];
    let names: Vec<&str> = changes.iter().map(|(name, _)| *name).collect();
    let mut line = String::with_capacity(object.as_str().len() + 256);
    let put = |key: &str, value: &str, line: &mut String| {
        line.push(if line.is_empty() { '{' } else { ',' });
        write_string(key, line);
        line.push(':');
        line.push_str(value);
    };
    for (key, value) in object.members() {
        let key: std::borrow::Cow<'_, str> = Text::get(key);
        if LEFT_OUT.contains(&&*key) {
            continue;
        }
        match changes.iter().position(|(name, _)| *name == key) {
            Some(at) => {
                let (name, value) = changes.remove(at);
                put(name, &value, &mut line);
            }
            // A repeated key: its first occurrence already has the new value.
            None if names.contains(&&*key) => {}
            None => put(&key, value.as_str(), &mut line),
        }
    }
    for (name, value) in changes {
        put(name, &value, &mut line);
    }
    line.push('}');
    line
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_string(text, &mut out);
    out
}

fn derived_title(path: &Path) -> Result<String, Error> {
    let facts = SessionDetailsReader::default().read(path).at("read", path)?;
    let title = facts.and_then(|facts| facts.title.or(facts.first_prompt));
    Ok(format!("{} (fork)", title.as_deref().unwrap_or("Forked session")))
}
