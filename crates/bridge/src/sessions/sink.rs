//! What the agent says goes into the journal, and what waits for a person becomes a row there.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tidings_agent::pending::{Outcome, Who};
use tidings_agent::sink::SendError;
use tidings_agent::{EventSink, UiMessage};
use tidings_protocol::api::{Notice, PendingPermission, PendingQuestion, QueueState, ServerPhase};
use tidings_protocol::ui::{
    AskUserQuestionsRequest, InteractionResolved, PermissionDetails, PermissionRequest, PermissionResolved,
    QuestionDetails, Resolution, SessionPhase, SessionStateChanged, TurnResult,
};

use super::entry::{Change, Entry};
use super::marks::Marks;
use super::settings::Settings;
use crate::error::Error;
use crate::journal::{
    Ask, AskId, AuditDraft, Draft, ErrorKind, JournalError, NewAsk, Settle, Settlement, Stored,
};
use crate::limits::{BLOB_BYTES_MAX, LAST_LINE_CHARS, RETRY_WHEN_FULL};

/// Stores the events of one session. The agent waits until they are stored, so nothing piles up.
#[derive(Debug, Clone)]
pub(super) struct JournalSink(pub(super) Arc<Entry>);

/// What an ask's row holds: all that a person needs to judge it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(super) enum AskBody {
    Permission { request: Option<PermissionRequest>, details: PermissionDetails },
    Question { request: AskUserQuestionsRequest, details: QuestionDetails, plan: Option<String> },
}

impl EventSink for JournalSink {
    fn send(&self, event: UiMessage) -> Result<(), SendError> {
        // Storing takes time, so there is never room at once.
        Err(SendError::Full(Box::new(event)))
    }

    fn send_async(&self, event: UiMessage) -> BoxFuture<'_, Result<(), SendError>> {
        self.send_all(vec![event], None)
    }

    fn send_all(&self, events: Vec<UiMessage>, end: Option<u64>) -> BoxFuture<'_, Result<(), SendError>> {
        Box::pin(async move {
            if self.0.memory().is_detached {
                let event = UiMessage::System { message: String::new(), session_id: Some(self.0.handle) };
                return Err(SendError::Closed(Box::new(events.into_iter().next().unwrap_or(event))));
            }
            let Err(error) = self.store(&events, end).await else { return Ok(()) };
            tracing::error!(session = %self.0.key, %error, "events could not be stored; the session ends");
            let event = events.into_iter().next().unwrap_or_else(|| UiMessage::System {
                message: error.to_string(),
                session_id: Some(self.0.handle),
            });
            Err(SendError::Closed(Box::new(event)))
        })
    }

    fn clone_box(&self) -> Box<dyn EventSink> {
        Box::new(self.clone())
    }
}

impl JournalSink {
    async fn store(&self, events: &[UiMessage], end: Option<u64>) -> Result<(), Error> {
        let entry = &*self.0;
        #[cfg(unix)]
        if entry.was_answered(events).await? {
            return Ok(());
        }
        let mut marks = Marks::of(events, entry.place(end));
        let mut plain = Vec::new();
        for (place, event) in events.iter().enumerate() {
            let draft = marks.mark(entry.draft(event), place);
            match event {
                UiMessage::PermissionDetails(_) | UiMessage::QuestionDetails(_) => {
                    self.append(&mut plain).await?;
                    self.open(event, draft, &events[place..], &events[..place]).await?;
                }
                UiMessage::PermissionResolved(_) | UiMessage::InteractionResolved(_) => {
                    self.append(&mut plain).await?;
                    self.settle(event, draft).await?;
                }
                _ if changes_the_row(event) => {
                    self.append(&mut plain).await?;
                    self.change(event, draft).await?;
                }
                _ => {
                    self.overhear(event);
                    plain.push(draft);
                }
            }
        }
        self.append(&mut plain).await
    }

    async fn append(&self, drafts: &mut Vec<Draft>) -> Result<(), Error> {
        if drafts.is_empty() {
            return Ok(());
        }
        let (entry, drafts) = (&*self.0, std::mem::take(drafts));
        until_there_is_room(|| entry.journal().append(&entry.key, entry.fence, drafts.clone())).await?;
        Ok(())
    }

