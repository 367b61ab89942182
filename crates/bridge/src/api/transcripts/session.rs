//! `GET /v1/transcripts/{id}`, its events and its branches.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use serde::Deserialize;
use tidings_agent::fold::FoldOptions;
use tidings_agent::history::replay_session;
use tidings_api::{Code, Transcript, TranscriptBranch, TranscriptBranches, TranscriptEvents};
use tidings_journal::snapshot::{ConversationSnapshot, SnapshotBudget, SnapshotBuilder};
use tidings_protocol::ui::UiMessage;
use tidings_sessions::reading::changed_inputs::ChangedInputs;
use tidings_sessions::starting::import::listed;
use tidings_sessions::{Caller, Error};
use tidings_transcript::session::{Branch, LaneId, Session};

use super::list::view;
use super::store::FoundSession;
use crate::api::Api;
use crate::http::{Answer, Path, Query};
use crate::limits::{
    LIST_DEFAULT, PROMPT_SHOWN_CHARS, SNAPSHOT_EVENTS_MAX, TRANSCRIPT_PAGE_BYTES_MAX,
    TRANSCRIPT_RESULT_BYTES_MAX, TRANSCRIPT_WHOLE_PAGE_BYTES_MAX,
};

/// Gets one session on disk.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/transcripts/{id}", tag = "transcripts",
    params(("id" = String, Path, description = "The id of the session")),
    responses((status = 200, description = "The session", body = Transcript)),
))]
pub(crate) async fn get_transcript(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
) -> Answer<Transcript> {
    let archive = api.archive.clone();
    let read =
        api.transcripts.run(move |store| about(&store.session_or_copy(archive.as_ref(), &caller, &id)?));
    read.await.map(Json)
}

#[derive(Debug, Deserialize)]
pub(crate) struct TranscriptEventsQuery {
    limit: Option<usize>,
    before: Option<u64>,
    leaf: Option<String>,
    results: Option<Results>,
}

/// The length of tool inputs and results.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Results {
    Short,
    Whole,
}

/// Gets a session on disk as events: the newest ones, or those before a number.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/transcripts/{id}/events", tag = "transcripts",
    params(
        ("id" = String, Path, description = "The id of the session"),
        ("limit" = Option<u64>, Query, description = "How many, at most 2000"),
        ("before" = Option<u64>, Query, description = "Only events before this number"),
        ("leaf" = Option<String>, Query, description = "The last entry of the branch; default: the active branch"),
        ("results" = Option<String>, Query, description = "`short` cuts long tool inputs and results, `whole` does not; default: `short`"),
    ),
    responses((status = 200, description = "The events, the oldest first", body = TranscriptEvents)),
))]
pub(crate) async fn transcript_events(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<TranscriptEventsQuery>,
) -> Answer<TranscriptEvents> {
    let archive = api.archive.clone();
    let changed = ChangedInputs::read(&**api.sessions.broadcast().journal(), &id).await?;
    let events = api.transcripts.run(move |store| {
        let found = store.session_or_copy(archive.as_ref(), &caller, &id)?;
        let transcript = about(&found)?;
        let session = Session::open(&found.files)?;
        let (ConversationSnapshot { from, more, events }, times) = read(&session, &changed, &query)?;
        let events = events.iter().map(|(_, event)| serde_json::to_value(event)).collect::<Result<_, _>>();
        let events = events.map_err(|error| Error::new(Code::Internal, error.to_string(), ""))?;
        Ok(TranscriptEvents { transcript, from, more, times, events })
    });
    events.await.map(Json)
}

/// The reason to stop reading before the end of the session.
enum ReplayStop {
    /// The requested number was reached.
    Reached,
    Failed(Error),
}

impl From<tidings_transcript::Error> for ReplayStop {
    fn from(error: tidings_transcript::Error) -> Self {
        ReplayStop::Failed(error.into())
    }
}

