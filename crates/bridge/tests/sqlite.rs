//! The journal's file: its permissions, its lock, and damage to it.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use crate::chance;

use std::path::{Path, PathBuf};

use chance::Chance;
use futures_util::FutureExt as _;
use jiff::Timestamp;
use rusqlite::Connection;
use tidings_bridge::journal::{
    AUDIT_START, AuditDraft, AuditKey, Class, Cursor, DocumentChange, Draft, Epoch, ErrorKind, Fence,
    Journal, Keep, Key, Kind, Max, NewSession, Opening, Rest, SessionName, SqliteJournal, Verdict,
    verify_sealed_audit,
};

fn key() -> Key {
    Key::new("session").unwrap()
}

fn opening(boot: u64) -> Opening {
    Opening { boot_id: format!("boot-{boot}"), fresh_epoch: Epoch::from_random(boot) }
}

fn draft(class: Class, body: impl Into<Vec<u8>>) -> Draft {
    Draft::new(class, Timestamp::UNIX_EPOCH, Kind::new("said").unwrap(), body.into())
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

#[cfg(unix)]
#[tokio::test]
async fn t3_only_the_owner_may_read_the_journal() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("new/data");
    let _journal = filled(&data.join("journal.db"), 3).await;
    SqliteJournal::backup(&data.join("journal.db"), &data.join("backup.db"), |_, _| {}).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    let files: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

/// A caller that does not poll its read must not block other readers: a socket with many subscriptions does
/// that.
#[tokio::test(flavor = "multi_thread")]
async fn callers_that_do_not_poll_their_reads_block_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let journal = filled(&folder.path().join("journal.db"), 3).await;
    let mut asked: Vec<_> = (0..32).map(|_| journal.read(&key(), None, Max::default())).collect();
    for call in &mut asked {
        drop(call.now_or_never());
    }
    let read = journal.read(&key(), None, Max::default());
    let page = tokio::time::timeout(std::time::Duration::from_secs(30), read).await.unwrap().unwrap();
    assert_eq!(page.events.len(), 3);
    drop(asked);
}

#[tokio::test]
async fn f111_a_second_process_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let first = filled(&path, 1).await;
    let second = SqliteJournal::open(&path, &opening(1)).unwrap_err();
    assert_eq!(second.kind(), ErrorKind::Locked);
    assert!(!second.hint().is_empty());
    drop(first);
    SqliteJournal::open(&path, &opening(1)).unwrap();
}

/// A closed journal may still be held for a while, for example by a task that has not noticed.
#[tokio::test(flavor = "multi_thread")]
async fn f111_a_journal_that_is_closed_is_opened_again_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut closed = vec![filled(&path, 1).await];
    for round in 0..100 {
        closed.last().unwrap().close().await.unwrap();
        let next = SqliteJournal::open(&path, &opening(1));
        closed.push(next.unwrap_or_else(|error| panic!("round {round}: {error}")));
    }
}

#[tokio::test]
async fn f113_a_newer_journal_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    drop(filled(&path, 1).await);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = std::fs::read(&path).unwrap();
    let refused = SqliteJournal::open(&path, &opening(1)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Newer);
    assert!(refused.to_string().contains("99"), "{refused}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// Version 2 is the last one before the inbox. The files of a running server are upgraded when the next one
/// opens them, and nothing in them is lost.
#[tokio::test]
async fn a_journal_of_the_version_before_the_inbox_is_upgraded_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    drop(filled(&path, 3).await);
    let version =
        |conn: &Connection| conn.pragma_query_value(None, "user_version", |row| row.get::<_, i32>(0));
    let former = Connection::open(&path).unwrap();
    assert_eq!(version(&former).unwrap(), 4, "a newer version needs a line in this test");
    let undo = "ALTER TABLE sessions DROP COLUMN node; DROP TABLE documents; PRAGMA user_version = 2;";
    former.execute_batch(undo).unwrap();
    drop(former);
    let journal = SqliteJournal::open(&path, &opening(1)).unwrap();
    let page = journal.read(&key(), None, Max::default()).await.unwrap();
    let bodies: Vec<_> = page.events.iter().map(|event| event.body.to_vec()).collect();
    assert_eq!(bodies, [b"event 1".to_vec(), b"event 2".to_vec(), b"event 3".to_vec()]);
    assert_eq!(journal.documents("inbox").await.unwrap(), []);
    let put = DocumentChange { kind: "inbox", id: "1".to_owned(), body: Some(b"new".as_slice().into()) };
    journal.change_documents(vec![put]).await.unwrap();
    drop(journal);
    let journal = SqliteJournal::open(&path, &opening(1)).unwrap();
    assert_eq!(journal.documents("inbox").await.unwrap().len(), 1);
    drop(journal);
    assert_eq!(version(&Connection::open(&path).unwrap()).unwrap(), 4);
}

