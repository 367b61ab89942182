//! Limits: running agents, writers of a CLI session, and what a device may run without permission requests.

use tidings_api::{
    Budget, Code, CommandRequest, CreateSession, PatchSession, Policy, Scope, ServerPhase, SessionCommand,
};
use tidings_journal::{Key, NewSession};
use tidings_protocol::ui::TurnId;
use tidings_sessions::Transcript;
use tokio::task::JoinSet;

use crate::sessions::test_server::*;

/// The id of a CLI session on disk that the server has not imported.
async fn left_on_disk(server: &TestServer) -> String {
    let session = server.create("hello").await;
    server.subscribe(&session).await.complete().await;
    let session = until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
    server.sessions.delete(&me(), &session.key, Transcript::Keep).await.unwrap();
    session.cli_session_ids[0].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_6_a_cli_session_is_taken_over_once_however_many_ask() {
    let server = TestServer::playing(HELLO).await;
    let id = left_on_disk(&server).await;
    let mut asking = JoinSet::new();
    for _ in 0..8 {
        let (sessions, new) = (server.sessions.clone(), server.new_session());
        let new = CreateSession { resume: Some(id.clone()), prompt: Some("go on".to_owned()), ..new };
        asking.spawn(async move { sessions.create(&me(), new).await });
    }
    let (won, lost): (Vec<_>, Vec<_>) = asking.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 7));
    assert!(lost.iter().all(|lost| lost.as_ref().unwrap_err().code() == Code::Conflict), "{lost:?}");
    assert_eq!(server.sessions.list(None, 10).await.unwrap().len(), 1);
}

