//! Merged deltas: each batch is made once for all subscribers, and each subscriber gets every delta once.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use engines::{Memory, Sqlite};
use jiff::Timestamp;
use tidings_journal::broadcast::{Broadcast, Delivery, Merging, SubscribeOptions, Subscription};
use tidings_journal::conformance::Engine;
use tidings_journal::{
    Class, Cursor, CursorVerdict, Epoch, Event, EventDraft, EventForms, Fence, Key, Kind, NewSession, Opening,
};
use tidings_protocol::ui::{TurnId, UiMessage};
use tidings_rehearsal::Chance;

use crate::engines;

const HIDDEN: &str = "frame";

fn key() -> Key {
    Key::new("session").unwrap()
}

fn within(ms: u64) -> Merging {
    Merging { within: Some(Duration::from_millis(ms)), hidden: HIDDEN }
}

async fn broadcast(engine: &mut dyn Engine) -> (Broadcast, Fence) {
    let opening = Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(1) };
    let journal = engine.open(&opening);
    journal.create(NewSession::new(key(), "/", Timestamp::UNIX_EPOCH)).await.unwrap();
    let fence = journal.claim(&key()).await.unwrap();
    (Broadcast::new(journal), fence)
}

fn draft(message: UiMessage) -> EventDraft {
    let class = if message.is_delta() { Class::Delta } else { Class::Durable };
    let (kind, body) = (Kind::fixed(message.name()), serde_json::to_vec(&message).unwrap());
    let mut draft = EventDraft::new(class, Timestamp::UNIX_EPOCH, kind, body);
    draft.forms = EventForms::of(message);
    draft
}

fn delta(text: impl Into<String>) -> EventDraft {
    draft(UiMessage::TextChunk { text: text.into(), session_id: 1, turn_id: TurnId::new_user_turn(1) })
}

fn other(content: impl Into<String>) -> EventDraft {
    draft(UiMessage::Display { content: content.into(), session_id: 1 })
}

fn hidden() -> EventDraft {
    EventDraft::new(Class::Delta, Timestamp::UNIX_EPOCH, Kind::fixed(HIDDEN), *b"{}")
}

async fn publish(broadcast: &Broadcast, fence: Fence, drafts: Vec<EventDraft>) {
    broadcast.journal().append(&key(), fence, drafts).await.unwrap();
}

async fn subscribe(broadcast: &Broadcast, after: Option<Cursor>, merging: Option<Merging>) -> Subscription {
    let options = SubscribeOptions { merging, ..SubscribeOptions::after(after) };
    let subscribed = broadcast.subscribe(&key(), options).await.unwrap();
    assert_eq!(subscribed.verdict, CursorVerdict::Ok);
    subscribed.events
}

async fn next(events: &mut Subscription) -> Arc<Event> {
    match events.next().await.unwrap() {
        Delivery::Event(event) => event,
        Delivery::Cut(cut) => panic!("it was cut off: {cut:?}"),
    }
}

/// The text of an event, as its body has it.
fn text(event: &Event) -> String {
    match serde_json::from_slice(&event.body) {
        Ok(UiMessage::TextChunk { text, .. }) => text,
        Ok(UiMessage::Display { content, .. }) => content,
        _ => String::new(),
    }
}

/// All subscribers have the same event, with the same forms: it was merged once, and is encoded once.
#[tokio::test(start_paused = true)]
async fn a_batch_is_merged_once_for_a_thousand_subscribers() {
    let (broadcast, fence) = broadcast(&mut Memory::default()).await;
    publish(&broadcast, fence, vec![delta("before "), other("it")]).await;
    let mut subscribers = Vec::new();
    for _ in 0..1000 {
        let mut events = subscribe(&broadcast, None, Some(within(40))).await;
        for before in ["before ", "it"] {
            let event = next(&mut events).await;
            assert_eq!(text(&event), before);
        }
        subscribers.push(events);
    }
    let (sender, mut received) = tokio::sync::mpsc::channel(10_000);
    for mut events in subscribers {
        let sender = sender.clone();
        tokio::spawn(async move {
            loop {
                let event = next(&mut events).await;
                let is_last = text(&event) == "over";
                sender.send(event).await.unwrap();
                if is_last {
                    return;
                }
            }
        });
    }
    drop(sender);
    for number in 1..=100 {
        publish(&broadcast, fence, vec![delta(format!("{number} "))]).await;
        if number % 3 == 0 {
            publish(&broadcast, fence, vec![hidden()]).await;
        }
        tokio::time::sleep(Duration::from_millis(7)).await;
    }
    publish(&broadcast, fence, vec![other("over")]).await;
    let mut batches: HashMap<*const Event, (Arc<Event>, usize)> = HashMap::new();
    while let Some(event) = received.recv().await {
        batches.entry(Arc::as_ptr(&event)).or_insert_with(|| (event, 0)).1 += 1;
    }
    let mut batches: Vec<_> = batches.into_values().collect();
    batches.sort_by_key(|(event, _)| event.cursor.seq);
    assert!(batches.iter().all(|(_, count)| *count == 1000), "a batch was merged more than once");
    assert!((12..=20).contains(&batches.len()), "{} batches of 700 ms", batches.len());
    let all: String = batches.iter().map(|(event, _)| text(event)).collect();
    let expected: Vec<String> = (1..=100).map(|number| number.to_string()).collect();
    assert_eq!(all, expected.join(" ") + " over");
}

