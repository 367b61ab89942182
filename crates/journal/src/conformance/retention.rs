//! Checks of retention: bounds, the floor, and what is kept in any case.

use std::sync::Arc;

use tidings_protocol::ui::RequestOutcome;

use super::{Stage, at, client, durable};
use crate::{AskId, Cursor, CursorVerdict, Keep, Key, Max, NewRequest, Novelty, Rest, Retained, Settle};

async fn retain(stage: &Stage<'_>, key: &Key, keep: Keep) -> Retained {
    let retained = stage.journal.retain(key, keep, at(1000)).await.unwrap();
    assert_eq!(retained.rest, Rest::Done);
    retained
}

fn events(events: u64) -> Keep {
    Keep { events: Some(events), ..Keep::default() }
}

pub(super) async fn f112_what_is_removed_leaves_a_floor(stage: Stage<'_>) {
    let session = stage.session("a").await;
    let key = &session.0;
    stage.fill(&session, 1..=10).await;
    let head = stage.row(key).await.head;
    let before = stage.row(key).await.bytes;
    let retained = retain(&stage, key, events(4)).await;
    assert_eq!((retained.floor, retained.removed), (7, 6));
    assert_eq!(retain(&stage, key, events(4)).await.removed, 0);
    let row = stage.row(key).await;
    assert_eq!((row.floor, row.head), (7, head));
    assert!(row.bytes < before);
    for (seq, verdict, count) in [
        (10, CursorVerdict::Ok, 0),
        (6, CursorVerdict::Ok, 4),
        (5, CursorVerdict::Gap, 4),
        (0, CursorVerdict::Gap, 4),
    ] {
        let after = Some(Cursor::new(head.epoch, seq));
        let page = stage.journal.read(key, after, Max::default()).await.unwrap();
        assert_eq!((page.verdict, page.events.len(), page.floor), (verdict, count, 7), "{seq}");
    }
    let retained = retain(&stage, key, events(0)).await;
    assert_eq!((retained.floor, stage.row(key).await.bytes), (11, 0));
    let page = stage.journal.read(key, Some(head), Max::default()).await.unwrap();
    assert_eq!((page.verdict, page.events.len()), (CursorVerdict::Ok, 0));
    stage.fill(&session, 11..=11).await;
    assert_eq!(stage.bodies(key).await, ["11"]);
    assert_eq!(stage.row(key).await.head.seq, 11);
}

pub(super) async fn an_open_ask_is_kept(stage: Stage<'_>) {
    let session = stage.session("a").await;
    let (key, fence) = &session;
    stage.fill(&session, 1..=3).await;
    let id = AskId::new("toolu_1").unwrap();
    let ask = NewRequest {
        id: id.clone(),
        kind: "question".to_owned(),
        digest: None,
        body: Arc::from(&b"{}"[..]),
        deadline: None,
        event: durable("asked", 4),
    };
    stage.journal.ask(key, *fence, ask).await.unwrap();
    stage.fill(&session, 5..=9).await;
    assert_eq!(retain(&stage, key, events(1)).await.floor, 4);
    assert_eq!(stage.journal.asks(Some(key)).await.unwrap().len(), 1);
    let settle = Settle { outcome: RequestOutcome::TimedOut, event: durable("too late", 10), audit: None };
    stage.journal.settle(key, &id, settle).await.unwrap();
    assert_eq!(retain(&stage, key, events(1)).await.floor, 10);
}

pub(super) async fn bytes_and_age_are_bounds_too(stage: Stage<'_>) {
    let session = stage.session("a").await;
    let key = &session.0;
    stage.fill(&session, 1..=9).await;
    let row = stage.row(key).await;
    let half = Keep { bytes: Some(row.bytes / 3 * 2), ..Keep::default() };
    assert_eq!(retain(&stage, key, half).await.floor, 4);
    let since = Keep { since: Some(at(7)), ..half };
    assert_eq!(retain(&stage, key, since).await.floor, 7);
    assert_eq!(retain(&stage, key, Keep::default()).await.removed, 0);
}

pub(super) async fn the_id_of_a_command_outlives_its_event(stage: Stage<'_>) {
    let (key, fence) = stage.session("a").await;
    let hello = || durable("hello", 1).with_client_id(client("c1"));
    stage.journal.append(&key, fence, vec![hello(), durable("x", 2)]).await.unwrap();
    let day = 24 * 60 * 60;
    for (now, novelty) in [(1, Novelty::Seen), (day, Novelty::Seen), (day + 1, Novelty::New)] {
        stage.journal.retain(&key, events(0), at(now)).await.unwrap();
        let stored = stage.journal.append(&key, fence, vec![hello()]).await.unwrap()[0];
        assert_eq!(stored.novelty, novelty, "{now}");
    }
}
