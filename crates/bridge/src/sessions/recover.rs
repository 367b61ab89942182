//! What an earlier server left undone.

#[cfg(unix)]
use std::collections::HashMap;

use tidings_agent::UiMessage;
use tidings_agent::pending::Outcome;
use tidings_protocol::api::{QueueState, ServerPhase};
use tidings_protocol::ui::{
    InteractionResolved, PermissionResolved, Resolution, SessionPhase, SessionStateChanged,
};

use super::asks::audit;
use super::entry::{Change, Entry};
use super::settings::Settings;
use super::view;
use super::{Deliver, Sessions};
#[cfg(unix)]
use super::{Used, actor::Order};
use crate::error::Error;
#[cfg(unix)]
use crate::hosts::{Found, Hosts};
#[cfg(unix)]
use crate::journal::Fence;
use crate::journal::{Ask, Session, Settle};
use crate::limits::LIST_MAX;
#[cfg(unix)]
use tokio::sync::oneshot;

impl Sessions {
    /// Says of every session that an earlier server had running how it stands now.
    pub(super) async fn recover(&self) -> Result<(), Error> {
        #[cfg(unix)]
        let mut hosts = self.find_hosts();
        let mut after = None;
        loop {
            let rows = self.hub().journal().sessions(after, LIST_MAX).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.handle);
            for row in rows.iter().filter(|row| has_waiting(row) || was_running(row)) {
                if !was_running(row) {
                    // It was accepted, and nobody says it again.
                    drop(self.take(&row.key, Deliver::Now).await?);
                    continue;
                }
                let used = self.take(&row.key, Deliver::Later).await?;
                #[cfg(unix)]
                let is_joined = match hosts.remove(row.key.as_str()) {
                    Some(found) => self.join(&used, found).await,
                    None => false,
                };
                #[cfg(not(unix))]
                let is_joined = false;
                if !is_joined {
                    used.entry.recover().await?;
                }
                used.entry.memory().is_held = false;
                used.entry.wake.notify_one();
            }
        }
        #[cfg(unix)]
        self.clear_hosts(hosts).await;
        Ok(())
    }

    /// The hosts that an earlier server left and that live, by session. What dead ones left is removed.
    #[cfg(unix)]
    fn find_hosts(&self) -> HashMap<String, Found> {
        let found = self.config().hosts.as_ref().map(Hosts::find);
        let found = found.unwrap_or_else(|| Ok(Vec::new())).unwrap_or_else(|error| {
            tracing::warn!(%error, "the hosts of earlier agents could not be looked for");
            Vec::new()
        });
        let mut alive = HashMap::new();
        for found in found {
            if found.is_alive {
                alive.insert(found.session.clone(), found);
            } else {
                drop(found.folder.remove());
            }
        }
        alive
    }

    #[cfg(unix)]
    async fn join(&self, used: &Used, found: Found) -> bool {
        let (reply, joined) = oneshot::channel();
        let is_told = used.orders.send(Order::Join(found.clone(), reply)).await.is_ok();
        let is_joined = is_told && joined.await.unwrap_or(false);
        if let (false, Some(hosts)) = (is_joined, &self.config().hosts) {
            hosts.discard(found, used.entry.fence).await;
        }
        is_joined
    }

    /// Ends hosts of sessions that have ended or are gone.
    #[cfg(unix)]
    async fn clear_hosts(&self, rest: HashMap<String, Found>) {
        let Some(hosts) = &self.config().hosts else { return };
        for (session, found) in rest {
            tracing::info!(session, "ending an agent that nobody needs any more");
            hosts.discard(found, Fence::HIGHEST).await;
        }
    }
}

fn has_waiting(row: &Session) -> bool {
    let settings = Settings::parse(&row.settings);
    settings.queue.iter().any(|queued| queued.state == QueueState::Waiting)
}

fn was_running(row: &Session) -> bool {
    use ServerPhase::{Idle, NeedsYou, Running, Starting};
    let settings = Settings::parse(&row.settings);
    matches!(view::phase(&row.state), Starting | Idle | Running | NeedsYou) || settings.has_handed()
}

impl Entry {
    async fn recover(&self) -> Result<(), Error> {
        for ask in self.journal().asks(Some(&self.key)).await? {
            self.lose(&ask).await?;
        }
        let phase = match self.memory().phase() {
            ServerPhase::Idle => ServerPhase::Parked,
            _ => ServerPhase::Interrupted,
        };
        let mut changed = SessionStateChanged::new(self.handle, SessionPhase::Ended);
        if phase == ServerPhase::Interrupted {
            let error = "The server ended during the turn; the next prompt goes on from there";
            changed.error = Some(error.to_owned());
        }
        let draft = self.draft(&changed.clone().into());
        let ended = |settings: &mut Settings, _: &_| {
            settings.doubt_handed();
            settings.cost_before = settings.totals.cost_usd;
            settings.error = changed.error;
            Ok(Change { phase: Some(phase), event: Some(draft), ..Change::default() })
        };
        self.change(ended).await?;
        Ok(())
    }

    /// Nobody can answer it any more: the agent that asked is gone.
    async fn lose(&self, ask: &Ask) -> Result<(), Error> {
        let event: UiMessage = match ask.kind.as_str() {
            "question" => InteractionResolved::new(self.handle, ask.id.as_str(), Resolution::Lost).into(),
            _ => PermissionResolved::new(self.handle, ask.id.as_str(), Resolution::Lost).into(),
        };
        let settle = Settle {
            outcome: Outcome::Lost,
            event: self.draft(&event),
            audit: Some(audit(self, ask.id.as_str(), &event, None)),
        };
        self.journal().settle(&self.key, &ask.id, settle).await?;
        self.settled(ask.id.as_str(), "lost");
        Ok(())
    }
}
