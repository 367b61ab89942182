//! Translation of the events of one session into messages for a phone.
//!
//! Each event is translated by itself, with a state that is computed from the events before it. So the
//! messages after a cursor depend on the journal only, and not on how events were delivered.

use std::collections::HashSet;

use serde_json::Value;
use tidings_agent::dialect::Mobile;
use tidings_api::SessionView;
use tidings_journal::Event;
use tidings_protocol::mobile::{MobileMessage, SessionComplete, SessionRecovered};
use tidings_protocol::ui::{SessionPhase, UiMessage};

use super::long_texts;
use super::position::MessagePosition;
use crate::limits::{MOBILE_FILES_MAX, MOBILE_SUMMARY_LINE_CHARS};

/// Translates events into messages, each with an id and the time of its event.
#[derive(Debug, Clone, Default)]
pub(crate) struct MobileTranslator {
    mobile: Mobile,
    session_id: String,
    /// The agent has crashed and was not started again yet.
    is_crashed: bool,
    /// Files that tools have changed. Only their number is sent.
    files: HashSet<String>,
    /// The last line of the newest text.
    last_line: String,
}

impl MobileTranslator {
    /// The state at the floor of a session whose first events are not kept.
    pub(crate) fn at_floor(session: &SessionView) -> Self {
        let mut translator = MobileTranslator::default();
        if let Some(id) = session.cli_session_ids.last() {
            translator.session_id.clone_from(id);
            translator.mobile.assume(id, session.model.as_deref());
        }
        translator
    }

    /// Appends the messages of the next event.
    pub(crate) fn translate(&mut self, event: &Event, out: &mut Vec<(MessagePosition, MobileMessage)>) {
        // Other events are skipped without decoding, as some are long.
        if !UiMessage::facts_of(event.kind.as_str()).is_some_and(|facts| facts.phone) {
            return;
        }
        let Some(message) = event.message() else { return };
        let now_ms = event.at.as_millisecond();
        let mut messages = Vec::new();
        self.mobile.tick(now_ms);
        self.mobile.translate(std::slice::from_ref(&*message), &mut messages);
        self.add(&message, event, &mut messages);
        let mut bounded = Vec::with_capacity(messages.len());
        for message in messages {
            long_texts::bound(message, &mut bounded);
        }
        for (number, message) in bounded.into_iter().enumerate() {
            // A request has the id that its answer quotes.
            let position = MessagePosition { cursor: event.cursor, number };
            let id = message.id.clone().unwrap_or_else(|| position.to_string());
            out.push((position, message.stamped(id, now_ms)));
        }
    }

    /// Adds the messages that the dialect leaves to the server: crashes and ends of agents.
    fn add(&mut self, message: &UiMessage, event: &Event, out: &mut Vec<MobileMessage>) {
        match message {
            UiMessage::TextChunk { text, .. } => {
                let line = text.lines().next_back().unwrap_or_default();
                self.last_line = line.chars().take(MOBILE_SUMMARY_LINE_CHARS).collect();
            }
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
                        summary: self.last_line.clone(),
                        files_modified: self.files.len() as u64,
                        completion_time: event.at.to_string(),
                    }));
                }
            }
            _ => {}
        }
    }
}

fn changes_files(tool: &str) -> bool {
    matches!(tool, "Edit" | "MultiEdit" | "NotebookEdit" | "Write")
}