    /// The row of the session changes with the event.
    async fn change(&self, event: &UiMessage, draft: Draft) -> Result<(), Error> {
        let entry = &*self.0;
        let (closing, is_turn_open) = {
            let mut memory = entry.memory();
            match event {
                UiMessage::TurnStarted(_) => memory.is_turn_open = true,
                UiMessage::Complete { .. } => memory.is_turn_open = false,
                _ => {}
            }
            (memory.closing, memory.is_turn_open)
        };
        let said = matches!(event, UiMessage::Complete { .. } | UiMessage::TurnResult(_))
            .then(|| last_line(&entry.memory().said))
            .flatten();
        let stored = entry
            .change(|settings, row| {
                let mut change = Change { event: Some(draft), ..Change::default() };
                take_in(event, settings, &mut change, closing, is_turn_open);
                if let Some(line) = said {
                    settings.last_line = Some(line);
                }
                // The CLI tells its id with every turn.
                change.cli_session = change.cli_session.filter(|id| row.cli_sessions.last() != Some(id));
                Ok(change)
            })
            .await?;
        self.after(event, stored.1);
        Ok(())
    }

    /// What follows from an event that is stored.
    fn after(&self, event: &UiMessage, stored: Option<Stored>) {
        let entry = &*self.0;
        match event {
            UiMessage::CommandComplete { command, .. } => {
                let mut memory = entry.memory();
                let found = memory.commands.iter().position(|(name, _)| name == command);
                if let (Some(found), Some(stored)) = (found, stored) {
                    // Whoever waited may have left.
                    let _ = memory.commands.remove(found).1.send(stored.cursor);
                }
            }
            UiMessage::TurnResult(result) => {
                let session = entry.key.to_string();
                let last_line = entry.memory().settings.last_line.clone();
                entry.tell(Notice::TurnEnded { session, is_error: result.is_error, last_line });
            }
            UiMessage::SessionStateChanged(changed) if changed.state == SessionPhase::Ended => {
                let mut memory = entry.memory();
                memory.is_turn_open = false;
                memory.closing = None;
                memory.agent = None;
                #[cfg(unix)]
                if let Some(host) = memory.host.take() {
                    host.clear();
                }
                memory.permissions.clear();
                memory.questions.clear();
                memory.commands.clear();
            }
            UiMessage::UserPrompt(_) => entry.memory().said.clear(),
            _ => {}
        }
        entry.wake.notify_one();
    }

    /// Keeps what the list of sessions shows: the end of what is said, and the tokens. It is stored with what comes next.
    fn overhear(&self, event: &UiMessage) {
        match event {
            UiMessage::TextChunk { text, .. } => {
                let mut memory = self.0.memory();
                let said = &mut memory.said;
                said.push_str(text);
                if said.len() > 8 * LAST_LINE_CHARS {
                    let mut from = said.len() - 4 * LAST_LINE_CHARS;
                    while !said.is_char_boundary(from) {
                        from += 1;
                    }
                    drop(said.drain(..from));
                }
            }
            UiMessage::TextEnded(_) => self.0.memory().said.push('\n'),
            UiMessage::TokenUpdate { input_tokens, output_tokens, .. } => {
                let mut memory = self.0.memory();
                memory.settings.totals.input_tokens = *input_tokens;
                memory.settings.totals.output_tokens = *output_tokens;
            }
            _ => {}
        }
    }

