//! The events of one session as messages for a phone.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::FutureExt as _;
use serde_json::Value;
use tidings_agent::dialect::Mobile;
use tidings_protocol::api::SessionView;
use tidings_protocol::mobile::{MobileMessage, SessionComplete, SessionRecovered};
use tidings_protocol::ui::{SessionPhase, SessionStarted, TurnId, TurnStarted, UiMessage};
use tokio_util::sync::CancellationToken;

use super::place::Place;
use crate::doors::wire::FRAME;
use crate::hub::{Cut, Delivery, Subscription};
use crate::journal::{Event, JournalError};
use crate::limits::{CHUNK_BYTES, MOBILE_FILES_MAX};

/// One session that a phone watches.
pub(super) struct Feed {
    /// The project that its messages name.
    pub(super) project: Arc<str>,
    /// Ends it.
    pub(super) stop: CancellationToken,
    pub(super) events: Subscription,
    pub(super) translator: Translator,
}

/// What comes next.
pub(super) enum News {
    /// Messages, and more will follow.
    Messages(Vec<MobileMessage>),
    /// The phone wants no more of it.
    Stopped,
    /// There is no more.
    Over(Result<Cut, JournalError>),
}

impl Feed {
    /// Waits for one event, and takes along whatever else is there already.
    pub(super) async fn next(&mut self) -> News {
        let Feed { stop, events, translator, .. } = self;
        let mut messages = Vec::new();
        loop {
            let next = tokio::select! {
                biased;
                () = stop.cancelled() => return News::Stopped,
                next = events.next() => next,
            };
            let (mut next, mut bytes) = (Some(next), 0);
            let mut group = Vec::new();
            while let Some(delivery) = next {
                match delivery {
                    Ok(Delivery::Event(event)) => {
                        bytes += event.body.len();
                        group.push(event);
                    }
                    // What came before it is said first; it is told again the next time.
                    Ok(Delivery::Cut(cut)) if group.is_empty() => return News::Over(Ok(cut)),
                    Err(error) if group.is_empty() => return News::Over(Err(error)),
                    _ => break,
                }
                next = if bytes < CHUNK_BYTES { events.next().now_or_never() } else { None };
            }
            translator.translate(&group, &mut messages);
            if !messages.is_empty() {
                return News::Messages(messages);
            }
        }
    }
}

/// Turns events into messages, each with a name and the time of its event.
#[derive(Debug, Default)]
pub(super) struct Translator {
    mobile: Mobile,
    session_id: String,
    /// Its agent has crashed and was not started again yet.
    is_crashed: bool,
    /// Files that tools have changed, to be counted.
    files: HashSet<String>,
    last_text: String,
}

impl Translator {
    /// A translator that comes in the middle of a session.
    pub(super) fn of(session: &SessionView) -> Self {
        let mut translator = Translator::default();
        let mut said = Vec::new();
        if let Some(id) = session.cli_session_ids.last() {
            translator.session_id.clone_from(id);
            let mut started = SessionStarted::new(session.handle, id.as_str());
            started.model.clone_from(&session.model);
            translator.mobile.translate(&[started.into()], &mut said);
        }
        let turn = TurnId::new_assistant_turn(session.totals.turns.max(1));
        translator.mobile.translate(&[TurnStarted::new(session.handle, turn).into()], &mut said);
        translator
    }

    pub(super) fn translate(&mut self, events: &[Arc<Event>], out: &mut Vec<MobileMessage>) {
        let mut read = events.iter().filter(|event| event.kind.as_str() != FRAME).peekable();
        while let Some(mut event) = read.next() {
            let Some(message) = ui(event) else { continue };
            let mut group = vec![message];
            // A text that is whole is said as one.
            if let UiMessage::TextChunk { .. } = group[0]
                && let Some(next) = read.next_if(|next| next.kind.as_str() == "TextEnded")
                && let Some(ended) = ui(next)
            {
                group.push(ended);
                event = next;
            }
            self.group(event, &group, out);
        }
    }

    fn group(&mut self, event: &Event, group: &[UiMessage], out: &mut Vec<MobileMessage>) {
        let now_ms = event.at.as_millisecond();
        let mut said = Vec::new();
        self.mobile.tick(now_ms);
        self.mobile.translate(group, &mut said);
        for message in group {
            self.add(message, event, &mut said);
        }
        for (number, message) in said.into_iter().enumerate() {
            // A request has the name that its answer quotes.
            let id = message.id.clone().unwrap_or_else(|| Place { cursor: event.cursor, number }.to_string());
            out.push(message.stamped(id, now_ms));
        }
    }

    /// What the dialect leaves to whoever runs sessions: crashes and ends.
    fn add(&mut self, message: &UiMessage, event: &Event, out: &mut Vec<MobileMessage>) {
        match message {
            UiMessage::TextChunk { text, .. } => self.last_text.clone_from(text),
            UiMessage::ToolExecuting { tool_name, input, .. } if changes_files(tool_name) => {
                let file = input.get("file_path").or_else(|| input.get("notebook_path"));
                if let Some(file) = file.and_then(Value::as_str)
                    && self.files.len() < MOBILE_FILES_MAX
                {
                    self.files.insert(file.to_owned());
                }
            }
            UiMessage::SessionStarted(started) => {
                self.session_id.clone_from(&started.cli_session_id);
                if std::mem::take(&mut self.is_crashed) {
                    let session_id = self.session_id.clone();
                    out.push(MobileMessage::new(SessionRecovered { session_id }));
                }
            }
            UiMessage::SessionStateChanged(changed) if changed.state == SessionPhase::Ended => {
                self.is_crashed = changed.error.is_some();
                if !self.is_crashed {
                    out.push(MobileMessage::new(SessionComplete {
                        session_id: self.session_id.clone(),
                        summary: self.last_text.lines().next_back().unwrap_or_default().to_owned(),
                        files_modified: self.files.len() as u64,
                        completion_time: event.at.to_string(),
                    }));
                }
            }
            _ => {}
        }
    }
}

/// The event, unless it is from a newer version that has more of them.
pub(super) fn ui(event: &Event) -> Option<UiMessage> {
    serde_json::from_slice(&event.body).ok()
}

fn changes_files(tool: &str) -> bool {
    matches!(tool, "Edit" | "MultiEdit" | "NotebookEdit" | "Write")
}
