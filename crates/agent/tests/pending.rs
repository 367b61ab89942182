//! A request has one outcome, in any order of events.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::BTreeMap;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use tidings_agent::pending::{Already, Pending, Refused};
use tidings_protocol::ui::{AnsweredBy, RequestOutcome};

#[derive(Debug, Clone)]
enum PendingStep {
    Open(u8, Option<u8>),
    Settle(u8, u8),
    Cancel(u8),
    Expire(u8),
}

fn steps() -> impl Strategy<Value = Vec<PendingStep>> {
    let step = prop_oneof![
        (0..6u8, proptest::option::of(0..20u8)).prop_map(|(key, deadline)| PendingStep::Open(key, deadline)),
        (0..6u8, any::<u8>()).prop_map(|(key, answer)| PendingStep::Settle(key, answer)),
        (0..6u8).prop_map(PendingStep::Cancel),
        (0..20u8).prop_map(PendingStep::Expire),
    ];
    proptest::collection::vec(step, 0..60)
}

/// A naive model: a list of open requests and a map of settled ones.
#[derive(Default)]
struct Model {
    open: Vec<(u8, Option<u8>)>,
    settled: BTreeMap<u8, RequestOutcome<u8>>,
}

impl Model {
    fn open(&mut self, key: u8, deadline: Option<u8>) -> Result<(), Refused> {
        if self.open.iter().any(|(open, _)| *open == key) {
            return Err(Refused::Duplicate);
        }
        self.settled.remove(&key);
        self.open.push((key, deadline));
        Ok(())
    }

    fn settle(&mut self, key: u8, outcome: RequestOutcome<u8>) -> Result<(), Already<u8>> {
        match self.open.iter().position(|(open, _)| *open == key) {
            Some(at) => {
                self.open.remove(at);
                self.settled.insert(key, outcome);
                Ok(())
            }
            None => Err(self.settled.get(&key).cloned().map_or(Already::Unknown, Already::Settled)),
        }
    }

    fn expire(&mut self, now: u8) -> Vec<u8> {
        let late = |(_, deadline): &&(u8, Option<u8>)| deadline.is_some_and(|at| at <= now);
        let keys: Vec<u8> = self.open.iter().filter(late).map(|(key, _)| *key).collect();
        for key in &keys {
            self.settle(*key, RequestOutcome::TimedOut).unwrap();
        }
        keys
    }
}

proptest! {
    #[test]
    fn any_order_of_events_does_what_the_model_does(steps in steps()) {
        let start = Instant::now();
        let at = |second: u8| start + Duration::from_secs(u64::from(second));
        let mut pending = Pending::default();
        let mut model = Model::default();
        for step in steps {
            match step {
                PendingStep::Open(key, deadline) => {
                    prop_assert_eq!(pending.open(key, deadline.map(at)), model.open(key, deadline));
                }
                PendingStep::Settle(key, answer) => {
                    let outcome = RequestOutcome::by_person(answer, "user");
                    prop_assert_eq!(pending.settle(&key, outcome.clone()), model.settle(key, outcome));
                }
                PendingStep::Cancel(key) => {
                    prop_assert_eq!(pending.cancel(&key), model.settle(key, RequestOutcome::Cancelled));
                }
                PendingStep::Expire(now) => prop_assert_eq!(pending.expire(at(now)), model.expire(now)),
            }
            prop_assert_eq!(
                pending.open_keys().copied().collect::<Vec<_>>(),
                model.open.iter().map(|(key, _)| *key).collect::<Vec<_>>()
            );
            prop_assert_eq!(pending.next_deadline(), model.open.iter().filter_map(|(_, at)| *at).min().map(at));
            prop_assert_eq!(pending.len(), model.open.len());
        }
    }
}

