//! Sessions that an editor opens, lists and deletes: those of this server, and those on disk.

use std::collections::HashSet;

use axum::extract::State;
use tidings_acp::agent::{ListedSession, ModeChoice, OpenSession, SessionState};
use tidings_acp::limits::LIST_PAGE;
use tidings_api::{Code, CommandRequest, CreateSession, Scope, SessionView};
use tidings_journal::Key;
use tidings_journal::limits::LIST_MAX;
use tidings_sessions::capabilities::{self, Bypass, USUAL_MODE};
use tidings_sessions::{Caller, Error, Transcript};

use crate::api::rest::workspace::newest_commands;
use crate::api::transcripts::{delete_transcript, newest_transcripts};
use crate::api::{Api, visibility};
use crate::http::Path;

/// Creates a session for an editor.
pub(super) async fn create(api: &Api, caller: &Caller, open: OpenSession) -> Result<SessionView, Error> {
    caller.require(Scope::Prompt)?;
    let new = CreateSession {
        cwd: open.cwd,
        add_dirs: open.add_dirs,
        mcp_config: open.mcp_config,
        client_id: open.client_id,
        ..CreateSession::default()
    };
    Ok(api.sessions.create_for_editor(caller, new).await?.0)
}

/// Finds a session that an editor names: by its key, by the id that Claude Code gives it, or on disk. One on
/// disk becomes a session of this server.
pub(super) async fn find(api: &Api, caller: &Caller, open: OpenSession) -> Result<SessionView, Error> {
    match visibility::session(&api.sessions, caller, &open.session).await {
        Err(error) if matches!(error.code(), Code::NotFound | Code::Invalid) => {}
        found => return found,
    }
    caller.require(Scope::Prompt)?;
    // Sessions on disk have no other ids.
    if uuid::Uuid::parse_str(&open.session).is_err() {
        return Err(Error::no_session(&open.session));
    }
    let new = CreateSession {
        cwd: open.cwd,
        add_dirs: open.add_dirs,
        mcp_config: open.mcp_config,
        resume: Some(open.session),
        ..CreateSession::default()
    };
    match api.sessions.create(caller, new).await {
        Ok((view, _)) => Ok(view),
        // A session of this server continues it.
        Err(error) => match error.session().map(str::to_owned) {
            Some(key) => visibility::session(&api.sessions, caller, &key).await,
            None => Err(error),
        },
    }
}

/// Deletes a session, with its file.
pub(super) async fn delete(api: &Api, caller: &Caller, session: &str) -> Result<(), Error> {
    caller.require(Scope::Admin)?;
    match visibility::session(&api.sessions, caller, session).await {
        Ok(view) => api.sessions.delete(caller, &view.key, Transcript::Delete).await,
        Err(error) if matches!(error.code(), Code::NotFound | Code::Invalid) => {
            delete_transcript(State(api.clone()), caller.clone(), Path(session.to_owned())).await.map(drop)
        }
        Err(error) => Err(error),
    }
}

/// The settings of a session, as an editor shows them.
pub(super) async fn state(api: &Api, caller: &Caller, view: &SessionView) -> Result<SessionState, Error> {
    let bypass = Bypass::from_setting(api.sessions.config().allow_bypass);
    let may = |mode: &str| {
        let request = CommandRequest { mode: Some(mode.to_owned()), ..CommandRequest::default() };
        capabilities::of_command(&request)
            .is_ok_and(|needs| capabilities::require(caller, bypass, &needs).is_ok())
    };
    let mode = view.permission_mode.clone().unwrap_or_else(|| USUAL_MODE.to_owned());
    let journal = api.sessions.broadcast().journal();
    let choices = api.sessions.choices_of(&view.key).await?;
    Ok(SessionState {
        // The current mode is always among them.
        modes: ModeChoice::allowed(|known| known == mode || may(known)),
        mode,
        model: view.model.clone(),
        models: choices.items,
        options: choices.options,
        commands: newest_commands(&**journal, &Key::new(&view.key)?).await?,
    })
}

/// One page of sessions, the newest first, and the position of the next page.
pub(super) async fn list(
    api: &Api,
    caller: &Caller,
    cwd: Option<&str>,
    cursor: Option<&str>,
) -> Result<(Vec<ListedSession>, Option<String>), Error> {
    let start = match cursor {
        Some(cursor) => cursor.parse::<usize>().map_err(|_| {
            Error::new(
                Code::Invalid,
                "The cursor is not one of a list",
                "request the list from its beginning",
            )
        })?,
        None => 0,
    };
    let mut known = HashSet::new();
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let page = api.sessions.list(after, LIST_MAX).await?;
        let Some(last) = page.last() else { break };
        after = Some(tidings_journal::Handle::new(u64::try_from(last.handle).unwrap_or_default()));
        for view in page.into_iter().filter(|view| caller.sees(&view.cwd)) {
            known.extend(view.cli_session_ids.iter().cloned());
            known.insert(view.key.clone());
            // A session without a prompt has nothing to show.
            if view.head > 0 {
                all.push(ListedSession {
                    title: view.name().map(str::to_owned),
                    session: view.key,
                    cwd: view.cwd,
                    updated: Some(view.active),
                });
            }
        }
    }
    for on_disk in
        newest_transcripts(api, caller, LIST_MAX).await?.into_iter().filter(|one| !known.contains(&one.id))
    {
        let Some(cwd) = on_disk.cwd else { continue };
        all.push(ListedSession { session: on_disk.id, cwd, title: on_disk.title, updated: on_disk.modified });
    }
    all.retain(|session| cwd.is_none_or(|cwd| session.cwd == cwd));
    all.sort_by(|one, other| other.updated.cmp(&one.updated));
    let next = (all.len() > start.saturating_add(LIST_PAGE)).then(|| (start + LIST_PAGE).to_string());
    Ok((all.into_iter().skip(start).take(LIST_PAGE).collect(), next))
}