    /// Something waits for a person. What is shown with it stands in the same step: its words after it, its plan before.
    async fn open(
        &self,
        event: &UiMessage,
        draft: Draft,
        rest: &[UiMessage],
        before: &[UiMessage],
    ) -> Result<(), Error> {
        let entry = &*self.0;
        let Some((id, body)) = ask_of(event, rest, before) else {
            return self.append(&mut vec![draft]).await;
        };
        let id = AskId::new(&id)?;
        #[cfg(unix)]
        if entry.is_asked_again(&id).await? {
            return Ok(());
        }
        let (kind, digest, deadline_ms) = match &body {
            AskBody::Permission { details, .. } => {
                ("permission", details.digest.clone(), details.deadline_ms)
            }
            AskBody::Question { details, .. } => ("question", None, details.deadline_ms),
        };
        let ask = NewAsk {
            id: id.clone(),
            kind: kind.to_owned(),
            digest,
            body: written(&body),
            deadline: deadline_ms.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok()),
            event: draft.clone(),
        };
        let opened = ask.clone();
        let stored =
            until_there_is_room(|| entry.journal().ask(&entry.key, entry.fence, ask.clone())).await?;
        let kept = opened.opened(&entry.key, stored.cursor);
        let notice = {
            let mut memory = entry.memory();
            match &body {
                AskBody::Permission { .. } => memory.permissions.insert(id.to_string()),
                AskBody::Question { .. } => memory.questions.insert(id.to_string()),
            };
            shown(&kept, entry.handle)
        };
        match notice {
            Some(Shown::Permission(permission)) => entry.tell(Notice::Permission { permission }),
            Some(Shown::Question(question)) => entry.tell(Notice::Question { question }),
            None => {}
        }
        Ok(())
    }

    /// Something does not wait any more. If a person answered, that is stored already.
    async fn settle(&self, event: &UiMessage, draft: Draft) -> Result<(), Error> {
        let entry = &*self.0;
        let Some((id, outcome)) = resolved(event) else { return Ok(()) };
        let audit = audit(entry, &id, event, None);
        let settle = Settle { outcome, event: draft.clone(), audit: Some(audit.clone()) };
        let ask = AskId::new(&id)?;
        let settled = until_there_is_room(|| entry.journal().settle(&entry.key, &ask, settle.clone())).await;
        match settled {
            Ok(Settlement::Won(_)) => entry.settled(&id, word(resolution(event))),
            Ok(Settlement::Lost { .. }) => entry.forget(&id),
            // A rule decided before anybody was asked.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.append(&mut vec![draft]).await?;
                until_there_is_room(|| entry.journal().audit(audit.clone())).await?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

impl Entry {
    /// An ask is settled: those who watch are told.
    pub(super) fn settled(&self, id: &str, outcome: &str) {
        self.forget(id);
        let (session, tool_use_id) = (self.key.to_string(), id.to_owned());
        self.tell(Notice::Settled { session, tool_use_id, outcome: outcome.to_owned() });
    }

    pub(super) fn forget(&self, id: &str) {
        let mut memory = self.memory();
        memory.permissions.remove(id);
        memory.questions.remove(id);
    }
}

/// A disk that is full may have room again; until then the agent waits.
async fn until_there_is_room<'a, T>(
    mut call: impl FnMut() -> crate::journal::Call<'a, T>,
) -> Result<T, JournalError> {
    loop {
        match call().await {
            Err(error) if error.kind() == ErrorKind::Full => {
                tracing::warn!(%error, "waiting for room on the disk");
                tokio::time::sleep(RETRY_WHEN_FULL).await;
            }
            other => return other,
        }
    }
}

pub(super) fn changes_the_row(event: &UiMessage) -> bool {
    matches!(
        event,
        UiMessage::SessionStarted(_)
            | UiMessage::SessionTitle(_)
            | UiMessage::SessionStateChanged(_)
            | UiMessage::SettingsChanged(_)
            | UiMessage::UserPrompt(_)
            | UiMessage::PromptDropped(_)
            | UiMessage::TurnStarted(_)
            | UiMessage::TurnResult(_)
            | UiMessage::Complete { .. }
            | UiMessage::CommandComplete { .. }
    )
}

/// What an event changes.
fn take_in(
    event: &UiMessage,
    settings: &mut Settings,
    change: &mut Change,
    closing: Option<ServerPhase>,
    is_turn_open: bool,
) {
    match event {
        UiMessage::SessionStarted(started) => {
            change.cli_session = Some(started.cli_session_id.clone());
            keep(&mut settings.launch.model, started.model.as_ref());
            keep(&mut settings.launch.permission_mode, started.permission_mode.as_ref());
            settings.launch.resume = None;
            settings.launch.fork = false;
        }
        UiMessage::SessionTitle(title) => change.title = Some(title.title.clone()),
        UiMessage::SettingsChanged(changed) => {
            keep(&mut settings.launch.model, changed.model.as_ref());
            keep(&mut settings.launch.permission_mode, changed.permission_mode.as_ref());
        }
        UiMessage::PromptDropped(dropped) => settings.queue.retain(|queued| queued.id != dropped.uuid),
        UiMessage::TurnStarted(started) => {
            settings.queue.retain(|queued| !is_answered(queued.turn_id, queued.state, &started.answers));
        }
        UiMessage::TurnResult(result) => count(result, settings),
        UiMessage::Complete { .. } => settings.totals.turns += 1,
        UiMessage::SessionStateChanged(changed) => {
            change.phase = Some(enter(changed, settings, closing, is_turn_open));
        }
        _ => {}
    }
}

fn enter(
    changed: &SessionStateChanged,
    settings: &mut Settings,
    closing: Option<ServerPhase>,
    is_turn_open: bool,
) -> ServerPhase {
    match changed.state {
        SessionPhase::Idle => {
            // What was said into a turn has no turn of its own.
            settings.queue.retain(|queued| queued.state != QueueState::Handed);
            ServerPhase::Idle
        }
        SessionPhase::WaitingForPerson => ServerPhase::NeedsYou,
        SessionPhase::Ended => {
            let was_busy = is_turn_open || settings.has_handed();
            settings.doubt_handed();
            settings.cost_before = settings.totals.cost_usd;
            settings.error.clone_from(&changed.error);
            match closing {
                Some(phase) => phase,
                None if was_busy => ServerPhase::Interrupted,
                None if changed.error.is_some() => ServerPhase::Failed,
                None => ServerPhase::Stopped,
            }
        }
        _ => ServerPhase::Running,
    }
}

fn is_answered(
    turn: tidings_protocol::ui::TurnId,
    state: QueueState,
    answers: &[tidings_protocol::ui::TurnId],
) -> bool {
    state != QueueState::Waiting && answers.contains(&turn)
}

fn count(result: &TurnResult, settings: &mut Settings) {
    if let Some(cost) = result.cost_usd {
        settings.totals.cost_usd = settings.cost_before + cost;
    }
    settings.turns_ms = settings.turns_ms.saturating_add(result.duration_ms.unwrap_or_default());
    settings.error = result.error.clone().filter(|_| result.is_error);
    settings.queue.retain(|queued| !is_answered(queued.turn_id, queued.state, &result.answers));
}

/// What is not said stays.
fn keep(place: &mut Option<String>, said: Option<&String>) {
    if let Some(said) = said {
        *place = Some(said.clone());
    }
}

fn ask_of(event: &UiMessage, rest: &[UiMessage], before: &[UiMessage]) -> Option<(String, AskBody)> {
    match event {
        UiMessage::PermissionDetails(details) => {
            let request = rest.iter().find_map(|event| match event {
                UiMessage::PermissionRequired { tool_use_id, request, .. } => {
                    (*tool_use_id == details.tool_use_id).then(|| request.clone())
                }
                _ => None,
            });
            let request = request.or_else(|| of_batch(details, rest, before));
            let body = AskBody::Permission { request, details: details.clone() };
            Some((details.tool_use_id.clone(), body))
        }
        UiMessage::QuestionDetails(details) => {
            let request = rest.iter().find_map(|event| match event {
                UiMessage::UserInteractionRequired { tool_use_id, request, .. } => {
                    (*tool_use_id == details.tool_use_id).then(|| request.clone())
                }
                _ => None,
            })?;
            let plan = before.iter().find_map(|event| match event {
                UiMessage::PlanProposed(plan) if plan.tool_use_id == details.tool_use_id => {
                    Some(plan.plan.clone())
                }
                _ => None,
            });
            let body = AskBody::Question { request, details: details.clone(), plan };
            Some((details.tool_use_id.clone(), body))
        }
        _ => None,
    }
}

/// The words of a batch come after its details, in the same order.
fn of_batch(
    details: &PermissionDetails,
    rest: &[UiMessage],
    before: &[UiMessage],
) -> Option<PermissionRequest> {
    let batch = details.batch_id.as_ref()?;
    let requests = rest.iter().find_map(|event| match event {
        UiMessage::BatchPermissionRequired { batch_id, requests, .. } if batch_id == batch => Some(requests),
        _ => None,
    })?;
    let is_of_it = |event: &&UiMessage| matches!(event, UiMessage::PermissionDetails(other) if other.batch_id.as_ref() == Some(batch));
    requests.get(before.iter().filter(is_of_it).count()).cloned()
}

/// The row has a bound; an input that is longer is in the event.
fn written(body: &AskBody) -> Arc<[u8]> {
    let bytes = serde_json::to_vec(body).unwrap_or_default();
    if bytes.len() <= BLOB_BYTES_MAX {
        return bytes.into();
    }
    let AskBody::Permission { request, details } = body else { return Arc::from([]) };
    let mut details = details.clone();
    details.input = serde_json::json!({ "too_long_to_list_bytes": bytes.len() });
    let short = AskBody::Permission { request: request.clone(), details };
    serde_json::to_vec(&short).unwrap_or_default().into()
}

/// An ask as it is listed.
pub(super) enum Shown {
    Permission(PendingPermission),
    Question(PendingQuestion),
}

pub(super) fn shown(ask: &Ask, handle: i64) -> Option<Shown> {
    let (session, tool_use_id) = (ask.session.to_string(), ask.id.to_string());
    let (cursor, opened_at) = (ask.opened.to_string(), ask.opened_at.to_string());
    Some(match serde_json::from_slice(&ask.body).ok()? {
        AskBody::Permission { request, details } => Shown::Permission(PendingPermission {
            session,
            handle,
            tool_use_id,
            cursor,
            opened_at,
            request,
            details,
        }),
        AskBody::Question { request, details, plan } => Shown::Question(PendingQuestion {
            session,
            handle,
            tool_use_id,
            cursor,
            opened_at,
            request,
            details,
            plan,
        }),
    })
}

fn resolution(event: &UiMessage) -> Resolution {
    match event {
        UiMessage::PermissionResolved(resolved) => resolved.outcome,
        UiMessage::InteractionResolved(resolved) => resolved.outcome,
        _ => Resolution::Lost,
    }
}

/// How an ask ended, as the journal keeps it.
fn resolved(event: &UiMessage) -> Option<(String, Outcome<String>)> {
    let (id, outcome, by, rule) = match event {
        UiMessage::PermissionResolved(PermissionResolved { tool_use_id, outcome, by, rule, .. }) => {
            (tool_use_id, *outcome, by, rule)
        }
        UiMessage::InteractionResolved(InteractionResolved { tool_use_id, outcome, by, reason, .. }) => {
            (tool_use_id, *outcome, by, reason)
        }
        _ => return None,
    };
    let outcome = match outcome {
        Resolution::TimedOut => Outcome::TimedOut,
        Resolution::Disconnected => Outcome::Disconnected,
        Resolution::Cancelled => Outcome::Cancelled,
        Resolution::Lost => Outcome::Lost,
        answered => Outcome::Answered {
            answer: word(answered).to_owned(),
            by: match (by.as_deref(), rule) {
                (Some("policy"), Some(rule)) => Who::Rule(rule.clone()),
                (Some("grant"), Some(id)) => Who::Grant(id.clone()),
                (by, _) => Who::Person(by.unwrap_or("somebody").to_owned()),
            },
        },
    };
    Some((id.clone(), outcome))
}

/// How an ask ended, in a word.
pub(super) fn word(resolution: Resolution) -> &'static str {
    match resolution {
        Resolution::Allowed => "allowed",
        Resolution::Denied => "denied",
        Resolution::Answered => "answered",
        Resolution::TimedOut => "timed_out",
        Resolution::Disconnected => "disconnected",
        Resolution::Cancelled => "cancelled",
        _ => "lost",
    }
}

/// The line in the audit log about the end of an ask.
pub(super) fn audit(entry: &Entry, id: &str, event: &UiMessage, device: Option<&str>) -> AuditDraft {
    let (by, rule) = match event {
        UiMessage::PermissionResolved(resolved) => (resolved.by.clone(), resolved.rule.clone()),
        UiMessage::InteractionResolved(resolved) => (resolved.by.clone(), None),
        _ => (None, None),
    };
    AuditDraft {
        at: entry.clock.now(),
        who: by.unwrap_or_else(|| "the agent".to_owned()),
        device: device.map(str::to_owned),
        session: Some(entry.key.to_string()),
        ask: Some(id.to_owned()),
        decision: word(resolution(event)).to_owned(),
        rule,
        digest: None,
        latency_ms: None,
    }
}

/// The last line of what was said, short enough for a list.
fn last_line(said: &str) -> Option<String> {
    let line = said.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(LAST_LINE_CHARS).collect())
}
