//! Records that the bucket has lost, and that the admin writes again.
//!
//! Without an account for each member, every client of the NATS server can write to the bucket. No node that
//! runs takes such a value for a record, but a node that starts later would miss the record, or take an old
//! version of it for the present one.

use crate::limits::{BEAT_EVERY, CALL_MAX};
use crate::link::bounded;

use super::Roster;
use super::admin_note::NOTES;
use super::record::{Admin, RECORD_KINDS, RosterRecord};

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
                if NOTES.contains(&kind.as_str()) {
                    Box::pin(self.write_note(&kind, &id)).await;
                    continue;
                }
                let body = |before: Option<&RosterRecord>| {
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

    /// Writes a note of the admin again.
    async fn write_note(&self, kind: &str, id: &str) {
        let doing = "restore a note of the fleet's admin";
        let key = format!("{kind}.{id}");
        let known = self.0.state.lock().values.get(&key).map(<[u8]>::to_vec);
        let (Some(value), Ok(store)) = (known, self.0.link.bucket().await) else { return };
        match bounded(doing, CALL_MAX, store.put(&key, value.into())).await {
            Ok(Ok(_)) => {
                self.0.state.lock().damaged.remove(&(kind.to_owned(), id.to_owned()));
                tracing::warn!(key, "a note of the fleet was damaged, and is restored");
            }
            _ => self.0.damage.notify_one(),
        }
    }

    /// Forgets the revisions of records: those of another bucket begin anew.
    pub(super) fn forget_revisions(&self) {
        self.0.state.lock().records.values_mut().for_each(|(_, revision)| *revision = 0);
    }

    /// Notes that the bucket has something else than the record that is known here.
    pub(super) fn note_damage(&self, key: &str, revision: u64) {
        let Some((kind, id)) = key.split_once('.') else { return };
        let mut state = self.0.state.lock();
        let is_note = NOTES.contains(&kind) && state.values.get(key).is_some();
        if !is_note && !RECORD_KINDS.contains(&kind) {
            return;
        }
        let key = (kind.to_owned(), id.to_owned());
        // A late reader, or a follower of the cluster, may show what was there before.
        if is_note || state.records.get(&key).is_some_and(|(_, known)| revision > *known) {
            state.damaged.insert(key);
            drop(state);
            self.0.damage.notify_one();
        }
    }
}
