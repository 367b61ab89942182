//! Sessions of a lost server that this one continues, and sessions of this one that another continues.
//!
//! The lease in the shared state decides which server continues a session. The conversation goes on from a
//! session file that is written from the replicated events.

use std::collections::BTreeSet;

use tidings_api::{Code, CreateSession, FleetContinue, Scope, SessionView};
use tidings_base::plural::counted;
use tidings_fleet::{Name, RosterLease};
use tidings_protocol::ui::UiMessage;
use tidings_sessions::private::create as create_private;
use tidings_sessions::{Caller, Error, LostSession, Sessions};
use tokio_util::sync::CancellationToken;

use super::session_file::SessionFileWriter;
use super::{Fleet, fleet_error, heads};

impl Fleet {
    /// Continues a session of a lost server here, in a session of this server.
    pub(crate) async fn continue_here(
        &self,
        sessions: &Sessions,
        caller: &Caller,
        name: &str,
        request: FleetContinue,
    ) -> Result<SessionView, Error> {
        caller.require(Scope::Always)?;
        if self.is_hub() {
            let hint = "do it on a server of the fleet that runs agents";
            return Err(Error::new(Code::Conflict, "This server is a hub, and runs no agents", hint));
        }
        if let Some(before) = self.continued_before(sessions, caller, name, &request).await? {
            return Ok(before);
        }
        let mut writer = SessionFileWriter::default();
        let lost = sessions.lost_session(caller, name, &mut |event: &UiMessage| writer.push(event)).await?;
        let left_out = self.check_complete(sessions, &lost, &request).await?;
        let cwd = sessions.folder(caller, request.cwd.as_deref().unwrap_or(&lost.view.cwd))?;
        // From here on no other server continues it.
        self.roster()
            .claim(&lost.key, &Name::new(&lost.node).map_err(fleet_error)?)
            .await
            .map_err(fleet_error)?;
        let resume = SessionFileWriter::id_of(&lost.key);
        let path = sessions.session_file(&cwd, &resume)?;
        if !path.exists() {
            let config = sessions.config();
            let model = lost.view.model.as_deref().unwrap_or("claude");
            let text = writer.finish((&cwd, &resume, model), config.clock.now(), || config.ids.next());
            let folder = path.parent().unwrap_or(&path);
            let written =
                fs_err::create_dir_all(folder).and_then(|()| create_private(&path, text.as_bytes()));
            written.map_err(|error| {
                let message = format!("Failed to write the session file: {error}");
                Error::new(Code::Internal, message, "check the space and the rights of its folder")
            })?;
        }
        let new = session_for(&lost.view, &request);
        let view = sessions.create_for(caller, new, &command_of(request)).await?;
        let action = "continued a session of a lost server";
        let mut details = format!("{} of {}", lost.key, lost.node);
        if let Some(left_out) = left_out {
            details = format!("{details}; {left_out}");
        }
        sessions.audit_action(caller, Some(&view.key), action, &details).await;
        Ok(view)
    }

    /// The session that continues another one here already, for a request that is repeated: the lost server
    /// may be back, and the answer is the same.
    async fn continued_before(
        &self,
        sessions: &Sessions,
        caller: &Caller,
        name: &str,
        request: &FleetContinue,
    ) -> Result<Option<SessionView>, Error> {
        let from = sessions.find(name).await?;
        if !caller.sees(&from.cwd) {
            return Err(Error::no_session(name));
        }
        let lease = self.roster().lease(&from.key);
        let is_held = |lease: RosterLease| {
            lease.holder == *self.node() && from.node.as_deref() == Some(lease.from.as_str())
        };
        if !lease.is_some_and(is_held) {
            return Ok(None);
        }
        let new = session_for(&from, request);
        sessions.created_for(caller, &new, &command_of(request.clone())).await
    }

    /// Compares a session with the head that its server has announced last. Returns what is missing, and
    /// fails if the caller did not accept that.
    async fn check_complete(
        &self,
        sessions: &Sessions,
        lost: &LostSession,
        request: &FleetContinue,
    ) -> Result<Option<String>, Error> {
        let Some(head) = self.roster().head(&Name::new(&lost.node).map_err(fleet_error)?, &lost.key) else {
            return Ok(None);
        };
        let missing = head.last.saturating_sub(lost.head.seq);
        let journal = sessions.broadcast().journal();
        let epoch = lost.head.epoch.number();
        let problem = if missing > 0 {
            let which = format!("{} ({} to {})", counted(missing, "event"), lost.head.seq + 1, head.last);
            format!("this server lacks {which} that `{}` has announced", lost.node)
        } else {
            let range = (head.hash_from.max(1), head.last);
            let has_range = lost.floor <= range.0;
            let hash = heads::hash_of(&**journal, &lost.key, epoch, range);
            match &head.hash {
                Some(announced) if has_range && hash.await?.is_none_or(|hash| hash != *announced) => {
                    format!("the last events differ from those that `{}` has announced", lost.node)
                }
                _ => return Ok(None),
            }
        };
        if request.force {
            return Ok(Some(problem));
        }
        let hint = "wait for its server, continue it on a server that has them, or repeat it with `--force` \
                    (`force` in the API) to go on without them";
        Err(Error::new(Code::Conflict, format!("The session is incomplete: {problem}"), hint))
    }

