//! Removes old events periodically, as long as the server runs.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tidings_journal::limits::LIST_MAX;
use tidings_journal::{ErrorKind, JournalError, Keep, Key, Rest};
use tidings_sessions::Sessions;

use crate::limits::RETAIN_EVERY;

/// Limits for the events that each session keeps. Each one that is set is a bound, and the tightest one
/// counts; without any, everything is kept. An open ask and everything after it are kept in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// The greatest age of an event.
    pub age: Option<Duration>,
    /// Number of newest events.
    pub events: Option<u64>,
    /// Bytes of newest events.
    pub bytes: Option<u64>,
}

impl Retention {
    /// Removes old events of these sessions: at once, and every hour.
    pub async fn run(self, sessions: Sessions) {
        if self == Retention::default() {
            return;
        }
        let mut tick = tokio::time::interval(RETAIN_EVERY);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            match all(&sessions, self).await {
                Ok(0) => {}
                Ok(removed) => tracing::info!(removed, "removed old events"),
                Err(error) => {
                    tracing::warn!(%error, "failed to remove old events; trying again in an hour");
                }
            }
        }
    }

    /// The limits at a time.
    fn at(self, now: Timestamp) -> Keep {
        let since = self.age.map(|age| {
            let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
            now.checked_sub(age).unwrap_or(Timestamp::MIN)
        });
        Keep { events: self.events, bytes: self.bytes, since }
    }
}

async fn all(sessions: &Sessions, retention: Retention) -> Result<u64, JournalError> {
    let (journal, now) = (sessions.broadcast().journal(), sessions.config().clock.now());
    let (keep, mut after, mut removed) = (retention.at(now), None, 0);
    loop {
        let rows = journal.sessions(after, LIST_MAX).await?;
        let Some(last) = rows.last() else { return Ok(removed) };
        after = Some(last.handle);
        for row in &rows {
            removed += one(sessions, &row.key, keep, now).await?;
        }
    }
}

async fn one(sessions: &Sessions, key: &Key, keep: Keep, now: Timestamp) -> Result<u64, JournalError> {
    let mut removed = 0;
    loop {
        match sessions.broadcast().journal().retain(key, keep, now).await {
            Ok(retained) => {
                removed += retained.removed;
                if retained.rest == Rest::Done {
                    return Ok(removed);
                }
            }
            // The session was deleted meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(removed),
            Err(error) => return Err(error),
        }
    }
}
