//! Checks of pending requests: one answer wins, and it is stored with its event.

use std::sync::Arc;

use serde_json::json;
use tidings_protocol::ui::{PermissionResolved, RequestOutcome, Resolution, UiMessage};

use super::{Stage, at, client, durable, kind};
use crate::limits::LIST_MAX;
use crate::{
    AskId, AuditDraft, Class, ErrorKind, EventDraft, Max, NewRequest, Novelty, SessionChange, Settle,
    Settled, Settlement,
};

fn ask(id: &str, seconds: u64) -> NewRequest {
    NewRequest {
        id: AskId::new(id).unwrap(),
        kind: "permission".to_owned(),
        digest: Some("d1".to_owned()),
        body: Arc::from(&b"{\"command\":\"ls\"}"[..]),
        deadline: Some(at(seconds + 60)),
        event: durable(&format!("asked {id}"), seconds),
    }
}

fn answer(by: &str, text: &str) -> Settle {
    let audit = AuditDraft {
        device: Some("phone".to_owned()),
        scope: Some("once".to_owned()),
        changed: Some("d2".to_owned()),
        ..AuditDraft::new(at(9), by, text)
    };
    let outcome: Settled = RequestOutcome::by_person(text.to_owned(), by);
    Settle { outcome, event: durable(&format!("{by} {text}"), 9), audit: Some(audit) }
}

pub(super) async fn the_first_answer_wins(stage: Stage<'_>) {
    let (key, fence) = stage.session("a").await;
    let id = AskId::new("toolu_1").unwrap();
    let unknown = stage.journal.settle(&key, &id, answer("ada", "allow")).await.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
    stage.journal.ask(&key, fence, ask("toolu_1", 1)).await.unwrap();
    assert_eq!(stage.journal.outcome(&key, &id).await.unwrap(), None);
    let won = stage.journal.settle(&key, &id, answer("ada", "allow")).await.unwrap();
    let Settlement::Won(stored) = &won else { panic!("{won:?}") };
    let lost = stage.journal.settle(&key, &id, answer("bob", "deny")).await.unwrap();
    let winner = answer("ada", "allow").outcome;
    assert_eq!(lost, Settlement::Lost { winner: winner.clone(), at: stored.cursor });
    assert_eq!(stage.journal.outcome(&key, &id).await.unwrap(), Some(winner));
    let unknown = AskId::new("toolu_2").unwrap();
    assert_eq!(stage.journal.outcome(&key, &unknown).await.unwrap(), None);
    assert_eq!(stage.journal.open_ask(&key, &id).await.unwrap(), None, "it is settled");
    let known = stage.journal.known_ask(&key, &id).await.unwrap().unwrap();
    assert_eq!((known.kind.as_str(), &*known.body), ("permission", &*ask("toolu_1", 1).body));
    assert_eq!(stage.journal.known_ask(&key, &unknown).await.unwrap(), None);
    assert_eq!(stage.bodies(&key).await, ["asked toolu_1", "ada allow"]);
    let log = stage.journal.audit_log(0).await.unwrap();
    assert_eq!(log.iter().map(|entry| entry.who.as_str()).collect::<Vec<_>>(), ["ada"]);
    let line = &log[0];
    assert_eq!((line.digest.as_deref(), line.latency_ms), (Some("d1"), Some(8000)), "from the ask itself");
    assert_eq!((line.scope.as_deref(), line.changed.as_deref()), (Some("once"), Some("d2")));
}

