//! Sessions as clients see them.

use std::collections::BTreeMap;

use tidings_api::{Notice, ServerPhase, SessionView};
use tidings_journal as journal;
use tidings_journal::limits::LIST_MAX;
use tidings_journal::{Handle, Key, SessionName};

use super::Sessions;
use super::settings::SessionSettings;
use crate::Error;

/// Numbers of pending requests of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PendingCounts {
    pub(super) permissions: u64,
    pub(super) questions: u64,
}

impl Sessions {
    /// Sessions in the order of their handles, those above `after`. Of several rows of one session of Claude
    /// Code, which servers of one machine observe, it has one.
    pub async fn list(&self, after: Option<Handle>, max: usize) -> Result<Vec<SessionView>, Error> {
        let _whole = self.0.observed.wait_for_appearing().await;
        let (max, mut after, mut views) = (max.min(LIST_MAX), after, Vec::new());
        loop {
            // Others take the place of hidden rows: a page that is not full is the last one.
            let missing = max - views.len();
            let rows = self.0.broadcast.journal().sessions(after, missing).await?;
            let shown = rows.iter().filter(|row| !self.0.duplicates.is_hidden(row.key.as_str()));
            views.extend(shown.map(|row| self.view(row)));
            match rows.last() {
                Some(last) if rows.len() == missing && views.len() < max => after = Some(last.handle),
                _ => return Ok(views),
            }
        }
    }

    /// Number of sessions in each phase, and number of open asks.
    pub async fn counts(&self) -> Result<(BTreeMap<&'static str, u64>, u64), Error> {
        let journal::SessionCounts { sessions, open_asks, .. } = self.0.broadcast.journal().counts().await?;
        let mut phases = BTreeMap::new();
        for (state, count) in sessions {
            // In the words of the list of sessions.
            *phases.entry(phase(&state).as_str()).or_default() += count;
        }
        Ok((phases, open_asks))
    }

    /// Returns a session by handle or key.
    pub async fn find(&self, name: &str) -> Result<SessionView, Error> {
        let _whole = self.0.observed.wait_for_appearing().await;
        let row = self.row(name).await?;
        let used = self.active().get(&row.key).cloned();
        if let Some(used) = used {
            used.entry.wait_for_change().await;
        }
        Ok(self.view(&row))
    }

    /// Notifies clients of a session whose view has changed.
    pub async fn notify_of_session(&self, key: &str) {
        if let Ok(row) = self.row(key).await {
            self.notify(Notice::Session { session: Box::new(self.view(&row)) });
        }
    }

    /// The view of a session that was not used since the server started.
    fn view_without_agent(&self, row: &journal::Session) -> SessionView {
        let view = SessionSettings::parse(&row.settings).view(row, PendingCounts::default());
        if view.node.is_none() { self.0.projects.add_to(view) } else { view }
    }

    /// The view of a row.
    pub fn view(&self, row: &journal::Session) -> SessionView {
        let used = self.active().get(&row.key).cloned();
        let view = used.map_or_else(|| self.view_without_agent(row), |used| used.entry.view_of(row));
        self.with_reach(view)
    }

    pub(super) async fn settings(&self, row: &journal::Session) -> SessionSettings {
        let used = self.active().get(&row.key).cloned();
        match used {
            Some(used) => used.entry.settings().await,
            None => SessionSettings::parse(&row.settings),
        }
    }

    pub(super) async fn row(&self, name: &str) -> Result<journal::Session, Error> {
        // `parse` alone would also take `+5`.
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        let name = match name.parse() {
            Ok(number) if is_number => SessionName::Handle(Handle::new(number)),
            _ => SessionName::Key(Key::new(name)?),
        };
        Ok(self.0.broadcast.journal().session(&name).await?)
    }
}

/// The handle as it is in events.
pub(super) fn number(handle: Handle) -> i64 {
    // Handles have 23 bits.
    i64::try_from(handle.number()).unwrap_or(i64::MAX)
}

/// True if a session in this phase has a started agent.
pub(super) fn has_agent(phase: ServerPhase) -> bool {
    matches!(phase, ServerPhase::Idle | ServerPhase::Running | ServerPhase::NeedsYou)
}

/// The phase of a row; an unknown one counts as parked.
pub(super) fn phase(word: &str) -> ServerPhase {
    use ServerPhase::{Failed, Idle, Interrupted, NeedsYou, Parked, Running, Starting, Stopped};
    let all = [Starting, Idle, Running, NeedsYou, Parked, Stopped, Interrupted, Failed];
    all.into_iter().find(|phase| phase.as_str() == word).unwrap_or(Parked)
}
