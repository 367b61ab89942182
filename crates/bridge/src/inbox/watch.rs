//! Items from the events of the journal and from its pending requests.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tidings_agent::UiMessage;
use tidings_agent::session::LOCAL_DIALOG;
use tidings_api::{Code, InboxKind, PendingPermission, PendingQuestion, ServerPhase, SessionView};
use tidings_journal::broadcast::{News, is_news};
use tidings_journal::limits::LIST_MAX;
use tidings_journal::{Cursor, Event, Key, Max};
use tidings_protocol::ui::{RateLimit, RequestOutcome as Pending, Resolution, SessionPhase, TurnResult};
use tidings_sessions::Error;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::Inbox;
use super::item::{Item, Millis, Subject};
use crate::limits::{INBOX_COMPARE_EVERY, NOTIFY_LINE_CHARS};

/// The interval at which the disk is checked.
const DISK_EVERY: Duration = Duration::from_secs(5);

/// The requests and limits of sessions, as the events that were read so far tell them.
#[derive(Debug, Default)]
struct Known {
    /// Requests that were made, by session and id. Their denial is a decision, and no news.
    asked: HashSet<(String, String)>,
    /// Sessions whose turn runs into a limit.
    limited: HashSet<String>,
}

impl Inbox {
    /// Follows the events of all sessions until the server stops.
    pub(crate) async fn watch(&self, stopping: CancellationToken) {
        let mut news = self.0.sessions.broadcast().publisher().news();
        let mut known = Known::default();
        if let Err(error) = self.load().await {
            tracing::warn!(%error, "failed to read the inbox");
        }
        self.catch_up(&mut known).await;
        let mut compare = tokio::time::interval(INBOX_COMPARE_EVERY);
        let mut disk = tokio::time::interval(DISK_EVERY);
        loop {
            tokio::select! {
                () = stopping.cancelled() => return,
                arrived = news.recv() => match arrived {
                    Ok(News::Event(key, event)) => {
                        self.take(&mut known, &key, &event).await;
                        self.save().await;
                    }
                    Ok(News::Deleted(key)) => {
                        self.change(|ledger, _| ledger.forget_session(key.as_str())).await;
                        self.state().seen.remove(key.as_str());
                        self.state().unsaved_seen.push(key.to_string());
                        self.save().await;
                    }
                    Err(RecvError::Lagged(_)) => self.catch_up(&mut known).await,
                    Err(RecvError::Closed) => return,
                },
                _ = compare.tick() => self.compare().await,
                _ = disk.tick() => self.check_disk().await,
            }
        }
    }

