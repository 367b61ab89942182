//! The inbox in the journal: items, the state of targets, rules and positions, as documents.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidings_api::Code;
use tidings_journal::{DocumentChange, ErrorKind, StoredDocument};
use tidings_sessions::Error;

use super::item::Item;
use super::ledger::{TargetRecord, Unsaved};
use super::{Inbox, Rules};

const ITEMS: &str = "inbox";
/// Documents of the state of targets.
pub(crate) const HEALTH: &str = "inbox_health";
const SEEN: &str = "inbox_seen";
const RULES: &str = "inbox_rules";

impl Inbox {
    pub(super) async fn read_documents(&self) -> Result<(), Error> {
        let journal = self.0.sessions.broadcast().journal();
        let items: Vec<Item> = parsed(journal.documents(ITEMS).await?).into_iter().map(|it| it.1).collect();
        let health: Vec<(String, TargetRecord)> = parsed(journal.documents(HEALTH).await?);
        let seen: Vec<(String, u64)> = parsed(journal.documents(SEEN).await?);
        let rules = parsed(journal.documents(RULES).await?).pop().map(|it| it.1);
        let now = self.now();
        let mut state = self.state();
        state.ledger.load(items, health);
        state.seen.extend(seen);
        if let Some(rules) = rules.and_then(|settings| Rules::new(settings).ok()) {
            state.ledger.set_rules(rules, now);
        }
        Ok(())
    }

    /// Stores everything that has changed. What cannot be stored now is stored with the next change.
    pub(super) async fn save(&self) {
        let _turn = self.0.saving.lock().await;
        let (unsaved, seen, changes) = {
            let mut state = self.state();
            let unsaved = state.ledger.take_unsaved();
            let seen = std::mem::take(&mut state.unsaved_seen);
            let mut changes = Vec::new();
            for position in &unsaved.items {
                // Sorted as text in the order of the numbers.
                changes.push(change(ITEMS, format!("{position:020}"), state.ledger.item_at(*position)));
            }
            for target in &unsaved.health {
                changes.push(change(HEALTH, target.clone(), state.ledger.health(target)));
            }
            for session in &seen {
                changes.push(change(SEEN, session.clone(), state.seen.get(session)));
            }
            (unsaved, seen, changes)
        };
        if changes.is_empty() {
            return;
        }
        if unsaved != Unsaved::default() {
            self.0.wake.notify_one();
            self.0.changed.notify_one();
        }
        let stored = self.0.sessions.broadcast().journal().change_documents(changes).await;
        if let Err(error) = stored {
            if error.kind() != ErrorKind::Closed {
                tracing::warn!(%error, "failed to store the inbox");
            }
            let mut state = self.state();
            state.ledger.put_back_unsaved(unsaved);
            state.unsaved_seen.extend(seen);
        }
    }

    pub(super) async fn store_rules(&self, rules: &Rules) -> Result<(), Error> {
        let changes = vec![change(RULES, "rules".to_owned(), Some(rules.settings()))];
        Ok(self.0.sessions.broadcast().journal().change_documents(changes).await?)
    }

    /// The documents of another part of the server, parsed.
    pub(crate) async fn documents<T: DeserializeOwned>(
        &self,
        kind: &'static str,
    ) -> Result<Vec<(String, T)>, Error> {
        Ok(parsed(self.0.sessions.broadcast().journal().documents(kind).await?))
    }

    /// Stores a document of another part of the server, or removes it.
    pub(crate) async fn store<T: Serialize>(
        &self,
        kind: &'static str,
        id: &str,
        value: Option<&T>,
    ) -> Result<(), Error> {
        let changed = change(kind, id.to_owned(), value);
        if value.is_some() && changed.body.is_none() {
            return Err(Error::new(Code::Internal, "A document cannot be encoded", ""));
        }
        Ok(self.0.sessions.broadcast().journal().change_documents(vec![changed]).await?)
    }
}

fn change<T: Serialize>(kind: &'static str, id: String, value: Option<&T>) -> DocumentChange {
    let body = value.and_then(|value| serde_json::to_vec(value).ok()).map(Arc::from);
    DocumentChange { kind, id, body }
}

/// Documents that this version cannot read are skipped, and kept.
fn parsed<T: DeserializeOwned>(documents: Vec<StoredDocument>) -> Vec<(String, T)> {
    let read = |document: StoredDocument| Some((document.id, serde_json::from_slice(&document.body).ok()?));
    documents.into_iter().filter_map(read).collect()
}
