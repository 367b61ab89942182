//! Backups and restored copies of a journal.

use std::path::Path;

use rusqlite::Connection;
use tidings_journal::{Class, Cursor, CursorVerdict, Epoch, ErrorKind, Journal, Max, Opening, SqliteJournal};

use super::{draft, filled, key, opening};

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
    assert_eq!(page.verdict, if kept == 200 { CursorVerdict::Ok } else { CursorVerdict::Reset });
    let earlier = Cursor::new(head.epoch, 50);
    let page = restored.read(&key(), Some(earlier), Max::default()).await.unwrap();
    assert_eq!((page.verdict, page.events[0].cursor.seq), (CursorVerdict::Ok, 51));
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
        assert_eq!((page.verdict, page.events.len()), (CursorVerdict::Reset, 24), "{way:?}");
        let page = restored.read(&key(), Some(at_12), Max::default()).await.unwrap();
        assert_eq!((page.verdict, page.events[0].cursor.seq), (CursorVerdict::Ok, 13), "{way:?}");
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
