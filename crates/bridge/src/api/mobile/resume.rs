//! Resuming a phone: its position, the messages that it missed, and pending requests.

use std::collections::VecDeque;

use serde_json::Value;
use tidings_api::{SessionView, Verdict};
use tidings_base::plural::counted;
use tidings_journal::broadcast::{SubscribeOptions, Subscription};
use tidings_journal::limits::PAGE_BYTES_MAX;
use tidings_journal::{Cursor, Event};
use tidings_protocol::mobile::{
    CommandMessage, MobileBody, MobileMessage, MobilePendingPermission, PendingPermissionsMessage,
    SessionResumeMessage, SessionSyncMessage,
};
use tidings_protocol::ui::UiMessage;
use tidings_sessions::Error;

use super::feed::PhoneFeed;
use super::outgoing::{PastMessage, Refusal};
use super::position::MessagePosition;
use super::sync::Sync;
use crate::api::Api;
use crate::api::recovery::Start;
use crate::limits::{MOBILE_QUEUE_KEPT, MOBILE_QUEUE_MAX};

/// A subscription that continues at the position of a phone.
struct Resumed {
    start: Start,
    events: Subscription,
    session: SessionView,
    head: Cursor,
    /// Events after the last message of the phone were removed.
    has_gap: bool,
}

/// Subscribes a phone that was disconnected: first the messages after its last one, as far as they are kept,
/// then those of new events.
pub(crate) async fn resume(
    api: &Api,
    session: &SessionView,
    project: &str,
    message: &SessionResumeMessage,
) -> Result<PhoneFeed, Refusal> {
    let Resumed { start, events, session, head, has_gap } = find(api, session, message).await?;
    let now_ms = api.sessions.config().clock.now().as_millisecond();
    let oldest_ms = now_ms.saturating_sub(i64::try_from(MOBILE_QUEUE_KEPT.as_millis()).unwrap_or(i64::MAX));
    let (mut total, mut old) = (start.rest.len(), 0);
    let mut translator = start.translator.clone();
    let count = |event: &Event| {
        let mut messages = Vec::new();
        translator.translate(event, &mut messages);
        total += messages.len();
        if event.at.as_millisecond() < oldest_ms {
            old = total;
        }
    };
    api.recovery.each_event(&session, start.cursor, head.seq, count).await.map_err(Error::from)?;
    let skip = old.max(total.saturating_sub(MOBILE_QUEUE_MAX));
    let sync = Sync {
        sessions: api.sessions.clone(),
        announcement: announcement(&session),
        dropped: dropped(skip, has_gap).map(|refusal| refusal.message(None)),
        pending: Some(pending(api, &session).await?),
        skip,
        remaining: total - skip,
        part_len: 1,
        parts: 0,
        before: start.rest.first().map_or(MessagePosition::after(start.cursor), |(position, _)| {
            MessagePosition {
                // These are the remaining messages of an event; the phone has the message before them.
                number: position.number.saturating_sub(1),
                ..*position
            }
        }),
    };
    Ok(PhoneFeed::new(project, events, start, Some(Box::new(sync))))
}

/// Finds the position of a phone by the id of its last message, or by its time.
async fn find(api: &Api, session: &SessionView, message: &SessionResumeMessage) -> Result<Resumed, Refusal> {
    let position = message.last_message_id.parse::<MessagePosition>().ok();
    let watch = SubscribeOptions::after(position.map(|position| position.cursor));
    let (subscribed, events) = api.sessions.subscribe(&session.key, watch).await?;
    let (head, from) = (cursor(&subscribed.head)?, cursor(&subscribed.from)?);
    let (recovery, session) = (&api.recovery, subscribed.state);
    match (position, subscribed.verdict) {
        (Some(position), Verdict::Ok) => {
            // An earlier epoch may have the same events; the current one names them.
            let position = MessagePosition { cursor: from, ..position };
            let start = recovery.after_message(&session, position).await.map_err(Error::from)?;
            Ok(Resumed { start, events, session, head, has_gap: false })
        }
        (Some(_), Verdict::Gap) => {
            let start = recovery.after(&session, from).await.map_err(Error::from)?;
            Ok(Resumed { start, events, session, head, has_gap: true })
        }
        _ => {
            let last = (message.last_message_timestamp, message.last_message_id.as_str());
            let start = recovery.after_time(&session, head, last).await.map_err(Error::from)?;
            drop(events);
            let (subscribed, events) =
                api.sessions.subscribe(&session.key, SubscribeOptions::after(Some(start.cursor))).await?;
            let head = cursor(&subscribed.head)?;
            Ok(Resumed { start, events, session: subscribed.state, head, has_gap: false })
        }
    }
}

