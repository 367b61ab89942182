//! Subscribers of every dialect that resume at random positions, compared with one that was never
//! disconnected.
//!
//! `TIDINGS_SOAK_CASES` is the number of cases to run; `make soak` sets it.

use std::sync::Arc;

use jiff::Timestamp;
use tidings_journal::broadcast::Broadcast;
use tidings_journal::{
    Class, Cursor, Epoch, Event, EventDraft, Key, Kind, MemoryJournal, NewSession, Opening,
};
use tidings_protocol::mobile::{MobileMessage, SessionResumeMessage};
use tidings_protocol::ui::UiMessage;
use tidings_sessions::{Config, Sessions};

use super::super::mobile::{MobileTranslator, PhoneFeed, PhoneUpdate, resume};
use super::super::wire::DialectTranslator;
use crate::api::Api;
use crate::stories::Author;

fn draft(message: &UiMessage, at: Timestamp) -> EventDraft {
    let body = serde_json::to_value(message).unwrap();
    let kind = body.as_object().unwrap().keys().next().unwrap().clone();
    EventDraft::new(Class::Delta, at, Kind::new(kind).unwrap(), body.to_string().into_bytes())
}

fn cases(normal: u64) -> u64 {
    let cases = std::env::var("TIDINGS_SOAK_CASES").ok();
    cases.map_or(normal, |cases| cases.parse().expect("TIDINGS_SOAK_CASES is a number"))
}

/// All messages that an uninterrupted phone gets.
fn uninterrupted(events: &[Event]) -> Vec<MobileMessage> {
    let (mut phone, mut messages) = (MobileTranslator::default(), Vec::new());
    for event in events {
        phone.translate(event, &mut messages);
    }
    messages.into_iter().map(|(_, message)| message).collect()
}

/// Takes `count` messages of the session; messages without an event are left out.
async fn take(feed: &mut PhoneFeed, count: usize) -> Vec<MobileMessage> {
    let mut taken = Vec::new();
    while taken.len() < count {
        let PhoneUpdate::Messages(messages) = feed.next().await else { panic!("the feed has ended") };
        taken.extend(
            messages.into_iter().filter(|message| !message.id.as_deref().unwrap_or("~").contains('~')),
        );
    }
    taken
}

/// Runs one story: some events exist when the phone resumes, and the rest is appended later.
async fn a_phone_comes_back(api: &Api, case: u64) {
    let mut author = Author::new(case);
    let length = 3 + usize::try_from(author.below(38)).unwrap();
    let story = author.story(length);
    let now = Timestamp::now().as_millisecond() - 1000;
    let mut at_ms = now;
    let mut drafts = Vec::new();
    for message in &story {
        at_ms += i64::from(author.below(2) == 0);
        drafts.push(draft(message, Timestamp::from_millisecond(at_ms).unwrap()));
    }
    let key = Key::new(format!("story-{case}")).unwrap();
    let journal = Arc::clone(api.sessions.broadcast().journal());
    journal.create(NewSession::new(key.clone(), "/", Timestamp::UNIX_EPOCH)).await.unwrap();
    let fence = journal.claim(&key).await.unwrap();
    let view = api.sessions.find(key.as_str()).await.unwrap();
    let epoch = view.cursor.parse::<Cursor>().unwrap().epoch;
    let events: Vec<Event> =
        drafts.iter().zip(1..).map(|(draft, seq)| Event::of(draft, Cursor::new(epoch, seq))).collect();
    let all = uninterrupted(&events);
    let there = usize::try_from(author.below(drafts.len() as u64 + 1)).unwrap();
    let later = drafts.split_off(there);
    if !drafts.is_empty() {
        journal.append(&key, fence, drafts).await.unwrap();
    }
    // The phone can only have messages of events that exist already.
    let had = uninterrupted(&events[..there]).len();
    let mut feeds = Vec::new();
    for _ in 0..3 {
        let Some(seen) =
            author.below(had as u64 + 1).checked_sub(1).map(|seen| usize::try_from(seen).unwrap())
        else {
            continue;
        };
        let message = SessionResumeMessage {
            session_id: key.as_str().to_owned(),
            last_message_id: all[seen].id.clone().unwrap(),
            last_message_timestamp: all[seen].timestamp.unwrap(),
        };
        let view = api.sessions.find(key.as_str()).await.unwrap();
        feeds.push((seen, resume(api, &view, "/", &message).await.unwrap()));
    }
    for draft in later {
        journal.append(&key, fence, vec![draft]).await.unwrap();
    }
    for (seen, mut feed) in feeds {
        let rest = take(&mut feed, all.len() - seen - 1).await;
        assert_eq!(rest, all[seen + 1..], "case {case}: after message {seen} of {}", all.len());
    }
    stateless_dialects(&events, case);
    journal.delete(&key).await.unwrap();
}

/// The dialects `native` and `ui` translate an event without regard to the events before it.
fn stateless_dialects(events: &[Event], case: u64) {
    for make in [|| DialectTranslator::Native, || DialectTranslator::Ui] {
        let messages = |translator: &mut DialectTranslator, event: &Event| {
            let mut messages = Vec::new();
            translator
                .translate(event, |part| messages.push((part.name.into_owned(), part.json.into_owned())));
            messages
        };
        let mut whole = make();
        for event in events {
            assert_eq!(messages(&mut whole, event), messages(&mut make(), event), "case {case}");
        }
    }
}

#[test]
fn k4_every_dialect_continues_where_its_subscriber_was() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let opening = Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(1) };
        let broadcast = Broadcast::new(Arc::new(MemoryJournal::new(&opening)));
        let sessions = Sessions::open(broadcast, Config::default()).await.unwrap();
        let api = Api::new(sessions);
        for case in 0..cases(300) {
            a_phone_comes_back(&api, case).await;
        }
    });
}

/// Retention removes old events, including the start of a sub-agent.
#[test]
fn k4_a_sub_agent_whose_start_is_not_kept_still_ends() {
    let mut phone = MobileTranslator::default();
    let ended =
        tidings_protocol::ui::SubAgentEnded::new(1, "a", tidings_protocol::ui::SubAgentOutcome::Completed);
    let event = Event::of(&draft(&ended.into(), Timestamp::now()), Cursor::new(Epoch::from_random(1), 7));
    let mut messages = Vec::new();
    phone.translate(&event, &mut messages);
    let json = serde_json::to_value(&messages[0].1).unwrap();
    assert_eq!((&json["status"], &json["agentId"]), (&"COMPLETED".into(), &"a".into()), "{json}");
}
