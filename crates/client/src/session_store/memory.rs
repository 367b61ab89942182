//! A store in memory.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use tidings_protocol::json::Json;

use super::{SessionKey, SessionStore, StoreCall, StoredSession, without_repeated};
use crate::sessions::now;

/// A [`SessionStore`] in memory, for tests and programs that do not outlive their sessions.
#[derive(Debug, Default)]
pub struct MemoryStore {
    transcripts: Mutex<BTreeMap<SessionKey, MemoryTranscript>>,
}

#[derive(Debug, Default)]
struct MemoryTranscript {
    entries: Vec<Json>,
    modified_ms: i64,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        MemoryStore::default()
    }
}

impl SessionStore for MemoryStore {
    fn append<'a>(&'a self, key: &'a SessionKey, entries: &'a [Json]) -> StoreCall<'a, ()> {
        Box::pin(async move {
            if !entries.is_empty() {
                let mut transcripts = self.transcripts.lock();
                let transcript = transcripts.entry(key.clone()).or_default();
                transcript.entries.extend_from_slice(entries);
                transcript.modified_ms = now().as_millisecond();
            }
            Ok(())
        })
    }

    fn load<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, Option<Vec<Json>>> {
        Box::pin(async move {
            let transcripts = self.transcripts.lock();
            Ok(transcripts.get(key).map(|transcript| without_repeated(transcript.entries.iter().cloned())))
        })
    }

    fn list<'a>(&'a self, project: &'a str) -> StoreCall<'a, Vec<StoredSession>> {
        Box::pin(async move {
            let transcripts = self.transcripts.lock();
            let of_project =
                transcripts.iter().filter(|(key, _)| key.project == project && key.subpath.is_none());
            Ok(of_project.map(|(key, one)| StoredSession::new(&key.session, one.modified_ms)).collect())
        })
    }

    fn subpaths<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, Vec<String>> {
        Box::pin(async move {
            let transcripts = self.transcripts.lock();
            let of_session = transcripts.keys().filter(|one| one.is_of_session(key));
            Ok(of_session.filter_map(|one| one.subpath.clone()).collect())
        })
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, ()> {
        Box::pin(async move {
            let mut transcripts = self.transcripts.lock();
            transcripts.retain(|one, _| one != key && (key.subpath.is_some() || !one.is_of_session(key)));
            Ok(())
        })
    }
}

impl SessionKey {
    fn is_of_session(&self, other: &SessionKey) -> bool {
        self.project == other.project && self.session == other.session
    }
}
