//! What an earlier server left undone.

use tidings_agent::UiMessage;
use tidings_agent::pending::Outcome;
use tidings_protocol::api::ServerPhase;
use tidings_protocol::ui::{
    InteractionResolved, PermissionResolved, Resolution, SessionPhase, SessionStateChanged,
};

use super::Sessions;
use super::entry::{Change, Entry};
use super::settings::Settings;
use super::sink::audit;
use super::view;
use crate::error::Error;
use crate::journal::{Ask, Session, Settle};
use crate::limits::LIST_MAX;

impl Sessions {
    /// Says of every session that an earlier server had running how it stands now.
    pub(super) async fn recover(&self) -> Result<(), Error> {
        let mut after = None;
        loop {
            let rows = self.hub().journal().sessions(after, LIST_MAX).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = Some(last.handle);
            for row in rows.iter().filter(|row| was_running(row)) {
                let used = self.take(&row.key).await?;
                used.entry.recover().await?;
            }
        }
    }
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
