//! Tests of the ledger: reminders, quiet hours, retries and tokens, against clients of every kind.

use proptest::prelude::*;
use tidings_api::{Choice, NotifySettings};

use super::*;
use crate::inbox::item::{ButtonRecord, Subject};
use crate::limits::NOTIFY_BUTTONS_MAX;

const SECOND: Millis = 1000;

fn request(number: usize, at: Millis) -> Item {
    let subject = Subject::new(format!("s{}", number % 7), 1, "/shop", None);
    let mut item = Item::new(format!("s.{number}"), InboxKind::Permission, at, Some(subject));
    item.tool_use_id = Some(number.to_string());
    item
}

fn audience() -> [Audience<'static>; 2] {
    ["phone", "desk"].map(|id| Audience { id, wants: &|_| true })
}

/// Runs the ledger until a time, with an outcome for every attempt. Returns each attempt with its time.
fn run(
    ledger: &mut Ledger,
    now: &mut Millis,
    until: Millis,
    audience: &[Audience<'_>],
    mut outcome: impl FnMut(&str, Millis) -> Outcome,
) -> Vec<(Millis, String, String, u32)> {
    let mut sent = Vec::new();
    loop {
        for effect in ledger.due(*now, audience) {
            if let Effect::Notify { target, items } = effect {
                let result = outcome(&target, *now);
                ledger.delivered(&target, &items, &result, *now);
                sent.extend(items.into_iter().map(|(id, step)| (*now, target.clone(), id, step)));
            }
        }
        match ledger.next_due().map(|due| due.max(*now + 1)).filter(|due| *due <= until) {
            Some(due) => *now = due,
            None => break,
        }
    }
    *now = until;
    sent
}

fn times(sent: &[(Millis, String, String, u32)], target: &str, id: &str) -> Vec<Millis> {
    sent.iter().filter(|it| it.1 == target && it.2 == id).map(|it| it.0 / SECOND).collect()
}

#[test]
fn a_request_is_told_after_a_moment_and_at_each_reminder_until_it_is_answered() {
    let (mut ledger, mut now) = (Ledger::default(), 0);
    ledger.add(request(1, 0), 0);
    let fine = |_: &str, _| Outcome::Sent;
    let sent = run(&mut ledger, &mut now, 10_000 * SECOND, &audience(), fine);
    assert_eq!(times(&sent, "phone", "s.1"), [3, 63, 303, 1803]);
    assert_eq!(times(&sent, "desk", "s.1"), [3, 63, 303, 1803]);

    let (mut ledger, mut now) = (Ledger::default(), 0);
    ledger.add(request(1, 0), 0);
    let sent = run(&mut ledger, &mut now, 100 * SECOND, &audience(), fine);
    assert_eq!(times(&sent, "phone", "s.1"), [3, 63]);
    assert!(ledger.settle("s.1", "denied", now));
    let closed = ledger.due(now, &audience());
    let close = |target: &str| Effect::Withdraw { target: target.to_owned(), items: vec!["s.1".to_owned()] };
    assert_eq!(closed, [close("desk"), close("phone")]);
    assert_eq!(run(&mut ledger, &mut now, 10_000 * SECOND, &audience(), fine), []);
    assert!(!ledger.settle("s.1", "allowed", now), "the first outcome stays");
}

#[test]
fn only_a_fresh_acknowledgement_of_this_very_request_holds_its_notification_back() {
    let (mut ledger, mut now) = (Ledger::default(), 0);
    ledger.add(request(1, 0), 0);
    ledger.add(request(2, 0), 0);
    assert!(ledger.visible("s.1", SECOND));
    let fine = |_: &str, _| Outcome::Sent;
    let mut sent = run(&mut ledger, &mut now, 50 * SECOND, &audience(), fine);
    assert_eq!((times(&sent, "phone", "s.1"), times(&sent, "phone", "s.2")), (vec![], vec![3]));
    // The tab is not visible any more: the reminder is sent.
    sent.extend(run(&mut ledger, &mut now, 100 * SECOND, &audience(), fine));
    assert_eq!((times(&sent, "phone", "s.1"), times(&sent, "phone", "s.2")), (vec![63], vec![3, 63]));
}

#[test]
fn quiet_hours_postpone_and_lose_nothing() {
    let (mut ledger, mut now) = (Ledger::default(), 23 * 3600 * SECOND);
    let quiet = tidings_api::QuietHours {
        from: "22:00".to_owned(),
        to: "07:00".to_owned(),
        zone: Some("UTC".to_owned()),
    };
    let rules = Rules::new(NotifySettings { quiet: Some(quiet), ..NotifySettings::default() }).unwrap();
    ledger.set_rules(rules, now);
    ledger.add(request(1, now), now);
    ledger.add(request(2, now), now);
    let fine = |_: &str, _| Outcome::Sent;
    assert_eq!(run(&mut ledger, &mut now, 30 * 3600 * SECOND, &audience(), fine), [], "in the night");
    ledger.settle("s.2", "allowed", now);
    let sent = run(&mut ledger, &mut now, 40 * 3600 * SECOND, &audience(), fine);
    let morning = 31 * 3600;
    assert_eq!(times(&sent, "phone", "s.1"), [morning, morning + 60, morning + 300, morning + 1800]);
    assert_eq!(times(&sent, "phone", "s.2"), [] as [Millis; 0]);
}

#[test]
fn many_at_once_are_one_message_and_kinds_and_sessions_can_be_switched_off() {
    let mut ledger = Ledger::default();
    for number in 0..10 {
        ledger.add(request(number, 0), 0);
    }
    let effects = ledger.due(3 * SECOND, &audience()[..1]);
    let [Effect::Notify { items, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(items.len(), 10);

    let mut ledger = Ledger::default();
    let off = NotifySettings {
        off_kinds: vec![InboxKind::Finished],
        off_sessions: vec!["s3".to_owned()],
        ..NotifySettings::default()
    };
    ledger.set_rules(Rules::new(off).unwrap(), 0);
    ledger.add(request(3, 0), 0);
    ledger.add(Item::new("end", InboxKind::Finished, 0, None), 0);
    ledger.add(Item::new("failed", InboxKind::Failed, 0, None), 0);
    let mut now = 0;
    let sent = run(&mut ledger, &mut now, 9999 * SECOND, &audience()[..1], |_, _| Outcome::Sent);
    let ids: Vec<&str> = sent.iter().map(|it| it.2.as_str()).collect();
    assert_eq!(ids, ["failed"], "once, since it needs no answer");
    assert_eq!(ledger.counts(|_| true).badge, 3, "what is not told is in the inbox all the same");
}

#[test]
fn a_target_that_asks_for_a_pause_gets_one_and_then_everything() {
    let (mut ledger, mut now) = (Ledger::default(), 0);
    ledger.add(request(1, 0), 0);
    ledger.add(request(2, 20 * SECOND), 0);
    let limited = |target: &str, now| match target {
        "phone" if now < 200 * SECOND => {
            let after = Some(std::time::Duration::from_secs(200));
            Outcome::Limited { error: "429".to_owned(), after }
        }
        _ => Outcome::Sent,
    };
    let sent = run(&mut ledger, &mut now, 299 * SECOND, &audience(), limited);
    assert_eq!(times(&sent, "phone", "s.1"), [3, 203], "not before the time that it named");
    assert_eq!(times(&sent, "phone", "s.2"), [203]);
    assert_eq!(times(&sent, "desk", "s.1"), [3, 63], "another target is not concerned");
    let health = ledger.health("phone").unwrap();
    assert_eq!((health.failures, health.sent, health.failed), (0, 2, 1));
}

#[test]
fn failures_are_retried_with_longer_pauses_and_a_target_that_is_gone_is_left_alone() {
    let (mut ledger, mut now) = (Ledger::default(), 0);
    ledger.add(request(1, 0), 0);
    let broken = |target: &str, _| match target {
        "phone" => Outcome::Failed { error: "503".to_owned(), after: None },
        _ => Outcome::Gone { error: "410".to_owned() },
    };
    let sent = run(&mut ledger, &mut now, 60 * SECOND, &audience(), broken);
    assert_eq!(times(&sent, "phone", "s.1"), [3, 4, 6, 10, 18, 34]);
    assert_eq!(times(&sent, "desk", "s.1"), [3]);
    let item = ledger.item("s.1").unwrap();
    assert_eq!(item.deliveries["phone"].error.as_deref(), Some("503"));
    assert_eq!(item.deliveries["desk"].state, DeliveryState::Gone);
    assert_eq!(ledger.health("phone").unwrap().state(), tidings_api::TargetState::Failing);
}

#[test]
fn a_token_works_once_and_only_that_of_the_newest_notification() {
    let (mut ledger, mut now) = (Ledger::default(), 0);
    ledger.add(request(1, 0), 0);
    run(&mut ledger, &mut now, 100 * SECOND, &audience(), |_, _| Outcome::Sent);
    assert!(!ledger.use_token("phone", "s.1", 0), "a reminder has replaced it");
    assert!(!ledger.use_token("watch", "s.1", 1), "another device");
    assert!(!ledger.use_token("phone", "s.2", 1), "another request");
    assert!(ledger.use_token("phone", "s.1", 1));
    assert!(!ledger.use_token("phone", "s.1", 1), "again");
    ledger.settle("s.1", "allowed", now);
    assert!(!ledger.use_token("desk", "s.1", 1), "it does not wait any more");
}

#[test]
fn k21_a_button_is_found_by_its_fingerprint_and_only_the_newest_are_kept() {
    let (mut ledger, mut now) = (Ledger::default(), 0);
    ledger.add(request(1, 0), 0);
    run(&mut ledger, &mut now, 10 * SECOND, &audience(), |_, _| Outcome::Sent);
    let button = |number: usize| ButtonRecord {
        fingerprint: format!("print-{number}"),
        step: 0,
        decisions: vec![Choice::Deny],
        digest: "digest".to_owned(),
    };
    ledger.add_button("watch", "s.1", button(0));
    ledger.add_button("phone", "s.9", button(0));
    assert_eq!(ledger.button("print-0"), None, "a target or item that was not notified");
    for number in 0..=NOTIFY_BUTTONS_MAX {
        ledger.add_button("phone", "s.1", button(number));
    }
    assert_eq!(ledger.button("print-0"), None, "the oldest was dropped");
    let (target, item, found) = ledger.button("print-1").unwrap();
    assert_eq!((target, item.id.as_str(), found), ("phone", "s.1", &button(1)));
    run(&mut ledger, &mut now, 100 * SECOND, &audience(), |_, _| Outcome::Sent);
    assert!(ledger.button("print-1").is_some(), "a reminder keeps it, to say that it was replaced");
    assert_eq!(ledger.button("print"), None);
}

#[test]
fn a_notification_that_was_under_way_when_the_server_died_is_sent_again() {
    let mut ledger = Ledger::default();
    ledger.add(request(1, 0), 0);
    assert_eq!(ledger.due(3 * SECOND, &audience()[..1]).len(), 1);
    let stored: Vec<Item> = ledger.newest_first().cloned().collect();
    let mut again = Ledger::default();
    again.load(stored, []);
    let effects = again.due(4 * SECOND, &audience()[..1]);
    assert_eq!(effects, [Effect::Notify { target: "phone".to_owned(), items: vec![("s.1".to_owned(), 0)] }]);
}

/// A client as it is in practice.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Client {
    /// The screen is off: the tab says nothing.
    Sleeping,
    /// It is connected, and its page is stuck: it has said that it shows requests, and never says so again.
    Zombie,
    /// Its connection is half open: what it says arrives much later.
    HalfOpen,
    /// It shows each request, and repeats this every twenty seconds.
    Visible,
}

fn client() -> impl Strategy<Value = Client> {
    prop_oneof![Just(Client::Sleeping), Just(Client::Zombie), Just(Client::HalfOpen), Just(Client::Visible)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    /// A thousand requests: each is acknowledged as visible or sent, and none is sent twice without a
    /// reminder or a retry being due.
    #[test]
    fn each_of_a_thousand_requests_is_seen_or_sent(
        clients in prop::collection::vec(client(), 1000),
        opened in prop::collection::vec(0..500_i64, 1000),
        answered in prop::collection::vec(0..2500_i64, 1000),
        failing in prop::collection::vec(prop::bool::weighted(0.3), 64),
        killed in prop::collection::vec(0..2500_i64, 0..4),
    ) {
        let mut ledger = Ledger::default();
        let (mut acknowledged, mut sent) = (vec![Vec::new(); 1000], vec![Vec::new(); 1000]);
        let mut attempts = 0;
        for second in 0..3010_i64 {
            let now = second * SECOND;
            if killed.contains(&second) {
                let stored: Vec<Item> = ledger.newest_first().cloned().collect();
                ledger = Ledger::default();
                ledger.load(stored, []);
            }
            for number in 0..1000 {
                let since = second - opened[number];
                let id = || format!("s.{number}");
                if since == 0 {
                    ledger.add(request(number, now), now);
                }
                let says = match clients[number] {
                    Client::Sleeping => false,
                    Client::Zombie => since == 1,
                    Client::HalfOpen => since == 200,
                    Client::Visible => since > 0 && since % 20 == 1,
                };
                if says && ledger.visible(&id(), now) {
                    acknowledged[number].push(second);
                }
                if second == opened[number] + answered[number] {
                    ledger.settle(&id(), "allowed", now);
                }
            }
            for effect in ledger.due(now, &audience()[..1]) {
                let Effect::Notify { target, items } = effect else { continue };
                attempts += 1;
                let fails = failing[attempts % failing.len()];
                let outcome =
                    if fails { Outcome::Failed { error: String::new(), after: None } } else { Outcome::Sent };
                for (id, step) in &items {
                    let number: usize = id[2..].parse().unwrap();
                    let is_open = second < opened[number] + answered[number];
                    prop_assert!(is_open, "{id} was answered");
                    if !fails {
                        sent[number].push((second, *step));
                    }
                }
                ledger.delivered(&target, &items, &outcome, now);
            }
        }
        for number in 0..1000 {
            let steps: Vec<u32> = sent[number].iter().map(|it| it.1).collect();
            prop_assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{number}: twice: {steps:?}");
            let waited = answered[number];
            if waited > 200 && failing.iter().any(|fails| !fails) {
                let reached = !acknowledged[number].is_empty() || !sent[number].is_empty();
                prop_assert!(reached, "{number} {:?} was lost", clients[number]);
            }
            match clients[number] {
                Client::Visible => prop_assert!(sent[number].is_empty(), "{number} was visible"),
                // They were seen at most once, so a reminder is sent in any case.
                _ if waited > 2000 && failing.iter().all(|fails| !fails) => {
                    prop_assert!(!sent[number].is_empty(), "{number} {:?}", clients[number]);
                }
                _ => {}
            }
        }
    }
}
