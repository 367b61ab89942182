//! Permission requests are answered once; the first answer wins.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use requests::{NOW, settled, wait};
use serde_json::{Value, json};
use tidings::Decision;
use tidings_agent::AskKey;
use tidings_agent::permissions::{
    Allowed, Answer, Ask, Denied, Grant, GrantTarget, PermissionRegistry, RegistryError, Requested, Response,
    SessionFacts, decision,
};
use tidings_protocol::control::CanUseTool;
use tidings_protocol::permissions::{PermissionMode, PermissionUpdate};
use tidings_protocol::ui::{AnsweredBy, PermissionLevel, PermissionScope, RequestOutcome};

use crate::requests;

fn ask_in(session: i64, id: &str, tool: &str, input: Value) -> Ask {
    Ask::new(
        session,
        "request",
        &CanUseTool::new(tool, input.into(), id),
        &SessionFacts::in_folder("/home/ada"),
    )
}

fn bash(id: &str, command: &str) -> Ask {
    ask_in(1, id, "Bash", json!({ "command": command }))
}

fn key(id: &str) -> AskKey {
    AskKey::new(1, id)
}

fn yes(scope: PermissionScope) -> Response {
    Response::person("phone", Answer::allow_for(scope))
}

fn no() -> Response {
    Response::person("browser", Answer::deny("not now"))
}

#[tokio::test]
async fn s3_18_a_request_waits_until_it_is_answered() {
    let registry = PermissionRegistry::default();
    let waiting = wait(&registry, bash("a", "make"));
    assert!(registry.has_pending(1) && !registry.has_pending(2));
    assert_eq!(registry.pending_for_session(1)[0].request.target, "make");
    assert_eq!(registry.pending_count(), 1);
    registry.respond_to_request(&key("a"), yes(PermissionScope::Once), NOW).unwrap();
    assert!(waiting.await.answer().unwrap().is_allowed());
    assert!(!registry.has_pending(1));
}

/// The slower of two phones was told that its answer had been accepted.
#[tokio::test]
async fn f62_the_second_answer_learns_who_was_first() {
    let registry = PermissionRegistry::default();
    let waiting = wait(&registry, bash("a", "make"));
    registry.respond_to_request(&key("a"), no(), NOW).unwrap();
    let error = registry.respond_to_request(&key("a"), yes(PermissionScope::Once), NOW).unwrap_err();
    let RegistryError::AlreadyResponded(winner) = error else { panic!("{error}") };
    assert!(
        matches!(*winner, RequestOutcome::Answered { by: AnsweredBy::Person(ref name), .. } if name == "browser")
    );
    assert!(!waiting.await.answer().unwrap().is_allowed());
    let unknown = registry.respond_to_request(&key("b"), no(), NOW).unwrap_err();
    assert_eq!(unknown, RegistryError::NotFound);
}

#[test]
fn f62_a_hundred_clients_answer_and_one_of_them_wins() {
    let registry = PermissionRegistry::default();
    for round in 0..20 {
        let id = format!("call-{round}");
        let _waiting = wait(&registry, bash(&id, "make"));
        let gate = Arc::new(Barrier::new(100));
        let threads: Vec<_> = (0..100)
            .map(|me| {
                let (registry, gate, key) = (registry.clone(), Arc::clone(&gate), key(&id));
                std::thread::spawn(move || {
                    gate.wait();
                    let response = Response::person(me.to_string(), Answer::allow());
                    registry.respond_to_request(&key, response, NOW).is_ok()
                })
            })
            .collect();
        let winners = threads.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won);
        assert_eq!(winners.count(), 1);
    }
}

