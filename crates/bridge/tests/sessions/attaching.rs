//! Attachments of prompts.

use tidings_agent::UiMessage;
use tidings_api::{Attachment, Code, CommandRequest, CreateSession, Input, ServerPhase, SessionCommand};
use tidings_journal::{Key, NewSession};

use crate::sessions::test_server::*;

fn with(media_type: &str, data: &str) -> Input {
    let (media_type, data) = (media_type.to_owned(), data.to_owned());
    Input { attachments: vec![Attachment { media_type, data, name: None }], ..say("look at this") }
}

/// Every type of file that the page offers to attach is accepted.
#[tokio::test]
async fn every_kind_of_file_that_is_accepted_reaches_the_agent() {
    let server = TestServer::playing(&"[[turn]]\ntext = \"I see.\"\n".repeat(6)).await;
    let session = server.sessions.create(&me(), server.new_session()).await.unwrap().0;
    let mut subscriber = server.subscribe(&session).await;
    for (kind, data) in [
        ("image/png", "iVBORw0KGgo="),
        ("image/jpeg", "/9j/4A=="),
        ("image/gif", "R0lGODlh"),
        ("image/webp", "UklGRgAAAABXRUJQ"),
        ("application/pdf", "YSBub3Rl"),
        ("text/plain", "YSBub3Rl"),
    ] {
        server.sessions.input(&me(), &session.key, with(kind, data)).await.unwrap();
        subscriber.complete().await;
    }
    let view = until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
    assert_eq!((view.totals.turns, view.queued), (6, 0));
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_before_it_waits() {
    let server = TestServer::playing(HELLO).await;
    let session = server.sessions.create(&me(), server.new_session()).await.unwrap().0;
    for (kind, data) in [("application/zip", "UEsDBA=="), ("text/plain", "//4="), ("image/png", "?")] {
        let refused = server.sessions.input(&me(), &session.key, with(kind, data)).await.unwrap_err();
        assert_eq!(refused.code(), Code::Invalid, "{kind}");
        let Input { content, attachments, .. } = with(kind, data);
        let new = CreateSession { prompt: Some(content), attachments, ..server.new_session() };
        assert_eq!(server.sessions.create(&me(), new).await.unwrap_err().code(), Code::Invalid, "{kind}");
    }
    assert_eq!(server.sessions.queue(&session.key).await.unwrap(), []);
    assert_eq!(server.sessions.list(None, 10).await.unwrap().len(), 1);
}

/// Earlier versions accepted any attachment. A prompt in the queue since then does not block later ones.
#[tokio::test]
async fn a_prompt_that_can_never_be_sent_is_dropped_with_a_reason() {
    let server = TestServer::playing(HELLO).await;
    let new = NewSession::new(Key::new("old").unwrap(), server.cwd(), jiff::Timestamp::UNIX_EPOCH);
    let settings = r#"{"last_turn":1,"queue":[{"id":"stuck","turn_id":"u1","content":"unpack it","at":"",
        "attachments":[{"media_type":"application/zip","data":"UEsDBA=="}],"state":"waiting"}]}"#;
    let new = NewSession { settings: settings.to_owned(), state: "parked".to_owned(), ..new };
    server.sessions.broadcast().journal().create(new).await.unwrap();
    let session = server.sessions.find("old").await.unwrap();
    assert_eq!(session.queued, 1);
    let mut subscriber = server.subscribe(&session).await;
    server.sessions.input(&me(), "old", say("hello")).await.unwrap();
    let dropped = subscriber.until(|event| matches!(event, UiMessage::PromptDropped(_))).await;
    let UiMessage::PromptDropped(dropped) = dropped else { unreachable!() };
    assert_eq!(dropped.uuid, "stuck");
    assert!(dropped.reason.unwrap().contains("`application/zip`"));
    subscriber.complete().await;
    assert_eq!(subscriber.text(), "Hello to you.");
    // Clients without support for dropped prompts get an error event as well.
    let told = |event: &UiMessage| matches!(event, UiMessage::Error { message, .. } if message.contains("application/zip"));
    if !subscriber.seen.iter().any(told) {
        subscriber.until(told).await;
    }
    assert_eq!(until_state(&server.sessions, "old", ServerPhase::Idle).await.queued, 0);
}

/// The queue is stored in the row of its session, beside the agent's reports: it never takes the room for
/// those.
#[tokio::test]
async fn long_prompts_are_refused_while_others_wait_and_the_session_goes_on() {
    let server = TestServer::playing(&format!("{ASKS}[[turn]]\ntext = \"Short.\"\n")).await;
    let session = server.create("look").await;
    let mut subscriber = server.subscribe(&session).await;
    let id = subscriber.asked().await;
    let long = || say(&"x".repeat(5000 << 10));
    server.sessions.input(&me(), &session.key, long()).await.unwrap();
    let refused = server.sessions.input(&me(), &session.key, long()).await.unwrap_err();
    assert_eq!((refused.code(), refused.hint().contains("cancel")), (Code::TooMany, true), "{refused}");
    // As JSON, it is twice as long.
    let quotes = server.sessions.input(&me(), &session.key, say(&"\"".repeat(5 << 20))).await.unwrap_err();
    assert_eq!((quotes.code(), quotes.message().contains("prompt")), (Code::TooLarge, true), "{quotes}");
    server.sessions.input(&me(), &session.key, say("short")).await.unwrap();
    // A subscriber that takes nothing of so much is cut off.
    for _ in 0..2 {
        subscriber.until(|event| matches!(event, UiMessage::PromptQueued(_))).await;
    }
    server.sessions.answer_permission(&me(), &session.key, &id, yes()).await.unwrap();
    for _ in 0..3 {
        subscriber.complete().await;
    }
    assert_eq!(subscriber.text(), "Let me look.There is a README.That was all.Short.");
    assert_eq!(until_state(&server.sessions, &session.key, ServerPhase::Idle).await.queued, 0);
    server.sessions.input(&me(), &session.key, long()).await.unwrap();
}

#[tokio::test]
async fn a_session_is_started_with_so_much_and_no_more() {
    let server = TestServer::playing(HELLO).await;
    let new = |bytes: usize| CreateSession {
        append_system_prompt: Some("x".repeat(bytes)),
        ..server.new_session()
    };
    server.sessions.create(&me(), new(200 << 10)).await.unwrap();
    assert_eq!(server.sessions.create(&me(), new(300 << 10)).await.unwrap_err().code(), Code::TooLarge);
    assert_eq!(server.sessions.list(None, 10).await.unwrap().len(), 1);
    let request = CommandRequest { model: Some("x".repeat(1 << 10)), ..CommandRequest::default() };
    let refused = server.sessions.command(&me(), "1", SessionCommand::Model, request).await.unwrap_err();
    assert_eq!(refused.code(), Code::Invalid);
}
