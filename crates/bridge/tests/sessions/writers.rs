//! R5: a session has one writer, whichever process it is.

use tidings::{SessionLock, SessionOwner};
use tidings_api::{Code, CommandRequest, CreateSession, ServerPhase, SessionCommand};

use super::test_server::*;

/// A session whose agent has ended, and the id that Claude Code has for it.
async fn ended_session(server: &TestServer) -> (String, String) {
    let session = server.create("hello").await;
    server.subscribe(&session).await.complete().await;
    let stop = CommandRequest::default();
    server.sessions.command(&me(), &session.key, SessionCommand::Stop, stop).await.unwrap();
    let session = until_state(&server.sessions, &session.key, ServerPhase::Stopped).await;
    (session.key, session.cli_session_ids.last().unwrap().clone())
}

fn run() -> SessionOwner {
    SessionOwner::new("tidings run")
}

#[tokio::test]
async fn r5_a_prompt_to_a_session_that_another_command_writes_is_refused_before_it_is_stored() {
    let server = TestServer::playing(HELLO).await;
    let (key, id) = ended_session(&server).await;
    let lock = SessionLock::take(server.folder.path(), &id, &run()).unwrap();
    let before = server.sessions.find(&key).await.unwrap();
    let refused = server.sessions.input(&me(), &key, say("and now?")).await.unwrap_err();
    let message = format!("`tidings run` (process {}) has this session open", std::process::id());
    assert_eq!((refused.code(), refused.message()), (Code::Conflict, message.as_str()));
    assert!(refused.hint().contains("close it there"), "{refused:?}");
    let after = server.sessions.find(&key).await.unwrap();
    assert_eq!((after.cursor, after.queued, after.state), (before.cursor, 0, ServerPhase::Stopped));
    for command in [SessionCommand::Compact, SessionCommand::Clear] {
        let request = CommandRequest::default();
        let refused = server.sessions.command(&me(), &key, command, request).await.unwrap_err();
        assert_eq!((refused.code(), refused.message()), (Code::Conflict, message.as_str()), "{command:?}");
    }
    drop(lock);
    let session = server.sessions.find(&key).await.unwrap();
    let mut events = server.subscribe(&session).await;
    events.complete().await;
    server.sessions.input(&me(), &key, say("and now?")).await.unwrap();
    events.complete().await;
}

#[tokio::test]
async fn r5_a_second_server_does_not_resume_a_session_that_is_open_and_says_how_to_attach() {
    let first = TestServer::playing(HELLO).await;
    let (_, id) = ended_session(&first).await;
    let second = first.again().empty_journal().start().await.sessions;
    let attach = "tidings attach 7 --data /srv/tidings";
    let owner = SessionOwner::new("tidings serve").attached_by(attach);
    let lock = SessionLock::take(first.folder.path(), &id, &owner).unwrap();
    let new =
        CreateSession { resume: Some(id.clone()), prompt: Some("go on".to_owned()), ..first.new_session() };
    let refused = second.create(&me(), new.clone()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Conflict, "{refused:?}");
    assert!(refused.hint().contains(attach), "{refused:?}");
    assert_eq!(second.list(None, 10).await.unwrap().len(), 0, "no session is left behind");
    // A copy has a file of its own.
    let fork = CreateSession { fork: true, ..new.clone() };
    assert!(second.create(&me(), fork).await.is_ok());
    drop(lock);
    assert!(second.create(&me(), new).await.is_ok());
}
