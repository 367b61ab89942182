//! Whether an agent that is there can answer: a process that somebody has stopped says nothing, and does not end.

use std::sync::{Arc, Weak};

use tidings::transport::Health;
use tidings_agent::UiMessage;

use super::entry::{Change, Entry};
use crate::hosts::Hosted;
use crate::limits::{PULSE_EVERY, PULSE_LATE};

/// Asks the host of a session how it does, as long as it is the session's.
pub(super) fn watch(entry: &Arc<Entry>) {
    let host = entry.memory().host.clone();
    if let Some(host) = host {
        drop(tokio::spawn(ask_again_and_again(Arc::downgrade(entry), host)));
    }
}

async fn ask_again_and_again(entry: Weak<Entry>, host: Hosted) {
    loop {
        tokio::time::sleep(PULSE_EVERY).await;
        let health = host.handle.health(PULSE_LATE).await;
        let Some(entry) = entry.upgrade().filter(|entry| entry.is_kept_by(&host)) else { return };
        let why = match health {
            Health::Running => None,
            Health::Stopped => Some("Somebody has stopped the agent; SIGCONT lets it go on"),
            Health::Silent => {
                Some("The process that keeps the agent does not answer: somebody has stopped it")
            }
            // That is told as the end of the session.
            _ => return,
        };
        entry.stalls(why).await;
    }
}

impl Entry {
    fn is_kept_by(&self, host: &Hosted) -> bool {
        self.memory().host.as_ref().is_some_and(|kept| kept.folder == host.folder)
    }

    /// The agent does not answer, or does again. Those who watch are told once, together with the event that says so: a notice
    /// that knew less of the session than they do would be taken for an old one.
    async fn stalls(&self, why: Option<&str>) {
        {
            let mut memory = self.memory();
            if memory.stalled.as_deref() == why {
                return;
            }
            memory.stalled = why.map(str::to_owned);
        }
        let message = why.unwrap_or("The agent goes on").to_owned();
        let event = self.draft_of(&UiMessage::System { message, session_id: Some(self.handle) }, None);
        let told = self.change(|_, _| Ok(Change { event: Some(event), ..Change::default() })).await;
        if let Err(error) = told {
            tracing::warn!(session = %self.key, %error, "it could not be stored that the agent does not answer");
        }
    }
}