    /// Reads the events that were stored meanwhile, and compares the pending requests.
    async fn catch_up(&self, known: &mut Known) {
        let (mut after, journal) = (None, self.0.sessions.broadcast().journal());
        loop {
            let page = match journal.sessions(after, LIST_MAX).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::warn!(%error, "failed to read the sessions for the inbox");
                    break;
                }
            };
            let Some(last) = page.last() else { break };
            after = Some(last.handle);
            for session in page {
                let seen = self.state().seen.get(session.key.as_str()).copied();
                match seen {
                    // A session of an earlier version, or without news: its past is not new.
                    None => self.note_seen(session.key.as_str(), session.head.seq),
                    Some(seen) if seen < session.head.seq => {
                        let from = Cursor::new(session.head.epoch, seen.max(session.floor.saturating_sub(1)));
                        if let Err(error) = self.read_from(known, &session.key, from).await {
                            tracing::warn!(session = %session.key, %error, "failed to read events for the inbox");
                        }
                    }
                    Some(_) => {}
                }
            }
        }
        self.save().await;
        self.compare().await;
    }

    async fn read_from(&self, known: &mut Known, key: &Key, from: Cursor) -> Result<(), Error> {
        let (journal, mut after) = (self.0.sessions.broadcast().journal(), from);
        loop {
            let page = journal.read(key, Some(after), Max::default()).await?;
            let Some(last) = page.events.last().map(|event| event.cursor) else { return Ok(()) };
            for event in page.events.iter().filter(|event| is_news(event)) {
                self.take(known, key, event).await;
            }
            after = last;
            if last.seq >= page.head.seq {
                self.note_seen(key.as_str(), last.seq);
                return Ok(());
            }
        }
    }

    fn note_seen(&self, key: &str, seq: u64) {
        let mut state = self.state();
        state.seen.insert(key.to_owned(), seq);
        state.unsaved_seen.push(key.to_owned());
    }

    /// Takes an event into account.
    async fn take(&self, known: &mut Known, key: &Key, event: &Event) {
        let Some(message) = event.message() else { return };
        let (session, at) = (key.to_string(), event.at.as_millisecond());
        let id = format!("{session}.{}", event.cursor.seq);
        if !self.state().seen.contains_key(&session) {
            self.note_seen(&session, event.cursor.seq - 1);
        }
        match &*message {
            UiMessage::SessionStateChanged(changed) if changed.waits_for.is_some() => {
                let mut item =
                    Item::new(dialog_id(&session), InboxKind::Dialog, at, self.subject(&session).await);
                item.line.clone_from(&changed.waits_for);
                self.add(item);
                self.note_seen(key.as_str(), event.cursor.seq);
            }
            UiMessage::PermissionDetails(details) => {
                self.dialog_closed(&session);
                known.asked.insert((session, details.tool_use_id.clone()));
                self.add_pending(key, &details.tool_use_id).await;
            }
            UiMessage::QuestionDetails(details) => {
                self.dialog_closed(&session);
                known.asked.insert((session, details.tool_use_id.clone()));
                self.add_pending(key, &details.tool_use_id).await;
            }
            UiMessage::PermissionResolved(resolved) => {
                let was_asked = known.asked.remove(&(session.clone(), resolved.tool_use_id.clone()));
                let outcome = outcome_of(resolved.outcome, resolved.by.as_deref());
                let request = Item::request_id(&session, &resolved.tool_use_id);
                let now = self.now();
                let was_known = {
                    let ledger = &mut self.state().ledger;
                    ledger.settle(&request, outcome, now);
                    ledger.item(&request).is_some()
                };
                if resolved.outcome == Resolution::Denied && !was_asked && !was_known {
                    let mut item = Item::new(id, InboxKind::Denied, at, self.subject(&session).await);
                    item.tool_use_id = Some(resolved.tool_use_id.clone());
                    item.line =
                        resolved.reason.as_ref().or(resolved.rule.as_ref()).map(|line| one_line(line));
                    self.add(item);
                }
                self.note_seen(key.as_str(), event.cursor.seq);
            }
            UiMessage::InteractionResolved(resolved) => {
                known.asked.remove(&(session.clone(), resolved.tool_use_id.clone()));
                let request = Item::request_id(&session, &resolved.tool_use_id);
                let now = self.now();
                let outcome = outcome_of(resolved.outcome, resolved.by.as_deref());
                self.state().ledger.settle(&request, outcome, now);
                self.note_seen(key.as_str(), event.cursor.seq);
            }
            UiMessage::RateLimit(limit) => self.limit_reached(known, &session, limit, at).await,
            UiMessage::TurnResult(result) => {
                let was_limited = known.limited.remove(&session);
                self.turn_ended(&session, id, result, at, was_limited).await;
                self.note_seen(key.as_str(), event.cursor.seq);
            }
            UiMessage::SessionStateChanged(changed) if changed.state == SessionPhase::Ended => {
                self.dialog_closed(&session);
                self.agent_ended(&session, id, at).await;
                self.note_seen(key.as_str(), event.cursor.seq);
            }
            UiMessage::SessionStateChanged(_) => self.dialog_closed(&session),
            // A person who writes has seen what happened before.
            UiMessage::UserPrompt(prompt) if prompt.origin.is_none() => {
                known.limited.remove(&session);
                let is_old =
                    |item: &Item| item.session() == Some(session.as_str()) && !item.waiting && item.at <= at;
                self.state().ledger.read(is_old);
            }
            UiMessage::UserPrompt(_) => {}
            // An event whose facts say `inbox` has an arm here: a debug build does not run without it.
            other => debug_assert!(!other.facts().inbox, "the inbox ignores {}", event.kind),
        }
    }

    /// Notes that a session does not wait in a dialog of its own any more.
    fn dialog_closed(&self, session: &str) {
        let now = self.now();
        self.state().ledger.settle(&dialog_id(session), "closed", now);
    }

    async fn limit_reached(&self, known: &mut Known, session: &str, limit: &RateLimit, at: Millis) {
        if limit.status != "rejected" || limit.is_using_overage == Some(true) {
            return;
        }
        known.limited.insert(session.to_owned());
        let resets = limit.resets_at.unwrap_or_default();
        let id = format!("{session}.limit.{resets}");
        let mut item = Item::new(id, InboxKind::Limit, at, self.subject(session).await);
        item.resets_at = limit.resets_at.map(|seconds| seconds.saturating_mul(1000));
        item.line.clone_from(&limit.kind);
        self.add(item);
    }

    async fn turn_ended(
        &self,
        session: &str,
        id: String,
        result: &TurnResult,
        at: Millis,
        was_limited: bool,
    ) {
        if result.is_interrupted() || (result.is_error && was_limited) {
            return;
        }
        let view = self.0.sessions.find(session).await.ok();
        let kind = if result.is_error { InboxKind::Failed } else { InboxKind::Finished };
        let line = match &view {
            Some(view) if result.is_error => result.error.clone().or_else(|| view.error.clone()),
            Some(view) => view.last_line.clone(),
            None => None,
        };
        let mut item = Item::new(id, kind, at, view.as_ref().map(subject));
        item.line = line.map(|line| one_line(&line));
        // The newest end of a session replaces the ones before it.
        let is_older = |item: &Item| {
            item.session() == Some(session) && matches!(item.kind, InboxKind::Finished) && item.at < at
        };
        self.state().ledger.read(is_older);
        self.add(item);
    }

    async fn agent_ended(&self, session: &str, id: String, at: Millis) {
        let Ok(view) = self.0.sessions.find(session).await else { return };
        let kind = match view.state {
            ServerPhase::Interrupted => InboxKind::AgentGone,
            ServerPhase::Failed => InboxKind::Failed,
            _ => return,
        };
        let mut item = Item::new(id, kind, at, Some(subject(&view)));
        item.line = view.error.as_deref().map(one_line);
        self.add(item);
    }

    /// Adds the item of a request that still waits.
    async fn add_pending(&self, key: &Key, tool_use_id: &str) {
        let session = Some(key.as_str());
        let found = match self.0.sessions.permissions(session).await {
            Ok(permissions) => permissions.into_iter().find(|it| it.tool_use_id == tool_use_id),
            Err(error) => return log_unless_gone(&error),
        };
        if let Some(permission) = found {
            let item = of_permission(&permission, self.subject(key.as_str()).await);
            return self.add(item);
        }
        match self.0.sessions.questions(session).await {
            Ok(questions) => {
                if let Some(question) = questions.into_iter().find(|it| it.tool_use_id == tool_use_id) {
                    self.add(of_question(&question, self.subject(key.as_str()).await));
                }
            }
            Err(error) => log_unless_gone(&error),
        }
    }

    /// Compares the items that wait with the pending requests of the journal, which decide.
    async fn compare(&self) {
        let (permissions, questions) =
            match (self.0.sessions.permissions(None).await, self.0.sessions.questions(None).await) {
                (Ok(permissions), Ok(questions)) => (permissions, questions),
                (Err(error), _) | (_, Err(error)) => return log_unless_gone(&error),
            };
        let mut subjects: HashMap<String, Option<Subject>> = HashMap::new();
        let mut pending = HashSet::new();
        let mut missing = Vec::new();
        for (session, tool_use_id) in permissions
            .iter()
            .map(|it| (&it.session, &it.tool_use_id))
            .chain(questions.iter().map(|it| (&it.session, &it.tool_use_id)))
        {
            let id = Item::request_id(session, tool_use_id);
            if !self.with(|ledger| ledger.item(&id).is_some_and(|item| item.waiting)) {
                if !subjects.contains_key(session) {
                    subjects.insert(session.clone(), self.subject(session).await);
                }
                missing.push(id.clone());
            }
            pending.insert(id);
        }
        let of = |session: &String| subjects.get(session).cloned().flatten();
        for permission in &permissions {
            if missing.contains(&Item::request_id(&permission.session, &permission.tool_use_id)) {
                self.add(of_permission(permission, of(&permission.session)));
            }
        }
        for question in &questions {
            if missing.contains(&Item::request_id(&question.session, &question.tool_use_id)) {
                self.add(of_question(question, of(&question.session)));
            }
        }
        // The lists are bounded; if they are full, nothing can be said about the others.
        if pending.len() < LIST_MAX {
            let waiting: Vec<Item> = self.with(|ledger| {
                ledger
                    .newest_first()
                    .filter(|item| item.waiting && !pending.contains(&item.id))
                    .cloned()
                    .collect()
            });
            for item in waiting {
                self.settle_unless_pending(&item).await;
            }
        }
        self.save().await;
    }

    /// Settles an item whose request does not wait any more.
    async fn settle_unless_pending(&self, item: &Item) {
        if item.kind == InboxKind::Dialog {
            let session = item.session().unwrap_or_default();
            return match self.0.sessions.find(session).await {
                Ok(view) if view.waits_for.is_some() => {}
                _ => self.dialog_closed(session),
            };
        }
        let (Some(session), Some(id)) = (item.session(), &item.tool_use_id) else { return };
        let (Ok(key), Ok(ask)) = (Key::new(session), tidings_journal::AskId::new(id)) else { return };
        let journal = self.0.sessions.broadcast().journal();
        let outcome = match journal.open_ask(&key, &ask).await {
            Ok(Some(_)) | Err(_) if self.0.sessions.find(session).await.is_ok() => return,
            _ => journal.outcome(&key, &ask).await.ok().flatten(),
        };
        let outcome = match outcome {
            Some(Pending::Answered { .. }) => "answered",
            Some(Pending::TimedOut) => "timed_out",
            Some(Pending::Disconnected) => "disconnected",
            Some(Pending::Lost) => "lost",
            _ => "cancelled",
        };
        let now = self.now();
        self.state().ledger.settle(&item.id, outcome, now);
    }

    async fn check_disk(&self) {
        let is_full = self.0.sessions.broadcast().journal().is_full();
        let now = self.now();
        {
            let mut state = self.state();
            let known =
                state.ledger.newest_of(None, InboxKind::DiskFull).filter(|item| item.outcome.is_none());
            let known = known.map(|item| item.id.clone());
            match (is_full, known) {
                (true, None) => {
                    state.ledger.add(Item::new(format!("disk.{now}"), InboxKind::DiskFull, now, None), now);
                }
                (false, Some(id)) => state.ledger.end(&id, "resolved", now),
                _ => return,
            }
        }
        self.save().await;
    }

    fn add(&self, item: Item) {
        let now = self.now();
        self.state().ledger.add(item, now);
    }

    async fn subject(&self, session: &str) -> Option<Subject> {
        self.0.sessions.find(session).await.ok().as_ref().map(subject)
    }
}

