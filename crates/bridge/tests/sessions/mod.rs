//! Sessions with the stand-in: prompts, requests, answers, storage, and recovery after a crash.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod after_limit;
mod answering;
mod attaching;
mod full;
mod limits;
mod modes;
mod naming;
mod one_truth;
mod repeats;
pub(crate) mod test_server;
mod writers;

use std::collections::BTreeSet;
use std::time::Duration;

use test_server::*;
use tidings_agent::UiMessage;
use tidings_api::{
    Budget, Code, CommandRequest, CreateSession, Delivery as When, ForkPoint, Input, Notice, PatchSession,
    QueueState, ServerPhase, SessionCommand,
};
use tidings_journal::broadcast::SubscribeOptions;
use tidings_journal::{Key, NewSession, Novelty};
use tidings_protocol::ui::{Resolution, TurnId};
use tidings_sessions::{Caller, Config, Sessions, Transcript};

#[tokio::test]
async fn a_prompt_is_answered_and_everything_of_it_is_kept() {
    let server = TestServer::playing(HELLO).await;
    let session = server.create("hello").await;
    let mut subscriber = server.subscribe(&session).await;
    subscriber.complete().await;
    assert_eq!(subscriber.text(), "Hello to you.");
    let view = until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
    assert_eq!((view.totals.turns, view.queued, view.cli_session_ids.len()), (1, 0, 1));
    assert_eq!(view.last_line.as_deref(), Some("Hello to you."));
    // By handle as by key.
    assert_eq!(server.sessions.find("1").await.unwrap().key, session.key);
    assert_eq!(server.sessions.list(None, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn promise_3_a_command_that_is_sent_again_has_one_effect_and_one_answer() {
    let server = TestServer::playing(HELLO).await;
    let new = CreateSession { client_id: Some("make".to_owned()), ..server.new_session() };
    let (first, novelty) = server.sessions.create(&me(), new.clone()).await.unwrap();
    let (again, repeated) = server.sessions.create(&me(), new).await.unwrap();
    assert_eq!((novelty, repeated, &first.key), (Novelty::New, Novelty::Seen, &again.key));

    let mut subscriber = server.subscribe(&first).await;
    let input = Input { client_id: Some("say".to_owned()), ..say("hello") };
    let accepted = server.sessions.input(&me(), &first.key, input.clone()).await.unwrap();
    assert_eq!(accepted.turn_id, Some(TurnId::new_user_turn(1)));
    assert_eq!(server.sessions.input(&me(), &first.key, input.clone()).await.unwrap(), accepted);
    subscriber.complete().await;
    // Long after it was done, too.
    assert_eq!(server.sessions.input(&me(), &first.key, input).await.unwrap(), accepted);
    server.sessions.input(&me(), &first.key, say("more")).await.unwrap();
    subscriber.complete().await;
    assert_eq!(subscriber.text(), "Hello to you.And again.");
}

/// A command of the server is a turn as well, and the acknowledged number is the shown one.
#[tokio::test]
async fn the_turn_that_is_acknowledged_is_the_one_that_is_shown() {
    let server = TestServer::playing(ASKS).await;
    let session = server.sessions.create(&me(), server.new_session()).await.unwrap().0;
    let claimed = Input { turn_id: Some(TurnId::new_user_turn(u64::MAX)), ..say("look") };
    let refused = server.sessions.input(&me(), &session.key, claimed).await.unwrap_err();
    assert_eq!(refused.code(), Code::Invalid, "every later prompt would have that turn");
    let mut subscriber = server.subscribe(&session).await;
    server
        .sessions
        .command(&me(), &session.key, SessionCommand::Clear, CommandRequest::default())
        .await
        .unwrap();
    subscriber.complete().await;
    until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
    let accepted = server.sessions.input(&me(), &session.key, say("look")).await.unwrap();
    let shown =
        subscriber.until(|event| matches!(event, UiMessage::UserPrompt(said) if said.text == "look")).await;
    let UiMessage::UserPrompt(shown) = shown else { unreachable!() };
    assert_eq!(shown.turn_id, accepted.turn_id);
    subscriber.until(|event| matches!(event, UiMessage::TurnStarted(_))).await;
    assert_eq!(server.sessions.queue(&session.key).await.unwrap(), [], "it waits no longer");
}

/// 100 clients answer at once: one wins, and all others get the winner.
#[tokio::test]
async fn prompts_during_a_turn_are_queued_and_can_be_cancelled() {
    let server = TestServer::playing(ASKS).await;
    let session = server.create("look").await;
    let mut subscriber = server.subscribe(&session).await;
    let id = subscriber.asked().await;
    server.sessions.input(&me(), &session.key, say("and then")).await.unwrap();
    server.sessions.input(&me(), &session.key, say("never mind")).await.unwrap();
    let queue = server.sessions.queue(&session.key).await.unwrap();
    let waiting: Vec<_> = queue.iter().map(|queued| (&*queued.content, queued.state)).collect();
    assert_eq!(waiting, [("and then", QueueState::Waiting), ("never mind", QueueState::Waiting)]);
    server.sessions.cancel(&me(), &session.key, &queue[1].id).await.unwrap();
    let again = server.sessions.cancel(&me(), &session.key, &queue[1].id).await.unwrap_err();
    assert_eq!(again.code(), Code::NotFound);
    server.sessions.answer_permission(&me(), &session.key, &id, yes()).await.unwrap();
    subscriber.complete().await;
    subscriber.complete().await;
    assert_eq!(subscriber.text(), "Let me look.There is a README.That was all.");
    let view = until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
    assert_eq!((view.queued, view.totals.turns), (0, 2));
    let turns: BTreeSet<String> = subscriber
        .seen
        .iter()
        .filter_map(|event| match event {
            UiMessage::UserPrompt(prompt) => Some(prompt.turn_id.unwrap().to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(turns.into_iter().collect::<Vec<_>>(), ["u1", "u2"]);
}

#[tokio::test]
async fn an_interrupting_prompt_is_sent_at_once() {
    let server = TestServer::playing(ASKS).await;
    let session = server.create("look").await;
    let mut subscriber = server.subscribe(&session).await;
    subscriber.asked().await;
    let input = Input { delivery: When::Interrupt, ..say("stop, do this") };
    server.sessions.input(&me(), &session.key, input).await.unwrap();
    subscriber.complete().await;
    subscriber.complete().await;
    let taken_back = |event: &UiMessage| matches!(event, UiMessage::PermissionResolved(resolved) if resolved.outcome == Resolution::Cancelled);
    assert!(subscriber.seen.iter().any(taken_back));
    assert_eq!(until_state(&server.sessions, &session.key, ServerPhase::Idle).await.pending_permissions, 0);
}

#[tokio::test]
async fn a_session_that_was_stopped_goes_on_with_the_next_prompt() {
    let server = TestServer::playing(HELLO).await;
    let session = server.create("hello").await;
    let mut subscriber = server.subscribe(&session).await;
    subscriber.complete().await;
    server
        .sessions
        .command(&me(), &session.key, SessionCommand::Stop, CommandRequest::default())
        .await
        .unwrap();
    let stopped = until_state(&server.sessions, &session.key, ServerPhase::Stopped).await;
    server.sessions.input(&me(), &session.key, say("more")).await.unwrap();
    subscriber.complete().await;
    let view = until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
    assert_eq!(view.cli_session_ids, stopped.cli_session_ids);
    assert_eq!(view.totals.turns, 2);
}

#[tokio::test]
async fn an_unused_agent_is_parked_and_comes_back() {
    let set = |config: &mut Config| config.park_after = Some(Duration::from_millis(50));
    let server = TestServer::with(HELLO, set).await;
    let session = server.create("hello").await;
    let mut subscriber = server.subscribe(&session).await;
    subscriber.complete().await;
    until_state(&server.sessions, &session.key, ServerPhase::Parked).await;
    server.sessions.input(&me(), &session.key, say("more")).await.unwrap();
    subscriber.complete().await;
    until_state(&server.sessions, &session.key, ServerPhase::Parked).await;
}

#[tokio::test]
async fn only_so_many_agents_run_at_once() {
    let server = TestServer::with(ASKS, |config| config.live_max = 1).await;
    let busy = server.create("look").await;
    let mut subscriber = server.subscribe(&busy).await;
    let id = subscriber.asked().await;
    let other = server.sessions.create(&me(), server.new_session()).await.unwrap().0;
    let refused = server.sessions.input(&me(), &other.key, say("hello")).await.unwrap_err();
    assert_eq!(refused.code(), Code::TooMany);
    assert_eq!(refused.message(), "The only agent slot is in use");
    server.sessions.answer_permission(&me(), &busy.key, &id, yes()).await.unwrap();
    subscriber.complete().await;
    until_state(&server.sessions, &busy.key, ServerPhase::Idle).await;
    server.sessions.input(&me(), &other.key, say("hello")).await.unwrap();
    until_state(&server.sessions, &busy.key, ServerPhase::Parked).await;
    until_state(&server.sessions, &other.key, ServerPhase::NeedsYou).await;
}

/// A build or a server that the agent has started would end with it.
#[tokio::test]
async fn an_agent_with_background_work_is_not_parked_for_another() {
    let script = r#"
[[turn]]
[[turn.block]]
tool = "Bash"
input = { command = "make serve", description = "Serve", run_in_background = true }
takes_ms = 600000
[[turn]]
text = "It runs."
"#;
    let server = TestServer::with(script, |config| config.live_max = 1).await;
    let background = server.create("serve").await;
    let mut subscriber = server.subscribe(&background).await;
    subscriber.complete().await;
    until_state(&server.sessions, &background.key, ServerPhase::Idle).await;
    let other = server.sessions.create(&me(), server.new_session()).await.unwrap().0;
    let refused = server.sessions.input(&me(), &other.key, say("hello")).await.unwrap_err();
    assert_eq!(refused.code(), Code::TooMany);
}

#[tokio::test]
async fn t18_a_session_ends_with_its_budget() {
    let server = TestServer::playing(HELLO).await;
    let new = CreateSession { max_turns: Some(1), prompt: Some("hello".to_owned()), ..server.new_session() };
    let session = server.sessions.create(&me(), new).await.unwrap().0;
    let mut subscriber = server.subscribe(&session).await;
    subscriber.complete().await;
    until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
    let refused = server.sessions.input(&me(), &session.key, say("more")).await.unwrap_err();
    assert_eq!(refused.code(), Code::BudgetExhausted);
    assert_eq!(refused.message(), "The session has used its budget of 1 turn");
    let budget = Some(Budget { max_turns: Some(2), ..Budget::default() });
    let patch = PatchSession { budget, ..PatchSession::default() };
    server.sessions.patch(&me(), &session.key, patch).await.unwrap();
    server.sessions.input(&me(), &session.key, say("more")).await.unwrap();
    subscriber.complete().await;
}

/// However many prompts were accepted during the first turn, the budget limits the turns.
#[tokio::test]
async fn t18_prompts_that_wait_do_not_go_beyond_the_budget() {
    let server = TestServer::playing(ASKS).await;
    let new = CreateSession { max_turns: Some(1), prompt: Some("look".to_owned()), ..server.new_session() };
    let session = server.sessions.create(&me(), new).await.unwrap().0;
    let mut subscriber = server.subscribe(&session).await;
    let id = subscriber.asked().await;
    let interrupting = Input { delivery: When::Interrupt, ..say("rather this") };
    server.sessions.input(&me(), &session.key, interrupting).await.unwrap();
    let is_dropped = |event: &UiMessage| matches!(event, UiMessage::PromptDropped(_));
    subscriber.until(is_dropped).await;
    for _ in 0..3 {
        server.sessions.input(&me(), &session.key, say("and then")).await.unwrap();
    }
    server.sessions.answer_permission(&me(), &session.key, &id, yes()).await.unwrap();
    for _ in 0..3 {
        let UiMessage::PromptDropped(dropped) = subscriber.until(is_dropped).await else { unreachable!() };
        assert!(dropped.reason.unwrap().contains("budget of 1 turn"));
    }
    let view = until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
    assert_eq!((view.totals.turns, view.queued), (1, 0));
    assert_eq!(subscriber.text(), "Let me look.There is a README.", "the first turn went on");
}

#[tokio::test]
async fn t18_money_and_time_are_counted_before_each_prompt() {
    let server = TestServer::playing(HELLO).await;
    for (name, spent) in [
        (
            "money",
            r#""budget":{"budget_usd":1.0},"totals":{"cost_usd":1.0,"turns":1,"input_tokens":0,"output_tokens":0}"#,
        ),
        ("time", r#""budget":{"max_seconds":5},"turns_ms":5000"#),
    ] {
        let waiting = r#""queue":[{"id":"w","turn_id":"u1","content":"more","at":"","state":"waiting"}]"#;
        let settings = format!("{{{spent},{waiting}}}");
        let new = NewSession::new(Key::new(name).unwrap(), server.cwd(), jiff::Timestamp::UNIX_EPOCH);
        let new = NewSession { settings, state: "parked".to_owned(), ..new };
        server.sessions.broadcast().journal().create(new).await.unwrap();
        assert_eq!(server.sessions.find(name).await.unwrap().queued, 1);
    }
    // The queue of a server that ended is delivered by the next one.
    let sessions = server.killed_and_started().await;
    for name in ["money", "time"] {
        let mut subscriber = TestSubscriber::new(&sessions, name, SubscribeOptions::default()).await;
        subscriber.until(|event| matches!(event, UiMessage::PromptDropped(_))).await;
        assert_eq!(until_state(&sessions, name, ServerPhase::Parked).await.queued, 0);
        assert!(!subscriber.seen.iter().any(|event| matches!(event, UiMessage::SessionStarted(_))));
    }
}

#[tokio::test]
async fn t18_the_turns_of_a_session_take_no_longer_than_they_may() {
    let server = TestServer::playing(ASKS).await;
    let new = CreateSession { max_seconds: Some(1), prompt: Some("look".to_owned()), ..server.new_session() };
    let session = server.sessions.create(&me(), new).await.unwrap().0;
    let mut subscriber = server.subscribe(&session).await;
    subscriber.asked().await;
    // The request stays unanswered.
    subscriber.until(|event| matches!(event, UiMessage::Error { .. })).await;
    let view = until_state(&server.sessions, &session.key, ServerPhase::Stopped).await;
    assert_eq!(view.pending_permissions, 0);
    let refused = server.sessions.input(&me(), &session.key, say("more")).await.unwrap_err();
    assert_eq!(refused.code(), Code::BudgetExhausted, "it does not get the same time again");
}

/// A budget that is set or tightened during a turn holds for it.
#[tokio::test]
async fn t18_a_budget_of_time_that_changes_holds_for_the_turn_under_way() {
    let server = TestServer::playing(ASKS).await;
    let unbounded = server.create("look").await;
    let new =
        CreateSession { max_seconds: Some(3600), prompt: Some("look".to_owned()), ..server.new_session() };
    let bounded = server.sessions.create(&me(), new).await.unwrap().0;
    for session in [&unbounded, &bounded] {
        let mut subscriber = server.subscribe(session).await;
        subscriber.asked().await;
        server.sessions.input(&me(), &session.key, say("and then")).await.unwrap();
        let budget = Some(Budget { max_seconds: Some(1), ..Budget::default() });
        let patch = PatchSession { budget, ..PatchSession::default() };
        server.sessions.patch(&me(), &session.key, patch).await.unwrap();
        subscriber.until(|event| matches!(event, UiMessage::Error { .. })).await;
        subscriber.until(|event| matches!(event, UiMessage::PromptDropped(_))).await;
        let view = until_state(&server.sessions, &session.key, ServerPhase::Stopped).await;
        assert_eq!((view.queued, view.totals.turns), (0, 1), "what waited does not get the same time again");
    }
}

#[tokio::test]
async fn t12_sessions_work_only_in_folders_that_they_may() {
    let outside = tempfile::tempdir().unwrap();
    let inside = tempfile::tempdir().unwrap();
    let root = inside.path().canonicalize().unwrap();
    let server = TestServer::with(HELLO, |config| config.roots = vec![root.clone()]).await;
    let link = inside.path().join("link");
    std::os::unix::fs::symlink(outside.path(), &link).unwrap();
    for (folder, code) in [
        (outside.path().to_str().unwrap(), Code::OutsideRoots),
        (link.to_str().unwrap(), Code::OutsideRoots),
        ("relative", Code::Invalid),
        ("/does/not/exist", Code::OutsideRoots),
    ] {
        let new = CreateSession { cwd: folder.to_owned(), ..CreateSession::default() };
        assert_eq!(server.sessions.create(&me(), new).await.unwrap_err().code(), code, "{folder}");
    }
    let new = CreateSession { cwd: root.to_str().unwrap().to_owned(), ..CreateSession::default() };
    let session = server.sessions.create(&me(), new).await.unwrap().0;
    let limited = Caller { folders: vec!["/somewhere/else".to_owned()], ..me() };
    let refused = server.sessions.input(&limited, &session.key, say("hello")).await.unwrap_err();
    assert_eq!(refused.code(), Code::Forbidden);
}

#[tokio::test]
async fn a_session_on_disk_is_adopted_with_its_past_and_can_be_copied() {
    let server = TestServer::playing(HELLO).await;
    let first = server.create("hello").await;
    server.subscribe(&first).await.complete().await;
    let first = until_state(&server.sessions, &first.key, ServerPhase::Idle).await;
    let id = first.cli_session_ids[0].clone();

    // It is imported already, so it is not imported again.
    let again = CreateSession { resume: Some(id.clone()), ..server.new_session() };
    let shouted = CreateSession { resume: Some(id.to_uppercase()), ..server.new_session() };
    assert_eq!(server.sessions.create(&me(), shouted).await.unwrap_err().code(), Code::Conflict);
    assert_eq!(server.sessions.create(&me(), again.clone()).await.unwrap_err().code(), Code::Conflict);
    let copy = CreateSession { fork: true, prompt: Some("more".to_owned()), ..again.clone() };
    let copy = server.sessions.create(&me(), copy).await.unwrap().0;
    let mut subscriber = server.subscribe(&copy).await;
    subscriber.until(|event| matches!(event, UiMessage::PromptQueued(_))).await;
    assert_eq!(subscriber.text(), "Hello to you.", "its past comes first");
    subscriber.until(|event| matches!(event, UiMessage::SessionStarted(_))).await;
    let copied = until_state(&server.sessions, &copy.key, ServerPhase::Idle).await;
    assert_ne!(copied.cli_session_ids, first.cli_session_ids);

    server.sessions.delete(&me(), &first.key, Transcript::Keep).await.unwrap();
    assert_eq!(server.sessions.find(&first.key).await.unwrap_err().code(), Code::NotFound);
    let adopted = server.sessions.create(&me(), again.clone()).await.unwrap().0;
    let unused = CreateSession { fork: true, ..again.clone() };
    server.sessions.create(&me(), unused).await.expect("a fork of a session without new prompts");
    let mut subscriber = server.subscribe(&adopted).await;
    subscriber.until(|event| matches!(event, UiMessage::TextChunk { .. })).await;
    let accepted = server.sessions.input(&me(), &adopted.key, say("go on")).await.unwrap();
    assert_eq!(accepted.turn_id, Some(TurnId::new_user_turn(2)), "the first is in its past");
    let answers =
        |event: &UiMessage| matches!(event, UiMessage::TurnStarted(turn) if !turn.answers.is_empty());
    let UiMessage::TurnStarted(turn) = subscriber.until(answers).await else { unreachable!() };
    assert_eq!((turn.turn_id, turn.answers), (TurnId::new_assistant_turn(2), vec![TurnId::new_user_turn(2)]));
    let adopted = until_state(&server.sessions, &adopted.key, ServerPhase::Idle).await;
    assert_eq!(adopted.cli_session_ids, std::slice::from_ref(&id));
    assert_eq!(adopted.first_prompt.as_deref(), Some("hello"), "history from before the import");

    server.sessions.delete(&me(), &adopted.key, Transcript::Delete).await.unwrap();
    assert_eq!(server.sessions.create(&me(), again).await.unwrap_err().code(), Code::NotFound);
    for hostile in ["../../etc/passwd", "x", "/etc/passwd"] {
        let new = CreateSession { resume: Some(hostile.to_owned()), ..server.new_session() };
        assert_eq!(server.sessions.create(&me(), new).await.unwrap_err().code(), Code::Invalid, "{hostile}");
    }
}

#[tokio::test]
async fn a_session_is_forked_at_any_message() {
    let server = TestServer::playing(HELLO).await;
    let first = server.create("hello").await;
    server.subscribe(&first).await.complete().await;
    until_state(&server.sessions, &first.key, ServerPhase::Idle).await;
    server.sessions.input(&me(), &first.key, say("and again")).await.unwrap();
    let first = loop {
        let view = until_state(&server.sessions, &first.key, ServerPhase::Idle).await;
        if view.totals.turns == 2 {
            break view;
        }
        tokio::task::yield_now().await;
    };
    let id = first.cli_session_ids[0].clone();
    let mut prompts = Vec::new();
    let mut subscriber = server.subscribe(&first).await;
    while prompts.len() < 2 {
        let event = subscriber.until(|event| matches!(event, UiMessage::UserPrompt(_))).await;
        let UiMessage::UserPrompt(prompt) = event else { unreachable!() };
        prompts.push(prompt.uuid.unwrap());
    }
    let fork = async |point: ForkPoint| {
        let resume = Some(id.clone());
        let new = CreateSession { resume, fork: true, fork_at: Some(point), ..server.new_session() };
        server.sessions.create(&me(), new).await
    };
    let point = |prompt: &str, answer: Option<&str>| ForkPoint {
        prompt: prompt.to_owned(),
        answer: answer.map(str::to_owned),
        skip: None,
    };
    for (point, has_second) in [(point(&prompts[1], None), false), (point(&prompts[1], Some("And")), true)] {
        let copy = fork(point).await.unwrap().0;
        let page = server.sessions.snapshot(&copy.key, 1000, 1 << 20).await.unwrap();
        let text = serde_json::to_string(&page.events).unwrap();
        let found = ["Hello to you.", "and again", "And again."].map(|words| text.contains(words));
        assert_eq!(found, [true, has_second, has_second], "{text}");
    }
    // A copy continues as any session does.
    let copy = fork(point(&prompts[0], Some("Hello"))).await.unwrap().0;
    server.sessions.input(&me(), &copy.key, say("go on")).await.unwrap();
    server.subscribe(&copy).await.complete().await;
    let copy = until_state(&server.sessions, &copy.key, ServerPhase::Idle).await;
    assert_ne!(copy.cli_session_ids, first.cli_session_ids);

    let code = async |point: ForkPoint| fork(point).await.unwrap_err().code();
    assert_eq!(code(point(&prompts[0], None)).await, Code::Invalid, "nothing comes before it");
    assert_eq!(code(point(&prompts[0], Some("Never said"))).await, Code::NotFound);
    assert_eq!(code(point("0b61c3d1-5d0e-4c4e-9a51-3b9a9b1f6c11", None)).await, Code::NotFound);
    let whole = CreateSession { fork_at: Some(point(&prompts[1], None)), ..server.new_session() };
    assert_eq!(server.sessions.create(&me(), whole).await.unwrap_err().code(), Code::Invalid);
}

/// T12: a credential for a folder cannot reach a session of another one by resuming or forking it.
#[tokio::test]
async fn t12_a_session_out_of_sight_can_be_neither_resumed_nor_copied() {
    let server = TestServer::playing(HELLO).await;
    let (mine, theirs) = (server.inside("mine"), server.inside("theirs"));
    let new = |cwd: &str| CreateSession { cwd: cwd.to_owned(), ..CreateSession::default() };
    let hello = CreateSession { prompt: Some("hello".to_owned()), ..new(&theirs) };
    let first = server.sessions.create(&me(), hello).await.unwrap().0;
    server.subscribe(&first).await.complete().await;
    let first = until_state(&server.sessions, &first.key, ServerPhase::Idle).await;
    let id = first.cli_session_ids[0].clone();

    let limited = Caller { folders: vec![mine.clone()], ..me() };
    let refused = async |name: &str, told: &str| {
        for fork in [false, true] {
            let new = CreateSession { resume: Some(name.to_owned()), fork, ..new(&mine) };
            let error = server.sessions.create(&limited, new).await.unwrap_err();
            assert_eq!(error.code(), Code::NotFound, "{name} {fork}: {error}");
            // The same message as for a session that does not exist.
            assert_eq!(error.message(), format!("There is no session `{told}`"));
        }
    };
    for name in ["1", "99", &first.key, &id, "00000000-0000-4000-8000-000000000000"] {
        refused(name, name).await;
    }
    refused(&id.to_uppercase(), &id).await;
    // Nor if only its file is left.
    server.sessions.delete(&me(), &first.key, Transcript::Keep).await.unwrap();
    refused(&id, &id).await;
    assert_eq!(server.sessions.list(None, 10).await.unwrap(), []);

    let near = Caller { folders: vec![theirs.clone()], ..me() };
    let new = CreateSession { resume: Some(id), ..new(&theirs) };
    server.sessions.create(&near, new).await.unwrap();
}

#[tokio::test]
async fn notices_report_requests_of_all_sessions() {
    let server = TestServer::playing(ASKS).await;
    let mut notices = server.sessions.notices();
    let session = server.create("look").await;
    let mut told = Vec::new();
    while !told.contains(&"turn_ended") {
        let notice = in_time(notices.recv()).await.unwrap();
        match &*notice {
            Notice::Permission { permission } => {
                told.push("permission");
                let id = permission.tool_use_id.clone();
                server.sessions.answer_permission(&me(), &session.key, &id, yes()).await.unwrap();
            }
            Notice::Settled { outcome, .. } => {
                assert_eq!(outcome, "allowed");
                told.push("settled");
            }
            Notice::TurnEnded { is_error, last_line, .. } => {
                assert_eq!((*is_error, last_line.as_deref()), (false, Some("There is a README.")));
                told.push("turn_ended");
            }
            _ => {}
        }
    }
    assert_eq!(told, ["permission", "settled", "turn_ended"]);
}

#[tokio::test]
async fn a_failed_start_of_an_agent_is_reported_and_tried_again() {
    let server = TestServer::with(HELLO, |config| {
        config.carrier = Config::default().carrier;
        config.claude = Some("/does/not/exist".into());
    })
    .await;
    let session = server.create("hello").await;
    let view = until_state(&server.sessions, &session.key, ServerPhase::Failed).await;
    assert!(view.error.unwrap().contains("/does/not/exist"));
    assert_eq!(view.queued, 1);
}

#[tokio::test]
async fn promise_11_a_server_that_stops_ends_its_agents_and_takes_nothing_new() {
    let server = TestServer::playing(ASKS).await;
    let session = server.create("look").await;
    server.subscribe(&session).await.asked().await;
    server.sessions.drain().await;
    let row = server.sessions.find(&session.key).await.unwrap();
    assert_eq!(row.state, ServerPhase::Parked);
    let refused = server.sessions.input(&me(), &session.key, say("more")).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable);
}

#[tokio::test]
async fn a_snapshot_is_the_conversation_and_says_what_waits() {
    let server = TestServer::playing(ASKS).await;
    let session = server.create("look").await;
    let mut subscriber = server.subscribe(&session).await;
    let id = subscriber.asked().await;
    until_state(&server.sessions, &session.key, ServerPhase::NeedsYou).await;
    let snapshot = server.sessions.snapshot(&session.key, 100, 100_000).await.unwrap();
    assert_eq!((snapshot.from, snapshot.more), (1, false));
    assert_eq!(snapshot.pending_permissions[0].tool_use_id, id);
    let texts: Vec<_> =
        snapshot.events.iter().filter_map(|event| event["TextChunk"]["text"].as_str()).collect();
    assert_eq!(texts, ["Let me look."]);

    let watch = SubscribeOptions::after(Some(snapshot.cursor.parse().unwrap()));
    let mut after = TestSubscriber::new(&server.sessions, &session.key, watch).await;
    server.sessions.answer_permission(&me(), &session.key, &id, yes()).await.unwrap();
    after.complete().await;
    assert_eq!(after.text(), "There is a README.");
    let snapshot = server.sessions.snapshot(&session.key, 2, 100_000).await.unwrap();
    assert!(snapshot.more && snapshot.from > 1 && snapshot.pending_permissions.is_empty());
}

/// F95: a client that missed the response to its command repeats it, possibly to another server.
#[tokio::test]
async fn f95_a_command_is_known_again_after_a_restart() {
    let server = TestServer::playing(HELLO).await;
    let session = server.create("hello").await;
    server.subscribe(&session).await.complete().await;
    let title = |title: &str, id: &str| PatchSession {
        title: Some(title.to_owned()),
        client_id: Some(id.to_owned()),
        ..PatchSession::default()
    };
    let stop = || CommandRequest { client_id: Some("stop".to_owned()), ..CommandRequest::default() };
    for (words, id) in [("one", "first"), ("two", "second")] {
        let view = server.sessions.patch(&me(), &session.key, title(words, id)).await.unwrap();
        assert_eq!(view.title.as_deref(), Some(words));
    }
    let stopped = server.sessions.command(&me(), &session.key, SessionCommand::Stop, stop()).await.unwrap();
    let again = async |sessions: &Sessions| {
        let view = sessions.patch(&me(), &session.key, title("one", "first")).await.unwrap();
        assert_eq!(view.title.as_deref(), Some("two"), "it was done before");
        let again = sessions.command(&me(), &session.key, SessionCommand::Stop, stop()).await.unwrap();
        assert_eq!((again.seq, &again.cursor), (stopped.seq, &stopped.cursor));
    };
    again(&server.sessions).await;
    again(&server.killed_and_started().await).await;
}