pub(super) async fn inputs_that_people_changed_are_found_by_their_calls(stage: Stage<'_>) {
    let (key, fence) = stage.session("a").await;
    let (other, other_fence) = stage.session("b").await;
    let change = SessionChange { cli_session: Some("cli-1".to_owned()), ..SessionChange::default() };
    stage.journal.update(&key, fence, change).await.unwrap();
    let ran = json!({"command": "ls -l"});
    for (key, fence, id, changed) in [
        (&key, fence, "toolu_1", Some(ran.clone())),
        (&key, fence, "toolu_2", None),
        (&other, other_fence, "toolu_3", Some(ran.clone())),
    ] {
        stage.journal.ask(key, fence, ask(id, 1)).await.unwrap();
        let mut resolved = PermissionResolved::new(1, id, Resolution::Allowed);
        resolved.updated_input.clone_from(&changed);
        let body = serde_json::to_vec(&UiMessage::from(resolved)).unwrap();
        let text = json!({"decision": "allow", "updated_input": changed}).to_string();
        let event = EventDraft::new(Class::Durable, at(9), kind("PermissionResolved"), body);
        let settle = Settle { event, ..answer("ada", &text) };
        stage.journal.settle(key, &AskId::new(id).unwrap(), settle).await.unwrap();
    }
    stage.journal.ask(&key, fence, ask("toolu_4", 1)).await.unwrap();
    let all = [("toolu_1".to_owned(), Some(ran.clone())), ("toolu_3".to_owned(), Some(ran))];
    for (cli_session, expected) in [(None, &all[..]), (Some("cli-1"), &all[..1]), (Some("cli-2"), &all[..0])]
    {
        let answers = stage.journal.changed_inputs(cli_session).await.unwrap();
        let mut found: Vec<_> =
            answers.into_iter().map(|answer| (answer.tool_use_id, answer.updated_input)).collect();
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        assert_eq!(found, expected, "{cli_session:?}");
    }
}

pub(super) async fn an_answer_sent_twice_has_won_once(stage: Stage<'_>) {
    let (key, fence) = stage.session("a").await;
    for id in ["toolu_1", "toolu_2"] {
        stage.journal.ask(&key, fence, ask(id, 1)).await.unwrap();
    }
    let id = AskId::new("toolu_1").unwrap();
    let yes = || {
        let mut yes = answer("ada", "allow");
        yes.event = yes.event.with_client_id(client("c1"));
        yes
    };
    let first = stage.journal.settle(&key, &id, yes()).await.unwrap();
    let again = stage.journal.settle(&key, &id, yes()).await.unwrap();
    let (Settlement::Won(first), Settlement::Won(again)) = (first, again) else { panic!("it did not win") };
    assert_eq!((first.cursor, first.novelty), (again.cursor, Novelty::New));
    assert_eq!(again.novelty, Novelty::Seen);
    let other = stage.journal.settle(&key, &AskId::new("toolu_2").unwrap(), yes()).await.unwrap_err();
    assert_eq!(other.kind(), ErrorKind::Exists);
    assert_eq!(stage.bodies(&key).await.len(), 3);
}

pub(super) async fn an_ask_is_opened_once_and_may_be_asked_anew(stage: Stage<'_>) {
    let (key, fence) = stage.session("a").await;
    let first = stage.journal.ask(&key, fence, ask("toolu_1", 1)).await.unwrap();
    let again = stage.journal.ask(&key, fence, ask("toolu_1", 2)).await.unwrap();
    assert_eq!((again.cursor, again.novelty), (first.cursor, Novelty::Seen));
    let id = AskId::new("toolu_1").unwrap();
    let cancelled = Settle { outcome: RequestOutcome::Cancelled, event: durable("gone", 3), audit: None };
    stage.journal.settle(&key, &id, cancelled).await.unwrap();
    assert_eq!(stage.journal.asks(Some(&key)).await.unwrap(), []);
    let anew = stage.journal.ask(&key, fence, ask("toolu_1", 4)).await.unwrap();
    assert_eq!((anew.cursor.seq, anew.novelty), (3, Novelty::New));
    let won = stage.journal.settle(&key, &id, answer("ada", "allow")).await.unwrap();
    assert_eq!(won.cursor().seq, 4);
}

