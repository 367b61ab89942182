//! The journal's file, with all that can happen to it.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod backups;
mod damage;
mod heads;
mod opening;
mod writing;

use std::path::Path;

use jiff::Timestamp;
use tidings_journal::{
    Class, Epoch, EventDraft, Fence, Journal, Key, Kind, NewSession, Opening, SqliteJournal,
};

fn key() -> Key {
    Key::new("session").unwrap()
}

fn opening(boot: u64) -> Opening {
    Opening { boot_id: format!("boot-{boot}"), fresh_epoch: Epoch::from_random(boot) }
}

fn draft(class: Class, body: impl Into<Vec<u8>>) -> EventDraft {
    EventDraft::new(class, Timestamp::UNIX_EPOCH, Kind::new("said").unwrap(), body.into())
}

async fn session(journal: &SqliteJournal) -> Fence {
    journal.create(NewSession::new(key(), "/", Timestamp::UNIX_EPOCH)).await.unwrap();
    journal.claim(&key()).await.unwrap()
}

async fn filled(path: &Path, events: usize) -> SqliteJournal {
    let journal = SqliteJournal::open(path, &opening(1)).unwrap();
    let fence = session(&journal).await;
    let drafts = (1..=events).map(|n| draft(Class::Delta, format!("event {n}"))).collect();
    journal.append(&key(), fence, drafts).await.unwrap();
    journal
}
