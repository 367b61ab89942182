//! Checks of events: numbers, fences, pages, cursors and bytes.

use std::sync::{Arc, Mutex};

use super::{Stage, at, client, delta, durable, kind};
use crate::limits::BODY_BYTES_MAX;
use crate::{Class, Commit, Cursor, CursorVerdict, ErrorKind, EventDraft, Max, Novelty};

pub(super) async fn numbers_are_dense_and_start_at_one(stage: Stage<'_>) {
    let (key, fence) = stage.session("a").await;
    let other = stage.session("b").await;
    let mut numbers = Vec::new();
    for n in 0..10_u64 {
        let drafts = vec![delta("x", n), durable("y", n)];
        let stored = stage.journal.append(&key, fence, drafts).await.unwrap();
        assert!(stored.iter().all(|stored| stored.novelty == Novelty::New));
        numbers.extend(stored.iter().map(|stored| stored.cursor.seq));
        stage.fill(&other, n..=n).await;
    }
    assert_eq!(numbers, (1..=20).collect::<Vec<u64>>());
    let page = stage.journal.read(&key, None, Max::default()).await.unwrap();
    assert_eq!((page.verdict, page.floor, page.head.seq), (CursorVerdict::Ok, 1, 20));
    assert_eq!(page.events.iter().map(|event| event.cursor.seq).collect::<Vec<_>>(), numbers);
    assert!(page.events.iter().all(|event| event.cursor.epoch == page.head.epoch));
    assert_eq!(stage.journal.append(&key, fence, Vec::new()).await.unwrap(), []);
}

pub(super) async fn f95_a_client_id_appends_once(stage: Stage<'_>) {
    let (key, fence) = stage.session("a").await;
    let hello = || durable("hello", 1).with_client_id(client("c1"));
    let first = stage.journal.append(&key, fence, vec![hello()]).await.unwrap()[0];
    stage.fill(&(key.clone(), fence), 2..=3).await;
    let again = stage.journal.append(&key, fence, vec![delta("x", 4), hello(), hello()]).await.unwrap();
    assert_eq!(again[0].novelty, Novelty::New);
    for seen in &again[1..] {
        assert_eq!((seen.cursor, seen.novelty), (first.cursor, Novelty::Seen));
    }
    let twice = vec![hello().with_client_id(client("c2")), hello().with_client_id(client("c2"))];
    let twice = stage.journal.append(&key, fence, twice).await.unwrap();
    assert_eq!((twice[0].novelty, twice[1].novelty), (Novelty::New, Novelty::Seen));
    assert_eq!(stage.bodies(&key).await, ["hello", "2", "3", "x", "hello"]);
    // The id of a command belongs to its session.
    let (other, fence) = stage.session("b").await;
    assert_eq!(stage.journal.append(&other, fence, vec![hello()]).await.unwrap()[0].novelty, Novelty::New);
}

pub(super) async fn f111_an_old_fence_is_refused(stage: Stage<'_>) {
    let (key, old) = stage.session("a").await;
    stage.journal.append(&key, old, vec![delta("1", 1)]).await.unwrap();
    let new = stage.journal.claim(&key).await.unwrap();
    let refused = stage.journal.append(&key, old, vec![delta("2", 2)]).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Fenced);
    stage.journal.append(&key, new, vec![delta("3", 3)]).await.unwrap();
    assert_eq!(stage.bodies(&key).await, ["1", "3"]);
    let unknown = stage.journal.append(&super::key("unknown"), new, vec![delta("4", 4)]).await.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
}

pub(super) async fn pages_keep_their_bounds(stage: Stage<'_>) {
    let session = stage.session("a").await;
    let drafts = (0..10).map(|n| delta(&"x".repeat(100), n)).collect();
    stage.journal.append(&session.0, session.1, drafts).await.unwrap();
    let cases = [
        (Max { events: 3, bytes: 10_000 }, 3),
        (Max { events: 100, bytes: 250 }, 2),
        (Max { events: 100, bytes: 200 }, 2),
        (Max { events: 100, bytes: 1 }, 1),
        (Max { events: 0, bytes: 0 }, 1),
    ];
    for (max, expected) in cases {
        let page = stage.journal.read(&session.0, None, max).await.unwrap();
        assert_eq!((page.events.len(), page.head.seq), (expected, 10), "{max:?}");
        let page = stage.journal.history(&session.0, None, max).await.unwrap();
        assert_eq!(page.events.len(), expected, "{max:?}");
    }
    let mut cursor = None;
    let mut read = Vec::new();
    loop {
        let page = stage.journal.read(&session.0, cursor, Max::events(3)).await.unwrap();
        assert_eq!(page.verdict, CursorVerdict::Ok);
        let Some(last) = page.events.last() else { break };
        cursor = Some(last.cursor);
        read.extend(page.events.iter().map(|event| event.cursor.seq));
    }
    assert_eq!(read, (1..=10).collect::<Vec<u64>>());
}

