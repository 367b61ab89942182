//! Facts about a session that are the same wherever they are shown: in forks, in resumed sessions, in the
//! audit log.

use serde_json::json;
use tidings_agent::UiMessage;
use tidings_api::{
    CommandRequest, CreateSession, ForkPoint, PermissionAnswer, ServerPhase, SessionCommand, SessionView,
};
use tidings_protocol::ui::{PermissionResolved, Resolution};
use tidings_transcript::manage::{Scope as OnDisk, session_info};
use tidings_transcript::roots::Roots;

use crate::sessions::test_server::*;

/// The session after its first turn, and the id of its prompt.
async fn finished(server: &TestServer, prompt: &str) -> (SessionView, String) {
    let session = server.create(prompt).await;
    let mut watching = server.subscribe(&session).await;
    let prompt = watching.until(|event| matches!(event, UiMessage::UserPrompt(_))).await;
    watching.complete().await;
    let UiMessage::UserPrompt(prompt) = prompt else { unreachable!() };
    let session = until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
    (session, prompt.uuid.unwrap())
}

/// The CLI's file has the input that the model asked for.
#[tokio::test]
async fn p37_both_kinds_of_forks_show_the_input_that_ran() {
    let server = TestServer::playing(ASKS).await;
    let session = server.create("look").await;
    let mut watching = server.subscribe(&session).await;
    let prompt = watching.until(|event| matches!(event, UiMessage::UserPrompt(_))).await;
    let UiMessage::UserPrompt(prompt) = prompt else { unreachable!() };
    let id = watching.asked().await;
    let digest = server.sessions.permissions(None).await.unwrap().remove(0).details.digest;
    let input = Some(json!({"command": "ls -l"}));
    let answer = PermissionAnswer { updated_input: input.clone(), digest, ..yes() };
    server.sessions.answer_permission(&me(), &session.key, &id, answer).await.unwrap();
    watching.complete().await;
    let session = until_state(&server.sessions, &session.key, ServerPhase::Idle).await;

    let answers = async |session: &SessionView| -> Vec<PermissionResolved> {
        let page = server.sessions.snapshot(&session.key, 1000, 1 << 20).await.unwrap();
        let events = page.events.into_iter().map(|event| serde_json::from_value(event).unwrap());
        let answer = |event| match event {
            UiMessage::PermissionResolved(resolved) => Some(resolved),
            _ => None,
        };
        events.filter_map(answer).collect()
    };
    let point =
        ForkPoint { prompt: prompt.uuid.unwrap(), answer: Some("There is a README.".to_owned()), skip: None };
    let mut resume = session.cli_session_ids.last().cloned();
    for fork_at in [None, Some(point)] {
        let new = CreateSession { resume: resume.clone(), fork: true, fork_at, ..server.new_session() };
        let fork = server.sessions.create(&me(), new).await.unwrap().0;
        let shown = answers(&fork).await;
        let [resolved] = &shown[..] else { panic!("{shown:?}") };
        assert_eq!((resolved.tool_use_id.as_str(), &resolved.updated_input), (id.as_str(), &input));
        assert_eq!((resolved.by.as_deref(), resolved.session_id), (Some("ada"), fork.handle));
        // A fork of a fork that has gone on has it from the fork.
        server.sessions.input(&me(), &fork.key, say("go on")).await.unwrap();
        let mut watching = server.subscribe(&fork).await;
        watching.until(|event| matches!(event, UiMessage::SessionStarted(_))).await;
        let asked = watching.asked().await;
        server.sessions.answer_permission(&me(), &fork.key, &asked, yes()).await.unwrap();
        let fork = until_state(&server.sessions, &fork.key, ServerPhase::Idle).await;
        let again = CreateSession {
            resume: fork.cli_session_ids.last().cloned(),
            fork: true,
            ..server.new_session()
        };
        let again = server.sessions.create(&me(), again).await.unwrap().0;
        let shown = answers(&again).await;
        assert_eq!(shown.iter().filter(|answer| answer.updated_input == input).count(), 1, "{shown:?}");
        resume = session.cli_session_ids.last().cloned();
    }
}

#[tokio::test]
async fn p39_a_resumed_session_begins_with_its_cost_and_turns_and_its_budget_does_not() {
    let server = TestServer::playing(HELLO).await;
    let (first, _) = finished(&server, "hello").await;
    assert!(first.totals.cost_usd > 0.0, "{:?}", first.totals);
    let id = first.cli_session_ids.last().cloned();
    server.sessions.delete(&me(), &first.key, tidings_sessions::Transcript::Keep).await.unwrap();
    let budget = first.totals.cost_usd / 2.0;
    let new =
        CreateSession { resume: id, max_turns: Some(1), budget_usd: Some(budget), ..server.new_session() };
    let resumed = server.sessions.create(&me(), new).await.unwrap().0;
    assert_eq!(resumed.totals.turns, 1);
    let difference = resumed.totals.cost_usd - first.totals.cost_usd;
    assert!(difference.abs() < 1e-6, "{:?} and {:?}", resumed.totals, first.totals);
    assert_eq!(resumed.last_prompt.as_deref(), Some("hello"));

    // What was used before is not part of the budget; one turn is left.
    server.sessions.input(&me(), &resumed.key, say("go on")).await.unwrap();
    server.subscribe(&resumed).await.until(|event| matches!(event, UiMessage::TurnResult(_))).await;
    let resumed = until_state(&server.sessions, &resumed.key, ServerPhase::Idle).await;
    assert_eq!(resumed.totals.turns, 2);
    let spent = resumed.totals.cost_usd - first.totals.cost_usd;
    assert!(spent > 0.0, "the turn is counted: {spent}");
    assert!(spent < first.totals.cost_usd * 3.0, "the agent's own total is not counted again: {spent}");
    let refused = server.sessions.input(&me(), &resumed.key, say("more")).await.unwrap_err();
    assert_eq!(refused.code(), tidings_api::Code::BudgetExhausted, "{refused}");
}