#[test]
fn a_file_that_is_no_journal_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "these are my notes, and not a database\n".repeat(40)).unwrap();
    assert_eq!(SqliteJournal::open(&text, &opening(1)).unwrap_err().kind(), ErrorKind::Damaged);
    assert!(std::fs::read_to_string(&text).unwrap().starts_with("these are my notes"));
    let other = folder.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE mine (x)").unwrap();
    assert_eq!(SqliteJournal::open(&other, &opening(1)).unwrap_err().kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn f109_a_flipped_bit_is_found_and_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journal = filled(&path, 200).await;
    journal.close().await.unwrap();
    drop(journal);
    let bytes = std::fs::read(&path).unwrap();
    let (mut chance, mut found) = (Chance(7), 0);
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

#[tokio::test]
async fn a_backup_of_a_running_journal_is_whole_and_begins_an_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("journal.db"), folder.path().join("backup.db"));
    let journal = filled(&path, 100).await;
    let fence = journal.claim(&key()).await.unwrap();
    let writes = async {
        for n in 101..=200 {
            journal.append(&key(), fence, vec![draft(Class::Delta, format!("event {n}"))]).await.unwrap();
        }
    };
    let (from, to) = (path.clone(), copy.clone());
    let backup = tokio::task::spawn_blocking(move || SqliteJournal::backup(&from, &to, |_, _| {}));
    let (backup, ()) = tokio::join!(backup, writes);
    backup.unwrap().unwrap();
    let again = SqliteJournal::backup(&path, &copy, |_, _| {}).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Exists);
    let head = journal.read(&key(), None, Max::default()).await.unwrap().head;
    assert_eq!(head.seq, 200);

    // The same machine, which never went down: only the copy shows that something may be missing.
    let again = Opening { fresh_epoch: Epoch::from_random(2), ..opening(1) };
    let restored = SqliteJournal::open(&copy, &again).unwrap();
    let page = restored.read(&key(), Some(head), Max::default()).await.unwrap();
    let kept = page.head.seq;
    assert!((100..=200).contains(&kept) && page.head.epoch != head.epoch);
    assert_eq!(page.verdict, if kept == 200 { Verdict::Ok } else { Verdict::Reset });
    let earlier = Cursor::new(head.epoch, 50);
    let page = restored.read(&key(), Some(earlier), Max::default()).await.unwrap();
    assert_eq!((page.verdict, page.events[0].cursor.seq), (Verdict::Ok, 51));
}

/// Acknowledged events are in a copy, also if they are still in the delta log.
#[tokio::test]
async fn a_backup_has_the_deltas_that_are_not_in_the_tables_yet() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("journal.db"), folder.path().join("backup.db"));
    let journal = filled(&path, 10).await;
    let fence = journal.claim(&key()).await.unwrap();
    for n in 11..=15 {
        journal.append(&key(), fence, vec![draft(Class::Delta, format!("event {n}"))]).await.unwrap();
    }
    let mut progress = Vec::new();
    SqliteJournal::backup(&path, &copy, |done, total| progress.push((done, total))).unwrap();
    assert!(progress.last().is_some_and(|(done, total)| done == total && *total > 0), "{progress:?}");
    let restored = SqliteJournal::open(&copy, &opening(1)).unwrap();
    let page = restored.read(&key(), None, Max::default()).await.unwrap();
    assert_eq!((page.head.seq, &*page.events[14].body), (15, &b"event 15"[..]));
}

