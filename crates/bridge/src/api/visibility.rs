//! Visibility of sessions: a credential may be limited to folders, and sessions elsewhere do not exist for
//! its caller.

use std::collections::HashMap;

use tidings_api::{Notice, SessionView};
use tidings_journal::AuditEntry;
use tidings_journal::limits::LIST_MAX;
use tidings_sessions::{Caller, Error, Sessions};

/// Finds a session that the caller may see.
pub(crate) async fn session(sessions: &Sessions, caller: &Caller, name: &str) -> Result<SessionView, Error> {
    let view = sessions.find(name).await?;
    if caller.sees(&view.cwd) { Ok(view) } else { Err(Error::no_session(name)) }
}

/// Refuses a session that the caller may not see.
pub(crate) async fn check(sessions: &Sessions, caller: &Caller, name: &str) -> Result<(), Error> {
    if caller.folders.is_empty() {
        return Ok(());
    }
    session(sessions, caller, name).await.map(|_| ())
}

/// Filters sessions, notices and audit entries for a caller. Results are cached by session.
#[derive(Debug)]
pub(crate) struct Visibility {
    caller: Caller,
    seen: HashMap<String, bool>,
}

impl Visibility {
    pub(crate) fn new(caller: Caller) -> Self {
        Visibility { caller, seen: HashMap::new() }
    }

    /// True if the caller may see the session.
    pub(crate) async fn sees_session(&mut self, sessions: &Sessions, key: &str) -> bool {
        if self.caller.folders.is_empty() {
            return true;
        }
        if let Some(seen) = self.seen.get(key) {
            return *seen;
        }
        let seen = session(sessions, &self.caller, key).await.is_ok();
        self.remember(key, seen);
        seen
    }

    /// True if the caller may see the notice.
    pub(crate) async fn sees_notice(&mut self, sessions: &Sessions, notice: &Notice) -> bool {
        match notice {
            Notice::Session { session } => {
                let seen = self.caller.sees(&session.cwd);
                self.remember(&session.key, seen);
                seen && !sessions.duplicates().is_hidden(&session.key)
            }
            Notice::Deleted { key, .. } => {
                self.caller.folders.is_empty() || self.seen.remove(key).unwrap_or_default()
            }
            Notice::Permission { permission } => self.sees_session(sessions, &permission.session).await,
            Notice::Question { question } => self.sees_session(sessions, &question.session).await,
            Notice::Settled { session, .. } | Notice::TurnEnded { session, .. } => {
                self.sees_session(sessions, session).await
            }
            // It may be about a session on disk, whose folder is not known here.
            Notice::Marks { .. } => self.caller.folders.is_empty(),
            Notice::Inbox { .. } | Notice::Resync {} => true,
        }
    }

    /// True if the caller may see the entry. Entries without a session are visible only without a folder
    /// limit.
    pub(crate) async fn sees_audit_entry(&mut self, sessions: &Sessions, line: &AuditEntry) -> bool {
        match &line.session {
            Some(session) => self.sees_session(sessions, session).await,
            None => self.caller.folders.is_empty(),
        }
    }

    fn remember(&mut self, key: &str, seen: bool) {
        if self.caller.folders.is_empty() {
            return;
        }
        if self.seen.len() >= LIST_MAX {
            self.seen.clear();
        }
        self.seen.insert(key.to_owned(), seen);
    }
}
