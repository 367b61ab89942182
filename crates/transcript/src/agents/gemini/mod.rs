//! Gemini CLI: one file per session, `tmp/PROJECT/chats/session-TIME-ID.jsonl`, and those of sub-agents in a
//! folder named after the session.
//!
//! The first line is a header. A message is written again whenever it changes, and the last version counts;
//! `{"$set":…}` changes the header or replaces all messages, and `{"$rewindTo":ID}` removes a message and
//! those after it. Older versions wrote one JSON document (`.json`). `projects.json` maps folders to names of
//! projects. No file contains the version of Gemini CLI.

mod convert;
mod history;

use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use tidings_protocol::json::Raw;

use self::history::History;
use super::tree::{self, time};
use super::{AgentKind, AgentStore, Conversation, ReadReport, StoreScan, StoredSession};
use crate::error::At as _;
use crate::limits::{CONVERTED_BYTES_MAX, HEAD_BYTES_MAX};
use crate::roots::FileInfo;
use crate::{Error, ErrorKind};

/// Depth of a file below `tmp`: project, chats, session.
const DEPTH: usize = 3;

#[derive(Debug)]
pub(super) struct GeminiStore {
    root: PathBuf,
}

impl GeminiStore {
    pub(super) fn new(root: PathBuf) -> Self {
        // A root may be the home folder that `GEMINI_CLI_HOME` names, or the folder in it.
        let inner = root.join(".gemini");
        let is_home = !root.join("tmp").is_dir()
            && std::fs::symlink_metadata(&inner).is_ok_and(|metadata| metadata.is_dir());
        GeminiStore { root: if is_home { inner } else { root } }
    }
}

impl AgentStore for GeminiStore {
    fn kind(&self) -> AgentKind {
        AgentKind::Gemini
    }

    fn scan(&self) -> Result<StoreScan, Error> {
        let mut scan = StoreScan::default();
        let projects = self.projects();
        let tmp = self.root.join("tmp");
        let files = tree::files_below(&tmp, DEPTH, &mut scan.unreadable);
        let lines: HashSet<PathBuf> = files
            .iter()
            .filter(|file| has_ending(&file.path, "jsonl"))
            .map(|file| file.path.clone())
            .collect();
        for file in &files {
            let Some(place) = SessionPlace::of(&tmp, &file.path) else { continue };
            // Gemini CLI copied a document into a file of lines when it was continued.
            let is_copied = lines.contains(&file.path.with_extension("jsonl"));
            if file.bytes == 0 || (has_ending(&file.path, "json") && is_copied) {
                continue;
            }
            let cwd = || {
                let owner = tree::small_text(&tmp.join(&place.project).join(".project_root"));
                owner.map(|folder| folder.trim().to_owned()).filter(|folder| !folder.is_empty())
            };
            let cwd = projects.get(&place.project).cloned().or_else(cwd);
            match listed(file, &place, cwd) {
                Ok(session) => scan.sessions.push(session),
                Err(error) => scan.unreadable.push(error),
            }
        }
        scan.sort();
        Ok(scan)
    }

    fn read(&self, session: &StoredSession) -> Result<Conversation, Error> {
        let Some(file) = &session.files.main else { return Ok(Conversation::default()) };
        let mut report = ReadReport::default();
        let history = read_history(&file.path, u64::MAX, &mut report)?;
        convert::conversation(&history, session, report)
    }

    fn records(
        &self,
        session: &StoredSession,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(file) = &session.files.main else { return Ok(()) };
        let source = tree::open(&file.path).at("read", &file.path)?;
        if has_ending(&file.path, "jsonl") {
            return tree::each_line(source, &file.path, each);
        }
        // A document of several lines is one record.
        let text = whole_document(&file.path)?;
        let one_line: String = match Raw::parse(&text) {
            Ok(document) => tree::one_line(document),
            Err(_) => text.replace(['\n', '\r'], " "),
        };
        each(one_line.as_bytes())
    }
}

impl GeminiStore {
    /// Folders by the name of their project.
    fn projects(&self) -> HashMap<String, String> {
        let Some(text) = tree::small_text(&self.root.join("projects.json")) else { return HashMap::new() };
        let Ok(registry) = Raw::parse(&text) else { return HashMap::new() };
        let projects = registry.get("projects").into_iter().flat_map(Raw::members);
        projects
            .filter_map(|(folder, name)| Some((name.text()?.get().into_owned(), folder.get().into_owned())))
            .collect()
    }
}

/// The parts of a session file's path.
struct SessionPlace {
    project: String,
    /// The session whose sub-agent it is.
    parent: Option<String>,
}

impl SessionPlace {
    /// `None` if it is not a session file.
    fn of(tmp: &Path, path: &Path) -> Option<Self> {
        let parts: Option<Vec<&str>> =
            path.strip_prefix(tmp).ok()?.iter().map(|part| part.to_str()).collect();
        let is_lines = has_ending(path, "jsonl");
        match parts?[..] {
            [project, "chats", name]
                if name.starts_with("session-") && (is_lines || has_ending(path, "json")) =>
            {
                Some(SessionPlace { project: project.to_owned(), parent: None })
            }
            [project, "chats", parent, _] if is_lines => {
                Some(SessionPlace { project: project.to_owned(), parent: Some(parent.to_owned()) })
            }
            _ => None,
        }
    }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

/// Reads the beginning of a file.
fn listed(file: &FileInfo, place: &SessionPlace, cwd: Option<String>) -> Result<StoredSession, Error> {
    let mut report = ReadReport::default();
    let history = read_history(&file.path, HEAD_BYTES_MAX, &mut report)?;
    let Some(id) = history.session_id.clone() else {
        let message = format!("Not a session of Gemini CLI: `{}`", file.path.display());
        return Err(
            Error::new(ErrorKind::Invalid, message, "its header is missing or damaged").about(&file.path)
        );
    };
    Ok(StoredSession {
        name: history.summary.clone(),
        first_prompt: history.first_prompt().as_deref().map(tree::beginning),
        cwd: cwd.or_else(|| history.directories.first().cloned()),
        created: time(history.start_time.as_deref()),
        parent: place.parent.clone(),
        ..StoredSession::of_file(AgentKind::Gemini, id, file)
    })
}

/// Reads up to `limit` bytes of a file.
fn read_history(path: &Path, limit: u64, report: &mut ReadReport) -> Result<History, Error> {
    let mut history = History::default();
    if has_ending(path, "jsonl") {
        let source = tree::open(path).at("read", path)?.take(limit);
        tree::each_object(source, report, |line, object, report| history.record(line, object, report))
            .at("read", path)?;
        return Ok(history);
    }
    let text = whole_document(path)?;
    report.records += 1;
    match Raw::parse(&text) {
        Ok(document) if document.is_object() => history.record(1, document, report),
        _ => {
            let message = format!("Not a session of Gemini CLI: `{}`", path.display());
            let hint = "it is not a JSON object, or it is cut off";
            return Err(Error::new(ErrorKind::Invalid, message, hint).about(path));
        }
    }
    Ok(history)
}

fn whole_document(path: &Path) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let limit = CONVERTED_BYTES_MAX as u64;
    tree::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)).at("read", path)?;
    if bytes.len() > CONVERTED_BYTES_MAX {
        let message = format!("The file is too large to read: `{}`", path.display());
        return Err(Error::new(ErrorKind::Invalid, message, "").about(path));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