/// Old versions of the CLI begin their total at zero in each process, and give the cost of no turn.
#[tokio::test]
async fn p39_each_turn_costs_once_whether_the_agents_total_continues_or_begins_at_zero() {
    // Each turn costs more than all before it, so that its total alone does not say which of both it is.
    let script = r#"
        [[turn]]
        when = { last_contains = "hello" }
        usage = { input = 10000, output = 1000 }
        text = "Hello to you."
        [[turn]]
        when = { last_contains = "more" }
        usage = { input = 20000, output = 2000 }
        text = "There is more."
        [[turn]]
        when = { last_contains = "most" }
        usage = { input = 40000, output = 4000 }
        text = "That is most of it."
    "#;
    for is_old in [false, true] {
        let version = |agent: StandIn| if is_old { agent.of_old_version() } else { agent };
        let server = TestServer::builder().agent(script, version).start().await;
        let used =
            |session: &SessionView| format!("{:.4}, {}", session.totals.cost_usd, session.totals.turns);
        let (session, _) = finished(&server, "hello").await;
        assert_eq!(used(&session), "0.0600, 1");

        let stop = CommandRequest::default();
        server.sessions.command(&me(), &session.key, SessionCommand::Stop, stop).await.unwrap();
        let session = until_state(&server.sessions, &session.key, ServerPhase::Stopped).await;
        let mut watching = server.subscribe(&session).await;
        server.sessions.input(&me(), &session.key, say("more")).await.unwrap();
        watching.until(|event| matches!(event, UiMessage::UserPrompt(prompt) if prompt.text == "more")).await;
        watching.complete().await;
        let session = until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
        assert_eq!(used(&session), "0.1800, 2", "another process of the same session, old: {is_old}");

        let resume = session.cli_session_ids.last().cloned();
        server.sessions.delete(&me(), &session.key, tidings_sessions::Transcript::Keep).await.unwrap();
        let new = CreateSession { resume, ..server.new_session() };
        let resumed = server.sessions.create(&me(), new).await.unwrap().0;
        assert_eq!(used(&resumed), "0.1800, 2", "old: {is_old}");
        let mut watching = server.subscribe(&resumed).await;
        server.sessions.input(&me(), &resumed.key, say("most")).await.unwrap();
        watching.until(|event| matches!(event, UiMessage::UserPrompt(prompt) if prompt.text == "most")).await;
        watching.complete().await;
        let resumed = until_state(&server.sessions, &resumed.key, ServerPhase::Idle).await;
        assert_eq!(used(&resumed), "0.4200, 3", "another session, old: {is_old}");
    }
}

/// Until its first prompt a fork is a session of the server and a file, which are the same.
#[tokio::test]
async fn p43_a_fork_is_one_session_with_one_title_before_its_first_prompt() {
    let server = TestServer::playing(HELLO).await;
    let (first, prompt) = finished(&server, "hello").await;
    let point = ForkPoint { prompt, answer: Some("Hello".to_owned()), skip: None };
    let of = |title: Option<&str>| CreateSession {
        resume: first.cli_session_ids.last().cloned(),
        fork: true,
        fork_at: Some(point.clone()),
        title: title.map(str::to_owned),
        ..server.new_session()
    };
    for (title, expected) in [(Some("The other way"), "The other way"), (None, "hello (fork)")] {
        let fork = server.sessions.create(&me(), of(title)).await.unwrap().0;
        let [id] = &fork.cli_session_ids[..] else { panic!("{:?}", fork.cli_session_ids) };
        assert_ne!(Some(id), first.cli_session_ids.last());
        assert_eq!(fork.name(), Some(expected));
        let roots = Roots::new(vec![server.folder.path().to_owned()]);
        let on_disk = session_info(&OnDisk::everywhere(&roots), id).unwrap().unwrap();
        assert_eq!(on_disk.summary, expected, "the name in lists of sessions on disk");
    }
}

#[tokio::test]
async fn p40_a_request_that_an_interrupt_ends_names_the_client() {
    let server = TestServer::playing(ASKS).await;
    let session = server.create("look").await;
    let mut watching = server.subscribe(&session).await;
    watching.asked().await;
    let command = CommandRequest::default();
    server.sessions.command(&me(), &session.key, SessionCommand::Interrupt, command).await.unwrap();
    let resolved = watching.until(|event| matches!(event, UiMessage::PermissionResolved(_))).await;
    let UiMessage::PermissionResolved(resolved) = resolved else { unreachable!() };
    assert_eq!((resolved.outcome, resolved.by.as_deref()), (Resolution::Cancelled, Some("ada")));
    let log = server.sessions.broadcast().journal().audit_log(0).await.unwrap();
    let line = log.iter().find(|line| line.decision == "cancelled").unwrap();
    assert_eq!(line.who, "ada");
}