fn cursor(text: &str) -> Result<Cursor, Error> {
    Ok(text.parse()?)
}

fn announcement(session: &SessionView) -> SessionSyncMessage {
    let pending = session.pending_permissions + session.pending_questions;
    let mut pending_operations: Vec<String> = Vec::new();
    if session.queued > 0 {
        pending_operations.push(counted(session.queued, "waiting prompt"));
    }
    if pending > 0 {
        pending_operations.push(counted(pending, "waiting request"));
    }
    SessionSyncMessage {
        session_id: session.key.clone(),
        conversation_id: session.cli_session_ids.last().cloned().unwrap_or_default(),
        message_history: Vec::new(),
        current_turn_number: session.totals.turns,
        pending_operations,
        part: None,
        remaining: None,
    }
}

/// The error for messages that the phone does not get.
fn dropped(skip: usize, has_gap: bool) -> Option<Refusal> {
    let message = match (skip, has_gap) {
        (0, false) => return None,
        (_, true) => "Some messages are no longer stored".to_owned(),
        (1, false) => "1 message is no longer queued; request the history".to_owned(),
        (skip, false) => format!("{skip} messages are no longer queued; request the history"),
    };
    Some(Refusal::new("MESSAGES_DROPPED", message))
}

/// The pending requests of a session.
pub(super) async fn pending(api: &Api, session: &SessionView) -> Result<MobileMessage, Refusal> {
    let mut waiting = Vec::new();
    for permission in api.sessions.permissions(Some(&session.key)).await? {
        let Some(request) = permission.request else { continue };
        let tool_use_id = permission.tool_use_id;
        let asked = [
            permission.details.into(),
            UiMessage::PermissionRequired { tool_use_id, request, session_id: session.handle },
        ];
        waiting.push((permission.opened_at, asked));
    }
    for question in api.sessions.questions(Some(&session.key)).await? {
        let (tool_use_id, request) = (question.tool_use_id, question.request);
        let asked = [
            question.details.into(),
            UiMessage::UserInteractionRequired { tool_use_id, request, session_id: session.handle },
        ];
        waiting.push((question.opened_at, asked));
    }
    let mut mobile = tidings_agent::dialect::Mobile::default();
    mobile.tick(api.sessions.config().clock.now().as_millisecond());
    let mut permissions = Vec::new();
    for (opened, asked) in waiting {
        let mut messages = Vec::new();
        mobile.translate(&asked, &mut messages);
        let timestamp = opened.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
        for message in messages {
            if let (Some(id), MobileBody::PermissionRequest(request)) = (message.id, message.body) {
                permissions.push(MobilePendingPermission { id, timestamp, request });
            }
        }
    }
    permissions.sort_by_key(|permission| permission.timestamp);
    Ok(MobileMessage::new(PendingPermissionsMessage { permissions }))
}

/// The newest messages of a session since a time, for `get_messages`.
pub(super) async fn history(
    api: &Api,
    session: &SessionView,
    since_ms: i64,
    limit: usize,
) -> Result<Vec<PastMessage>, Error> {
    let head = cursor(&session.cursor)?;
    let start = api.recovery.after_time(session, head, (since_ms, "")).await?;
    let mut translator = start.translator;
    let mut past: VecDeque<(usize, PastMessage)> = VecDeque::new();
    let mut bytes = 0;
    let visit = |event: &Event| {
        let mut add = |direction: &'static str, message: &MobileMessage| {
            bytes += event.body.len();
            past.push_back((event.body.len(), past_message(event, direction, message)));
            while past.len() > limit || (bytes > PAGE_BYTES_MAX && past.len() > 1) {
                let Some((oldest, _)) = past.pop_front() else { break };
                bytes -= oldest;
            }
        };
        if event.kind.as_str() == "UserPrompt"
            && let Some(message) = event.message()
            && let UiMessage::UserPrompt(prompt) = &*message
        {
            let command = CommandMessage { command: prompt.text.clone(), is_shell_command: false };
            add("client", &MobileMessage::new(command));
        }
        let mut messages = Vec::new();
        translator.translate(event, &mut messages);
        for (_, message) in &messages {
            add("claude", message);
        }
    };
    api.recovery.each_event(session, start.cursor, head.seq, visit).await?;
    Ok(past.into_iter().map(|(_, past)| past).collect())
}

fn past_message(event: &Event, direction: &'static str, message: &MobileMessage) -> PastMessage {
    let message = serde_json::to_value(message).unwrap_or(Value::Null);
    PastMessage { timestamp: event.at.to_string(), direction, message }
}