    /// Leaves sessions of this server alone that another one has continued, and notifies clients of those of
    /// other servers, until it is stopped.
    pub(super) async fn leave_continued(&self, sessions: &Sessions, stop: &CancellationToken) {
        let mut changes = self.roster().changes();
        let mut known = BTreeSet::new();
        while !stop.is_cancelled() {
            let mut is_behind = false;
            let leases = self.roster().leases();
            // Clients of this server see at once that the session goes on elsewhere.
            for lease in leases.iter().filter(|lease| lease.from != *self.node()) {
                if known.insert((lease.session.clone(), lease.holder.clone())) {
                    sessions.notify_of_session(&lease.session).await;
                }
            }
            for lease in
                leases.into_iter().filter(|lease| lease.from == *self.node() && lease.holder != *self.node())
            {
                if let Err(error) = sessions.leave_to(&lease.session, lease.holder.as_str()).await {
                    tracing::warn!(%error, session = lease.session, "failed to leave a session to another server");
                    is_behind = true;
                }
            }
            tokio::select! {
                _ = changes.changed() => {}
                () = tokio::time::sleep(tidings_fleet::limits::RETRY_MAX), if is_behind => {}
                () = stop.cancelled() => {}
            }
        }
    }
}

/// The session that continues a lost one.
fn session_for(lost: &SessionView, request: &FleetContinue) -> CreateSession {
    CreateSession {
        cwd: request.cwd.clone().unwrap_or_else(|| lost.cwd.clone()),
        resume: Some(SessionFileWriter::id_of(&lost.key)),
        prompt: request.prompt.clone(),
        worktree: request.worktree.clone(),
        title: lost.title.clone(),
        labels: lost.labels.clone(),
        // A repeated request returns the same session.
        client_id: Some(format!("continue-{}", lost.key)),
        ..CreateSession::default()
    }
}

/// The part of a request by which its repetition is recognized.
fn command_of(request: FleetContinue) -> FleetContinue {
    FleetContinue { client_id: None, force: false, ..request }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use tidings_journal::broadcast::Broadcast;
    use tidings_journal::{Epoch, MemoryJournal, Opening};
    use tidings_sessions::Config;

    #[tokio::test]
    async fn r13_a_repeated_continue_returns_the_first_session_when_the_lost_server_is_back() {
        let opening = Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(1) };
        let broadcast = Broadcast::new(Arc::new(MemoryJournal::new(&opening)));
        let sessions = Sessions::open(broadcast, Config::default()).await.unwrap();
        let (caller, folder) = (Caller::admin("ada"), tempfile::tempdir().unwrap());
        let view = json!({
            "handle": 1, "key": "a1", "cwd": "/shop", "state": "idle", "policy": "ask", "cli_session_ids": [],
            "created": "2026-01-01T00:00:00Z", "active": "", "cursor": "", "head": 0, "floor": 0,
            "totals": {"turns": 0, "cost_usd": 0.0, "input_tokens": 0, "output_tokens": 0}, "budget": {},
            "pending_permissions": 0, "pending_questions": 0, "queued": 0, "node": "two", "unreachable": "",
        });
        let lost: SessionView = serde_json::from_value(view).unwrap();
        let request = FleetContinue {
            cwd: folder.path().to_str().map(str::to_owned),
            client_id: Some("once".to_owned()),
            ..FleetContinue::default()
        };
        let command = command_of(request.clone());
        let new = session_for(&lost, &request);
        assert_eq!(sessions.created_for(&caller, &new, &command).await.unwrap(), None);
        let made = sessions.create_for(&caller, new, &command).await.unwrap();
        // Its server is back, and the session has a title now.
        let back = SessionView { title: Some("Tides".to_owned()), unreachable: None, ..lost };
        let again = sessions.created_for(&caller, &session_for(&back, &request), &command).await.unwrap();
        assert_eq!(again.map(|again| again.key), Some(made.key));
        let other = FleetContinue { worktree: Some("tides".to_owned()), ..request };
        let new = session_for(&back, &other);
        let refused = sessions.created_for(&caller, &new, &command_of(other)).await.unwrap_err();
        assert_eq!(refused.code(), Code::Conflict);
    }
}