/// The outcome of a request, in one word. The event of a withdrawn request names an author only if a person
/// caused it: by an interrupt, or by an answer in the agent's own dialog.
fn outcome_of(outcome: Resolution, by: Option<&str>) -> &'static str {
    match (outcome, by) {
        (Resolution::Cancelled, Some(LOCAL_DIALOG)) => "answered",
        (Resolution::Cancelled, Some(_)) => "interrupted",
        (other, _) => tidings_sessions::outcome_name(other),
    }
}

/// The id of the item of a dialog where a session runs. It shows one at a time.
fn dialog_id(session: &str) -> String {
    format!("{session}.dialog")
}

fn subject(view: &SessionView) -> Subject {
    let title = view.name().map(str::to_owned);
    let subject = Subject::new(view.key.clone(), view.handle, view.cwd.clone(), title);
    Subject { node: view.node.clone(), ..subject }
}

fn of_permission(permission: &PendingPermission, subject: Option<Subject>) -> Item {
    let id = Item::request_id(&permission.session, &permission.tool_use_id);
    let mut item = Item::new(id, InboxKind::Permission, time(&permission.opened_at), subject);
    item.tool = Some(permission.details.tool_name.clone());
    item.risk = Some(permission.details.risk);
    item.tool_use_id = Some(permission.tool_use_id.clone());
    item.digest.clone_from(&permission.details.digest);
    item.line = permission.request.as_ref().map(|request| one_line(&request.target));
    item
}