/// Each outcome gives the model another reason; only a denial by the user is reported as one.
#[tokio::test]
async fn f64_time_out_and_disconnection_are_not_told_as_a_refusal() {
    let registry = PermissionRegistry::default();
    let start = Instant::now();
    let ask = bash("a", "make");
    let Requested::Waiting(waiting) =
        registry.request(ask.clone(), Some(start + Duration::from_secs(30)), NOW).unwrap()
    else {
        panic!("the request was settled before an answer");
    };
    assert!(registry.expire(start).is_empty());
    assert_eq!(registry.next_deadline(), Some(start + Duration::from_secs(30)));
    assert_eq!(registry.expire(start + Duration::from_secs(30)).len(), 1);
    let timed_out = waiting.await;
    assert_eq!(timed_out, RequestOutcome::TimedOut);

    let words = |outcome: &RequestOutcome<Answer>| match decision(&ask, outcome) {
        Decision::Deny(deny) => (deny.message, deny.decision_classification.is_some()),
        other => panic!("{other:?}"),
    };
    let by_person = RequestOutcome::by_person(Answer::deny("no"), "phone");
    assert_eq!(words(&by_person), ("no".to_owned(), true));
    for outcome in [timed_out, RequestOutcome::Disconnected, RequestOutcome::Cancelled, RequestOutcome::Lost]
    {
        let (message, counts_as_refusal) = words(&outcome);
        assert!(!message.contains("user") && !counts_as_refusal, "{message}");
    }
}

#[tokio::test]
async fn a_waiter_that_goes_away_settles_its_question() {
    let registry = PermissionRegistry::default();
    drop(wait(&registry, bash("a", "make")));
    assert_eq!(registry.outcome(&key("a")), Some(RequestOutcome::Disconnected));
    let late = registry.respond_to_request(&key("a"), yes(PermissionScope::Once), NOW).unwrap_err();
    assert!(matches!(late, RegistryError::AlreadyResponded(_)));
}

/// Stale requests of an interrupted turn could still be answered, and the answers were lost.
#[tokio::test]
async fn f63_what_is_taken_back_cannot_be_answered() {
    let registry = PermissionRegistry::default();
    let (one, two) = (wait(&registry, bash("a", "make")), wait(&registry, bash("b", "make")));
    let other = wait(&registry, ask_in(2, "a", "Bash", json!({"command": "make"})));
    registry.cancel(&key("a")).unwrap();
    assert_eq!(registry.cancel_session(1).len(), 1);
    assert_eq!(one.await, RequestOutcome::Cancelled);
    assert_eq!(two.await, RequestOutcome::Cancelled);
    assert!(matches!(registry.cancel(&key("a")), Err(RegistryError::AlreadyResponded(_))));
    registry.disconnect_session(2);
    assert_eq!(other.await, RequestOutcome::Disconnected);
}

#[tokio::test]
async fn s3_31_a_grant_answers_the_next_request_by_itself() {
    let registry = PermissionRegistry::default();
    let waiting = wait(&registry, bash("a", "cargo test"));
    let recorded = registry.respond_to_request(&key("a"), yes(PermissionScope::Session), NOW).unwrap();
    assert_eq!(waiting.await.answer(), Some(&Answer::allow_for(PermissionScope::Session)));
    let grant = recorded.grant.unwrap();
    let again = settled(&registry, bash("b", "cargo test"));
    assert_eq!(
        again,
        RequestOutcome::Answered { answer: Answer::allow(), by: AnsweredBy::Grant(grant.id.clone()) }
    );

    for (id, command) in [("c", "cargo test; rm x"), ("d", "cargo test > out"), ("e", "cargo build")] {
        drop(wait(&registry, bash(id, command)));
    }
    // Grants belong to their session.
    drop(wait(&registry, ask_in(2, "f", "Bash", json!({"command": "cargo test"}))));
    assert_eq!(registry.revoke_grant(1, &grant.id), Some(grant));
    drop(wait(&registry, bash("g", "cargo test")));
}

#[tokio::test]
async fn s3_31_a_grant_settles_what_else_is_open() {
    let registry = PermissionRegistry::default();
    let first = wait(&registry, bash("a", "make"));
    let second = wait(&registry, bash("b", "make"));
    let other = wait(&registry, bash("c", "make install"));
    let recorded = registry.respond_to_request(&key("a"), yes(PermissionScope::Session), NOW).unwrap();
    assert_eq!(recorded.also_settled.len(), 1);
    assert!(first.await.answer().unwrap().is_allowed());
    assert!(matches!(second.await, RequestOutcome::Answered { by: AnsweredBy::Grant(_), .. }));
    assert_eq!(registry.pending_count(), 1);
    drop(other);
}

#[tokio::test]
async fn s3_31_several_grants_cover_a_script_together() {
    let registry = PermissionRegistry::default();
    let grant = |id: &str, glob: &str| {
        Grant::new(id, GrantTarget::Command { glob: glob.into() }, PermissionLevel::Execute)
    };
    registry.add_grant(1, grant("g1", "git status"));
    registry.add_grant(1, grant("g2", "cargo *"));
    assert!(matches!(
        settled(&registry, bash("a", "git status && cargo test -q")),
        RequestOutcome::Answered { .. }
    ));
    drop(wait(&registry, bash("b", "git status && make")));
    registry.clear_grants(1);
    drop(wait(&registry, bash("c", "git status")));
}

