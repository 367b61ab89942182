//! A full disk: sessions can be read and ended, and nothing is accepted that cannot be stored.

use tidings_api::{
    Choice, Code, CommandRequest, CreateSession, PermissionAnswer, ServerPhase, SessionCommand,
};
use tidings_journal::{Class, EventDraft, Fence, Journal, Key, Kind, Max, NewSession};
use tidings_sessions::Transcript;

use crate::sessions::test_server::*;

fn filler() -> Key {
    Key::new("filler").unwrap()
}

async fn fill(journal: &dyn Journal, fence: Fence) {
    for bytes in [10_000, 1000, 100, 10] {
        let draft = || {
            let kind = Kind::new("Display").unwrap();
            EventDraft::new(Class::Durable, jiff::Timestamp::now(), kind, vec![b'x'; bytes])
        };
        while journal.append(&filler(), fence, vec![draft()]).await.is_ok() {}
    }
    assert!(journal.is_full());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k8_on_a_full_disk_sessions_are_read_denied_interrupted_and_stopped() {
    let builder = TestServer::builder().script(TWO).journal(TestJournal::Bounded(1 << 20));
    let server = builder.start().await;
    let (sessions, journal) = (&server.sessions, server.journal());
    journal.create(NewSession::new(filler(), "/", jiff::Timestamp::UNIX_EPOCH)).await.unwrap();
    let fence = journal.claim(&filler()).await.unwrap();
    let new = CreateSession { prompt: Some("make".to_owned()), ..server.new_session() };
    let session = sessions.create(&me(), new.clone()).await.unwrap().0;
    let asked = server.subscribe(&session).await.asked().await;
    fill(&**journal, fence).await;

    assert_eq!(sessions.list(None, 10).await.unwrap().len(), 2);
    assert_eq!(sessions.permissions(None).await.unwrap().len(), 1);
    let history = journal.history(&Key::new(&session.key).unwrap(), None, Max::default()).await.unwrap();
    assert!(!history.events.is_empty());
    assert!(journal.check_room().await.unwrap());
    // Calls that have to store something fail in the same way.
    let long = CreateSession { prompt: Some("x".repeat(20_000)), ..new };
    for refused in [
        sessions.input(&me(), &session.key, say(&"x".repeat(20_000))).await.map(drop),
        sessions.create(&me(), long).await.map(drop),
    ] {
        let refused = refused.unwrap_err();
        assert_eq!((refused.code(), refused.code().status()), (Code::Unavailable, 503), "{refused}");
        assert!(refused.message().contains("full") && refused.hint().contains("room"), "{refused}");
        assert!(refused.code().is_retryable() && refused.retry_after().is_some());
    }
    // Calls that end something work.
    let no = PermissionAnswer { decision: Choice::Deny, ..yes() };
    let denied = sessions.answer_permission(&me(), &session.key, &asked, no).await.unwrap();
    assert_eq!(denied.outcome, "denied");
    for command in [SessionCommand::Interrupt, SessionCommand::Stop] {
        let request =
            CommandRequest { client_id: Some(command.as_str().to_owned()), ..CommandRequest::default() };
        sessions.command(&me(), &session.key, command, request).await.unwrap();
    }

    // After room is made, everything continues by itself.
    sessions.delete(&me(), "filler", Transcript::Keep).await.unwrap();
    let stopped = until_state(sessions, &session.key, ServerPhase::Stopped).await;
    assert_eq!(stopped.pending_permissions, 0);
    until(async || journal.check_room().await.unwrap(), |is_full| !is_full).await;
    sessions.input(&me(), &session.key, say("go on")).await.unwrap();
}