/// Two phones and a browser show the same request, and all are tapped at once: some bridges sent two answers
/// to the CLI, others reported success to the slower one.
#[test]
fn f62_of_a_hundred_answers_at_once_one_wins_and_the_others_learn_of_it() {
    const THREADS: usize = 100;
    const ROUNDS: usize = 1_000;
    let pending = Arc::new(Mutex::new(Pending::<usize, usize>::default()));
    let gate = Arc::new(Barrier::new(THREADS));
    let threads: Vec<_> = (0..THREADS)
        .map(|me| {
            let (pending, gate) = (Arc::clone(&pending), Arc::clone(&gate));
            thread::spawn(move || {
                let mut received = Vec::with_capacity(ROUNDS);
                for round in 0..ROUNDS {
                    if me == round % THREADS {
                        pending.lock().unwrap().open(round, None).unwrap();
                    }
                    gate.wait();
                    let mine = RequestOutcome::by_person(me, me.to_string());
                    received.push(match pending.lock().unwrap().settle(&round, mine.clone()) {
                        Ok(()) => mine,
                        Err(Already::Settled(winner)) => winner,
                        Err(Already::Unknown) => RequestOutcome::Lost,
                    });
                }
                received
            })
        })
        .collect();
    let received: Vec<Vec<RequestOutcome<usize>>> =
        threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    for round in 0..ROUNDS {
        let winner = &received[0][round];
        assert!(
            matches!(winner, RequestOutcome::Answered { by: AnsweredBy::Person(_), .. }),
            "round {round}"
        );
        assert!(received.iter().all(|one| one[round] == *winner), "round {round}");
    }
    assert!(pending.lock().unwrap().is_empty());
}

/// Two answers, a cancellation, the deadline and the end of the CLI, in each of their 120 orders: the first
/// one wins, and all others get its outcome.
#[test]
fn promise_5_in_every_order_of_events_the_first_settles_the_question() {
    let start = Instant::now();
    let events = [
        RequestOutcome::by_person(1, "phone"),
        RequestOutcome::by_person(2, "browser"),
        RequestOutcome::Cancelled,
        RequestOutcome::TimedOut,
        RequestOutcome::Disconnected,
    ];
    // Inserts each event at each position of the orders of those before it.
    let mut orders: Vec<Vec<&RequestOutcome<i32>>> = vec![vec![]];
    for event in &events {
        let mut longer = Vec::new();
        for order in &orders {
            for at in 0..=order.len() {
                let mut order = order.clone();
                order.insert(at, event);
                longer.push(order);
            }
        }
        orders = longer;
    }
    assert_eq!(orders.len(), 120);
    for order in orders {
        let mut pending = Pending::default();
        pending.open("a", Some(start)).unwrap();
        for (at, event) in order.iter().enumerate() {
            if **event == RequestOutcome::TimedOut {
                assert_eq!(pending.expire(start).len(), usize::from(at == 0), "{order:?}");
                continue;
            }
            let expected = if at == 0 { Ok(()) } else { Err(Already::Settled(order[0].clone())) };
            assert_eq!(pending.settle(&"a", (*event).clone()), expected, "{order:?}");
        }
        assert_eq!(pending.settled(&"a"), Some(order[0]), "{order:?}");
    }
}

#[test]
fn old_settled_requests_are_forgotten_and_open_ones_never() {
    let mut pending = Pending::default();
    pending.open(0, None).unwrap();
    for key in 1..=10_000 {
        pending.open(key, None).unwrap();
        pending.settle(&key, RequestOutcome::by_rule((), "all")).unwrap();
    }
    assert_eq!(pending.cancel(&1), Err(Already::Unknown));
    assert!(matches!(pending.cancel(&10_000), Err(Already::Settled(_))));
    assert!(pending.is_open(&0));
}

#[test]
fn too_many_open_questions_are_refused_and_none_is_dropped() {
    let mut pending = Pending::<u32, ()>::default();
    let opened = (0..100_000).take_while(|key| pending.open(*key, None).is_ok()).count();
    assert_eq!(pending.len(), opened);
    assert_eq!(pending.open(u32::MAX, None), Err(Refused::Full));
    pending.cancel(&0).unwrap();
    assert_eq!(pending.open(u32::MAX, None), Ok(()));
}