pub(super) async fn f99_a_cursor_of_another_session_is_reset(stage: Stage<'_>) {
    let (a, b) = (stage.session("a").await, stage.session("b").await);
    stage.fill(&a, 1..=5).await;
    stage.fill(&b, 1..=5).await;
    let foreign = stage.row(&a.0).await.head;
    let page = stage.journal.read(&b.0, Some(foreign), Max::default()).await.unwrap();
    assert_eq!((page.verdict, page.events.len()), (CursorVerdict::Reset, 5));
}

pub(super) async fn a_cursor_from_the_future_is_reset(stage: Stage<'_>) {
    let session = stage.session("a").await;
    stage.fill(&session, 1..=5).await;
    let head = stage.row(&session.0).await.head;
    for (seq, verdict, events) in
        [(5, CursorVerdict::Ok, 0), (6, CursorVerdict::Reset, 5), (0, CursorVerdict::Ok, 5)]
    {
        let after = Some(Cursor::new(head.epoch, seq));
        let page = stage.journal.read(&session.0, after, Max::default()).await.unwrap();
        assert_eq!((page.verdict, page.events.len()), (verdict, events), "{seq}");
    }
}

pub(super) async fn f114_bodies_come_back_byte_for_byte(stage: Stage<'_>) {
    let (key, fence) = stage.session("a").await;
    let bodies: Vec<Vec<u8>> = vec![
        Vec::new(),
        vec![0],
        b"{\"text\":\"\\ud83c and \\u0000\"}".to_vec(),
        (0..=255).collect(),
        vec![0xff; 300_000],
    ];
    let draft = |body: &Vec<u8>| EventDraft {
        host_offset: Some(body.len() as u64),
        ..EventDraft::new(Class::Durable, at(1), kind("a/b c"), body.clone())
    };
    let drafts = bodies.iter().map(draft).collect();
    stage.journal.append(&key, fence, drafts).await.unwrap();
    let page = stage.journal.read(&key, None, Max::default()).await.unwrap();
    assert_eq!(page.events.iter().map(|event| event.body.to_vec()).collect::<Vec<_>>(), bodies);
    assert!(page.events.iter().all(|event| event.kind == kind("a/b c") && event.at == at(1)));
    let row = stage.row(&key).await;
    assert_eq!((row.host_offset, row.active), (Some(300_000), at(1)));
}

pub(super) async fn history_goes_back_from_the_head(stage: Stage<'_>) {
    let session = stage.session("a").await;
    stage.fill(&session, 1..=10).await;
    for (before, expected) in [(None, 8..=10), (Some(8), 5..=7), (Some(3), 1..=2), (Some(99), 8..=10)] {
        let page = stage.journal.history(&session.0, before, Max::events(3)).await.unwrap();
        let numbers: Vec<u64> = page.events.iter().map(|event| event.cursor.seq).collect();
        assert_eq!(numbers, expected.collect::<Vec<_>>(), "{before:?}");
    }
    let page = stage.journal.history(&session.0, Some(1), Max::events(3)).await.unwrap();
    assert_eq!(page.events, []);
}

pub(super) async fn commits_are_published_in_order(stage: Stage<'_>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&seen);
    stage.journal.publisher().observe(move |commit| {
        if let Commit::Events(key, events) = commit {
            let seen = events.iter().map(|event| (key.clone(), event.cursor.seq));
            record.lock().unwrap().extend(seen);
        }
    });
    let (key, fence) = stage.session("a").await;
    for n in 1..=5_u64 {
        let id = client(&n.to_string());
        let twice = vec![delta("x", n).with_client_id(id.clone()), delta("x", n).with_client_id(id)];
        stage.journal.append(&key, fence, twice).await.unwrap();
        // They are published before the append returns.
        assert_eq!(seen.lock().unwrap().len() as u64, n);
    }
    let expected: Vec<_> = (1..=5).map(|seq| (key.clone(), seq)).collect();
    assert_eq!(*seen.lock().unwrap(), expected);
}

pub(super) async fn an_append_that_is_too_large_is_refused_as_a_whole(stage: Stage<'_>) {
    let (key, fence) = stage.session("a").await;
    let large = EventDraft::new(Class::Durable, at(2), kind("x"), vec![0; BODY_BYTES_MAX + 1]);
    let refused = stage.journal.append(&key, fence, vec![delta("1", 1), large]).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TooLarge);
    assert_eq!(stage.row(&key).await.head.seq, 0);
}
