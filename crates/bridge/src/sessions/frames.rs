//! The lines of the CLI as they came, for those who want to see them.

use std::sync::Arc;

use tidings::Event;
use tidings_agent::AgentSession;

use super::Sessions;
use super::entry::Entry;
use super::settings::Settings;
use crate::error::{Code, Error};
use crate::journal::{Class, ClientId, Draft, Kind};

/// What kind of event a line of the CLI is.
pub(crate) const FRAME: &str = "frame";

/// Keeps the lines of an agent until it ends. The agent waits for it, so nothing piles up.
pub(super) fn keep(entry: &Arc<Entry>, agent: &AgentSession) {
    let mut frames = agent.client().follow();
    let entry = Arc::clone(entry);
    drop(tokio::spawn(async move {
        while let Some(event) = frames.next().await {
            let Event::Frame { frame, end, .. } = event else { continue };
            let mut draft = Draft::new(Class::Delta, entry.clock.now(), Kind::fixed(FRAME), frame.raw());
            // A line that is read again after a crash is known.
            draft.client_id = entry.place(end).and_then(|end| ClientId::new(format!("frame:{end}")).ok());
            if let Err(error) = entry.journal().append(&entry.key, entry.fence, vec![draft]).await {
                tracing::warn!(session = %entry.key, %error, "a line of the agent could not be stored");
                return;
            }
        }
    }));
}

impl Sessions {
    /// Refuses to show the lines of a session that does not keep them: there would never be one.
    pub(crate) async fn check_frames(&self, name: &str) -> Result<(), Error> {
        if Settings::parse(&self.row(name).await?.settings).launch.keep_frames {
            return Ok(());
        }
        let hint = "make the session with `keep_frames`, or choose another dialect";
        Err(Error::new(Code::Conflict, "This session does not keep the lines of the CLI", hint))
    }
}