/// The events, and their times.
fn read(
    session: &Session,
    changed: &ChangedInputs,
    query: &TranscriptEventsQuery,
) -> Result<(ConversationSnapshot, Vec<Option<String>>), Error> {
    let leaf = match &query.leaf {
        None => None,
        Some(uuid) => Some(session.by_uuid(LaneId::MAIN, uuid).ok_or_else(|| {
            let message = format!("The session has no entry `{uuid}`");
            Error::new(Code::NotFound, message, "list its branches")
        })?),
    };
    let (bytes_max, result_bytes_max) = match query.results.unwrap_or(Results::Short) {
        Results::Short => (TRANSCRIPT_PAGE_BYTES_MAX, TRANSCRIPT_RESULT_BYTES_MAX),
        Results::Whole => (TRANSCRIPT_WHOLE_PAGE_BYTES_MAX, usize::MAX),
    };
    let events_max = query.limit.unwrap_or(LIST_DEFAULT).clamp(1, SNAPSHOT_EVENTS_MAX);
    let mut compactor = SnapshotBuilder::new(SnapshotBudget { events_max, bytes_max, result_bytes_max });
    let mut times = Vec::new();
    let each = |events: &[UiMessage], at: Option<Timestamp>| {
        for event in changed.insert(events.to_vec(), 0) {
            let seq = times.len() as u64 + 1;
            if query.before.is_some_and(|before| seq >= before) {
                return Err(ReplayStop::Reached);
            }
            times.push(at);
            compactor.take(seq, event);
        }
        Ok(())
    };
    if let Err(ReplayStop::Failed(error)) = replay_session(session, leaf, 0, FoldOptions::default(), each) {
        return Err(error);
    }
    let snapshot = compactor.finish();
    let time = |(seq, _): &(u64, UiMessage)| {
        let index = usize::try_from(seq.checked_sub(1)?).ok()?;
        times.get(index).copied().flatten().map(|at| format!("{at:.3}"))
    };
    let times = snapshot.events.iter().map(time).collect();
    Ok((snapshot, times))
}

/// Lists the branches of a session on disk.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/transcripts/{id}/branches", tag = "transcripts",
    params(("id" = String, Path, description = "The id of the session")),
    responses((status = 200, description = "The branches", body = TranscriptBranches)),
))]
pub(crate) async fn transcript_branches(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
) -> Answer<TranscriptBranches> {
    let archive = api.archive.clone();
    let branches = api.transcripts.run(move |store| {
        let session = Session::open(&store.session_or_copy(archive.as_ref(), &caller, &id)?.files)?;
        let branches = session.branches(LaneId::MAIN);
        Ok(TranscriptBranches { items: branches.iter().filter_map(|it| branch(&session, it)).collect() })
    });
    branches.await.map(Json)
}

/// A branch as the API shows it. `None` if its last entry has no id, as in files of the oldest versions: it
/// could not be requested.
fn branch(session: &Session, branch: &Branch) -> Option<TranscriptBranch> {
    let uuid = |id| session.node(id).uuid.as_deref().map(str::to_owned);
    let own = session.own_path(branch);
    let prompt = own.iter().find(|id| session.node(**id).part.begins_turns());
    let words = prompt.and_then(|id| session.entry(*id).ok()).map(|entry| entry.as_ref().text());
    Some(TranscriptBranch {
        leaf: uuid(branch.leaf)?,
        fork: branch.fork.and_then(uuid),
        state: branch.state.as_str().to_owned(),
        entries: own.len() as u64,
        at: session.node(branch.leaf).at.map(|at| format!("{at:.3}")),
        prompt: words.map(|words| words.chars().take(PROMPT_SHOWN_CHARS).collect()),
    })
}

/// The folder of a session on disk or in the archive that the caller may see; empty if it is not known.
pub(in crate::api) async fn folder_of(api: &Api, caller: &Caller, id: &str) -> Result<String, Error> {
    let (archive, caller, id) = (api.archive.clone(), caller.clone(), id.to_owned());
    let found = api.transcripts.run(move |store| {
        let about = about(&store.session_or_copy(archive.as_ref(), &caller, &id)?)?;
        Ok(about.cwd.unwrap_or_default())
    });
    found.await
}

pub(super) fn about(found: &FoundSession) -> Result<Transcript, Error> {
    let about = listed(&found.files).map(view).ok_or_else(|| {
        Error::new(Code::NotFound, format!("The session `{}` is empty", found.files.id), "it may be new")
    })?;
    Ok(Transcript { archived: found.is_archived, ..about })
}
