//! `PATCH` and `DELETE` of `/v1/transcripts/{id}`.

use std::collections::HashSet;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tidings_api::{PatchTranscript, Transcript};
use tidings_sessions::starting::import::sees_session;
use tidings_sessions::{Caller, Error};
use tidings_transcript::manage::{SessionFile, rename_session};
use tidings_transcript::prune::{Choice, Plan};
use tidings_transcript::roots::SessionFiles;

use super::session::about;
use super::store::FoundSession;
use crate::api::Api;
use crate::http::{Answer, Body, Path};

/// Changes the title of a session on disk.
#[cfg_attr(feature = "openapi", utoipa::path(
    patch, path = "/v1/transcripts/{id}", tag = "transcripts",
    params(("id" = String, Path, description = "The id of the session")),
    request_body = PatchTranscript,
    responses(
        (status = 200, description = "The session as it is now", body = Transcript),
        (status = 409, description = "The session is open: `session` names the one of this server"),
    ),
))]
pub(crate) async fn patch_transcript(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Body(patch): Body<PatchTranscript>,
) -> Answer<Transcript> {
    check_unused(&api, &caller, &id).await?;
    api.sessions.note_own_writes(&id);
    let changed = api.transcripts.run(move |store| {
        let files = store.session(&caller, &id)?;
        if let Some(title) = &patch.title {
            rename_session(&SessionFile::of(&files)?, title)?;
        }
        let files = store.session(&caller, &id)?;
        about(&FoundSession { files, is_archived: false })
    });
    changed.await.map(Json)
}

/// Deletes a session on disk with all of its files. A copy in the archive stays.
#[cfg_attr(feature = "openapi", utoipa::path(
    delete, path = "/v1/transcripts/{id}", tag = "transcripts",
    params(("id" = String, Path, description = "The id of the session")),
    responses(
        (status = 204, description = "The session is deleted"),
        (status = 409, description = "The session is open: `session` names the one of this server"),
    ),
))]
pub(crate) async fn delete_transcript(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Error> {
    check_unused(&api, &caller, &id).await?;
    tracing::info!(session = id, who = caller.name, "deleting a session on disk");
    let deleted = api.transcripts.run(move |store| {
        store.session(&caller, &id)?;
        let copies = store.roots().scan_some(|known, _| known == id)?.sessions;
        let mine = copies.iter().filter(|copy| copy.id == id && sees_session(&caller, copy));
        let choice = Choice { named: mine.map(SessionFiles::dir).collect(), ..Choice::default() };
        let plan = Plan::new(copies, &choice, &HashSet::new(), store.now().into());
        for doomed in &plan.remove {
            doomed.remove()?;
        }
        Ok(())
    });
    deleted.await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Refuses a session that is open. One that the caller may not see does not exist.
async fn check_unused(api: &Api, caller: &Caller, id: &str) -> Result<(), Error> {
    let (asked, name) = (caller.clone(), id.to_owned());
    let folders = api.transcripts.run(move |store| {
        store.session(&asked, &name)?;
        Ok(store.roots().paths().to_vec())
    });
    let folders = folders.await?;
    api.sessions.check_unused(caller, id, folders).await
}
