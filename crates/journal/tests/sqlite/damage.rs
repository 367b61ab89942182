//! Damage to a journal that is found and never shown.

use jiff::Timestamp;
use rusqlite::Connection;
use tidings_journal::{AUDIT_START, AuditDraft, AuditKey, Journal, Max, SqliteJournal, verify_sealed_audit};
use tidings_rehearsal::Chance;

use super::{filled, key, opening};

#[tokio::test]
async fn f109_a_flipped_bit_is_found_and_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journal = filled(&path, 200).await;
    journal.close().await.unwrap();
    drop(journal);
    let bytes = std::fs::read(&path).unwrap();
    let (mut chance, mut found) = (Chance::new(7), 0);
    for round in 0..300 {
        let mut damaged = bytes.clone();
        let at = usize::try_from(chance.below(bytes.len() as u64)).unwrap();
        damaged[at] ^= 1 << chance.below(8);
        let path = folder.path().join(format!("damaged-{round}.db"));
        std::fs::write(&path, damaged).unwrap();
        let read = match SqliteJournal::open(&path, &opening(1)) {
            Ok(journal) => journal.read(&key(), None, Max::default()).await,
            Err(error) => Err(error),
        };
        match read {
            Err(_) => found += 1,
            Ok(page) => {
                // Readers see what was written, from the floor on and without a hole.
                for event in page.events {
                    let is_replaced = event.kind.as_str() == "System";
                    let expected = format!("event {}", event.cursor.seq);
                    assert!(is_replaced || *event.body == *expected.as_bytes(), "byte {at}");
                    found += u32::from(is_replaced);
                }
            }
        }
        std::fs::remove_file(&path).unwrap();
    }
    assert!(found > 20, "only {found} of 300 were found: the bits were flipped where nothing is");
}

/// A damaged event does not affect others: those of its page are readable, and the damage is counted once.
#[tokio::test]
async fn k9_one_bad_event_costs_that_event_only() {
    for damage in [
        "UPDATE events SET body = X'00' WHERE id & 0xffffff = 7",
        "UPDATE events SET seal = seal + 1 WHERE id & 0xffffff = 7",
        "UPDATE events SET class = 9 WHERE id & 0xffffff = 7",
        "UPDATE events SET at = 9223372036854775807 WHERE id & 0xffffff = 7",
        "DELETE FROM events WHERE id & 0xffffff = 7",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let journal = filled(&path, 20).await;
        journal.close().await.unwrap();
        drop(journal);
        assert_eq!(SqliteJournal::inspect(&path).unwrap(), 0, "{damage}");
        Connection::open(&path).unwrap().execute_batch(damage).unwrap();
        let journal = SqliteJournal::open(&path, &opening(1)).unwrap();
        assert_eq!(journal.damaged_events(), 0);
        let forwards = journal.read(&key(), None, Max::default()).await.unwrap().events;
        let backwards = journal.history(&key(), None, Max::default()).await.unwrap().events;
        for events in [forwards, backwards] {
            assert_eq!(events.len(), 20, "{damage}");
            for (event, n) in events.iter().zip(1..) {
                assert_eq!(event.cursor.seq, n, "{damage}");
                let text = String::from_utf8(event.body.to_vec()).unwrap();
                let expected = format!("event {n}");
                let is_right = if n == 7 { text.contains("Event 7 is damaged") } else { text == expected };
                assert!(is_right, "{damage}: {text}");
            }
        }
        let one = journal.history(&key(), Some(8), Max::events(1)).await.unwrap().events;
        assert_eq!((one.len(), one[0].cursor.seq), (1, 7), "{damage}");
        assert_eq!(journal.damaged_events(), 1, "{damage}");
        journal.close().await.unwrap();
        assert_eq!(SqliteJournal::inspect(&path).unwrap(), 1, "{damage}");
    }
}

/// The key is in a file of its own, survives restarts, and seals each line.
#[tokio::test]
async fn k12_the_audit_log_is_sealed_with_a_key_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    for who in ["ada", "bob"] {
        let journal = SqliteJournal::open(&path, &opening(1)).unwrap();
        journal.audit(AuditDraft::new(Timestamp::UNIX_EPOCH, who, "allowed")).await.unwrap();
        journal.close().await.unwrap();
    }
    let file = folder.path().join("journal.db-audit-key");
    let key = AuditKey::parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(key.from(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let journal = SqliteJournal::open(&path, &opening(1)).unwrap();
    let log = journal.audit_log(0).await.unwrap();
    assert!(log.iter().all(tidings_journal::AuditEntry::is_sealed));
    assert_eq!(verify_sealed_audit((0, AUDIT_START), &log, &key).unwrap().0, 2);
    let mut changed = log;
    changed[1].who = "eve".to_owned();
    assert_eq!(verify_sealed_audit((0, AUDIT_START), &changed, &key).unwrap_err().line, 2);
}
