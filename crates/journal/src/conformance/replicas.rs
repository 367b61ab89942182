//! Checks of replicas: the owner's numbers, gaps and epochs.

use std::sync::{Arc, Mutex};

use super::{Stage, at, client, delta, durable, key};
use crate::{
    AskId, Class, Commit, Cursor, CursorVerdict, Epoch, ErrorKind, Event, EventDraft, Key, Max, Replica,
    ReplicaRow, StoredRequest,
};

const ONE: u64 = 0xaaaa;
const TWO: u64 = 0xbbbb;

fn cursor(epoch: u64, seq: u64) -> Cursor {
    Cursor::new(Epoch::from_random(epoch), seq)
}

fn event(draft: &EventDraft, epoch: u64, seq: u64) -> Event {
    Event::of(draft, cursor(epoch, seq))
}

/// Events whose bodies are their numbers.
fn unit(name: &str, epoch: u64, numbers: std::ops::RangeInclusive<u64>) -> Replica {
    let first = *numbers.start();
    let one =
        |seq: u64| event(&EventDraft { class: Class::Durable, ..delta(&seq.to_string(), seq) }, epoch, seq);
    Replica {
        key: key(name),
        node: "n1".to_owned(),
        epoch: Epoch::from_random(epoch),
        first,
        restart: false,
        past: Vec::new(),
        events: numbers.map(one).collect(),
        row: None,
    }
}

async fn verdict(stage: &Stage<'_>, key: &Key, after: Cursor) -> (CursorVerdict, usize) {
    let page = stage.journal.read(key, Some(after), Max::default()).await.unwrap();
    (page.verdict, page.events.len())
}

pub(super) async fn a_replica_keeps_its_numbers_and_takes_each_event_once(stage: Stage<'_>) {
    let own = stage.session("own").await;
    stage.fill(&own, 1..=3).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&seen);
    stage.journal.publisher().observe(move |commit| {
        if let Commit::Events(_, events) = commit {
            record.lock().unwrap().extend(events.iter().map(|event| event.cursor));
        }
    });
    let replicate = async |replica| stage.journal.replicate(replica).await.unwrap();
    let first = Replica { restart: true, ..unit("r", ONE, 1..=4) };
    replicate(first.clone()).await;
    let mut marked = unit("r", ONE, 3..=6);
    marked.events[3].client_id = Some(client("c1"));
    replicate(marked).await;
    // Again, and from the beginning: nothing happens twice.
    replicate(first.clone()).await;
    let row = replicate(unit("r", ONE, 5..=6)).await;
    assert_eq!((row.head, row.floor, row.node.as_deref()), (cursor(ONE, 6), 1, Some("n1")));
    assert_eq!(stage.bodies(&key("r")).await, ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(*seen.lock().unwrap(), (1..=6).map(|seq| cursor(ONE, seq)).collect::<Vec<_>>());
    assert_eq!(verdict(&stage, &key("r"), cursor(ONE, 4)).await, (CursorVerdict::Ok, 2));
    assert_eq!(stage.journal.seen(&key("r"), &client("c1")).await.unwrap(), Some(cursor(ONE, 6)));
    // Neither a session of this server nor one of another node.
    for (name, node) in [("own", "n1"), ("r", "n2")] {
        let foreign = Replica { node: node.to_owned(), ..unit(name, ONE, 4..=4) };
        assert_eq!(stage.journal.replicate(foreign).await.unwrap_err().kind(), ErrorKind::Exists);
    }
    assert_eq!(stage.bodies(&own.0).await, ["1", "2", "3"]);
    let mut wrong = unit("r", ONE, 7..=9);
    wrong.events.remove(1);
    assert_eq!(stage.journal.replicate(wrong).await.unwrap_err().kind(), ErrorKind::Invalid);
}

