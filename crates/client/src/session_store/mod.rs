//! Sessions in a store of your own: a database, object storage, another machine.
//!
//! Claude Code writes a session into files of its machine. With [`Options::mirror_session`] it also sends
//! every line, and a [`SessionMirror`] appends them to a [`SessionStore`]. [`StoredSessions`] lists and reads
//! the sessions of a store as [`Sessions`](crate::Sessions) does those on disk, and resumes them on any
//! machine.
//!
//! | here | Python SDK | TypeScript SDK |
//! |---|---|---|
//! | [`SessionStore`] | `SessionStore` | `SessionStore` |
//! | [`MemoryStore`] | `InMemorySessionStore` | `InMemorySessionStore` |
//! | [`FolderStore`] | | |
//! | [`SessionMirror`] | the option `session_store` | the option `sessionStore` |
//! | [`StoredSessions::list`] | `list_sessions_from_store` | `listSessions` |
//! | [`StoredSessions::info`] | `get_session_info_from_store` | `getSessionInfo` |
//! | [`StoredSessions::messages`] | `get_session_messages_from_store` | `getSessionMessages` |
//! | [`StoredSessions::subagents`] | `list_subagents_from_store` | `listSubagents` |
//! | [`StoredSessions::subagent_messages`] | `get_subagent_messages_from_store` | `getSubagentMessages` |
//! | [`StoredSessions::resume`] | `session_store` with `resume` | the same |
//! | [`StoredSessions::latest`] | `session_store` with `continue_conversation` | the same |
//! | [`import_session`] | `import_session_to_store` | `importSessionToStore` |
//! | [`conformance::check`] | `run_session_store_conformance` | |
//!
//! [`Options::mirror_session`]: crate::Options::mirror_session

pub mod conformance;
mod files;
mod folder;
mod import;
mod login;
mod memory;
mod mirror;
mod resume;
mod stored;

use std::path::{Component, Path};

use futures_core::future::BoxFuture;
use tidings_protocol::json::{Json, Raw};
use tidings_transcript::manage;

pub use self::folder::FolderStore;
pub use self::import::import_session;
pub use self::memory::MemoryStore;
pub use self::mirror::SessionMirror;
pub use self::resume::ResumedSession;
pub use self::stored::StoredSessions;
use crate::error::{Error, ErrorKind};

/// The result of a call to a store.
pub type StoreCall<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// A place for sessions. [`conformance::check`] tests an implementation.
///
/// An entry is a line of a session file. Stores keep entries as they are, and in the order in which they were
/// appended; the spelling of an entry and the order of its keys may change.
pub trait SessionStore: Send + Sync {
    /// Appends entries. Without entries nothing happens.
    ///
    /// An append that failed is repeated, so entries may come twice: most have a `uuid`, by which the second
    /// one can be left out. Entries without one are always kept.
    fn append<'a>(&'a self, key: &'a SessionKey, entries: &'a [Json]) -> StoreCall<'a, ()>;

    /// The entries of a transcript; `None` if nothing was ever appended to it.
    fn load<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, Option<Vec<Json>>>;

    /// The sessions of a project in any order, without the transcripts of sub-agents.
    fn list<'a>(&'a self, project: &'a str) -> StoreCall<'a, Vec<StoredSession>>;

    /// The subpaths of a session's other transcripts; the subpath of `key` does not count.
    fn subpaths<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, Vec<String>>;

    /// Deletes a transcript. That of a session takes those of its sub-agents with it.
    ///
    /// A store that only appends does nothing.
    fn delete<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, ()>;
}

/// The key of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct SessionKey {
    /// Key of the project; [`project_key`] is that of a folder.
    pub project: String,
    /// Id of the session.
    pub session: String,
    /// Path of another transcript of the session, such as `subagents/agent-1`.
    pub subpath: Option<String>,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSession {
    /// Its id.
    pub session: String,
    /// Time of the last append, in milliseconds since 1970.
    pub modified_ms: i64,
}

