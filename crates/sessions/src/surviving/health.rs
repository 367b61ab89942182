//! Health checks of agents: a process that was stopped with a signal neither answers nor ends.

use std::sync::{Arc, Weak};

use tidings::transport::Health;
use tidings_agent::UiMessage;

use crate::hosts::AttachedHost;
use crate::limits::{HEALTH_CHECK_EVERY, HEALTH_CHECK_WAIT};
use crate::live_session::{Change, LiveSession};

/// Checks the host of a session periodically, as long as the session has this host.
pub(crate) fn watch(entry: &Arc<LiveSession>) {
    let host = entry.memory().host.clone();
    if let Some(host) = host {
        drop(tokio::spawn(check_periodically(Arc::downgrade(entry), host)));
    }
}

async fn check_periodically(entry: Weak<LiveSession>, host: AttachedHost) {
    loop {
        tokio::time::sleep(HEALTH_CHECK_EVERY).await;
        let health = host.handle.health(HEALTH_CHECK_WAIT).await;
        let Some(entry) = entry.upgrade().filter(|entry| entry.is_kept_by(&host)) else { return };
        let why = match health {
            Health::Running => None,
            Health::Stopped => Some("The agent's process is stopped; SIGCONT continues it"),
            Health::Silent => Some("The agent host does not answer; its process may be stopped"),
            // The end of the session reports that.
            _ => return,
        };
        entry.set_stalled(why).await;
    }
}

impl LiveSession {
    fn is_kept_by(&self, host: &AttachedHost) -> bool {
        self.memory().host.as_ref().is_some_and(|kept| kept.folder == host.folder)
    }

    /// Records that the agent does not answer, or does again. The notice is sent once, together with the
    /// event: a notice with an older head than the event would be taken for outdated.
    async fn set_stalled(&self, why: Option<&str>) {
        {
            let mut memory = self.memory();
            if memory.stalled.as_deref() == why {
                return;
            }
            memory.stalled = why.map(str::to_owned);
        }
        let message = why.unwrap_or("The agent answers again").to_owned();
        let event = self.draft_of(&UiMessage::System { message, session_id: Some(self.handle) }, None);
        let stored = self.change(|_, _| Ok(Change { event: Some(event), ..Change::default() })).await;
        if let Err(error) = stored {
            tracing::warn!(session = %self.key, %error, "failed to store that an agent does not answer");
        }
    }
}