/// Ways to put a copy in the place of a journal.
#[derive(Debug, Clone, Copy)]
enum PutBack {
    /// `sqlite3 .backup` of a running journal; all files of the journal are removed before it is restored.
    Removed,
    /// The same, written over the closed journal.
    WrittenOver,
    /// The folder of a stopped server, written over the later one with the times of its files.
    FolderWrittenOver,
    /// The same into an empty folder.
    FolderMoved,
}

/// A copy has the same boot id and even a clean stop, and still lacks events that readers have seen.
#[tokio::test]
async fn a_restored_copy_begins_an_epoch_however_it_was_made() {
    for way in [PutBack::Removed, PutBack::WrittenOver, PutBack::FolderWrittenOver, PutBack::FolderMoved] {
        let folder = tempfile::tempdir().unwrap();
        let (data, aside) = (folder.path().join("data"), folder.path().join("aside"));
        std::fs::create_dir_all(&aside).unwrap();
        let path = data.join("journal.db");
        let mut journal = filled(&path, 12).await;
        let at_12 = journal.read(&key(), None, Max::default()).await.unwrap().head;
        match way {
            PutBack::Removed | PutBack::WrittenOver => {
                let (from, mut to) =
                    (Connection::open(&path).unwrap(), Connection::open(aside.join("journal.db")).unwrap());
                let copying = rusqlite::backup::Backup::new(&from, &mut to).unwrap();
                copying.step(-1).unwrap();
            }
            PutBack::FolderWrittenOver | PutBack::FolderMoved => {
                journal.close().await.unwrap();
                drop(journal);
                copy_folder(&data, &aside);
                journal = SqliteJournal::open(&path, &opening(1)).unwrap();
                let head = journal.read(&key(), None, Max::default()).await.unwrap().head;
                assert_eq!(head, at_12, "{way:?}: nothing was put back yet");
            }
        }
        let fence = journal.claim(&key()).await.unwrap();
        let more = (13..=23).map(|n| draft(Class::Durable, format!("event {n}"))).collect();
        let at_23 = journal.append(&key(), fence, more).await.unwrap()[10].cursor;
        journal.close().await.unwrap();
        drop(journal);
        if matches!(way, PutBack::Removed | PutBack::FolderMoved) {
            std::fs::remove_dir_all(&data).unwrap();
            std::fs::create_dir(&data).unwrap();
        }
        copy_folder(&aside, &data);

        let again = Opening { fresh_epoch: Epoch::from_random(2), ..opening(1) };
        let restored = SqliteJournal::open(&path, &again).unwrap();
        let fence = restored.claim(&key()).await.unwrap();
        let other = (13..=24).map(|n| draft(Class::Durable, format!("another {n}"))).collect();
        restored.append(&key(), fence, other).await.unwrap();
        let page = restored.read(&key(), Some(at_23), Max::default()).await.unwrap();
        assert_eq!((page.verdict, page.events.len()), (Verdict::Reset, 24), "{way:?}");
        let page = restored.read(&key(), Some(at_12), Max::default()).await.unwrap();
        assert_eq!((page.verdict, page.events[0].cursor.seq), (Verdict::Ok, 13), "{way:?}");
    }
}

/// Copies files with the time of their contents, into those that are there.
fn copy_folder(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        let copy = to.join(name);
        std::fs::copy(&path, &copy).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&copy).unwrap();
        file.set_modified(std::fs::metadata(&path).unwrap().modified().unwrap()).unwrap();
    }
}

