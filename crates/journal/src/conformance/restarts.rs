//! Checks of restarts: after a stop, a kill and the loss of the machine.

use super::{Stage, at, client, delta, durable};
use crate::{Cursor, CursorVerdict, ErrorKind, Max, Novelty};

pub(super) async fn f103_everything_is_there_after_a_restart(mut stage: Stage<'_>) {
    let session = stage.session("a").await;
    stage.fill(&session, 1..=5).await;
    let hello = || durable("hello", 6).with_client_id(client("c1"));
    stage.journal.append(&session.0, session.1, vec![hello()]).await.unwrap();
    let (row, bodies) = (stage.row(&session.0).await, stage.bodies(&session.0).await);
    stage.kill_and_open("boot-1", 2);
    assert_eq!((stage.row(&session.0).await, stage.bodies(&session.0).await), (row, bodies));
    let again = stage.journal.append(&session.0, session.1, vec![hello()]).await.unwrap()[0];
    assert_eq!((again.cursor.seq, again.novelty), (6, Novelty::Seen));
    let next = stage.journal.append(&session.0, session.1, vec![delta("7", 7)]).await.unwrap()[0];
    assert_eq!(next.cursor.seq, 7);
}

pub(super) async fn a_kill_keeps_the_epoch_and_a_lost_machine_does_not(mut stage: Stage<'_>) {
    let session = stage.session("a").await;
    stage.fill(&session, 1..=5).await;
    let head = stage.row(&session.0).await.head;
    stage.kill_and_open("boot-1", 2);
    assert_eq!(stage.row(&session.0).await.head, head, "a kill loses nothing");
    stage.journal.close().await.unwrap();
    stage.kill_and_open("boot-2", 3);
    assert_eq!(stage.row(&session.0).await.head, head, "a clean stop loses nothing");
    stage.kill_and_open("boot-3", 4);
    let after = stage.row(&session.0).await.head;
    assert_eq!(after.seq, head.seq);
    assert_ne!(after.epoch, head.epoch, "a machine that went down may have lost something");
    let (other, _) = stage.session("b").await;
    assert_ne!(stage.row(&other).await.head.epoch, after.epoch);
}

pub(super) async fn an_earlier_epoch_is_good_as_far_as_it_got(mut stage: Stage<'_>) {
    let session = stage.session("a").await;
    stage.fill(&session, 1..=5).await;
    let first = stage.row(&session.0).await.head.epoch;
    stage.kill_and_open("boot-2", 2);
    stage.fill(&session, 6..=8).await;
    let second = stage.row(&session.0).await.head.epoch;
    stage.kill_and_open("boot-3", 3);
    stage.fill(&session, 9..=9).await;
    let cases = [
        (first, 5, CursorVerdict::Ok, 4),
        (first, 2, CursorVerdict::Ok, 7),
        (first, 6, CursorVerdict::Reset, 9),
        (second, 8, CursorVerdict::Ok, 1),
        (second, 9, CursorVerdict::Reset, 9),
    ];
    for (epoch, seq, verdict, count) in cases {
        let after = Some(Cursor::new(epoch, seq));
        let page = stage.journal.read(&session.0, after, Max::default()).await.unwrap();
        assert_eq!((page.verdict, page.events.len()), (verdict, count), "{after:?}");
        assert!(page.events.iter().all(|event| event.cursor.epoch == page.head.epoch));
    }
    for lost in 4..=20 {
        stage.kill_and_open(&format!("boot-{lost}"), lost);
    }
    let forgotten = Some(Cursor::new(first, 5));
    let page = stage.journal.read(&session.0, forgotten, Max::default()).await.unwrap();
    assert_eq!(page.verdict, CursorVerdict::Reset);
}

pub(super) async fn a_closed_journal_refuses_and_a_claim_outlives_it(mut stage: Stage<'_>) {
    let (key, fence) = stage.session("a").await;
    stage.journal.close().await.unwrap();
    let refused = stage.journal.append(&key, fence, vec![delta("1", 1)]).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Closed);
    let refused = stage.journal.read(&key, None, Max::default()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Closed);
    assert_eq!(stage.journal.close().await.unwrap_err().kind(), ErrorKind::Closed);
    stage.kill_and_open("boot-1", 2);
    stage.journal.append(&key, fence, vec![delta("1", 1)]).await.unwrap();
    stage.journal.claim(&key).await.unwrap();
    stage.kill_and_open("boot-1", 3);
    let refused = stage.journal.append(&key, fence, vec![delta("2", 2)]).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Fenced);
    assert_eq!(stage.row(&key).await.active, at(1));
}
