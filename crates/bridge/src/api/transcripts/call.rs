//! `GET /v1/transcripts/{id}/calls/{tool_use_id}`.

use axum::Json;
use axum::extract::State;
use tidings_agent::fold::FoldOptions;
use tidings_agent::history::Replay;
use tidings_api::{Code, WholeCall};
use tidings_journal::snapshot::belongs_to_call;
use tidings_sessions::reading::changed_inputs::ChangedInputs;
use tidings_sessions::reading::persisted_output;
use tidings_sessions::{Caller, Error};
use tidings_transcript::session::Session;

use crate::api::Api;
use crate::http::{Answer, Path};

/// Gets the whole input and output of one tool call, on any branch.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/transcripts/{id}/calls/{tool_use_id}", tag = "transcripts",
    params(
        ("id" = String, Path, description = "The id of the session"),
        ("tool_use_id" = String, Path, description = "The call"),
    ),
    responses((status = 200, description = "The call", body = WholeCall)),
))]
pub(crate) async fn transcript_call(
    State(api): State<Api>,
    caller: Caller,
    Path((id, tool_use_id)): Path<(String, String)>,
) -> Answer<WholeCall> {
    let archive = api.archive.clone();
    let changed = ChangedInputs::read(&**api.sessions.broadcast().journal(), &id).await?;
    let call = api.transcripts.run(move |store| {
        let files = store.session_or_copy(archive.as_ref(), &caller, &id)?.files;
        let mut call = call(&Session::open(&files)?, tool_use_id)?;
        call.events = changed.insert(call.events, 0);
        persisted_output::complete(&mut call.events, &[files]);
        Ok(call)
    });
    call.await.map(Json)
}

fn call(session: &Session, tool_use_id: String) -> Result<WholeCall, Error> {
    let uses = session.tools().iter().filter(|tool| *tool.id == *tool_use_id);
    // Copied files can contain a call several times: the last one with a result counts.
    let Some(tool) = uses.max_by_key(|tool| tool.result.is_some()) else {
        let message = format!("The session has no call `{tool_use_id}`");
        return Err(Error::new(Code::NotFound, message, "read its events again"));
    };
    let agent = session.lane(tool.lane).agent.as_ref();
    let agent = agent.and_then(|agent| agent.tool_use_id.as_deref().or(agent.id.as_deref()));
    let mut replay = Replay::new(0, FoldOptions::default());
    let mut events = Vec::new();
    for node in [tool.call, tool.result].into_iter().flatten() {
        replay.entry(&session.entry(node)?.as_ref(), agent, &mut events);
    }
    replay.finish(&mut events);
    events.retain(|event| belongs_to_call(event, &tool_use_id));
    Ok(WholeCall { tool_use_id, events })
}
