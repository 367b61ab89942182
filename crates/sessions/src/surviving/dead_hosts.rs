//! Stores the last output of agents whose hosts died, from the spools of the hosts.

use std::fmt;
use std::sync::Arc;

use tidings::ndjson::LINE_BYTES_MAX;
use tidings::transport::{Incoming, Lines};
use tidings_agent::EventSink as _;
use tidings_agent::session::{Checkpoint, RemainingOutput};
use tidings_api::{Code, ServerPhase};
use tidings_journal::SessionName;
use tidings_protocol::ui::UiMessage;

use crate::hosts::{FoldState, FoundHost};
use crate::limits::SPOOL_READ_BYTES;
use crate::live_session::LiveSession;
use crate::running::sink::{EventSource, JournalSink};
use crate::{Error, Sessions};

impl Sessions {
    /// Stores the output of a session's agents that was not stored when their hosts died.
    pub(crate) async fn store_last_output(&self, entry: &Arc<LiveSession>, hosts: &[FoundHost]) {
        let Some(keeper) = &self.config().hosts else { return };
        let mut hosts: Vec<&FoundHost> = hosts.iter().filter(|found| found.folder.has_spool()).collect();
        hosts.sort_by_key(|found| found.base);
        for found in hosts {
            {
                let mut memory = entry.memory();
                // Offsets are counted from the beginning of this agent's output.
                memory.host = Some(keeper.attach(found, entry.fence, 0).1);
                memory.is_turn_open = matches!(memory.phase(), ServerPhase::Running | ServerPhase::NeedsYou);
            }
            if let Err(error) = entry.store_last_output(found).await {
                tracing::warn!(session = %entry.key, %error, "failed to read the last output of an agent");
            }
            let mut memory = entry.memory();
            memory.host = None;
            memory.is_turn_open = false;
        }
    }
}

impl LiveSession {
    async fn store_last_output(self: &Arc<Self>, found: &FoundHost) -> Result<(), Error> {
        let kept = FoldState::read(&found.folder, self.handle).map_err(|error| unreadable(&error))?;
        let remains = found.folder.remains().map_err(|error| unreadable(&error))?;
        let row = self.journal().session(&SessionName::Key(self.key.clone())).await?;
        let stored = row.host_offset.unwrap_or_default().saturating_sub(found.base);
        let checkpoint = Checkpoint { fold: kept.fold, end: kept.end, stored };
        let mut remaining = RemainingOutput::new(checkpoint).map_err(|error| unreadable(&error))?;
        let mut lines = Lines::starting_at(LINE_BYTES_MAX, kept.end);
        let (mut offset, mut buffer) = (kept.end, vec![0; SPOOL_READ_BYTES]);
        loop {
            let count = remains.read(offset, &mut buffer).map_err(|error| unreadable(&error))?;
            if count == 0 {
                return Ok(());
            }
            offset += count as u64;
            lines.push(&buffer[..count]);
            while let Some(line) = lines.next() {
                let events = match line {
                    Incoming::Frame { frame, .. } => remaining.read(&frame, lines.end()),
                    Incoming::Noise { .. } | Incoming::Oversized { .. } if lines.end() > stored => {
                        vec![unreadable_line(self.handle)]
                    }
                    _ => Vec::new(),
                };
                if !events.is_empty() {
                    let stored = JournalSink(Arc::clone(self), EventSource::Output)
                        .send_all(events, Some(lines.end()))
                        .await;
                    stored.map_err(|error| unreadable(&error))?;
                }
            }
        }
    }
}

/// The event for a line that is damaged, or is not one of the protocol: readers must see that something was
/// here.
fn unreadable_line(session: i64) -> UiMessage {
    let message =
        "A line of the agent's last output cannot be read; the agent's own session file may have it";
    UiMessage::System { message: message.to_owned(), session_id: Some(session) }
}

fn unreadable(error: &dyn fmt::Display) -> Error {
    Error::new(Code::Internal, format!("Failed to read the spool of a dead host: {error}"), "")
}
