//! Repeated commands (P3): the same response and one effect, and never that of another client's command.

use tidings_agent::UiMessage;
use tidings_api::{Code, CommandRequest, CreateSession, Input, PatchSession, ServerPhase, SessionCommand};
use tidings_journal::Novelty;

use crate::sessions::test_server::*;

fn input_with(id: &str, text: &str) -> Input {
    Input { client_id: Some(id.to_owned()), ..say(text) }
}

#[tokio::test]
async fn promise_3_each_device_has_ids_of_its_own() {
    let server = TestServer::playing(HELLO).await;
    let (phone, tablet) = (device("phone"), device("tablet"));
    let session = server.sessions.create(&me(), server.new_session()).await.unwrap().0;
    let mut subscriber = server.subscribe(&session).await;
    let mut seqs = Vec::new();
    for (caller, text) in [(&phone, "from the phone"), (&tablet, "from the tablet"), (&me(), "from a script")]
    {
        let accepted = server.sessions.input(caller, &session.key, input_with("7", text)).await.unwrap();
        assert_eq!(
            server.sessions.input(caller, &session.key, input_with("7", text)).await.unwrap(),
            accepted
        );
        seqs.push(accepted.seq);
        subscriber.complete().await;
    }
    seqs.dedup();
    assert_eq!(seqs.len(), 3);
    let prompts = subscriber.seen.iter().filter(|event| matches!(event, UiMessage::PromptQueued(_))).count();
    assert_eq!(prompts, 3);
}

#[tokio::test]
async fn promise_3_an_id_with_another_command_is_refused() {
    let server = TestServer::playing(HELLO).await;
    let phone = device("phone");
    let session = server.sessions.create(&phone, server.new_session()).await.unwrap().0;
    server.sessions.input(&phone, &session.key, input_with("1", "hello")).await.unwrap();
    let refused =
        server.sessions.input(&phone, &session.key, input_with("1", "something else")).await.unwrap_err();
    assert_eq!(refused.code(), Code::Conflict);
    let stop = |id: &str| CommandRequest { client_id: Some(id.to_owned()), ..CommandRequest::default() };
    let used =
        server.sessions.command(&phone, &session.key, SessionCommand::Stop, stop("1")).await.unwrap_err();
    assert_eq!(used.code(), Code::Conflict, "it is the id of a prompt");
    server.sessions.command(&phone, &session.key, SessionCommand::Stop, stop("2")).await.unwrap();
    let used = server
        .sessions
        .command(&phone, &session.key, SessionCommand::Interrupt, stop("2"))
        .await
        .unwrap_err();
    assert_eq!(used.code(), Code::Conflict, "it is the id of another command");
    let used = server.sessions.input(&phone, &session.key, input_with("2", "hello")).await.unwrap_err();
    assert_eq!(used.code(), Code::Conflict);
    let title = |id: &str, title: &str| PatchSession {
        title: Some(title.to_owned()),
        client_id: Some(id.to_owned()),
        ..PatchSession::default()
    };
    server.sessions.patch(&phone, &session.key, title("3", "one")).await.unwrap();
    server.sessions.patch(&phone, &session.key, title("3", "one")).await.unwrap();
    let used = server.sessions.patch(&phone, &session.key, title("3", "two")).await.unwrap_err();
    assert_eq!(used.code(), Code::Conflict);
}

