//! Opening a journal: permissions, its lock, other versions, and files that are no journal.

use std::path::Path;

use rusqlite::Connection;
use tidings_journal::{DocumentChange, ErrorKind, Journal, Max, SqliteJournal};

use super::{filled, key, opening};

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