/// A subscriber that comes in the middle of a batch has the next ones in common with the others.
#[tokio::test(start_paused = true)]
async fn a_late_subscriber_shares_the_batches_that_follow() {
    let (broadcast, fence) = broadcast(&mut Memory::default()).await;
    let mut early = subscribe(&broadcast, None, Some(within(100))).await;
    let publishing = async {
        for number in 1..=60 {
            publish(&broadcast, fence, vec![delta(format!("{number} "))]).await;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        publish(&broadcast, fence, vec![other("over")]).await;
    };
    let read = async |events: &mut Subscription| {
        let mut all = Vec::<Arc<Event>>::new();
        while all.last().is_none_or(|last| text(last) != "over") {
            all.push(next(events).await);
        }
        all
    };
    let late = async {
        tokio::time::sleep(Duration::from_millis(155)).await;
        read(&mut subscribe(&broadcast, None, Some(within(100))).await).await
    };
    let (early, late, ()) = tokio::join!(read(&mut early), late, publishing);
    let joined = |events: &[Arc<Event>]| events.iter().map(|event| text(event)).collect::<String>();
    assert_eq!(joined(&early), joined(&late));
    let shared = late.iter().filter(|event| early.iter().any(|other| Arc::ptr_eq(event, other)));
    assert!(shared.count() >= 4, "{} and {} batches", early.len(), late.len());
}

/// Subscribers with random rules that come, go, lag and resume after the cursor of their last event.
async fn any_subscriber_gets_each_delta_once(engine: &mut dyn Engine, seed: u64) {
    const EVENTS: u64 = 200;
    let (broadcast, fence) = broadcast(engine).await;
    let mut subscribers = tokio::task::JoinSet::new();
    for number in 0..12 {
        let broadcast = broadcast.clone();
        subscribers.spawn(async move {
            let mut chance = Chance::new(seed * 100 + number);
            let merging = match number % 6 {
                0 => None,
                1 => Some(Merging { within: None, hidden: HIDDEN }),
                ms => Some(within(ms - ms % 2)),
            };
            let (mut cursor, mut all, mut cuts) = (None, String::new(), 0);
            while !all.ends_with("over") {
                let mut events = subscribe(&broadcast, cursor, merging).await;
                for _ in 0..if cuts < 20 { chance.below(6) } else { u64::MAX } {
                    let wait =
                        Duration::from_micros(if cuts < 20 { 50 + chance.below(9000) } else { 60_000_000 });
                    let Ok(event) = tokio::time::timeout(wait, next(&mut events)).await else { break };
                    assert!(cursor.is_none_or(|cursor: Cursor| cursor.seq < event.cursor.seq));
                    cursor = Some(event.cursor);
                    all.push_str(&text(&event));
                    if all.ends_with("over") {
                        break;
                    }
                    if chance.below(8) == 0 {
                        tokio::time::sleep(Duration::from_micros(chance.below(20_000))).await;
                    }
                }
                cuts += 1;
            }
            all
        });
    }
    let mut chance = Chance::new(seed);
    let mut expected = String::new();
    let mut long = Chance::new(seed + 1);
    for number in 1..=EVENTS {
        let text = format!(
            "{number}{} ",
            "x".repeat(usize::try_from(if long.below(40) == 0 { 20_000 } else { 3 }).unwrap())
        );
        expected.push_str(&text);
        let drafts = match chance.below(12) {
            0 => vec![other(text)],
            1 => vec![hidden(), delta(text)],
            2 => vec![delta(text), hidden()],
            _ => vec![delta(text)],
        };
        publish(&broadcast, fence, drafts).await;
        tokio::time::sleep(Duration::from_micros(chance.below(900))).await;
    }
    publish(&broadcast, fence, vec![other("over")]).await;
    while let Some(all) = subscribers.join_next().await {
        assert!(all.unwrap() == expected.clone() + "over", "seed {seed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f92_f93_subscribers_with_merged_deltas_that_are_cut_off_miss_nothing() {
    for seed in 1..=2 {
        any_subscriber_gets_each_delta_once(&mut Memory::default(), seed).await;
        any_subscriber_gets_each_delta_once(&mut Sqlite::new(), seed + 50).await;
    }
}
