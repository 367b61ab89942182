//! Codex: one rollout file per session, `sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl`.
//!
//! A line is `{timestamp, ordinal, type, payload}`. Older files lack the ordinal, and those of the first
//! versions also the envelope. Codex compresses old files (`.jsonl.zst`), moves archived ones to
//! `archived_sessions`, and keeps names that people gave in `session_index.jsonl`.

mod convert;
mod records;
mod usage;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tidings_protocol::json::Raw;

use self::convert::RolloutReader;
use self::records::{Prompts, RolloutRecord, prompt_of_event};
use super::tree::{self, string};
use super::{AgentKind, AgentStore, AgentVersion, Conversation, ReadReport, StoreScan, StoredSession};
use crate::Error;
use crate::error::At as _;
use crate::limits::HEAD_BYTES_MAX;
use crate::roots::FileInfo;

/// Major versions of Codex whose files are known.
const KNOWN_MAJORS: &[&str] = &["0"];

/// Folders of a root with rollout files.
const FOLDERS: [&str; 2] = ["sessions", "archived_sessions"];

/// Depth of a rollout file below its folder: year, month, day.
const DEPTH: usize = 3;

#[derive(Debug)]
pub(super) struct CodexStore {
    root: PathBuf,
}

impl CodexStore {
    pub(super) fn new(root: PathBuf) -> Self {
        CodexStore { root }
    }
}

impl AgentStore for CodexStore {
    fn kind(&self) -> AgentKind {
        AgentKind::Codex
    }

    fn scan(&self) -> Result<StoreScan, Error> {
        let mut scan = StoreScan::default();
        let names = self.names();
        let mut seen = HashSet::new();
        for folder in FOLDERS {
            for file in tree::files_below(&self.root.join(folder), DEPTH, &mut scan.unreadable) {
                let Some(stem) = rollout_stem(&file.path) else { continue };
                // While Codex compresses a file, both forms exist; the plain one sorts first.
                if file.bytes == 0 || !seen.insert(stem.to_owned()) {
                    continue;
                }
                match listed(&file, stem, &names) {
                    Ok(session) => scan.sessions.push(session),
                    Err(error) => scan.unreadable.push(error),
                }
            }
        }
        scan.sort();
        Ok(scan)
    }

    fn read(&self, session: &StoredSession) -> Result<Conversation, Error> {
        let Some(file) = &session.files.main else { return Ok(Conversation::default()) };
        // Typed prompts are also in events, and only those distinguish them from text that Codex added.
        let mut prompts = Prompts::default();
        let source = open(&file.path).at("read", &file.path)?;
        tree::each_object(source, &mut ReadReport::default(), |_, object, _| {
            prompts.add(&RolloutRecord::of(object));
        })
        .at("read", &file.path)?;
        let mut reader = RolloutReader::new(session, prompts);
        let mut report = ReadReport::default();
        let source = open(&file.path).at("read", &file.path)?;
        tree::each_object(source, &mut report, |line, object, report| {
            reader.record(line, &RolloutRecord::of(object), report);
        })
        .at("read", &file.path)?;
        reader.finish(session.name.as_deref(), report)
    }

    fn records(
        &self,
        session: &StoredSession,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(file) = &session.files.main else { return Ok(()) };
        tree::each_line(open(&file.path).at("read", &file.path)?, &file.path, each)
    }
}

impl CodexStore {
    /// The names that people gave to sessions; the last one counts.
    fn names(&self) -> HashMap<String, String> {
        let mut names = HashMap::new();
        let Some(text) = tree::small_text(&self.root.join("session_index.jsonl")) else { return names };
        let read = tree::each_object(text.as_bytes(), &mut ReadReport::default(), |_, entry, _| {
            if let (Some(id), Some(name)) = (string(entry, "id"), string(entry, "thread_name")) {
                names.insert(id, name);
            }
        });
        debug_assert!(read.is_ok(), "reading from memory does not fail");
        names
    }
}

/// Reads the beginning of a file.
fn listed(file: &FileInfo, stem: &str, names: &HashMap<String, String>) -> Result<StoredSession, Error> {
    let mut head = FileHead::default();
    let source = open(&file.path).at("read", &file.path)?.take(HEAD_BYTES_MAX);
    let mut report = ReadReport::default();
    tree::each_object(source, &mut report, |_, object, _| head.record(&RolloutRecord::of(object)))
        .at("read", &file.path)?;
    let id = head.id.unwrap_or_else(|| id_of_name(stem).to_owned());
    Ok(StoredSession {
        name: names.get(&id).cloned(),
        first_prompt: head.prompt.or(head.message),
        cwd: head.cwd,
        branch: head.branch,
        version: AgentVersion::of(head.version, KNOWN_MAJORS),
        created: head.created,
        parent: head.parent,
        ..StoredSession::of_file(AgentKind::Codex, id, file)
    })
}

/// The parts of a session that lists show, from the beginning of its file.
#[derive(Debug, Default)]
struct FileHead {
    id: Option<String>,
    parent: Option<String>,
    cwd: Option<String>,
    branch: Option<String>,
    version: Option<String>,
    created: Option<Timestamp>,
    /// The first prompt, from an event.
    prompt: Option<String>,
    /// The first message in the user's name, for files without events.
    message: Option<String>,
}

impl FileHead {
    fn record(&mut self, record: &RolloutRecord<'_>) {
        self.created = self.created.or(record.at);
        if record.kind == "session_meta" && self.id.is_none() {
            self.id = string(record.payload, "id");
            self.parent = parent(record.payload);
            self.cwd = string(record.payload, "cwd");
            self.version = string(record.payload, "cli_version");
            self.branch = record.payload.get("git").and_then(|git| string(git, "branch"));
        }
        if self.prompt.is_none() {
            self.prompt = prompt_of_event(record).as_deref().map(tree::beginning);
        }
        if self.message.is_none() {
            self.message = records::prompt_without_events(record).as_deref().map(tree::beginning);
        }
    }
}

/// The session that started this one as a sub-agent.
fn parent(header: Raw<'_>) -> Option<String> {
    let spawned = || header.get("source")?.get("subagent")?.get("thread_spawn");
    string(header, "parent_thread_id").or_else(|| string(spawned()?, "parent_thread_id"))
}

/// The name of a rollout file without its endings.
fn rollout_stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".zst").unwrap_or(name);
    name.strip_suffix(".jsonl").filter(|stem| stem.starts_with("rollout-"))
}

/// The id in the name of a file, after the time: `rollout-2026-11-17T18-48-30-ID`.
fn id_of_name(stem: &str) -> &str {
    let after_time = "rollout-2026-11-17T18-48-30-".len();
    let ids = stem.get(after_time..).filter(|id| !id.is_empty()).unwrap_or(stem);
    ids.split('_').next().unwrap_or(ids)
}

/// Opens a rollout file, compressed or not.
fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let file = tree::open(path)?;
    if path.extension().is_none_or(|ending| ending != "zst") {
        return Ok(Box::new(file));
    }
    decompressed(file)
}

#[cfg(feature = "archive")]
fn decompressed(file: File) -> io::Result<Box<dyn Read>> {
    let limit = crate::limits::CONVERTED_BYTES_MAX as u64;
    Ok(Box::new(zstd::stream::read::Decoder::new(file)?.take(limit)))
}

#[cfg(not(feature = "archive"))]
fn decompressed(_: File) -> io::Result<Box<dyn Read>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this build cannot read compressed files"))
}