#[tokio::test]
async fn f107_a_full_journal_refuses_and_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journal = SqliteJournal::open_bounded(&path, &opening(1), 1 << 20).unwrap();
    let fence = session(&journal).await;
    let mut stored = 0;
    let full = loop {
        match journal.append(&key(), fence, vec![draft(Class::Durable, vec![b'x'; 10_000])]).await {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind(), ErrorKind::Full);
    assert!(full.is_retryable() && !full.hint().is_empty());
    let page = journal.history(&key(), None, Max::events(1)).await.unwrap();
    assert_eq!(page.head.seq, stored, "what was acknowledged is there, and nothing else");
    let keep = Keep { events: Some(10), ..Keep::default() };
    let retained = journal.retain(&key(), keep, Timestamp::UNIX_EPOCH).await.unwrap();
    assert_eq!(retained.rest, Rest::Done);
    let next = journal.append(&key(), fence, vec![draft(Class::Durable, vec![b'x'; 10_000])]).await.unwrap();
    assert_eq!(next[0].cursor.seq, stored + 1);
}

/// Acknowledged deltas keep their numbers, also while the tables have no room for them.
#[tokio::test]
async fn k8_a_full_journal_shows_pieces_that_it_acknowledged_and_lets_room_be_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journal = SqliteJournal::open_bounded(&path, &opening(1), 1 << 20).unwrap();
    let fence = session(&journal).await;
    let mut stored = 0_u64;
    let full = loop {
        match journal
            .append(&key(), fence, vec![draft(Class::Delta, format!("{stored} {}", "x".repeat(2000)))])
            .await
        {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind(), ErrorKind::Full);
    assert!(stored > 300, "{stored} pieces fit");
    // K8: acknowledged events are readable, although the tables have no room for them.
    assert!(journal.is_full() && journal.check_room().await.unwrap());
    let page = journal.history(&key(), None, Max::events(1)).await.unwrap();
    assert_eq!(page.head.seq, stored);
    assert!(page.events[0].body.starts_with(format!("{} ", stored - 1).as_bytes()));
    let page = journal.read(&key(), Some(page.head), Max::events(1)).await.unwrap();
    assert_eq!((page.verdict, page.events.len()), (Verdict::Ok, 0));
    let keep = Keep { events: Some(10), ..Keep::default() };
    while journal.retain(&key(), keep, Timestamp::UNIX_EPOCH).await.unwrap().rest == Rest::More {}
    let next = journal.append(&key(), fence, vec![draft(Class::Delta, "next")]).await.unwrap();
    assert_eq!(next[0].cursor.seq, stored + 1);
    assert!(!journal.check_room().await.unwrap() && !journal.is_full(), "there is room again");
    let page = journal.history(&key(), None, Max::events(2)).await.unwrap();
    let bodies: Vec<String> =
        page.events.iter().map(|event| String::from_utf8_lossy(&event.body).into_owned()).collect();
    assert!(bodies[0].starts_with(&format!("{} ", stored - 1)) && bodies[1] == "next", "{bodies:?}");
}

/// Acknowledged deltas exist for the next process, although they are in no table yet; and they exist once.
#[tokio::test]
async fn promise_4_pieces_in_the_log_are_put_in_by_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journal = filled(&path, 5).await;
    let fence = journal.claim(&key()).await.unwrap();
    for n in 6..=9 {
        let mut piece = draft(Class::Delta, format!("{n}"));
        piece.host_offset = Some(n * 100);
        assert_eq!(journal.append(&key(), fence, vec![piece]).await.unwrap()[0].cursor.seq, n);
    }
    // The files as a kill at this moment would leave them.
    let copy = |to: &str| {
        let image = folder.path().join(to);
        for suffix in ["", "-wal", "-pieces"] {
            let name = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
            std::fs::copy(name(&path), name(&image)).unwrap();
        }
        image
    };
    let before = copy("before.db");
    // A reader has them moved into the tables; then they are in both.
    assert_eq!(journal.read(&key(), None, Max::default()).await.unwrap().head.seq, 9);
    let after = copy("after.db");
    for image in [before, after] {
        let journal = SqliteJournal::open(&image, &opening(1)).unwrap();
        let page = journal.read(&key(), None, Max::default()).await.unwrap();
        assert_eq!(
            page.events.iter().map(|event| event.cursor.seq).collect::<Vec<_>>(),
            (1..=9).collect::<Vec<_>>()
        );
        assert_eq!(&*page.events[8].body, b"9");
        assert_eq!(journal.session(&SessionName::Key(key())).await.unwrap().host_offset, Some(900));
        let fence = journal.claim(&key()).await.unwrap();
        let next = journal.append(&key(), fence, vec![draft(Class::Delta, "10")]).await.unwrap();
        assert_eq!(next[0].cursor.seq, 10);
    }
}

