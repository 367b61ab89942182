//! Subscriptions: nothing is lost, repeated or reordered, and a slow subscriber does not affect others.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::sync::Arc;
use std::time::Duration;

use engines::{Memory, Sqlite};
use jiff::Timestamp;
use tidings_journal::broadcast::{Broadcast, Cut, Delivery, SubscribeOptions};
use tidings_journal::conformance::Engine;
use tidings_journal::{
    Class, Cursor, CursorVerdict, Epoch, ErrorKind, EventDraft, Fence, Journal, Key, Kind, NewSession,
    Opening,
};
use tidings_rehearsal::Chance;

use crate::engines;

fn key() -> Key {
    Key::new("session").unwrap()
}

async fn broadcast(engine: &mut dyn Engine) -> (Broadcast, Fence) {
    let opening = Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(1) };
    let journal = engine.open(&opening);
    journal.create(NewSession::new(key(), "/", Timestamp::UNIX_EPOCH)).await.unwrap();
    let fence = journal.claim(&key()).await.unwrap();
    (Broadcast::new(journal), fence)
}

fn delta(body: Vec<u8>) -> EventDraft {
    EventDraft::new(Class::Delta, Timestamp::UNIX_EPOCH, Kind::new("delta").unwrap(), body)
}

async fn publish(journal: &Arc<dyn Journal>, fence: Fence, numbers: std::ops::RangeInclusive<u64>) {
    let drafts = numbers.map(|n| delta(n.to_string().into_bytes())).collect();
    journal.append(&key(), fence, drafts).await.unwrap();
}