/// Lists are limited, but asks beyond the limit are open all the same.
pub(super) async fn each_open_ask_is_found_however_many_there_are(stage: Stage<'_>) {
    let (key, fence) = stage.session("a").await;
    let (other, _) = stage.session("b").await;
    let count = u64::try_from(LIST_MAX).unwrap() + 1;
    let asking = (0..count).map(|n| stage.journal.ask(&key, fence, ask(&format!("toolu_{n}"), n)));
    for asked in futures_util::future::join_all(asking).await {
        asked.unwrap();
    }
    assert_eq!(stage.journal.asks(Some(&key)).await.unwrap().len(), LIST_MAX);
    assert_eq!(stage.journal.counts().await.unwrap().open_asks, count);
    let last = AskId::new(format!("toolu_{}", count - 1)).unwrap();
    let found = stage.journal.open_ask(&key, &last).await.unwrap().unwrap();
    assert_eq!((&found.id, &found.session, found.digest.as_deref()), (&last, &key, Some("d1")));
    assert_eq!(stage.journal.open_ask(&other, &last).await.unwrap(), None, "it is of another session");
    stage.journal.settle(&key, &last, answer("ada", "allow")).await.unwrap();
    assert_eq!(stage.journal.open_ask(&key, &last).await.unwrap(), None);
    assert_eq!(stage.journal.counts().await.unwrap().open_asks, count - 1);
    let gone = stage.journal.open_ask(&super::key("gone"), &last).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
}

pub(super) async fn the_row_and_its_event_come_together(stage: Stage<'_>) {
    let (a, b) = (stage.session("a").await, stage.session("b").await);
    stage.journal.ask(&b.0, b.1, ask("toolu_b", 2)).await.unwrap();
    stage.journal.ask(&a.0, a.1, ask("toolu_a", 3)).await.unwrap();
    stage.journal.ask(&a.0, a.1, ask("toolu_c", 1)).await.unwrap();
    let all = stage.journal.asks(None).await.unwrap();
    assert_eq!(all.iter().map(|ask| ask.id.as_str()).collect::<Vec<_>>(), ["toolu_c", "toolu_b", "toolu_a"]);
    let resumed = stage.journal.resume(&a.0, None, Max::default()).await.unwrap();
    assert_eq!(resumed.session, stage.row(&a.0).await);
    for ask in &resumed.pending {
        let event = resumed.page.events.iter().find(|event| event.cursor == ask.opened).unwrap();
        assert_eq!(&*event.body, format!("asked {}", ask.id).as_bytes());
        assert_eq!((ask.opened_at, &ask.session), (event.at, &a.0));
        assert_eq!((ask.digest.as_deref(), &*ask.body), (Some("d1"), &b"{\"command\":\"ls\"}"[..]));
        assert!(ask.deadline.is_some());
    }
    assert_eq!(resumed.pending.len(), 2);
    let stranger = stage.journal.claim(&a.0).await.unwrap();
    let refused = stage.journal.ask(&a.0, a.1, ask("toolu_d", 4)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Fenced);
    stage.journal.ask(&a.0, stranger, ask("toolu_d", 4)).await.unwrap();
}

pub(super) async fn a_hundred_answers_have_one_winner(stage: Stage<'_>) {
    let (key, fence) = stage.session("a").await;
    stage.journal.ask(&key, fence, ask("toolu_1", 1)).await.unwrap();
    let mut answers = tokio::task::JoinSet::new();
    for n in 0..100 {
        let (journal, key) = (Arc::clone(&stage.journal), key.clone());
        let id = AskId::new("toolu_1").unwrap();
        answers.spawn(
            async move { journal.settle(&key, &id, answer(&format!("p{n}"), "allow")).await.unwrap() },
        );
    }
    let answers = answers.join_all().await;
    let won = answers.iter().filter(|answer| matches!(answer, Settlement::Won(_))).count();
    assert_eq!(won, 1);
    assert!(answers.iter().all(|answer| answer.cursor().seq == 2));
    let winners: Vec<&Settled> = answers
        .iter()
        .filter_map(|answer| match answer {
            Settlement::Lost { winner, .. } => Some(winner),
            Settlement::Won(_) => None,
        })
        .collect();
    assert!(winners.windows(2).all(|pair| pair[0] == pair[1]), "the losers got different winners");
    assert_eq!(stage.journal.audit_log(0).await.unwrap().len(), 1);
}
