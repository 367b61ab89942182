//! Which sessions a caller sees. A credential may be limited to some folders; for its holder there is nothing else.

use std::collections::HashMap;

use tidings_protocol::api::{Notice, SessionView};

use crate::caller::Caller;
use crate::error::Error;
use crate::journal::AuditEntry;
use crate::limits::LIST_MAX;
use crate::sessions::Sessions;

/// The session, if the caller may see it.
pub(crate) async fn session(sessions: &Sessions, caller: &Caller, name: &str) -> Result<SessionView, Error> {
    let view = sessions.find(name).await?;
    if caller.sees(&view.cwd) { Ok(view) } else { Err(Error::no_session(name)) }
}

/// Refuses a session that the caller may not see.
pub(crate) async fn admit(sessions: &Sessions, caller: &Caller, name: &str) -> Result<(), Error> {
    if caller.folders.is_empty() {
        return Ok(());
    }
    session(sessions, caller, name).await.map(|_| ())
}

/// Which notices a caller sees; it remembers the folders that it has asked for.
#[derive(Debug)]
pub(crate) struct Sight {
    caller: Caller,
    seen: HashMap<String, bool>,
}

impl Sight {
    pub(crate) fn new(caller: Caller) -> Self {
        Sight { caller, seen: HashMap::new() }
    }

    /// Whether the caller may know of the session.
    pub(crate) async fn of_session(&mut self, sessions: &Sessions, key: &str) -> bool {
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

    /// Whether the caller may know of what happened.
    pub(crate) async fn of_notice(&mut self, sessions: &Sessions, notice: &Notice) -> bool {
        match notice {
            Notice::Session { session } => {
                let seen = self.caller.sees(&session.cwd);
                self.remember(&session.key, seen);
                seen
            }
            Notice::Deleted { key, .. } => {
                self.caller.folders.is_empty() || self.seen.remove(key).unwrap_or_default()
            }
            Notice::Permission { permission } => self.of_session(sessions, &permission.session).await,
            Notice::Question { question } => self.of_session(sessions, &question.session).await,
            Notice::Settled { session, .. } | Notice::TurnEnded { session, .. } => {
                self.of_session(sessions, session).await
            }
            Notice::Resync {} => true,
        }
    }

    /// Whether the caller may know of a decision. One that is about no session that is there is for those who see all of them.
    pub(crate) async fn of_line(&mut self, sessions: &Sessions, line: &AuditEntry) -> bool {
        match &line.session {
            Some(session) => self.of_session(sessions, session).await,
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