/// A page whose connection breaks repeats its command at once, while the first one is still running.
#[tokio::test]
async fn promise_3_a_command_that_is_sent_again_while_it_is_under_way_is_done_once() {
    let server = TestServer::playing(ASKS).await;
    let session = server.create("look").await;
    let mut subscriber = server.subscribe(&session).await;
    subscriber.asked().await;
    for command in [SessionCommand::Interrupt, SessionCommand::Clear] {
        let request =
            CommandRequest { client_id: Some(command.as_str().to_owned()), ..CommandRequest::default() };
        let ada = me();
        let send = || server.sessions.command(&ada, &session.key, command, request.clone());
        let (first, again) = tokio::join!(send(), send());
        assert_eq!(first.unwrap(), again.unwrap(), "{command:?}");
        until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
    }
    // Earlier commands complete before this one.
    server.sessions.input(&me(), &session.key, say("and now?")).await.unwrap();
    let is_now = |event: &UiMessage| matches!(event, UiMessage::UserPrompt(said) if said.text == "and now?");
    subscriber.until(is_now).await;
    subscriber.complete().await;
    let interrupts = subscriber.seen.iter().filter(
        |event| matches!(event, UiMessage::CommandComplete { command, .. } if command == "interrupt"),
    );
    let clears = subscriber
        .seen
        .iter()
        .filter(|event| matches!(event, UiMessage::UserPrompt(said) if said.text == "/clear"));
    assert_eq!((interrupts.count(), clears.count()), (1, 1));
}

#[tokio::test]
async fn promise_3_ids_of_new_sessions_belong_to_a_device_and_a_folder() {
    let server = TestServer::playing(HELLO).await;
    let (phone, tablet) = (device("phone"), device("tablet"));
    let (shop, blog) = (server.inside("shop"), server.inside("blog"));
    let new = |cwd: &str, title: &str| CreateSession {
        cwd: cwd.to_owned(),
        title: Some(title.to_owned()),
        client_id: Some("7".to_owned()),
        ..CreateSession::default()
    };
    let mut keys = Vec::new();
    for (caller, cwd) in [(&phone, &shop), (&phone, &blog), (&tablet, &shop), (&me(), &shop)] {
        let (made, novelty) = server.sessions.create(caller, new(cwd, "a")).await.unwrap();
        assert_eq!((novelty, &made.cwd), (Novelty::New, cwd));
        let (again, novelty) = server.sessions.create(caller, new(cwd, "a")).await.unwrap();
        assert_eq!((novelty, &again.key), (Novelty::Seen, &made.key));
        keys.push(made.key);
    }
    keys.dedup();
    assert_eq!(keys.len(), 4);
    let refused = server.sessions.create(&phone, new(&shop, "b")).await.unwrap_err();
    assert_eq!(refused.code(), Code::Conflict);
}

#[tokio::test]
async fn promise_3_what_was_said_is_answered_the_same_when_the_budget_is_used_up() {
    let server = TestServer::with(HELLO, |config| config.live_max = 1).await;
    let new = CreateSession {
        max_turns: Some(2),
        prompt: Some("hello".to_owned()),
        client_id: Some("make".to_owned()),
        ..server.new_session()
    };
    let (session, _) = server.sessions.create(&me(), new.clone()).await.unwrap();
    let mut subscriber = server.subscribe(&session).await;
    subscriber.complete().await;
    let accepted = server.sessions.input(&me(), &session.key, input_with("say", "more")).await.unwrap();
    subscriber.complete().await;
    until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
    let refused = server.sessions.input(&me(), &session.key, input_with("other", "more")).await.unwrap_err();
    assert_eq!(refused.code(), Code::BudgetExhausted);
    assert_eq!(
        server.sessions.input(&me(), &session.key, input_with("say", "more")).await.unwrap(),
        accepted
    );
    let (again, novelty) = server.sessions.create(&me(), new).await.unwrap();
    assert_eq!((again.key, novelty), (session.key, Novelty::Seen));
}

#[tokio::test]
async fn promise_3_a_session_that_was_taken_over_is_not_in_its_own_way() {
    let server = TestServer::playing(HELLO).await;
    let first = server.create("hello").await;
    server.subscribe(&first).await.complete().await;
    let first = until_state(&server.sessions, &first.key, ServerPhase::Idle).await;
    server.sessions.delete(&me(), &first.key, tidings_sessions::Transcript::Keep).await.unwrap();
    let new = CreateSession {
        resume: first.cli_session_ids.first().cloned(),
        client_id: Some("take over".to_owned()),
        ..server.new_session()
    };
    let (made, _) = server.sessions.create(&me(), new.clone()).await.unwrap();
    let (again, novelty) = server.sessions.create(&me(), new).await.unwrap();
    assert_eq!((again.key, novelty), (made.key, Novelty::Seen));
}
