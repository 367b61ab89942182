//! F106: a loss of power, simulated by the files that it may leave.
//!
//! Synced data survives; later data may survive up to any point of the log. The copy of a running journal
//! with a log that is cut off there is such a machine after its restart.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tidings_journal::{
    Class, Cursor, CursorVerdict, Epoch, EventDraft, Journal, Key, Kind, Max, NewSession, Opening,
    SqliteJournal,
};
use tidings_rehearsal::Chance;

fn key() -> Key {
    Key::new("session").unwrap()
}

fn opening(boot: u64) -> Opening {
    Opening { boot_id: format!("boot-{boot}"), fresh_epoch: Epoch::from_random(boot) }
}

fn body(n: usize) -> Vec<u8> {
    format!("{n} {}", "x".repeat(n % 7 * 100)).into_bytes()
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[tokio::test]
async fn f106_only_deltas_after_the_last_sync_are_lost_and_readers_who_saw_them_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (mut losses, mut resets) = (0, 0);
    for round in 0..40_u64 {
        let mut chance = Chance::new(round);
        let path = folder.path().join(format!("{round}.db"));
        let journal = SqliteJournal::open(&path, &opening(1)).unwrap();
        journal.create(NewSession::new(key(), "/", Timestamp::UNIX_EPOCH)).await.unwrap();
        let fence = journal.claim(&key()).await.unwrap();
        let log = beside(&path, "-wal");
        let (mut synced, mut synced_bytes) = (0, std::fs::metadata(&log).unwrap().len());
        let mut seen: Vec<Cursor> = Vec::new();
        for n in 1..=30 {
            let class = if chance.below(6) == 0 { Class::Durable } else { Class::Delta };
            let draft = EventDraft::new(class, Timestamp::UNIX_EPOCH, Kind::new("said").unwrap(), body(n));
            seen.push(journal.append(&key(), fence, vec![draft]).await.unwrap()[0].cursor);
            if class == Class::Durable {
                (synced, synced_bytes) = (n, std::fs::metadata(&log).unwrap().len());
            }
        }
        // The power fails. Unsynced data may survive in part.
        let image = folder.path().join(format!("{round}-after.db"));
        std::fs::copy(&path, &image).unwrap();
        let bytes = std::fs::read(&log).unwrap();
        let unsynced = bytes.len() as u64 - synced_bytes;
        let kept = usize::try_from(synced_bytes + chance.below(unsynced + 1)).unwrap();
        std::fs::write(beside(&image, "-wal"), &bytes[..kept]).unwrap();
        let pieces = std::fs::read(beside(&path, "-pieces")).unwrap();
        let kept = usize::try_from(chance.below(pieces.len() as u64 + 1)).unwrap();
        std::fs::write(beside(&image, "-pieces"), &pieces[..kept]).unwrap();

        let journal = SqliteJournal::open(&image, &opening(2)).unwrap();
        let page = journal.read(&key(), None, Max::default()).await.unwrap();
        let survived = page.events.len();
        assert!(survived >= synced, "round {round}: {survived} survived and {synced} were synced");
        assert!(page.events.iter().zip(1..).all(|(event, n)| *event.body == *body(n)), "round {round}");
        assert_ne!(page.head.epoch, seen[0].epoch);
        losses += 30 - survived;
        // New events get the numbers of the lost ones; readers must not take one for the other.
        let fence = journal.claim(&key()).await.unwrap();
        let other =
            EventDraft::new(Class::Durable, Timestamp::UNIX_EPOCH, Kind::new("said").unwrap(), *b"other");
        journal.append(&key(), fence, vec![other.clone(), other]).await.unwrap();
        for (cursor, n) in seen.iter().zip(1..) {
            let page = journal.read(&key(), Some(*cursor), Max::default()).await.unwrap();
            let (verdict, first) =
                if n <= survived { (CursorVerdict::Ok, n + 1) } else { (CursorVerdict::Reset, 1) };
            resets += usize::from(verdict == CursorVerdict::Reset);
            assert_eq!(
                (page.verdict, page.events[0].cursor.seq),
                (verdict, first as u64),
                "round {round}, {n}"
            );
        }
    }
    assert!(losses > 20 && resets > 20, "{losses} losses and {resets} resets show nothing");
}