#[tokio::test]
async fn s3_31_clearing_a_session_forgets_its_grants_and_questions() {
    let registry = PermissionRegistry::default();
    let waiting = wait(&registry, bash("a", "make"));
    registry.add_grant(1, Grant::new("g", GrantTarget::Tool { name: "X".into() }, PermissionLevel::Admin));
    assert_eq!(registry.clear_session(1).len(), 1);
    assert_eq!(waiting.await, RequestOutcome::Cancelled);
    assert!(registry.grants(1, NOW).is_empty());
    assert_eq!(registry.respond_to_request(&key("a"), no(), NOW).unwrap_err(), RegistryError::NotFound);
}

/// A page showed one input, and when the user tapped "allow", another one was open under the same id.
#[tokio::test]
async fn f69_an_answer_to_something_else_than_what_was_shown_does_not_count() {
    let registry = PermissionRegistry::default();
    let shown = bash("a", "ls").digest;
    let waiting = wait(&registry, bash("a", "rm -rf ~"));
    let response = yes(PermissionScope::Once).to_what_was_shown(shown);
    assert_eq!(
        registry.respond_to_request(&key("a"), response, NOW).unwrap_err(),
        RegistryError::DigestMismatch
    );
    assert_eq!(registry.pending_count(), 1);
    let digest = registry.get(&key("a")).unwrap().digest;
    registry.respond_to_request(&key("a"), no().to_what_was_shown(digest), NOW).unwrap();
    assert!(!waiting.await.answer().unwrap().is_allowed());
}

#[tokio::test]
async fn an_answer_is_held_until_the_cli_asks_and_never_used_for_another_input() {
    let registry = PermissionRegistry::default();
    registry.announce(bash("a", "make"), NOW).unwrap();
    registry.announce(bash("b", "make"), NOW).unwrap();
    registry.announce(bash("c", "make"), NOW).unwrap();
    registry.respond_to_request(&key("a"), yes(PermissionScope::Once), NOW).unwrap();
    registry.respond_to_request(&key("b"), yes(PermissionScope::Once), NOW).unwrap();

    assert!(settled(&registry, bash("a", "make")).answer().unwrap().is_allowed());
    // It is used once.
    drop(wait(&registry, bash("a", "make")));
    // The CLI asks about another input under the same id.
    drop(wait(&registry, bash("b", "make install")));
    // An open announcement is reused.
    let waiting = wait(&registry, bash("c", "make"));
    registry.respond_to_request(&key("c"), no(), NOW).unwrap();
    assert!(!waiting.await.answer().unwrap().is_allowed());
    // An announcement that changed before it was answered is opened again.
    registry.announce(bash("d", "make"), NOW).unwrap();
    let changed = wait(&registry, bash("d", "rm x"));
    assert_eq!(registry.get(&key("d")).unwrap().request.target, "rm x");
    drop(changed);
}

#[tokio::test]
async fn a_question_is_not_asked_twice_while_it_is_open() {
    let registry = PermissionRegistry::default();
    let waiting = wait(&registry, bash("a", "make"));
    assert_eq!(registry.request(bash("a", "make"), None, NOW).unwrap_err(), RegistryError::AlreadyAsked);
    registry.respond_to_request(&key("a"), yes(PermissionScope::Once), NOW).unwrap();
    assert!(waiting.await.answer().unwrap().is_allowed());
}

fn suggested() -> Ask {
    let mut call = CanUseTool::new("Bash", json!({"command": "touch one.txt"}).into(), "a");
    call.permission_suggestions = serde_json::from_value(json!([
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch one.txt"}],
         "behavior": "allow", "destination": "localSettings"},
        {"type": "addDirectories", "directories": ["/home/dev/demo"], "destination": "session"},
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    ]))
    .unwrap();
    Ask::new(1, "r", &call, &SessionFacts::in_folder("/home/ada"))
}

