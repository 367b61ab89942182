//! `GET /v1/transcripts/{id}/prompts/{prompt}`.

use axum::Json;
use axum::extract::State;
use tidings_api::WholePrompt;
use tidings_sessions::Caller;
use tidings_sessions::reading::attachments;

use crate::api::Api;
use crate::http::{Answer, Path};

/// Gets the images and files that came with one prompt, on any branch.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/transcripts/{id}/prompts/{prompt}", tag = "transcripts",
    params(
        ("id" = String, Path, description = "The id of the session"),
        ("prompt" = String, Path, description = "The `uuid` of the prompt"),
    ),
    responses((status = 200, description = "The attachments", body = WholePrompt)),
))]
pub(crate) async fn transcript_prompt(
    State(api): State<Api>,
    caller: Caller,
    Path((id, prompt)): Path<(String, String)>,
) -> Answer<WholePrompt> {
    let archive = api.archive.clone();
    let read = api.transcripts.run(move |store| {
        let found = store.session_or_copy(archive.as_ref(), &caller, &id)?;
        let attachments = attachments::attachments(&found.files, &prompt)?;
        Ok(WholePrompt { uuid: prompt, attachments })
    });
    read.await.map(Json)
}
