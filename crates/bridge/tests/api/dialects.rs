//! Every dialect over real sockets: a client that reconnects gets exactly the rest of what an uninterrupted
//! one gets.
//!
//! `TIDINGS_SOAK_SOCKETS` is the number of reconnects; `make soak` sets it.

use futures_util::SinkExt as _;
use jiff::Timestamp;
use serde_json::{Value, json};
use tidings_journal::{Class, EventDraft, Kind};
use tidings_protocol::ui::UiMessage;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use crate::api::server::{Events, TestServer, next_message, receive, send_request};
use crate::api::stories::Author;

fn draft(message: &UiMessage) -> EventDraft {
    let body = serde_json::to_value(message).unwrap();
    let kind = body.as_object().unwrap().keys().next().unwrap().clone();
    EventDraft::new(Class::Delta, Timestamp::now(), Kind::new(kind).unwrap(), body.to_string().into_bytes())
}

fn reconnects() -> u64 {
    let told = std::env::var("TIDINGS_SOAK_SOCKETS").ok();
    told.map_or(24, |times| times.parse().expect("TIDINGS_SOAK_SOCKETS is a number"))
}

/// The stream until the last event of the story, as pairs of an id and the rest of the block.
async fn stream(server: &TestServer, dialect: &str, after: Option<&str>) -> Vec<(String, String)> {
    let url = server.url(&format!("/v1/sessions/1/events?dialect={dialect}"));
    let mut request = reqwest::Client::new().get(url).bearer_auth("read");
    if let Some(after) = after {
        request = request.header("last-event-id", after);
    }
    let mut events = Events::open(request).await;
    let mut blocks = Vec::new();
    loop {
        let block = events.next().await.unwrap();
        let data = block.fields.get("data").cloned().unwrap_or_default();
        if block.name() != "subscribed" {
            blocks.push((block.fields.get("id").cloned().unwrap_or_default(), data.clone()));
        }
        if data.contains("The story ends") {
            return blocks;
        }
    }
}