/// Publishes 500 deltas while subscribers are cut off at random moments and resume from their cursor.
async fn cuts_during_deltas(engine: &mut dyn Engine, seed: u64) {
    const DELTAS: u64 = 500;
    let (broadcast, fence) = broadcast(engine).await;
    let mut subscribers = tokio::task::JoinSet::new();
    for number in 0..4 {
        let broadcast = broadcast.clone();
        subscribers.spawn(async move {
            let mut chance = Chance::new(seed * 100 + number);
            let (mut cursor, mut received, mut cuts) = (None::<Cursor>, Vec::new(), 0);
            while received.len() < usize::try_from(DELTAS).unwrap() {
                let mut subscribed =
                    broadcast.subscribe(&key(), SubscribeOptions::after(cursor)).await.unwrap();
                assert_eq!(subscribed.verdict, CursorVerdict::Ok);
                let until = if cuts < 100 { chance.below(12) } else { DELTAS };
                for _ in 0..until {
                    if received.len() as u64 == DELTAS {
                        break;
                    }
                    // Sometimes it is dropped while it waits for the next event, and that loses nothing
                    // either.
                    let wait =
                        Duration::from_micros(if cuts < 100 { 50 + chance.below(2000) } else { 60_000_000 });
                    let Ok(next) = tokio::time::timeout(wait, subscribed.events.next()).await else {
                        break;
                    };
                    let Delivery::Event(event) = next.unwrap() else { panic!("nothing is removed here") };
                    cursor = Some(event.cursor);
                    received.push(String::from_utf8(event.body.to_vec()).unwrap());
                }
                cuts += 1;
            }
            (received, cuts)
        });
    }
    let mut chance = Chance::new(seed);
    let mut sent = 0;
    while sent < DELTAS {
        let more = (1 + chance.below(4)).min(DELTAS - sent);
        publish(broadcast.journal(), fence, sent + 1..=sent + more).await;
        sent += more;
        tokio::time::sleep(Duration::from_micros(chance.below(800))).await;
    }
    let expected: Vec<String> = (1..=DELTAS).map(|n| n.to_string()).collect();
    while let Some(subscriber) = subscribers.join_next().await {
        let (received, cuts) = subscriber.unwrap();
        assert_eq!(received, expected, "seed {seed}");
        assert!(cuts > 30, "seed {seed}: only {cuts} cuts");
    }
    assert_eq!(broadcast.publisher().subscribed_sessions(), 0, "a session without subscribers is dropped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f92_f93_watchers_of_memory_that_are_cut_off_miss_nothing() {
    for seed in 1..=5 {
        cuts_during_deltas(&mut Memory::default(), seed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f92_f93_watchers_of_a_file_that_are_cut_off_miss_nothing() {
    for seed in 1..=3 {
        cuts_during_deltas(&mut Sqlite::new(), seed).await;
    }
}

#[tokio::test]
async fn f94_every_watcher_gets_its_own_copy() {
    let mut engine = Memory::default();
    let (broadcast, fence) = broadcast(&mut engine).await;
    publish(broadcast.journal(), fence, 1..=3).await;
    let mut subscribers = Vec::new();
    for _ in 0..3 {
        subscribers.push(broadcast.subscribe(&key(), SubscribeOptions::default()).await.unwrap().events);
    }
    publish(broadcast.journal(), fence, 4..=6).await;
    for subscriber in &mut subscribers {
        for n in 1..=6_u64 {
            let Delivery::Event(event) = subscriber.next().await.unwrap() else { panic!("it was cut off") };
            assert_eq!(event.cursor.seq, n);
        }
    }
}

#[tokio::test]
async fn f93_a_long_past_is_replayed_whole_and_the_present_follows() {
    for engine in [&mut Memory::default() as &mut dyn Engine, &mut Sqlite::new()] {
        let (broadcast, fence) = broadcast(engine).await;
        publish(broadcast.journal(), fence, 1..=1000).await;
        let subscribed = broadcast.subscribe(&key(), SubscribeOptions::default()).await.unwrap();
        assert_eq!((subscribed.from.seq, subscribed.head.seq), (0, 1000));
        let mut events = subscribed.events;
        for n in 1..=1100_u64 {
            if n == 500 {
                publish(broadcast.journal(), fence, 1001..=1100).await;
            }
            let Delivery::Event(event) = events.next().await.unwrap() else { panic!("it was cut off") };
            assert_eq!((event.cursor.seq, &*event.body), (n, n.to_string().as_bytes()));
        }
    }
}

#[tokio::test]
async fn f98_a_watcher_that_never_reads_is_cut_off_and_comes_back() {
    let mut engine = Sqlite::new();
    let (broadcast, fence) = broadcast(&mut engine).await;
    publish(broadcast.journal(), fence, 1..=3).await;
    let watch = SubscribeOptions { bytes_untaken_max: 100_000, ..SubscribeOptions::default() };
    let mut stuck = broadcast.subscribe(&key(), watch).await.unwrap().events;
    let mut reading = broadcast.subscribe(&key(), watch).await.unwrap().events;
    let Delivery::Event(first) = stuck.next().await.unwrap() else { panic!("it was cut off") };
    for n in 0..300_u64 {
        broadcast.journal().append(&key(), fence, vec![delta(vec![b'x'; 1000])]).await.unwrap();
        // A subscriber that reads, however slowly, is not cut off: it gets three events for every four that
        // are published.
        for _ in 0..u64::from(n % 4 != 0) {
            assert!(matches!(reading.next().await.unwrap(), Delivery::Event(_)));
        }
    }
    // The cut arrives while its own write is stuck …
    assert_eq!(stuck.fallen_behind().await, Cut::Resync(first.cursor));
    // … and with the next event.
    assert_eq!(stuck.next().await.unwrap(), Delivery::Cut(Cut::Resync(first.cursor)));
    let back = broadcast.subscribe(&key(), SubscribeOptions::after(Some(stuck.cursor()))).await.unwrap();
    assert_eq!((back.verdict, back.from.seq, back.head.seq), (CursorVerdict::Ok, 1, 303));
    let mut events = back.events;
    for n in 2..=303_u64 {
        let Delivery::Event(event) = events.next().await.unwrap() else { panic!("it was cut off") };
        assert_eq!(event.cursor.seq, n);
    }
}

#[tokio::test]
async fn f98_a_thousand_watchers_that_never_read_hold_nothing() {
    let mut engine = Memory::default();
    let (broadcast, fence) = broadcast(&mut engine).await;
    let mut subscribers = Vec::new();
    for _ in 0..1000 {
        subscribers.push(broadcast.subscribe(&key(), SubscribeOptions::default()).await.unwrap().events);
    }
    let body: Arc<[u8]> = vec![b'x'; 64 << 10].into();
    for _ in 0..100 {
        let mut draft = delta(Vec::new());
        draft.body = Arc::clone(&body);
        broadcast.journal().append(&key(), fence, vec![draft]).await.unwrap();
    }
    // One copy here, one in each event of the journal: no subscriber has one.
    assert_eq!(Arc::strong_count(&body), 101);
    for subscriber in &mut subscribers {
        assert!(matches!(subscriber.next().await.unwrap(), Delivery::Cut(Cut::Resync(_))));
    }
}

#[tokio::test]
async fn a_deleted_session_ends_its_subscriptions() {
    let mut engine = Sqlite::new();
    let (broadcast, fence) = broadcast(&mut engine).await;
    publish(broadcast.journal(), fence, 1..=1).await;
    let mut events = broadcast.subscribe(&key(), SubscribeOptions::default()).await.unwrap().events;
    assert!(matches!(events.next().await.unwrap(), Delivery::Event(_)));
    let journal = Arc::clone(broadcast.journal());
    let deleted = tokio::spawn(async move { journal.delete(&key()).await });
    assert_eq!(events.next().await.unwrap(), Delivery::Cut(Cut::Deleted));
    deleted.await.unwrap().unwrap();
    drop(events);
    assert_eq!(broadcast.publisher().subscribed_sessions(), 0);
    let gone = broadcast.subscribe(&key(), SubscribeOptions::default()).await.unwrap_err();
    assert_eq!((gone.kind(), broadcast.publisher().subscribed_sessions()), (ErrorKind::NotFound, 0));
}