impl SessionKey {
    /// The key of a session's main transcript.
    pub fn new(project: impl Into<String>, session: impl Into<String>) -> Self {
        SessionKey { project: project.into(), session: session.into(), subpath: None }
    }

    /// The key of another transcript of the same session.
    #[must_use]
    pub fn with_subpath(&self, subpath: impl Into<String>) -> Self {
        SessionKey { subpath: Some(subpath.into()), ..self.clone() }
    }

    /// The key of a transcript on disk; `None` for a file that is not in this `projects` folder.
    pub fn of_file(file: &Path, projects: &Path) -> Option<Self> {
        let parts = file.strip_prefix(projects).ok()?.components().map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        });
        let parts = parts.collect::<Option<Vec<_>>>()?;
        match parts.as_slice() {
            [project, file] => Some(SessionKey::new(*project, file.strip_suffix(".jsonl")?)),
            [project, session, folders @ .., file] if !folders.is_empty() => {
                let file = file.strip_suffix(".jsonl").unwrap_or(file);
                let subpath = folders.iter().copied().chain([file]).collect::<Vec<_>>().join("/");
                Some(SessionKey::new(*project, *session).with_subpath(subpath))
            }
            _ => None,
        }
    }
}

impl StoredSession {
    /// A session and the time of its last append, in milliseconds since 1970.
    pub fn new(session: impl Into<String>, modified_ms: i64) -> Self {
        StoredSession { session: session.into(), modified_ms }
    }
}

/// The key of the project in a folder: the name of the folder in which Claude Code keeps its sessions.
pub fn project_key(folder: impl AsRef<Path>) -> String {
    manage::project_key(folder.as_ref())
}

/// True if a subpath of a store names a file below the folder of its session.
fn is_safe_subpath(subpath: &str) -> bool {
    !subpath.contains(['\0', ':']) && subpath.split(['/', '\\']).all(is_safe_name)
}

/// True if a text can be the name of a file.
fn is_safe_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0'])
}

/// The `uuid` of an entry.
fn uuid(entry: &Json) -> Option<String> {
    Some(entry.raw().get("uuid").and_then(Raw::text)?.get().into_owned())
}

/// Removes entries whose `uuid` came before.
fn without_repeated(entries: impl IntoIterator<Item = Json>) -> Vec<Json> {
    let mut seen = std::collections::HashSet::new();
    entries.into_iter().filter(|entry| uuid(entry).is_none_or(|uuid| seen.insert(uuid))).collect()
}

fn storage_error(message: impl Into<String>, source: std::io::Error) -> Error {
    Error::new(ErrorKind::Storage, message, "check the folder and its permissions").caused_by(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_files_of_the_cli() {
        let key = |file: &str| SessionKey::of_file(Path::new(file), Path::new("/c/projects"));
        let main = SessionKey::new("-home-dev", "s1");
        assert_eq!(key("/c/projects/-home-dev/s1.jsonl"), Some(main.clone()));
        assert_eq!(
            key("/c/projects/-home-dev/s1/subagents/agent-1.jsonl"),
            Some(main.with_subpath("subagents/agent-1"))
        );
        let nested = "/c/projects/-home-dev/s1/subagents/workflows/w/agent-2.jsonl";
        assert_eq!(key(nested), Some(main.with_subpath("subagents/workflows/w/agent-2")));
        for other in
            ["/d/-home-dev/s1.jsonl", "/c/projects/s1.jsonl", "/c/projects/p/s1.txt", "/c/projects/p/s/x"]
        {
            assert_eq!(key(other), None, "{other}");
        }
    }

    #[test]
    fn subpaths_stay_below_their_session() {
        assert!(is_safe_subpath("subagents/workflows/w/agent-2"));
        for path in ["", "/etc/passwd", "../x", "a/../../x", "a//b", "a\\..\\b", "C:x", "a\0b", "."] {
            assert!(!is_safe_subpath(path), "{path:?}");
        }
    }
}