/// The messages that a phone gets up to the last event of the story, without messages that have no event.
async fn phone(server: &TestServer, last: Option<&Value>) -> Vec<Value> {
    let (mut socket, _) = connect_async(format!("ws://{}/v1/mobile", server.address)).await.unwrap();
    let id = last.map_or(json!("none"), |last| last["id"].clone());
    let time = last.map_or(json!(0), |last| last["timestamp"].clone());
    for message in [
        json!({"type":"auth","token":"read"}),
        json!({"type":"session_resume","sessionId":"session","lastMessageId":id,"lastMessageTimestamp":time}),
    ] {
        socket.send(Message::from(message.to_string())).await.unwrap();
    }
    let mut messages = Vec::new();
    loop {
        let next = next_message(&mut socket).await;
        let Message::Text(text) = next else { continue };
        let message: Value = serde_json::from_str(&text).unwrap();
        let beside =
            ["auth_success", "wrapper_handshake", "session_sync", "pending_permissions", "heartbeat"];
        if !beside.contains(&message["type"].as_str().unwrap()) {
            messages.push(message.clone());
        }
        if message["content"] == "The story ends" {
            return messages;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k4_over_sockets_every_dialect_continues_where_its_client_was() {
    let server = TestServer::with_session("/").await;
    let mut author = Author::new(19);
    let mut story = author.story(120);
    story.push(UiMessage::Display { content: "The story ends".to_owned(), session_id: 1 });
    for message in &story {
        server.append(vec![draft(message)]).await;
    }
    let whole = phone(&server, None).await;
    let mut streams = Vec::new();
    for dialect in ["native", "ui", "mobile"] {
        streams.push((dialect, stream(&server, dialect, None).await));
    }
    for _ in 0..reconnects() {
        let seen = usize::try_from(author.below(whole.len() as u64 - 1)).unwrap();
        let rest = phone(&server, Some(&whole[seen])).await;
        assert_eq!(rest, whole[seen + 1..], "a phone after message {seen}");
        for (dialect, blocks) in &streams {
            let seen = usize::try_from(author.below(blocks.len() as u64 - 1)).unwrap();
            let rest = stream(&server, dialect, Some(&blocks[seen].0)).await;
            assert_eq!(rest, blocks[seen + 1..], "{dialect} after block {seen}");
        }
    }
}

/// K5: missed messages come in parts, the first one short, and no message is lost silently.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k5_a_phone_whose_line_breaks_after_two_kilobytes_catches_up() {
    let server = TestServer::with_session("/").await;
    let line = "x".repeat(100);
    let notes = (0..300).map(|n| UiMessage::Display { content: format!("{n} {line}"), session_id: 1 });
    let mut drafts: Vec<EventDraft> = notes.map(|note| draft(&note)).collect();
    drafts.push(draft(&UiMessage::Display { content: "The story ends".to_owned(), session_id: 1 }));
    server.append(drafts).await;
    let mut had: Vec<Value> = Vec::new();
    let mut connections = 0;
    while had.last().is_none_or(|last| last["content"] != "The story ends") {
        connections += 1;
        assert!(connections < 400, "it got no further than message {}", had.len());
        let (mut socket, _) = connect_async(format!("ws://{}/v1/mobile", server.address)).await.unwrap();
        socket.send(Message::from(json!({"type":"auth","token":"read"}).to_string())).await.unwrap();
        let id = had.last().map_or(json!("none"), |last| last["id"].clone());
        let time = had.last().map_or(json!(0), |last| last["timestamp"].clone());
        let resume = json!({"type":"session_resume","sessionId":"session","lastMessageId":id,
            "lastMessageTimestamp":time});
        socket.send(Message::from(resume.to_string())).await.unwrap();
        let mut bytes = 0;
        loop {
            let next = next_message(&mut socket).await;
            let Message::Text(text) = next else { continue };
            bytes += text.len();
            if bytes > 2000 {
                break;
            }
            let message: Value = serde_json::from_str(&text).unwrap();
            if message["type"] == "claude_response" {
                had.push(message);
            }
            if had.last().is_some_and(|last| last["content"] == "The story ends") {
                break;
            }
        }
    }
    let numbers: Vec<String> = had
        .iter()
        .map(|had| had["content"].as_str().unwrap().split(' ').next().unwrap().to_owned())
        .collect();
    let all: Vec<String> = (0..300).map(|n| n.to_string()).chain(["The".to_owned()]).collect();
    assert_eq!(numbers, all, "each once and in order");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k5_a_phone_is_told_of_messages_that_are_not_kept_for_it() {
    let server = TestServer::with_session("/").await;
    // Most events make no message: a limit on events instead of messages would drop messages silently.
    for part in 0..12 {
        let drafts = (0..500).map(|n| match n % 10 {
            0 => draft(&UiMessage::Display { content: format!("Note {part}-{n}"), session_id: 1 }),
            _ => draft(&UiMessage::System { message: "nothing".to_owned(), session_id: Some(1) }),
        });
        server.append(drafts.collect()).await;
    }
    let end = draft(&UiMessage::Display { content: "The story ends".to_owned(), session_id: 1 });
    server.append(vec![end]).await;
    let messages = phone(&server, None).await;
    assert_eq!(messages.len(), 601, "all of them, though they come from more than 4,096 events");
    let more = (0..1000).map(|n| draft(&UiMessage::Display { content: format!("More {n}"), session_id: 1 }));
    server.append(more.collect()).await;
    let end = draft(&UiMessage::Display { content: "The story ends".to_owned(), session_id: 1 });
    server.append(vec![end]).await;
    let messages = phone(&server, Some(&messages[0])).await;
    assert_eq!(messages[0]["code"], "MESSAGES_DROPPED", "{}", messages[0]);
    assert!(messages[0]["message"].as_str().unwrap().starts_with("601 "), "{}", messages[0]);
    assert_eq!((messages.len(), &messages[1]["content"]), (1001, &json!("More 1")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k6_a_long_event_arrives_whole_on_streams_and_sockets() {
    let server = TestServer::with_session("/").await;
    let content = "x".repeat(2 << 20);
    let mut socket = server.socket(Some("read")).await;
    send_request(&mut socket, r#"{"id":1,"type":"subscribe","session":"session"}"#).await;
    let long = draft(&UiMessage::Display { content: content.clone(), session_id: 1 });
    let end = draft(&UiMessage::Display { content: "The story ends".to_owned(), session_id: 1 });
    for draft in [long, end] {
        server.append(vec![draft]).await;
    }
    let received = receive(&mut socket).await.unwrap();
    assert!(received["event"]["Display"]["content"] == content.as_str(), "live on a socket");
    let blocks = stream(&server, "native", None).await;
    let shown: Value = serde_json::from_str(&blocks[0].1).unwrap();
    assert!(shown["Display"]["content"] == content.as_str(), "on a stream, from the journal");
    assert_eq!(blocks.len(), 2);
}
