//! `list_sessions` of the official SDKs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsStr;

use super::details::SessionDetailsReader;
use super::info::info;
use super::scope::ProjectFolder;
use super::{Page, Scope, SessionFile, SessionId, SessionInfo};
use crate::error::At as _;
use crate::{Error, ErrorKind};

/// `list_sessions`: the sessions of a scope, last changed first, each once.
///
/// Only the ends of files are read. Files that vanish meanwhile, empty ones, and those of sub-agents are left
/// out, and so are sessions without a title and a typed prompt.
pub fn list_sessions(scope: &Scope<'_>, page: Page) -> Result<Vec<SessionInfo>, Error> {
    let mut reader = SessionDetailsReader::default();
    let mut newest: HashMap<String, SessionInfo> = HashMap::new();
    for ProjectFolder { path: folder, project } in scope.folders() {
        let entries = match std::fs::read_dir(&folder).at("look into", &folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_session = path.extension() == Some(OsStr::new("jsonl"));
            let Some(stem) = path.file_stem().and_then(OsStr::to_str).filter(|_| is_session) else {
                continue;
            };
            let Ok(id) = SessionId::parse(stem) else { continue };
            let session = SessionFile { id, path, project: project.clone() };
            // One unreadable file does not hide the others.
            let Ok(Some(info)) = info(&session, &mut reader) else { continue };
            match newest.entry(info.session_id.clone()) {
                Entry::Vacant(place) => drop(place.insert(info)),
                Entry::Occupied(mut place) if info.last_modified > place.get().last_modified => {
                    place.insert(info);
                }
                Entry::Occupied(_) => {}
            }
        }
    }
    let mut sessions: Vec<SessionInfo> = newest.into_values().collect();
    sessions
        .sort_by(|a, b| b.last_modified.cmp(&a.last_modified).then_with(|| a.session_id.cmp(&b.session_id)));
    Ok(page.of(sessions))
}
