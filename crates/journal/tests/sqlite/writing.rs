//! Writing to a journal: many writers, a full disk, deltas, and room that is given back.

use std::path::{Path, PathBuf};

use futures_util::FutureExt as _;
use jiff::Timestamp;
use rusqlite::Connection;
use tidings_journal::{
    Class, CursorVerdict, ErrorKind, Journal, Keep, Key, Max, NewSession, Rest, SessionName, SqliteJournal,
};

use super::{draft, filled, key, opening, session};

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
    assert_eq!((page.verdict, page.events.len()), (CursorVerdict::Ok, 0));
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
