//! Sessions of a lost server that this one continues, and sessions of this one that another continues.
//!
//! The lease in the shared state decides which server continues a session. The conversation goes on from a
//! session file that is written from the replicated events.

use std::collections::BTreeSet;

use tidings_fleet::Name;
use tidings_protocol::api::{CreateSession, FleetContinue, SessionView};
use tidings_protocol::ui::UiMessage;
use tokio_util::sync::CancellationToken;

use super::session_file::SessionFileWriter;
use super::{Fleet, heads};
use crate::auth::create_private;
use crate::caller::{Caller, Scope};
use crate::error::{Code, Error};
use crate::plural::counted;
use crate::sessions::{LostSession, Sessions};

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
        let mut writer = SessionFileWriter::default();
        let lost = sessions.lost_session(caller, name, &mut |event: &UiMessage| writer.push(event)).await?;
        let left_out = self.check_complete(sessions, &lost, &request).await?;
        let cwd = sessions.folder(caller, request.cwd.as_deref().unwrap_or(&lost.view.cwd))?;
        // From here on no other server continues it.
        self.roster().claim(&lost.key, &Name::new(&lost.node)?).await?;
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
        let new = CreateSession {
            cwd,
            resume: Some(resume),
            prompt: request.prompt,
            worktree: request.worktree,
            title: lost.view.title.clone(),
            labels: lost.view.labels.clone(),
            // A repeated request returns the same session.
            client_id: Some(format!("continue-{}", lost.key)),
            ..CreateSession::default()
        };
        let (view, _) = sessions.create(caller, new).await?;
        let action = "continued a session of a lost server";
        let mut details = format!("{} of {}", lost.key, lost.node);
        if let Some(left_out) = left_out {
            details = format!("{details}; {left_out}");
        }
        sessions.audit_action(caller, Some(&view.key), action, &details).await;
        Ok(view)
    }

    /// Compares a session with the head that its server has announced last. Returns what is missing, and
    /// fails if the caller did not accept that.
    async fn check_complete(
        &self,
        sessions: &Sessions,
        lost: &LostSession,
        request: &FleetContinue,
    ) -> Result<Option<String>, Error> {
        let Some(head) = self.roster().head(&Name::new(&lost.node)?, &lost.key) else { return Ok(None) };
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
