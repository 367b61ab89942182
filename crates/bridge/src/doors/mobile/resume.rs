//! A phone that comes back: what it missed, and what waits for it.

use std::sync::Arc;

use serde_json::Value;
use tidings_protocol::api::SessionView;
use tidings_protocol::mobile::{
    MessageSummary, MobileBody, MobileMessage, PendingPermission, PendingPermissionsMessage,
    SessionSyncMessage,
};
use tidings_protocol::ui::UiMessage;

use super::feed::{Translator, ui};
use super::outgoing::{Past, Refusal};
use super::place::Place;
use crate::doors::Doors;
use crate::error::Error;
use crate::journal::{Event, Key, Max};
use crate::limits::{MOBILE_QUEUE_KEPT, MOBILE_QUEUE_MAX, MOBILE_SUMMARY_CHARS, PAGE_EVENTS_MAX};
use crate::words::counted;

/// What a phone missed.
pub(super) struct Missed {
    pub(super) sync: SessionSyncMessage,
    pub(super) messages: Vec<MobileMessage>,
    /// How many are not kept any more.
    pub(super) dropped: usize,
    /// As of which event.
    pub(super) translator: Translator,
}

/// Since when a phone was away.
#[derive(Debug, Clone, Copy)]
pub(super) enum Since {
    /// After a message of ours.
    Place(Place),
    /// After a time, in milliseconds: the last message had a name of somebody else's.
    Time(i64),
}

/// Everything up to `head` that a phone has not seen, as far as it is kept.
pub(super) async fn missed(
    doors: &Doors,
    session: &SessionView,
    since: Since,
    head: u64,
) -> Result<Missed, Error> {
    let now_ms = doors.sessions.config().clock.now().as_millisecond();
    let oldest = now_ms.saturating_sub(i64::try_from(MOBILE_QUEUE_KEPT.as_millis()).unwrap_or(i64::MAX));
    let events = events(doors, &Key::new(&session.key)?, since, oldest, head).await?;
    let mut translator = Translator::of(session);
    let mut messages = Vec::new();
    let mut rest = events.as_slice();
    if let Since::Place(place) = since {
        // The event of the last message may have made more of them. It is looked at by itself: joined with what comes after
        // it, it would be a message that the phone does not know yet, and that has what the phone has.
        let seen = rest.partition_point(|event| event.cursor.seq <= place.cursor.seq);
        translator.translate(&rest[..seen], &mut messages);
        messages.drain(..messages.len().min(place.number.saturating_add(1)));
        rest = &rest[seen..];
    }
    translator.translate(rest, &mut messages);
    let dropped = messages.len().saturating_sub(MOBILE_QUEUE_MAX);
    messages.drain(..dropped);
    let conversation_id = session.cli_session_ids.last().cloned().unwrap_or_default();
    let pending = session.pending_permissions + session.pending_questions;
    let mut pending_operations: Vec<String> = Vec::new();
    if session.queued > 0 {
        pending_operations.push(counted(session.queued, "waiting prompt"));
    }
    if pending > 0 {
        pending_operations.push(counted(pending, "waiting request"));
    }
    let sync = SessionSyncMessage {
        session_id: session.key.clone(),
        conversation_id,
        message_history: messages.iter().map(summary).collect(),
        current_turn_number: session.totals.turns,
        pending_operations,
    };
    Ok(Missed { sync, messages, dropped, translator })
}

/// The events since then, oldest first.
async fn events(
    doors: &Doors,
    key: &Key,
    since: Since,
    oldest_ms: i64,
    head: u64,
) -> Result<Vec<Arc<Event>>, Error> {
    let journal = doors.sessions.hub().journal();
    let is_new = |event: &Event| {
        let at = event.at.as_millisecond();
        let after = match since {
            // The event itself may have made more messages than the phone got.
            Since::Place(place) => event.cursor.seq >= place.cursor.seq,
            Since::Time(time) => at >= time,
        };
        after && at >= oldest_ms
    };
    let mut pages: Vec<Vec<Arc<Event>>> = Vec::new();
    let mut before = head.saturating_add(1);
    let mut count = 0;
    // Most messages come of deltas, several of which make one message once they are joined.
    while before > 1 && count < PAGE_EVENTS_MAX {
        let page = journal.history(key, Some(before), Max::default()).await?;
        let Some(first) = page.events.first() else { break };
        before = first.cursor.seq;
        let all = page.events.len();
        let new: Vec<_> = page.events.into_iter().filter(|event| is_new(event)).collect();
        let is_last = new.len() < all;
        count += new.len();
        pages.push(new);
        if is_last {
            break;
        }
    }
    Ok(pages.into_iter().rev().flatten().collect())
}

