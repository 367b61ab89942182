//! Records that the bucket has lost, and that the admin writes again.
//!
//! Without an account for each member, every client of the NATS server can write to the bucket. No node that
//! runs takes such a value for a record, but a node that starts later would miss the record, or take an old
//! version of it for the present one.

use crate::limits::BEAT_EVERY;

use super::Roster;
use super::record::{Admin, RECORD_KINDS, Record};

impl Roster {
    /// Writes known records again that were overwritten or deleted in the bucket, or replaced by an old
    /// version.
    pub async fn restore(&self, admin: &Admin) {
        loop {
            self.0.damage.notified().await;
            // A client that overwrites records all the time causes one round in this interval.
            tokio::time::sleep(BEAT_EVERY).await;
            self.0.link.connected().await;
            let damaged: Vec<_> = self.0.state.lock().damaged.iter().cloned().collect();
            for (kind, id) in damaged {
                let body = |before: Option<&Record>| {
                    before.filter(|record| !record.removed).map(|record| record.body.clone())
                };
                match Box::pin(self.change(admin, &kind, &id, body)).await {
                    Ok(_) => tracing::warn!(kind, id, "a record of the fleet was damaged, and is restored"),
                    Err(error) => {
                        tracing::debug!(kind, id, %error, "failed to restore a record of the fleet");
                        self.0.damage.notify_one();
                    }
                }
            }
        }
    }

    /// Notes that the bucket has something else than the record that is known here.
    pub(super) fn note_damage(&self, key: &str, revision: u64) {
        let Some((kind, id)) = key.split_once('.').filter(|(kind, _)| RECORD_KINDS.contains(kind)) else {
            return;
        };
        let mut state = self.0.state.lock();
        let key = (kind.to_owned(), id.to_owned());
        // A late reader, or a follower of the cluster, may show what was there before.
        if state.records.get(&key).is_some_and(|(_, known)| revision > *known) {
            state.damaged.insert(key);
            drop(state);
            self.0.damage.notify_one();
        }
    }
}