/// A session that was taken over or deleted takes no delta, whatever is pending.
#[tokio::test]
async fn deltas_are_refused_as_everything_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let journal = filled(&folder.path().join("journal.db"), 1).await;
    let fence = journal.claim(&key()).await.unwrap();
    let piece = || vec![draft(Class::Delta, "piece")];
    journal.append(&key(), fence, piece()).await.unwrap();
    let newer = journal.claim(&key()).await.unwrap();
    assert_eq!(journal.append(&key(), fence, piece()).await.unwrap_err().kind(), ErrorKind::Fenced);
    journal.append(&key(), newer, piece()).await.unwrap();
    assert_eq!(journal.append(&key(), fence, piece()).await.unwrap_err().kind(), ErrorKind::Fenced);
    journal.delete(&key()).await.unwrap();
    assert_eq!(journal.append(&key(), newer, piece()).await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn many_writers_at_once_share_commits_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let journal =
        std::sync::Arc::new(SqliteJournal::open(folder.path().join("journal.db"), &opening(1)).unwrap());
    let mut sessions = tokio::task::JoinSet::new();
    for n in 0..50 {
        let journal = std::sync::Arc::clone(&journal);
        sessions.spawn(async move {
            let key = Key::new(format!("session-{n}")).unwrap();
            journal.create(NewSession::new(key.clone(), "/", Timestamp::UNIX_EPOCH)).await.unwrap();
            let fence = journal.claim(&key).await.unwrap();
            for seq in 1..=20 {
                let class = if seq % 10 == 0 { Class::Durable } else { Class::Delta };
                // A refused call does not disturb those that are committed with it.
                let stale = journal.claim(&Key::new("unknown").unwrap());
                let (stored, refused) =
                    tokio::join!(journal.append(&key, fence, vec![draft(class, format!("{seq}"))]), stale);
                assert_eq!(stored.unwrap()[0].cursor.seq, seq);
                assert_eq!(refused.unwrap_err().kind(), ErrorKind::NotFound);
            }
            journal.read(&key, None, Max::default()).await.unwrap().events.len()
        });
    }
    assert_eq!(sessions.join_all().await, vec![20; 50]);
}

#[tokio::test]
async fn what_retention_and_deletion_remove_is_given_back_to_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journal = SqliteJournal::open(&path, &opening(1)).unwrap();
    let fence = session(&journal).await;
    for _ in 0..30 {
        let drafts = (0..10).map(|_| draft(Class::Delta, vec![b'x'; 10_000])).collect();
        journal.append(&key(), fence, drafts).await.unwrap();
    }
    // Some are removed by retention, the rest with the session.
    let keep = Keep { events: Some(200), ..Keep::default() };
    journal.retain(&key(), keep, Timestamp::UNIX_EPOCH).await.unwrap();
    journal.delete(&key()).await.unwrap();
    // The events are removed step by step, while no call waits.
    let reader = Connection::open(&path).unwrap();
    let left = || reader.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, i64>(0)).unwrap();
    while left() > 0 {
        tokio::task::yield_now().await;
    }
    let free = || reader.pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0)).unwrap();
    while free() > 0 {
        tokio::task::yield_now().await;
    }
    drop(reader);
    journal.close().await.unwrap();
    let log = std::fs::metadata(folder.path().join("journal.db-wal")).map_or(0, |log| log.len());
    assert_eq!(log, 0, "what is closed is in its file");
    let bytes = std::fs::metadata(&path).unwrap().len();
    assert!(bytes < 200_000, "three megabytes were deleted, and {bytes} bytes are left");
}

