//! Pending permission requests and questions, and the answers to them.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use tidings_api::{
    AnswerResult, BatchAnswer, BatchAnswered, PermissionAnswer, PermissionList, QuestionAnswer, QuestionList,
};
use tidings_sessions::Caller;

use crate::api::Api;
use crate::api::visibility::{self, Visibility};
use crate::http::{Answer, Command, Path, Query};

#[derive(Debug, Deserialize)]
pub(crate) struct AsksQuery {
    session: Option<String>,
}

/// Lists pending permission requests.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/permissions", tag = "asks",
    params(("session" = Option<String>, Query, description = "Only those of one session, by key or number")),
    responses((status = 200, description = "The permissions, the oldest first", body = PermissionList)),
))]
pub(crate) async fn list_permissions(
    State(api): State<Api>,
    caller: Caller,
    Query(query): Query<AsksQuery>,
) -> Answer<PermissionList> {
    if let Some(session) = &query.session {
        visibility::check(&api.sessions, &caller, session).await?;
    }
    let mut items = Vec::new();
    let mut visibility = Visibility::new(caller);
    for item in api.sessions.permissions(query.session.as_deref()).await? {
        if visibility.sees_session(&api.sessions, &item.session).await {
            items.push(item);
        }
    }
    Ok(Json(PermissionList { items }))
}

/// Lists pending questions.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/questions", tag = "asks",
    params(("session" = Option<String>, Query, description = "Only those of one session, by key or number")),
    responses((status = 200, description = "The questions, the oldest first", body = QuestionList)),
))]
pub(crate) async fn list_questions(
    State(api): State<Api>,
    caller: Caller,
    Query(query): Query<AsksQuery>,
) -> Answer<QuestionList> {
    if let Some(session) = &query.session {
        visibility::check(&api.sessions, &caller, session).await?;
    }
    let mut items = Vec::new();
    let mut visibility = Visibility::new(caller);
    for item in api.sessions.questions(query.session.as_deref()).await? {
        if visibility.sees_session(&api.sessions, &item.session).await {
            items.push(item);
        }
    }
    Ok(Json(QuestionList { items }))
}

/// Answers a permission request. The first answer wins; later ones get a 409 that contains it.
#[cfg_attr(feature = "openapi", utoipa::path(
    post, path = "/v1/sessions/{id}/permissions/{tool_use_id}", tag = "asks",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("tool_use_id" = String, Path, description = "The id of the request"),
    ),
    request_body = PermissionAnswer,
    responses((status = 200, description = "The result", body = AnswerResult)),
))]
pub(crate) async fn answer_permission(
    State(api): State<Api>,
    caller: Caller,
    Path((id, tool_use_id)): Path<(String, String)>,
    Command(answer): Command<PermissionAnswer>,
) -> Answer<AnswerResult> {
    visibility::check(&api.sessions, &caller, &id).await?;
    api.sessions.answer_permission(&caller, &id, &tool_use_id, answer).await.map(Json)
}

/// Answers the permission requests of a batch.
#[cfg_attr(feature = "openapi", utoipa::path(
    post, path = "/v1/sessions/{id}/permission-batches/{batch_id}", tag = "asks",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("batch_id" = String, Path, description = "The batch"),
    ),
    request_body = BatchAnswer,
    responses((status = 200, description = "The result of each answer", body = BatchAnswered)),
))]
pub(crate) async fn answer_batch(
    State(api): State<Api>,
    caller: Caller,
    Path((id, batch_id)): Path<(String, String)>,
    Command(answer): Command<BatchAnswer>,
) -> Answer<BatchAnswered> {
    visibility::check(&api.sessions, &caller, &id).await?;
    api.sessions.answer_batch(&caller, &id, &batch_id, answer).await.map(Json)
}

/// Answers questions, or cancels them.
#[cfg_attr(feature = "openapi", utoipa::path(
    post, path = "/v1/sessions/{id}/questions/{tool_use_id}", tag = "asks",
    params(
        ("id" = String, Path, description = "The key or the number of the session"),
        ("tool_use_id" = String, Path, description = "The id of the request"),
    ),
    request_body = QuestionAnswer,
    responses((status = 200, description = "The result", body = AnswerResult)),
))]
pub(crate) async fn answer_question(
    State(api): State<Api>,
    caller: Caller,
    Path((id, tool_use_id)): Path<(String, String)>,
    Command(answer): Command<QuestionAnswer>,
) -> Answer<AnswerResult> {
    visibility::check(&api.sessions, &caller, &id).await?;
    api.sessions.answer_question(&caller, &id, &tool_use_id, answer).await.map(Json)
}
