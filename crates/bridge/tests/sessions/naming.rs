//! Titles and first prompts of sessions.

use serde_json::Value;
use tidings_api::{CreateSession, PatchSession, ServerPhase};
use tidings_journal::{Key, SessionChange, SessionName};

use crate::sessions::test_server::*;

#[tokio::test]
async fn a_session_without_a_title_has_its_first_prompt() {
    let server = TestServer::playing(HELLO).await;
    let quiet = server.sessions.create(&me(), server.new_session()).await.unwrap().0;
    assert_eq!((quiet.title, quiet.first_prompt), (None, None), "no prompt yet");
    let long = "long ".repeat(100);
    for (prompt, expected) in [
        ("  Mend the till\nand paint it\n", "Mend the till and paint it".to_owned()),
        (long.as_str(), format!("{}…", long[..200].trim_end())),
    ] {
        let view = server.create(prompt).await;
        assert_eq!((view.title, view.first_prompt.as_deref()), (None, Some(expected.as_str())));
    }
    let session = server.create("Mend the till").await;
    server.subscribe(&session).await.complete().await;
    server.sessions.input(&me(), &session.key, say("Now paint it")).await.unwrap();
    let patch = PatchSession { title: Some("The till".to_owned()), ..PatchSession::default() };
    let view = server.sessions.patch(&me(), &session.key, patch).await.unwrap();
    assert_eq!(
        (view.title.as_deref(), view.first_prompt.as_deref()),
        (Some("The till"), Some("Mend the till"))
    );
    let again = server.killed_and_started().await;
    let view = again.find(&session.key).await.unwrap();
    assert_eq!(view.first_prompt.as_deref(), Some("Mend the till"), "it is kept");
    let titled = CreateSession { title: Some("A title".to_owned()), ..server.new_session() };
    let titled = again.create(&me(), titled).await.unwrap().0;
    assert_eq!((titled.title.as_deref(), titled.first_prompt), (Some("A title"), None));
}

/// Earlier versions did not store the first prompt, but its event.
#[tokio::test]
async fn a_session_of_an_earlier_version_is_known_by_it_too() {
    let server = TestServer::playing(HELLO).await;
    let session = server.create("Mend the till").await;
    let mut subscriber = server.subscribe(&session).await;
    subscriber.complete().await;
    server.sessions.input(&me(), &session.key, say("Now paint it")).await.unwrap();
    subscriber.complete().await;
    until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
    server.sessions.drain().await;

    let journal = server.sessions.broadcast().journal();
    let key = Key::new(&session.key).unwrap();
    let row = journal.session(&SessionName::Key(key.clone())).await.unwrap();
    let mut settings: Value = serde_json::from_str(&row.settings).unwrap();
    assert_eq!(settings.as_object_mut().unwrap().remove("first_prompt").unwrap(), "Mend the till");
    let fence = journal.claim(&key).await.unwrap();
    let old = SessionChange { settings: Some(settings.to_string()), ..SessionChange::default() };
    let row = journal.update(&key, fence, old).await.unwrap().session;

    let again = server.killed_and_started().await;
    let view = again.find(&session.key).await.unwrap();
    assert_eq!(view.first_prompt.as_deref(), Some("Mend the till"));
    assert_eq!((view.head, view.active), (row.head.seq, row.active.to_string()), "nothing happened in it");
}
