//! The inbox.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use tidings_api::{
    AnswerResult, Code, InboxAct, InboxCounts, InboxKind, InboxPage, InboxRead, InboxSeen, InboxVisible,
};
use tidings_journal::limits::LIST_MAX;
use tidings_sessions::{Caller, Error};

use crate::api::{Api, visibility};
use crate::http::{Answer, Body, Query};
use crate::inbox::{InboxFilter, Item, sees};
use crate::limits::INBOX_PAGE_MAX;

#[derive(Debug, Deserialize)]
pub(crate) struct InboxQuery {
    state: Option<String>,
    kind: Option<String>,
    session: Option<String>,
    before: Option<u64>,
    limit: Option<usize>,
}

/// Items on a page, unless the caller wants another number.
const PAGE_ITEMS: usize = 50;

/// Lists what waits for a person, and what happened in all sessions.
#[cfg_attr(feature = "openapi", utoipa::path(
    get, path = "/v1/inbox", tag = "inbox",
    params(
        ("state" = Option<String>, Query, description = "`waiting`, `unread` (waiting included) or `all`"),
        ("kind" = Option<String>, Query, description = "Only these kinds, separated by commas"),
        ("session" = Option<String>, Query, description = "Only those of one session, by key or number"),
        ("before" = Option<u64>, Query, description = "Only items before this position"),
        ("limit" = Option<usize>, Query, description = "At most this many, up to 200"),
    ),
    responses((status = 200, description = "The items, the newest first", body = InboxPage)),
))]
pub(crate) async fn list_inbox(
    State(api): State<Api>,
    caller: Caller,
    Query(query): Query<InboxQuery>,
) -> Answer<InboxPage> {
    let session = match &query.session {
        Some(name) => Some(visibility::session(&api.sessions, &caller, name).await?.key),
        None => None,
    };
    let (waiting, unread) = match query.state.as_deref() {
        None | Some("all") => (false, false),
        Some("waiting") => (true, false),
        Some("unread") => (false, true),
        Some(state) => {
            let message = format!("There is no state `{state}`");
            return Err(Error::new(Code::Invalid, message, "use waiting, unread or all"));
        }
    };
    let words = query.kind.as_deref().into_iter().flat_map(|kinds| kinds.split(','));
    let kinds = words.filter(|word| !word.is_empty()).map(kind).collect::<Result<_, _>>()?;
    let max = query.limit.unwrap_or(PAGE_ITEMS).min(INBOX_PAGE_MAX);
    let filter = InboxFilter { waiting, unread, kinds, session, before: query.before, max };
    api.notifications.load().await?;
    let mut page = api.notifications.inbox().page(&caller, &filter).await?;
    for item in &mut page.items {
        if let Some(view) = api.notifications.view(&item.id) {
            *item = view;
        }
    }
    Ok(Json(page))
}

fn kind(word: &str) -> Result<InboxKind, Error> {
    InboxKind::ALL.into_iter().find(|kind| kind.as_str() == word).ok_or_else(|| {
        let words = InboxKind::ALL.map(InboxKind::as_str).join(", ");
        Error::new(Code::Invalid, format!("There is no kind `{word}`"), format!("use {words}"))
    })
}

/// Marks items as read. Pending requests keep waiting until they are answered.
#[cfg_attr(feature = "openapi", utoipa::path(
    post, path = "/v1/inbox/read", tag = "inbox", request_body = InboxRead,
    responses((status = 200, description = "The new counts", body = InboxCounts)),
))]
pub(crate) async fn read_inbox(
    State(api): State<Api>,
    caller: Caller,
    Body(read): Body<InboxRead>,
) -> Answer<InboxCounts> {
    check_count(read.ids.len())?;
    let inbox = api.notifications.inbox();
    inbox.load().await?;
    let session = match &read.session {
        Some(name) => Some(visibility::session(&api.sessions, &caller, name).await?.key),
        None => None,
    };
    let is_meant = |item: &Item| {
        let is_named = read.ids.contains(&item.id);
        let is_before = read.up_to.is_some_and(|up_to| item.position <= up_to)
            && session.as_deref().is_none_or(|session| item.session() == Some(session));
        (is_named || is_before) && sees(&caller, item)
    };
    inbox.change(|ledger, _| ledger.read(is_meant)).await;
    // Also if nothing has changed: a test with a clock of its own lets time pass, and then calls this.
    inbox.wake();
    Ok(Json(inbox.counts(&caller)))
}

/// Acknowledges that a visible tab shows items, which holds their notifications back for 45 seconds. Requests
/// count only with the scope `decide`.
#[cfg_attr(feature = "openapi", utoipa::path(
    post, path = "/v1/inbox/visible", tag = "inbox", request_body = InboxVisible,
    responses((status = 200, description = "The number of items that count", body = InboxSeen)),
))]
pub(crate) async fn visible_inbox(
    State(api): State<Api>,
    caller: Caller,
    Body(visible): Body<InboxVisible>,
) -> Answer<InboxSeen> {
    check_count(visible.ids.len() + visible.requests.len())?;
    let inbox = api.notifications.inbox();
    inbox.load().await?;
    let mut ids = visible.ids;
    ids.extend(visible.requests.iter().map(|it| Item::request_id(&it.session, &it.tool_use_id)));
    Ok(Json(InboxSeen { accepted: inbox.visible(&caller, &ids).await }))
}

/// Decides by the button of a message to this device. A token is good for one decision about one request.
#[cfg_attr(feature = "openapi", utoipa::path(
    post, path = "/v1/inbox/act", tag = "inbox", request_body = InboxAct,
    responses(
        (status = 200, description = "The result", body = AnswerResult),
        (status = 403, description = "The token belongs to another device, or is not valid"),
        (status = 410, description = "The token was used, or a newer notification replaced it"),
    ),
))]
pub(crate) async fn act_inbox(
    State(api): State<Api>,
    caller: Caller,
    Body(act): Body<InboxAct>,
) -> Answer<AnswerResult> {
    api.notifications.act(&caller, &act.token, act.decision).await.map(Json)
}

fn check_count(count: usize) -> Result<(), Error> {
    if count <= LIST_MAX {
        return Ok(());
    }
    Err(Error::new(Code::TooLarge, "Too many items at once", "send at most a thousand"))
}
