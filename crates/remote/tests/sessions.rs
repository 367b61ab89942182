//! Sessions, from their start to their end.

use tidings_remote::api::{Code, CreateSession, PatchSession, ServerPhase};
use tidings_remote::{ErrorKind, SessionUpdate};

use crate::proxy::Proxy;
use crate::test_server::{HELLO, TestServer, in_time, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_started_asked_set_and_stopped() {
    let server = TestServer::builder().script(HELLO).api().start().await;
    let remote = Proxy::before(&server).await.client();
    let new = CreateSession { cwd: server.cwd(), ..CreateSession::default() };
    let view = remote.start(&new).await.unwrap();
    let session = remote.session(view.handle);
    assert_eq!(in_time(session.ask("hello")).await.unwrap().text(), "Hello to you.");
    let accepted = session.prompt("and now?").await.unwrap();
    let first = in_time(session.answer_to(&accepted)).await.unwrap();
    let again = in_time(session.answer_to(&accepted)).await.unwrap();
    assert_eq!(first, again, "also after it");

    let title = PatchSession { title: Some("The till".to_owned()), ..PatchSession::default() };
    assert_eq!(session.set(&title).await.unwrap().name(), Some("The till"));
    assert_eq!(remote.sessions().await.unwrap().len(), 1);
    let snapshot = session.snapshot(Some(10)).await.unwrap();
    assert!(!snapshot.events.is_empty());
    session.stop().await.unwrap();
    until(async || session.view().await.unwrap().state, |state| *state == ServerPhase::Stopped).await;
    session.delete().await.unwrap();
    let gone = session.view().await.unwrap_err();
    assert!(gone.is_gone(), "{gone:?}");
    assert!(session.events(None).next().await.unwrap().is_none(), "a deleted session has no events");
}

/// The events of a client that stayed subscribed are those of the journal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_go_on_after_a_restart_of_the_server_without_loss_or_repetition() {
    let server = TestServer::builder().script(HELLO).api().start().await;
    let proxy = Proxy::before(&server).await;
    let remote = proxy.client();
    let new = CreateSession { cwd: server.cwd(), ..CreateSession::default() };
    let session = remote.session(remote.start(&new).await.unwrap().key);
    let mut events = session.events(None);
    in_time(session.ask("hello")).await.unwrap();
    let second = server.again().start().await;
    proxy.change_to(&second);
    in_time(session.ask("and again")).await.unwrap();
    session.stop().await.unwrap();
    until(async || session.view().await.unwrap().state, |state| *state == ServerPhase::Stopped).await;
    let history = session.history(None, Some(1000)).await.unwrap();
    let expected: Vec<String> = history.items.into_iter().map(|event| event.cursor).collect();
    let mut cursors = Vec::new();
    while cursors.len() < expected.len() {
        if let SessionUpdate::Event(event) = in_time(events.next()).await.unwrap().unwrap() {
            cursors.push(event.cursor);
        }
    }
    assert_eq!(cursors, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_has_the_code_and_the_hint_of_the_server() {
    let server = TestServer::builder().api().start().await;
    let remote = Proxy::before(&server).await.client();
    let error = remote.session("nope").view().await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Refused(Code::NotFound), Code::NotFound));
    assert!(!error.hint().is_empty(), "{error:?}");
    let error = remote.start(&CreateSession::default()).await.unwrap_err();
    assert_eq!(error.code(), Code::Invalid, "{error}");
}

#[cfg(feature = "terminal")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_without_a_terminal_has_none_to_open() {
    let server = TestServer::builder().session("/").api().start().await;
    let error = Proxy::before(&server).await.client().session("session").terminal().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused(Code::Conflict), "{error:?}");
}