pub(super) async fn missing_events_are_a_gap_and_another_epoch_is_judged_as_by_its_owner(stage: Stage<'_>) {
    let restarts = Arc::new(Mutex::new(0));
    let record = Arc::clone(&restarts);
    stage.journal.publisher().observe(move |commit| {
        if let Commit::Restarted(_) = commit {
            *record.lock().unwrap() += 1;
        }
    });
    let replicate = async |replica| stage.journal.replicate(replica).await.unwrap();
    replicate(Replica { restart: true, ..unit("r", ONE, 1..=4) }).await;
    let begun = *restarts.lock().unwrap();
    let row = replicate(unit("r", ONE, 8..=9)).await;
    assert_eq!((row.head.seq, row.floor), (9, 8));
    assert_eq!(*restarts.lock().unwrap(), begun + 1, "subscribers begin again");
    assert_eq!(verdict(&stage, &key("r"), cursor(ONE, 3)).await, (CursorVerdict::Gap, 2));
    // The owner lost nothing that was published, and goes on in another epoch.
    let past = vec![(Epoch::from_random(ONE), 9)];
    replicate(Replica { past: past.clone(), ..unit("r", TWO, 10..=11) }).await;
    assert_eq!(*restarts.lock().unwrap(), begun + 2);
    assert_eq!(verdict(&stage, &key("r"), cursor(ONE, 9)).await, (CursorVerdict::Ok, 2));
    assert_eq!(verdict(&stage, &key("r"), cursor(TWO, 10)).await, (CursorVerdict::Ok, 1));
    let page = stage.journal.read(&key("r"), None, Max::default()).await.unwrap();
    assert!(page.events.iter().all(|event| event.cursor.epoch == Epoch::from_random(TWO)));
    // A unit of the epoch that is over comes again.
    replicate(unit("r", ONE, 8..=9)).await;
    assert_eq!(stage.bodies(&key("r")).await, ["8", "9", "10", "11"]);
    // The owner lost what readers have.
    let past = vec![(Epoch::from_random(TWO), 5)];
    let row = replicate(Replica { restart: true, past, ..unit("r", 0xcccc, 3..=7) }).await;
    assert_eq!((row.head, row.floor), (cursor(0xcccc, 7), 3));
    assert_eq!(verdict(&stage, &key("r"), cursor(TWO, 11)).await, (CursorVerdict::Reset, 5));
    assert_eq!(verdict(&stage, &key("r"), cursor(TWO, 5)).await, (CursorVerdict::Ok, 2));
    // Retention and deletion are those of any session.
    stage.journal.delete(&key("r")).await.unwrap();
    assert_eq!(
        stage.journal.read(&key("r"), None, Max::default()).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

pub(super) async fn the_row_and_the_asks_of_a_replica_are_those_of_its_owner(stage: Stage<'_>) {
    let ask = |id: &str, seq: u64| StoredRequest {
        session: key("r"),
        id: AskId::new(id).unwrap(),
        kind: "permission".to_owned(),
        digest: Some("d".to_owned()),
        body: Arc::from(&b"body"[..]),
        deadline: None,
        opened: cursor(ONE, seq),
        opened_at: at(seq),
    };
    let row = |title: &str, asks: Vec<StoredRequest>| ReplicaRow {
        cwd: "/there".to_owned(),
        title: Some(title.to_owned()),
        labels: [("a".to_owned(), "b".to_owned())].into(),
        settings: "{}".to_owned(),
        state: "running".to_owned(),
        cli_sessions: vec!["one".to_owned(), title.to_owned()],
        created: at(0),
        asks,
    };
    let first = Some(row("first", vec![ask("x", 1), ask("y", 2)]));
    stage.journal.replicate(Replica { row: first, ..unit("r", ONE, 1..=2) }).await.unwrap();
    let resumed = stage.journal.resume(&key("r"), None, Max::default()).await.unwrap();
    assert_eq!(resumed.pending, [ask("x", 1), ask("y", 2)]);
    assert_eq!((resumed.session.title.as_deref(), resumed.session.cwd.as_str()), (Some("first"), "/there"));
    // A change without an event.
    let empty = Replica { events: Vec::new(), ..unit("r", ONE, 3..=3) };
    let second = Replica { row: Some(row("second", vec![ask("y", 2)])), ..empty };
    let stored = stage.journal.replicate(second).await.unwrap();
    assert_eq!((stored.head.seq, stored.cli_sessions), (2, vec!["one".to_owned(), "second".to_owned()]));
    assert_eq!((stored.state.as_str(), stored.labels.len(), stored.active), ("running", 1, at(2)));
    assert_eq!(stage.journal.asks(None).await.unwrap(), [ask("y", 2)]);
    assert_eq!(stage.journal.open_ask(&key("r"), &AskId::new("x").unwrap()).await.unwrap(), None);
}

pub(super) async fn a_replica_keeps_its_epoch_when_the_machine_goes_down(mut stage: Stage<'_>) {
    let own = stage.session("own").await;
    stage.journal.append(&own.0, own.1, vec![durable("x", 1)]).await.unwrap();
    stage.journal.replicate(unit("r", ONE, 1..=3)).await.unwrap();
    let before = stage.row(&own.0).await.head;
    stage.kill_and_open("boot-2", 2);
    assert_ne!(stage.row(&own.0).await.head.epoch, before.epoch);
    assert_eq!(stage.row(&key("r")).await.head, cursor(ONE, 3));
    stage.journal.replicate(unit("r", ONE, 2..=5)).await.unwrap();
    assert_eq!(stage.bodies(&key("r")).await, ["1", "2", "3", "4", "5"]);
}
