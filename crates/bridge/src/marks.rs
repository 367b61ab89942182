//! Marks that people put on sessions, as documents of the journal. Pins and archive marks of the server's own
//! sessions are labels; those of sessions on disk are here, and for both what was shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tidings_api::{Code, MarkList, PatchMarks, SessionMarks};
use tidings_journal::{DocumentChange, Journal};
use tidings_sessions::{Caller, Error};
use tokio::sync::{Mutex, MutexGuard};

use crate::limits::MARKS_MAX;

const MARKS: &str = "marks";
const SINCE: &str = "marks_since";

/// The marks. Handles are cheap to clone.
#[derive(Clone)]
pub(crate) struct Marks(Arc<MarksState>);

struct MarksState {
    journal: Arc<dyn Journal>,
    /// Read from the journal when they are first needed.
    stored: Mutex<Option<Stored>>,
}

struct Stored {
    since: Timestamp,
    sessions: BTreeMap<String, StoredMarks>,
}

/// A document.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredMarks {
    marks: SessionMarks,
    /// The session's folder, since a credential may be limited to others.
    cwd: String,
    changed: Timestamp,
}

impl Marks {
    pub(crate) fn new(journal: Arc<dyn Journal>) -> Self {
        Marks(Arc::new(MarksState { journal, stored: Mutex::new(None) }))
    }

    /// The marks of all sessions that the caller may see.
    pub(crate) async fn list(&self, caller: &Caller, now: Timestamp) -> Result<MarkList, Error> {
        let mut guard = self.0.stored.lock().await;
        let stored = self.load(&mut guard, now).await?;
        let seen = stored.sessions.values().filter(|it| caller.sees(&it.cwd));
        Ok(MarkList { items: seen.map(|it| it.marks.clone()).collect(), since: stored.since.to_string() })
    }

    /// Changes the marks of one session, whose existence and folder the caller has checked.
    pub(crate) async fn change(
        &self,
        session: &str,
        cwd: String,
        patch: &PatchMarks,
        now: Timestamp,
    ) -> Result<SessionMarks, Error> {
        let mut guard = self.0.stored.lock().await;
        let stored = self.load(&mut guard, now).await?;
        let before = stored.sessions.get(session).map(|it| it.marks.clone()).unwrap_or_default();
        let marks = SessionMarks {
            session: session.to_owned(),
            pinned: patch.pinned.unwrap_or(before.pinned),
            archived: patch.archived.unwrap_or(before.archived),
            seen: patch.seen.or(before.seen),
        };
        let mut changes = Vec::new();
        let dropped = stored.room_for(session)?;
        changes.extend(dropped.iter().map(|id| DocumentChange { kind: MARKS, id: id.clone(), body: None }));
        let new = StoredMarks { marks: marks.clone(), cwd, changed: now };
        changes.push(document(MARKS, session, &new)?);
        self.0.journal.change_documents(changes).await?;
        if let Some(id) = dropped {
            stored.sessions.remove(&id);
        }
        stored.sessions.insert(session.to_owned(), new);
        Ok(marks)
    }

    async fn load<'a>(
        &self,
        guard: &'a mut MutexGuard<'_, Option<Stored>>,
        now: Timestamp,
    ) -> Result<&'a mut Stored, Error> {
        if guard.is_none() {
            // Documents that this version cannot read are skipped, and kept.
            let marks = self.0.journal.documents(MARKS).await?.into_iter();
            let sessions = marks.filter_map(|it| Some((it.id, serde_json::from_slice(&it.body).ok()?)));
            let sessions = sessions.collect();
            let since = self.0.journal.documents(SINCE).await?.pop();
            let since = since.and_then(|it| serde_json::from_slice(&it.body).ok());
            if since.is_none() {
                self.0.journal.change_documents(vec![document(SINCE, SINCE, &now)?]).await?;
            }
            **guard = Some(Stored { since: since.unwrap_or(now), sessions });
        }
        guard.as_mut().ok_or_else(|| Error::new(Code::Internal, "The marks cannot be read", ""))
    }
}

impl Stored {
    /// The session whose marks are dropped for those of another one; those that a person chose are kept.
    fn room_for(&self, session: &str) -> Result<Option<String>, Error> {
        if self.sessions.len() < MARKS_MAX || self.sessions.contains_key(session) {
            return Ok(None);
        }
        let only_seen = self.sessions.iter().filter(|(_, it)| !it.marks.pinned && !it.marks.archived);
        let oldest = only_seen.min_by_key(|(_, it)| it.changed).map(|(id, _)| id.clone());
        let hint = "remove the marks of some sessions";
        oldest.map(Some).ok_or_else(|| Error::new(Code::TooMany, "Too many sessions have marks", hint))
    }
}

fn document<T: Serialize>(kind: &'static str, id: &str, value: &T) -> Result<DocumentChange, Error> {
    let body =
        serde_json::to_vec(value).map_err(|error| Error::new(Code::Internal, error.to_string(), ""))?;
    Ok(DocumentChange { kind, id: id.to_owned(), body: Some(body.into()) })
}