/// "Always" adds the rule that was shown. The mode and the folders that the CLI also suggests would allow far
/// more, and are added only if the user chose them (T9).
#[tokio::test]
async fn contradiction_3_5_always_sends_the_rules_and_nothing_wider() {
    let registry = PermissionRegistry::default();
    let ask = suggested();
    let waiting = wait(&registry, ask.clone());
    registry.respond_to_request(&key("a"), yes(PermissionScope::Always), NOW).unwrap();
    let Decision::Allow(allow) = decision(&ask, &waiting.await) else { panic!("it was allowed") };
    assert_eq!(
        serde_json::to_value(&allow).unwrap(),
        json!({
            "updatedInput": {"command": "touch one.txt"},
            "updatedPermissions": [{
                "type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch one.txt"}],
                "behavior": "allow", "destination": "localSettings"
            }],
            "decisionClassification": "user_permanent"
        })
    );

    let waiting = wait(&registry, ask.clone());
    let mut allowed = Allowed::default();
    allowed.scope = PermissionScope::Always;
    allowed.updates = ask.suggestions[2..].to_vec();
    let response = Response::person("phone", Answer::Allow(allowed));
    registry.respond_to_request(&key("a"), response, NOW).unwrap();
    let Some(Answer::Allow(allowed)) = waiting.await.answer().cloned() else { panic!("it was allowed") };
    assert!(matches!(&allowed.updates[..], [PermissionUpdate::SetMode(update)]
        if update.mode == PermissionMode::ACCEPT_EDITS));
}

#[test]
fn contradiction_3_5_rules_of_our_own_cover_exactly_what_was_asked() {
    let rule = |tool: &str, input: Value| {
        let updates = ask_in(1, "a", tool, input).always_updates();
        updates.first().map(|update| serde_json::to_value(update).unwrap()["rules"][0].clone())
    };
    for (tool, input, expected) in [
        ("Read", json!({"file_path": "/a/b"}), json!({"toolName": "Read", "ruleContent": "//a/b"})),
        (
            "Write",
            json!({"file_path": "c", "content": ""}),
            json!({"toolName": "Edit", "ruleContent": "//home/ada/c"}),
        ),
        ("Grep", json!({"pattern": "x"}), json!({"toolName": "Read", "ruleContent": "//home/ada/**"})),
        ("Bash", json!({"command": "make"}), json!({"toolName": "Bash", "ruleContent": "make"})),
        (
            "WebFetch",
            json!({"url": "https://a.org/x", "prompt": ""}),
            json!({"toolName": "WebFetch", "ruleContent": "domain:a.org"}),
        ),
        ("mcp__calc__add", json!({}), json!({"toolName": "mcp__calc__add"})),
    ] {
        assert_eq!(rule(tool, input), Some(expected), "{tool}");
    }
    for (tool, input) in [
        ("Bash", json!({"command": "rm *"})),
        ("Bash", json!({"command": "make $X"})),
        ("Read", json!({"file_path": "/a/*"})),
        ("WebFetch", json!({"url": "https://a.org@b.org/", "prompt": ""})),
    ] {
        assert_eq!(rule(tool, input.clone()), None, "{tool} {input}");
    }
}

#[tokio::test]
async fn a_scope_that_cannot_be_given_decides_nothing() {
    let registry = PermissionRegistry::default();
    let waiting = wait(&registry, bash("a", "make $X"));
    for (scope, expected) in [
        (PermissionScope::Session, RegistryError::NotGrantable),
        (PermissionScope::Always, RegistryError::AlwaysNotOffered),
    ] {
        assert_eq!(registry.respond_to_request(&key("a"), yes(scope), NOW).unwrap_err(), expected);
    }
    registry.respond_to_request(&key("a"), yes(PermissionScope::Once), NOW).unwrap();
    assert!(waiting.await.answer().unwrap().is_allowed());
}

/// A denial without a reason is about the call, and not about the tool.
#[tokio::test]
async fn p25_a_denial_without_a_reason_is_about_this_call() {
    let registry = PermissionRegistry::default();
    let ask = suggested();
    let waiting = wait(&registry, ask.clone());
    let response = Response::person("phone", Answer::Deny(Denied::default()));
    registry.respond_to_request(&key("a"), response, NOW).unwrap();
    let Decision::Deny(deny) = decision(&ask, &waiting.await) else { panic!("it was denied") };
    assert_eq!(deny.message, "The user denied this call of `Bash`, without giving a reason");
}
