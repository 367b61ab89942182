//! The raw lines of the CLI, for clients of the dialect `frames`.

use std::sync::Arc;

use tidings::Event;
use tidings_agent::AgentSession;
use tidings_api::Code;
use tidings_journal::{Class, ClientId, EventDraft, Kind};

use crate::live_session::LiveSession;
use crate::settings::SessionSettings;
use crate::{Error, Sessions};

/// The kind of events that are lines of the CLI.
pub const FRAME: &str = "frame";

/// Stores the lines of an agent until it ends. The agent waits for that, so nothing piles up.
pub(crate) fn keep(entry: &Arc<LiveSession>, agent: &AgentSession) {
    let mut frames = agent.client().follow();
    let entry = Arc::clone(entry);
    drop(tokio::spawn(async move {
        while let Some(event) = frames.next().await {
            let Event::Frame { frame, end, .. } = event else { continue };
            let mut draft = EventDraft::new(Class::Delta, entry.clock.now(), Kind::fixed(FRAME), frame.raw());
            // A line that is read again after a crash is detected by its id.
            draft.client_id =
                entry.spool_offset(end).and_then(|end| ClientId::new(format!("frame:{end}")).ok());
            if let Err(error) = entry.journal().append(&entry.key, entry.fence, vec![draft]).await {
                tracing::warn!(session = %entry.key, %error, "failed to store a line of the agent");
                return;
            }
        }
    }));
}

impl Sessions {
    /// Refuses the dialect `frames` for a session that does not store its lines.
    pub async fn check_frames(&self, name: &str) -> Result<(), Error> {
        if SessionSettings::parse(&self.row(name).await?.settings).launch.keep_frames {
            return Ok(());
        }
        let hint = "create the session with `keep_frames`, or choose another dialect";
        Err(Error::new(Code::Conflict, "This session does not store the lines of the CLI", hint))
    }
}