fn of_question(question: &PendingQuestion, subject: Option<Subject>) -> Item {
    let kind = if question.plan.is_some() { InboxKind::Plan } else { InboxKind::Question };
    let id = Item::request_id(&question.session, &question.tool_use_id);
    let mut item = Item::new(id, kind, time(&question.opened_at), subject);
    item.tool_use_id = Some(question.tool_use_id.clone());
    item.line = question.request.questions.first().map(|first| one_line(&first.text));
    item
}

fn time(text: &str) -> Millis {
    text.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_millisecond)
}

/// The first line of a text, short enough for a list.
fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(NOTIFY_LINE_CHARS).collect()
}

fn log_unless_gone(error: &Error) {
    if error.code() != Code::NotFound {
        tracing::warn!(%error, "failed to read the pending requests for the inbox");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p40_a_request_that_a_person_interrupted_was_not_withdrawn_by_the_agent() {
        assert_eq!(outcome_of(Resolution::Cancelled, Some("phone")), "interrupted");
        assert_eq!(outcome_of(Resolution::Cancelled, Some(LOCAL_DIALOG)), "answered");
        assert_eq!(outcome_of(Resolution::Cancelled, None), "cancelled");
        assert_eq!(outcome_of(Resolution::Denied, Some("phone")), "denied");
    }
}
