//! Stores the events of an agent in the journal, and its requests as asks.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use tidings_agent::fold::EXITED;
use tidings_agent::sink::SendError;
use tidings_agent::{EventSink, UiMessage};
use tidings_api::Notice;
use tidings_journal::{
    AskId, ErrorKind, EventDraft, JournalError, NewRequest, Novelty, Settle, Settlement, Stored,
};
use tidings_protocol::ui::SessionPhase;

use crate::Error;
use crate::limits::{LAST_LINE_CHARS, RETRY_WHEN_FULL};
use crate::live_session::{Change, LiveSession};
use crate::requests::asks::{
    AskBody, PendingRequest, ask_body_json, ask_of, audit, mark_interrupted, mark_lost, outcome_name,
    pending_request, resolution, resolved,
};
use crate::running::changes::{apply, reaches_limit};
use crate::running::event_ids::EventIds;
use crate::running::mode_guard::ReportedMode;

/// Stores the events of one session. The agent waits until they are stored, so nothing piles up.
#[derive(Debug, Clone)]
pub(crate) struct JournalSink(pub(crate) Arc<LiveSession>, pub(crate) EventSource);

/// The meaning of the positions that come with events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventSource {
    /// Offsets of an agent's output.
    Output,
    /// Positions in the files of an observed session, as [`LiveSession::note_followed`] knows them.
    Files,
}

impl EventSink for JournalSink {
    fn send(&self, event: UiMessage) -> Result<(), SendError> {
        // Storing takes time, so there is never room at once.
        Err(SendError::Full(Box::new(event)))
    }