/// Journals of earlier versions may have two sessions with one CLI session.
#[tokio::test]
async fn promise_6_of_two_sessions_with_one_cli_session_one_runs() {
    let server = TestServer::playing(HELLO).await;
    let id = left_on_disk(&server).await;
    for name in ["one", "other"] {
        let new = NewSession::new(Key::new(name).unwrap(), server.cwd(), jiff::Timestamp::UNIX_EPOCH);
        let settings = format!(r#"{{"launch":{{"resume":"{id}"}}}}"#);
        let new = NewSession { settings, state: "parked".to_owned(), ..new };
        server.sessions.broadcast().journal().create(new).await.unwrap();
    }
    server.sessions.input(&me(), "one", say("go on")).await.unwrap();
    until_state(&server.sessions, "one", ServerPhase::Idle).await;
    server.sessions.input(&me(), "other", say("go on")).await.unwrap();
    let refused = until_state(&server.sessions, "other", ServerPhase::Failed).await;
    assert!(refused.error.unwrap().contains("`one`"));
    // The running one ends, and the queue is delivered.
    server.sessions.command(&me(), "one", SessionCommand::Stop, CommandRequest::default()).await.unwrap();
    server.sessions.input(&me(), "other", say("and on")).await.unwrap();
    until_state(&server.sessions, "other", ServerPhase::Idle).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t18_no_more_agents_run_than_may_and_a_refusal_leaves_nothing_behind() {
    let server = TestServer::with(ASKS, |config| config.live_max = 2).await;
    let mut asking = JoinSet::new();
    for _ in 0..6 {
        let (sessions, new) = (server.sessions.clone(), server.new_session());
        let new = CreateSession { prompt: Some("look".to_owned()), ..new };
        asking.spawn(async move { sessions.create(&me(), new).await });
    }
    let (won, lost): (Vec<_>, Vec<_>) = asking.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (2, 4));
    assert!(lost.iter().all(|lost| lost.as_ref().unwrap_err().code() == Code::TooMany), "{lost:?}");
    assert_eq!(server.sessions.list(None, 10).await.unwrap().len(), 2);
    for session in won {
        until_state(&server.sessions, &session.unwrap().0.key, ServerPhase::NeedsYou).await;
    }
    // Prompts that no session can take leave nothing behind either.
    let new = |prompt: &str| CreateSession { prompt: Some(prompt.to_owned()), ..server.new_session() };
    assert_eq!(server.sessions.create(&me(), new(" ")).await.unwrap_err().code(), Code::Invalid);
    let spent = CreateSession { max_turns: Some(0), ..new("look") };
    assert_eq!(server.sessions.create(&me(), spent).await.unwrap_err().code(), Code::BudgetExhausted);
    assert_eq!(server.sessions.list(None, 10).await.unwrap().len(), 2);
}

/// Prompts that an earlier server accepted are no exception: they wait for a slot.
#[tokio::test]
async fn t18_no_more_agents_run_than_may_after_a_restart_either() {
    let server = TestServer::with(ASKS, |config| config.live_max = 1).await;
    let turn = serde_json::to_value(TurnId::new_user_turn(1)).unwrap();
    for name in ["one", "other"] {
        let waits = serde_json::json!({
            "last_turn": 1,
            "queue": [{"id": name, "turn_id": turn, "content": "look", "at": "", "state": "waiting"}],
        });
        let new = NewSession::new(Key::new(name).unwrap(), server.cwd(), jiff::Timestamp::UNIX_EPOCH);
        let new = NewSession { settings: waits.to_string(), state: "parked".to_owned(), ..new };
        server.sessions.broadcast().journal().create(new).await.unwrap();
    }
    let sessions = server.killed_and_started().await;
    until_state(&sessions, "one", ServerPhase::NeedsYou).await;
    let other = sessions.find("other").await.unwrap();
    assert_eq!((other.state, other.queued), (ServerPhase::Parked, 1));
    let id = sessions.permissions(Some("one")).await.unwrap()[0].tool_use_id.clone();
    sessions.answer_permission(&me(), "one", &id, yes()).await.unwrap();
    // An idle agent is parked for the other one.
    until_state(&sessions, "other", ServerPhase::NeedsYou).await;
    assert_eq!(sessions.find("one").await.unwrap().state, ServerPhase::Parked);
}

#[tokio::test]
async fn t6_whoever_may_only_say_something_lets_nothing_run_unasked() {
    let server = TestServer::playing(HELLO).await;
    let phone = caller_with("phone", &[Scope::Read, Scope::Prompt, Scope::Decide]);
    let trusted = caller_with("trusted", &[Scope::Read, Scope::Prompt, Scope::Always]);
    let with_mode =
        |mode: &str| CreateSession { permission_mode: Some(mode.to_owned()), ..server.new_session() };
    let with_tools = CreateSession { allowed_tools: vec!["Bash".to_owned()], ..server.new_session() };
    for new in [with_tools, with_mode("acceptEdits"), with_mode("auto")] {
        let refused = server.sessions.create(&phone, new.clone()).await.unwrap_err();
        assert_eq!(refused.code(), Code::Forbidden, "{new:?}");
        server.sessions.create(&trusted, new).await.unwrap();
    }
    for mode in ["default", "plan", "dontAsk"] {
        server.sessions.create(&phone, with_mode(mode)).await.unwrap();
    }
    let session = server.sessions.create(&phone, server.new_session()).await.unwrap().0;
    let mode = |mode: &str| CommandRequest { mode: Some(mode.to_owned()), ..CommandRequest::default() };
    for (caller, word, is_fine) in [
        (&phone, "acceptEdits", false),
        (&phone, "auto", false),
        (&phone, "plan", true),
        (&trusted, "acceptEdits", true),
    ] {
        let set = server.sessions.command(caller, &session.key, SessionCommand::Mode, mode(word)).await;
        assert_eq!(
            set.map(drop).map_err(|error| error.code()),
            if is_fine { Ok(()) } else { Err(Code::Forbidden) }
        );
    }
}

/// A policy skips permission requests as a mode does, so it needs the same scope.
#[tokio::test]
async fn t6_a_policy_is_loosened_by_those_only_who_may_add_rules() {
    use Policy::{Allow, Ask, Deny, Standard, Unattended};
    let server = TestServer::with(HELLO, |config| config.allow_bypass = true).await;
    let phone = caller_with("phone", &[Scope::Read, Scope::Prompt, Scope::Decide]);
    let trusted = caller_with("trusted", &[Scope::Read, Scope::Prompt, Scope::Always]);
    let with = |policy| CreateSession { policy: Some(policy), ..server.new_session() };
    let code = |done: Result<(), tidings_sessions::Error>| done.map_err(|error| error.code());
    for (policy, is_fine) in [(Ask, true), (Deny, true), (Standard, false), (Unattended, false)] {
        let expected = if is_fine { Ok(()) } else { Err(Code::Forbidden) };
        let made = server.sessions.create(&phone, with(policy)).await.map(drop);
        assert_eq!(code(made), expected, "{policy:?}");
        server.sessions.create(&trusted, with(policy)).await.unwrap();
    }
    for (from, to, is_looser) in [
        (Ask, Standard, true),
        (Ask, Unattended, true),
        (Standard, Unattended, true),
        (Deny, Ask, true),
        (Ask, Deny, false),
        (Standard, Standard, false),
        (Unattended, Standard, false),
        (Allow, Unattended, false),
        (Allow, Ask, false),
    ] {
        let session = server.sessions.create(&me(), with(from)).await.unwrap().0;
        let patch = PatchSession { policy: Some(to), ..PatchSession::default() };
        let done = server.sessions.patch(&phone, &session.key, patch.clone()).await.map(drop);
        let expected = if is_looser { Err(Code::Forbidden) } else { Ok(()) };
        assert_eq!(code(done), expected, "{from:?} {to:?}");
        server.sessions.patch(&trusted, &session.key, patch).await.unwrap();
        let everything = PatchSession { policy: Some(Allow), ..PatchSession::default() };
        let done = server.sessions.patch(&trusted, &session.key, everything).await.map(drop);
        assert_eq!(code(done), Err(Code::Forbidden), "that needs more");
    }
}

#[tokio::test]
async fn t18_a_budget_is_loosened_by_an_admin_only() {
    let server = TestServer::playing(HELLO).await;
    let phone = caller_with("phone", &[Scope::Read, Scope::Prompt, Scope::Decide, Scope::Always]);
    let new = CreateSession { max_turns: Some(5), budget_usd: Some(1.0), ..server.new_session() };
    let session = server.sessions.create(&me(), new).await.unwrap().0;
    let budget = |max_turns, budget_usd, max_seconds| PatchSession {
        budget: Some(Budget { max_turns, budget_usd, max_seconds }),
        ..PatchSession::default()
    };
    for (patch, is_looser) in [
        (budget(None, None, None), true),
        (budget(Some(5), None, None), true),
        (budget(Some(6), Some(1.0), None), true),
        (budget(Some(5), Some(1.5), Some(1)), true),
        (budget(Some(5), Some(1.0), None), false),
        (budget(Some(4), Some(0.5), Some(60)), false),
        (budget(Some(4), Some(0.5), None), true),
    ] {
        let done = server.sessions.patch(&phone, &session.key, patch.clone()).await.map(drop);
        let expected = if is_looser { Err(Code::Forbidden) } else { Ok(()) };
        assert_eq!(done.map_err(|error| error.code()), expected, "{patch:?}");
    }
    server.sessions.patch(&me(), &session.key, budget(None, None, None)).await.unwrap();
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let server = TestServer::playing(HELLO).await;
    let banana = CreateSession { permission_mode: Some("banana".to_owned()), ..server.new_session() };
    let copy_of_nothing = CreateSession { fork: true, ..server.new_session() };
    for new in [banana, copy_of_nothing] {
        let refused = server.sessions.create(&me(), new).await.unwrap_err();
        assert_eq!((refused.code(), refused.hint().is_empty()), (Code::Invalid, false));
    }
    assert_eq!(server.sessions.list(None, 10).await.unwrap(), []);
    let session = server.create("hello").await;
    server.subscribe(&session).await.complete().await;
    let request = CommandRequest { mode: Some("banana".to_owned()), ..CommandRequest::default() };
    let refused =
        server.sessions.command(&me(), &session.key, SessionCommand::Mode, request).await.unwrap_err();
    assert_eq!((refused.code(), refused.hint().is_empty()), (Code::Invalid, false));
}

/// The audit log has the author of each change to what may run without requests.
#[tokio::test]
async fn k12_changes_of_policy_mode_and_budget_are_in_the_audit_log() {
    let server = TestServer::playing(HELLO).await;
    let new = CreateSession { policy: Some(Policy::Standard), ..server.new_session() };
    let session = server.sessions.create(&me(), new).await.unwrap().0;
    let patch = PatchSession {
        policy: Some(Policy::Ask),
        budget: Some(Budget { max_turns: Some(3), ..Budget::default() }),
        ..PatchSession::default()
    };
    server.sessions.patch(&caller_with("eve", &[Scope::Prompt]), &session.key, patch).await.unwrap();
    let mode = CommandRequest { mode: Some("plan".to_owned()), ..CommandRequest::default() };
    server.sessions.command(&me(), &session.key, SessionCommand::Mode, mode).await.unwrap();
    let title = PatchSession { title: Some("a".to_owned()), ..PatchSession::default() };
    server.sessions.patch(&me(), &session.key, title).await.unwrap();
    let log = server.audit().await;
    let lines: Vec<(&str, &str)> = log.iter().map(|(who, done)| (who.as_str(), done.as_str())).collect();
    let expected = [("ada", "set policy"), ("eve", "set policy"), ("eve", "set budget"), ("ada", "set mode")];
    assert_eq!(lines, expected);
}
