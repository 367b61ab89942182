//! Copying sessions on disk into a store.

use tidings_protocol::json::Json;

use super::files::{AGENT_METADATA, entries_of, transcripts_below, with_type};
use super::{SessionKey, SessionStore};
use crate::error::Error;
use crate::limits::STORE_ENTRIES_MAX;
use crate::sessions::Sessions;

/// Appends a session on disk to a store, with its sub-agents: to move sessions, or to add what a
/// [`SessionMirror`](super::SessionMirror) failed to append.
///
/// The key of its project is the name of the folder in which it is.
pub async fn import_session(store: &dyn SessionStore, sessions: &Sessions, id: &str) -> Result<(), Error> {
    for (key, entries) in sessions.run_with(id, |session| Ok(transcripts(session))).await?? {
        for batch in entries.chunks(STORE_ENTRIES_MAX) {
            store.append(&key, batch).await?;
        }
    }
    Ok(())
}

type KeyedEntries = Vec<(SessionKey, Vec<Json>)>;

/// All transcripts of a session.
fn transcripts(session: &tidings_transcript::manage::SessionFile) -> Result<KeyedEntries, Error> {
    let read = |path: &std::path::Path| {
        std::fs::read(path)
            .map_err(|source| super::storage_error(format!("Failed to read `{}`", path.display()), source))
    };
    let project = session.path.parent().and_then(|folder| folder.file_name()).unwrap_or_default();
    let key = SessionKey::new(project.to_string_lossy(), session.id.as_str());
    let mut all = vec![(key.clone(), entries_of(&read(&session.path)?))];
    for (subpath, path) in transcripts_below(&session.dir()) {
        if !subpath.starts_with("subagents/") {
            continue;
        }
        let mut entries = entries_of(&read(&path)?);
        let facts = std::fs::read_to_string(path.with_extension("meta.json"));
        entries.extend(facts.ok().and_then(|facts| metadata(&facts)));
        all.push((key.with_subpath(subpath), entries));
    }
    Ok(all)
}

/// The facts beside a sub-agent's transcript as an entry.
fn metadata(facts: &str) -> Option<Json> {
    let facts = Json::parse(facts.trim()).ok()?;
    let kind = format!("\"{AGENT_METADATA}\"");
    Json::parse(&with_type(Some(&kind), facts.raw())).ok().filter(|_| facts.raw().is_object())
}