    fn send_async(&self, event: UiMessage) -> BoxFuture<'_, Result<(), SendError>> {
        self.send_all(vec![event], None)
    }

    fn send_all(&self, mut events: Vec<UiMessage>, end: Option<u64>) -> BoxFuture<'_, Result<(), SendError>> {
        Box::pin(async move {
            if self.0.memory().is_detached {
                let event = UiMessage::System { message: String::new(), session_id: Some(self.0.handle) };
                return Err(SendError::Closed(Box::new(events.into_iter().next().unwrap_or(event))));
            }
            if self.1 == EventSource::Files {
                for event in &mut events {
                    self.0.match_typed(event);
                }
            }
            if self.0.memory().closing.is_none() {
                events.iter_mut().for_each(mark_lost);
            }
            let interrupted_by = self.0.memory().interrupted_by.clone();
            if let Some(by) = interrupted_by {
                for event in &mut events {
                    mark_interrupted(event, &by);
                }
            }
            let Err(error) = self.store(&events, end).await else { return Ok(()) };
            tracing::error!(session = %self.0.key, %error, "failed to store events; the session ends");
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
        let mut ids = match self.1 {
            EventSource::Output => EventIds::of(events, entry.spool_offset(end)),
            EventSource::Files => EventIds::of_entry(events, end.and_then(|end| entry.note_followed(end))),
        };
        let mut plain = Vec::new();
        for (index, event) in events.iter().enumerate() {
            let draft = ids.assign(entry.draft(event), index);
            match event {
                UiMessage::PermissionDetails(_) | UiMessage::QuestionDetails(_) => {
                    self.append(&mut plain).await?;
                    self.open(event, draft, &events[index..], &events[..index]).await?;
                }
                UiMessage::PermissionResolved(_) | UiMessage::InteractionResolved(_) => {
                    self.append(&mut plain).await?;
                    self.settle(event, draft).await?;
                }
                _ if event.changes_session() || reaches_limit(event) => {
                    self.append(&mut plain).await?;
                    self.change(event, draft).await?;
                }
                _ => {
                    self.track(event);
                    plain.push(draft);
                }
            }
        }
        self.append(&mut plain).await
    }

    async fn append(&self, drafts: &mut Vec<EventDraft>) -> Result<(), Error> {
        if drafts.is_empty() {
            return Ok(());
        }
        let (entry, drafts) = (&*self.0, std::mem::take(drafts));
        retry_while_full(|| entry.journal().append(&entry.key, entry.fence, drafts.clone())).await?;
        Ok(())
    }

    /// Stores an event that changes the row of the session.
    async fn change(&self, event: &UiMessage, draft: EventDraft) -> Result<(), Error> {
        let entry = &*self.0;
        let (closing, is_turn_open) = {
            let mut memory = entry.memory();
            match event {
                UiMessage::TurnStarted(_) => {
                    memory.is_turn_open = true;
                    memory.interrupted_by = None;
                }
                // A turn that ends with its agent stays open until that end is stored.
                UiMessage::Complete { stop_reason, .. } => {
                    memory.is_turn_open = stop_reason.as_str() == EXITED;
                }
                _ => {}
            }
            (memory.closing, memory.is_turn_open)
        };
        let line = matches!(event, UiMessage::Complete { .. } | UiMessage::TurnResult(_))
            .then(|| last_line(&entry.memory().recent_text))
            .flatten();
        if let UiMessage::SessionStarted(started) = event {
            entry.note_cli_session(&started.cli_session_id);
        }
        // The user of a terminal chooses the mode there.
        let mode = match self.1 {
            EventSource::Output => {
                let memory = entry.memory();
                memory.mode.judge(event, memory.settings.launch.backend.as_deref())
            }
            EventSource::Files => ReportedMode::Accepted,
        };
        let stored = entry
            .change(|settings, row| {
                let mut change = Change { event: Some(draft), ..Change::default() };
                let chosen = settings.launch.permission_mode.clone();
                apply(event, settings, &mut change, closing, is_turn_open);
                if mode == ReportedMode::Looser {
                    settings.launch.permission_mode = chosen;
                }
                if let Some(line) = line {
                    settings.last_line = Some(line);
                }
                // The CLI repeats its id with every turn.
                change.cli_session = change.cli_session.filter(|id| row.cli_sessions.last() != Some(id));
                Ok(change)
            })
            .await?;
        // A repeated event is old: its mode was judged when it was stored.
        let is_new = stored.1.as_ref().is_some_and(|stored| stored.novelty != Novelty::Seen);
        if self.1 == EventSource::Output && is_new {
            entry.memory().mode.note(event, mode);
        }
        if let UiMessage::SessionStarted(started) = event {
            entry.follow_adopted(&started.cli_session_id);
        }
        if let UiMessage::SessionStarted(started) = event
            && let Err(other) = entry.slots.lock_cli_session(&entry.key, &started.cli_session_id)
        {
            tracing::warn!(session = %entry.key, %other, "two agents write the same CLI session");
        }
        self.after(event, stored.1);
        Ok(())
    }

    /// Effects of a stored event.
    fn after(&self, event: &UiMessage, stored: Option<Stored>) {
        let entry = &*self.0;
        match event {
            UiMessage::CommandComplete { command, .. } => {
                if let Some(stored) = stored {
                    entry.memory().commands.notify(command, stored.cursor);
                }
            }
            UiMessage::TurnResult(result) => {
                let session = entry.key.to_string();
                let last_line = entry.memory().settings.last_line.clone();
                entry.notify(Notice::TurnEnded {
                    session,
                    is_error: result.is_error,
                    interrupted: result.is_interrupted(),
                    last_line,
                });
            }
            UiMessage::SessionStateChanged(changed) if changed.state == SessionPhase::Ended => {
                let mut memory = entry.memory();
                memory.is_turn_open = false;
                memory.forget_agent();
                #[cfg(unix)]
                if let Some(host) = memory.host.take() {
                    host.clear();
                }
                memory.permissions.clear();
                memory.questions.clear();
                memory.commands.clear();
            }
            UiMessage::UserPrompt(_) => entry.memory().recent_text.clear(),
            _ => {}
        }
        entry.wake.notify_one();
    }

    /// Keeps the end of the text and the tokens for the list of sessions. They are stored with the next
    /// change.
    fn track(&self, event: &UiMessage) {
        match event {
            UiMessage::TextChunk { text, .. } => {
                let mut memory = self.0.memory();
                let text_end = &mut memory.recent_text;
                text_end.push_str(text);
                if text_end.len() > 8 * LAST_LINE_CHARS {
                    let mut from = text_end.len() - 4 * LAST_LINE_CHARS;
                    while !text_end.is_char_boundary(from) {
                        from += 1;
                    }
                    drop(text_end.drain(..from));
                }
            }
            UiMessage::TextEnded(_) => self.0.memory().recent_text.push('\n'),
            UiMessage::TokenUpdate { input_tokens, output_tokens, .. } => {
                let mut memory = self.0.memory();
                memory.settings.totals.input_tokens = *input_tokens;
                memory.settings.totals.output_tokens = *output_tokens;
            }
            _ => {}
        }
    }

    /// Opens an ask. Its other events are in the same step: the request after it, the plan before it.
    async fn open(
        &self,
        event: &UiMessage,
        draft: EventDraft,
        rest: &[UiMessage],
        before: &[UiMessage],
    ) -> Result<(), Error> {
        let entry = &*self.0;
        let Some((id, body)) = ask_of(event, rest, before) else {
            return self.append(&mut vec![draft]).await;
        };
        let id = AskId::new(&id)?;
        #[cfg(unix)]
        if entry.is_repeated(&id).await? {
            return Ok(());
        }
        let (kind, digest, deadline_ms) = match &body {
            AskBody::Permission { details, .. } => {
                ("permission", details.digest.clone(), details.deadline_ms)
            }
            AskBody::Question { details, .. } => ("question", None, details.deadline_ms),
        };
        let ask = NewRequest {
            id: id.clone(),
            kind: kind.to_owned(),
            digest,
            body: ask_body_json(&body),
            deadline: deadline_ms.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok()),
            event: draft.clone(),
        };
        let opened = ask.clone();
        let stored = retry_while_full(|| entry.journal().ask(&entry.key, entry.fence, ask.clone())).await?;
        let kept = opened.opened(&entry.key, stored.cursor);
        let notice = {
            let mut memory = entry.memory();
            match &body {
                AskBody::Permission { .. } => memory.permissions.insert(id.to_string()),
                AskBody::Question { .. } => memory.questions.insert(id.to_string()),
            };
            pending_request(&kept, entry.handle)
        };
        match notice {
            Some(PendingRequest::Permission(permission)) => entry.notify(Notice::Permission { permission }),
            Some(PendingRequest::Question(question)) => entry.notify(Notice::Question { question }),
            None => {}
        }
        Ok(())
    }

    /// Settles an ask. A user's answer is stored already.
    async fn settle(&self, event: &UiMessage, draft: EventDraft) -> Result<(), Error> {
        let entry = &*self.0;
        let Some((id, outcome)) = resolved(event) else { return Ok(()) };
        let observed = entry.memory().observed.clone();
        if observed.is_some_and(|observed| observed.sent_answers().withhold(&id, event)) {
            // The answer is stored when it is known whether the dialog took it.
            entry.forget(&id);
            return Ok(());
        }
        let audit = audit(entry, &id, event, None);
        let settle = Settle { outcome, event: draft.clone(), audit: Some(audit.clone()) };
        let ask = AskId::new(&id)?;
        let settled = retry_while_full(|| entry.journal().settle(&entry.key, &ask, settle.clone())).await;
        match settled {
            Ok(Settlement::Won(_)) => entry.settled(&id, outcome_name(resolution(event))),
            Ok(Settlement::Lost { .. }) => entry.forget(&id),
            // A rule decided before an ask was opened.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.append(&mut vec![draft]).await?;
                retry_while_full(|| entry.journal().audit(audit.clone())).await?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

impl LiveSession {
    /// Forgets a settled ask and sends a notice.
    pub(crate) fn settled(&self, id: &str, outcome: &str) {
        self.forget(id);
        let (session, tool_use_id) = (self.key.to_string(), id.to_owned());
        self.notify(Notice::Settled { session, tool_use_id, outcome: outcome.to_owned() });
    }

    pub(crate) fn forget(&self, id: &str) {
        let mut memory = self.memory();
        memory.permissions.remove(id);
        memory.questions.remove(id);
    }
}

/// Retries a call until the disk has room; meanwhile the agent waits.
async fn retry_while_full<'a, T>(
    mut call: impl FnMut() -> tidings_journal::JournalCall<'a, T>,
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

/// The last line of a text, short enough for a list.
fn last_line(text: &str) -> Option<String> {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(LAST_LINE_CHARS).collect())
}