/// Everything that waits for an answer in a session.
pub(super) async fn pending(doors: &Doors, session: &SessionView) -> Result<MobileMessage, Refusal> {
    let mut waiting = Vec::new();
    for permission in doors.sessions.permissions(Some(&session.key)).await? {
        let Some(request) = permission.request else { continue };
        let tool_use_id = permission.tool_use_id;
        let asked = [
            permission.details.into(),
            UiMessage::PermissionRequired { tool_use_id, request, session_id: session.handle },
        ];
        waiting.push((permission.opened_at, asked));
    }
    for question in doors.sessions.questions(Some(&session.key)).await? {
        let (tool_use_id, request) = (question.tool_use_id, question.request);
        let asked = [
            question.details.into(),
            UiMessage::UserInteractionRequired { tool_use_id, request, session_id: session.handle },
        ];
        waiting.push((question.opened_at, asked));
    }
    let mut mobile = tidings_agent::dialect::Mobile::default();
    mobile.tick(doors.sessions.config().clock.now().as_millisecond());
    let mut permissions = Vec::new();
    for (opened, asked) in waiting {
        let mut said = Vec::new();
        mobile.translate(&asked, &mut said);
        let timestamp = opened.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
        for message in said {
            if let (Some(id), MobileBody::PermissionRequest(request)) = (message.id, message.body) {
                permissions.push(PendingPermission { id, timestamp, request });
            }
        }
    }
    permissions.sort_by_key(|permission| permission.timestamp);
    Ok(MobileMessage::new(PendingPermissionsMessage { permissions }))
}

/// What was said in a session, for a phone that asks for it.
pub(super) async fn past(
    doors: &Doors,
    session: &SessionView,
    since_ms: i64,
    limit: usize,
) -> Result<Vec<Past>, Error> {
    let key = Key::new(&session.key)?;
    let events = events(doors, &key, Since::Time(since_ms), i64::MIN, session.head).await?;
    let mut translator = Translator::of(session);
    let mut past = Vec::new();
    for event in &events {
        if let Some(UiMessage::UserPrompt(prompt)) = ui(event) {
            let message = MobileBody::from(tidings_protocol::mobile::CommandMessage {
                command: prompt.text,
                is_shell_command: false,
            });
            let message = MobileMessage::new(message);
            past.push(of_past(event, "client", &message));
        }
        let mut said = Vec::new();
        translator.translate(std::slice::from_ref(event), &mut said);
        past.extend(said.iter().map(|message| of_past(event, "claude", message)));
    }
    past.drain(..past.len().saturating_sub(limit));
    Ok(past)
}

fn of_past(event: &Event, direction: &'static str, message: &MobileMessage) -> Past {
    let message = serde_json::to_value(message).unwrap_or(Value::Null);
    Past { timestamp: event.at.to_string(), direction, message }
}

fn summary(message: &MobileMessage) -> MessageSummary {
    let text = match &message.body {
        MobileBody::ClaudeResponse(response) => response.content.clone(),
        MobileBody::PermissionRequest(request) => format!("{}: {}", request.tool, request.action),
        MobileBody::PermissionResponse(response) => {
            (if response.approved { "approved" } else { "not approved" }).to_owned()
        }
        MobileBody::ProgressUpdate(progress) => progress.current_step.clone().unwrap_or_default(),
        MobileBody::SubAgentProgress(progress) => progress.current_task.clone(),
        MobileBody::Error(error) => error.message.clone(),
        MobileBody::SessionStatus(status) => status.error.clone().unwrap_or_default(),
        _ => String::new(),
    };
    let line = text.lines().next().unwrap_or_default();
    MessageSummary {
        id: message.id.clone().unwrap_or_default(),
        timestamp: message.timestamp.unwrap_or_default(),
        kind: message.kind().to_owned(),
        summary: line.chars().take(MOBILE_SUMMARY_CHARS).collect(),
    }
}