#[cfg(unix)]
#[tokio::test]
async fn k2_a_journal_with_a_link_among_its_files_is_refused() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    std::fs::write(&other, "").unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o644)).unwrap();
    for suffix in ["", "-mark", ".lock", "-pieces", "-wal", "-shm"] {
        let path = folder.path().join(format!("data{suffix}/journal.db"));
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        symlink(&other, format!("{}{suffix}", path.display())).unwrap();
        let refused = SqliteJournal::open(&path, &opening(1)).unwrap_err();
        assert_eq!((refused.kind(), refused.hint().is_empty()), (ErrorKind::Invalid, false), "{suffix}");
    }
    assert_eq!(std::fs::read(&other).unwrap(), b"", "it was not written");
    assert_eq!(std::fs::metadata(&other).unwrap().permissions().mode() & 0o777, 0o644);
}

/// An empty journal in place of one that is gone looks as if nothing had ever happened.
#[tokio::test]
async fn k9_a_missing_empty_or_foreign_journal_beside_its_mark_is_refused_until_it_is_put_aside() {
    for way in ["missing", "empty", "no tables", "another server's"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let journal = filled(&path, 3).await;
        journal.close().await.unwrap();
        drop(journal);
        for suffix in ["", "-wal", "-shm"] {
            drop(std::fs::remove_file(format!("{}{suffix}", path.display())));
        }
        match way {
            "missing" => {}
            "empty" => std::fs::write(&path, "").unwrap(),
            "no tables" => {
                Connection::open(&path).unwrap().execute_batch("CREATE TABLE a (b); DROP TABLE a;").unwrap();
            }
            _ => {
                let other = folder.path().join("other/journal.db");
                filled(&other, 5).await.close().await.unwrap();
                std::fs::copy(other, &path).unwrap();
            }
        }
        let before = std::fs::read(&path).ok();
        for _ in 0..2 {
            let refused = SqliteJournal::open(&path, &opening(1)).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Missing, "{way}: {refused}");
            assert!(refused.hint().contains("--new-journal"), "{way}");
        }
        let aside = SqliteJournal::put_aside(&path).unwrap();
        assert_eq!(aside.is_some(), before.is_some(), "{way}");
        let journal = SqliteJournal::open(&path, &opening(1)).unwrap();
        assert_eq!(journal.sessions(None, 10).await.unwrap().len(), 0, "{way}");
        journal.close().await.unwrap();
        drop(journal);
        SqliteJournal::open(&path, &opening(1)).unwrap();
    }
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
    let line = |who: &str| AuditDraft {
        at: Timestamp::UNIX_EPOCH,
        who: who.to_owned(),
        device: None,
        session: None,
        ask: None,
        decision: "allowed".to_owned(),
        rule: None,
        scope: None,
        digest: None,
        changed: None,
        latency_ms: None,
    };
    for who in ["ada", "bob"] {
        let journal = SqliteJournal::open(&path, &opening(1)).unwrap();
        journal.audit(line(who)).await.unwrap();
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
    assert!(log.iter().all(tidings_bridge::journal::AuditEntry::is_sealed));
    assert_eq!(verify_sealed_audit((0, AUDIT_START), &log, &key).unwrap().0, 2);
    let mut changed = log;
    changed[1].who = "eve".to_owned();
    assert_eq!(verify_sealed_audit((0, AUDIT_START), &changed, &key).unwrap_err().line, 2);
}
