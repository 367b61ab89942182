//! Streams and the WebSocket: events are neither lost, repeated nor reordered when connections break.

use std::time::Duration;

use serde_json::{Value, json};
use tidings_journal::{Class, EventDraft, Key, Kind, NewSession};
use tidings_protocol::ui::UiMessage;
use tidings_rehearsal::Chance;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::api::server::{
    Events, PATIENCE, TestJournal, TestServer, draft, in_time, key, receive, send_request, text, turn,
};

const DELTAS: u64 = 500;
const CUTS: u64 = 100;

/// The text that a client has received.
#[derive(Default)]
struct Client {
    cursor: Option<String>,
    text: String,
}

impl Client {
    /// True if it has everything.
    fn is_done(&self) -> bool {
        self.text.ends_with(&format!(" {DELTAS} "))
    }

    fn take(&mut self, cursor: &Value, event: &Value) {
        self.text.push_str(event["TextChunk"]["text"].as_str().unwrap());
        self.cursor = Some(cursor.as_str().unwrap().to_owned());
    }
}

/// Publishes deltas, evenly spread over the cuts, while the client reads.
async fn publish(server: &TestServer, mut cuts: watch::Receiver<u64>, mut chance: Chance) {
    let mut sent = 0;
    for cut in 1..=CUTS {
        let until = DELTAS * cut / CUTS;
        while sent < until {
            let more = (1 + chance.below(3)).min(until - sent);
            server.publish(sent + 1..=sent + more).await;
            sent += more;
            tokio::time::sleep(Duration::from_micros(chance.below(700))).await;
        }
        in_time(cuts.wait_for(|cuts| *cuts >= cut)).await.unwrap();
    }
}

/// The number of events that a connection lives for, and its timeout for each.
fn connection_lifetime(chance: &mut Chance, cuts: u64) -> (u64, Duration) {
    if cuts < CUTS {
        (chance.below(12), Duration::from_micros(200 + chance.below(4000)))
    } else {
        (u64::MAX, PATIENCE)
    }
}

async fn cut_a_socket(
    server: &TestServer,
    deltas: &str,
    mut chance: Chance,
    cuts: watch::Sender<u64>,
) -> String {
    let mut client = Client::default();
    while !client.is_done() {
        let mut socket = server.socket(Some("read")).await;
        let after = json!(client.cursor);
        let request = json!({"id":1,"type":"subscribe","session":"session","after":after,"deltas":deltas});
        let ack = send_request(&mut socket, &request.to_string()).await;
        assert_eq!((&ack["type"], &ack["subscribed"]["verdict"]), (&json!("ack"), &json!("ok")), "{ack}");
        let (events, patience) = connection_lifetime(&mut chance, *cuts.borrow());
        for _ in 0..events {
            if client.is_done() {
                break;
            }
            let Ok(message) = timeout(patience, receive(&mut socket)).await else { break };
            let message = message.unwrap();
            client.take(&message["cursor"], &message["event"]);
        }
        cuts.send_modify(|cuts| *cuts += 1);
    }
    client.text
}

async fn cut_a_stream(
    server: &TestServer,
    dialect: &str,
    mut chance: Chance,
    cuts: watch::Sender<u64>,
) -> String {
    let http = reqwest::Client::new();
    let mut client = Client::default();
    while !client.is_done() {
        let url = server.url(&format!("/v1/sessions/1/events?dialect={dialect}"));
        let mut request = http.get(url).bearer_auth("read");
        if let Some(cursor) = &client.cursor {
            request = request.header("last-event-id", cursor);
        }
        let mut events = Events::open(request).await;
        let first = events.next().await.unwrap();
        assert_eq!((first.name(), &first.json()["verdict"]), ("subscribed", &json!("ok")));
        let (count, patience) = connection_lifetime(&mut chance, *cuts.borrow());
        for _ in 0..count {
            if client.is_done() {
                break;
            }
            let Ok(block) = timeout(patience, events.next()).await else { break };
            let block = block.unwrap();
            assert_eq!(block.name(), "TextChunk");
            client.take(&json!(block.fields["id"]), &block.json());
        }
        cuts.send_modify(|cuts| *cuts += 1);
    }
    client.text
}

fn everything() -> String {
    let numbers: Vec<String> = (1..=DELTAS).map(|n| n.to_string()).collect();
    numbers.join(" ") + " "
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f92_f93_sockets_that_are_cut_off_a_hundred_times_miss_nothing() {
    for (seed, deltas) in [(1, "all"), (2, "coalesced:3"), (3, "none")] {
        let server = TestServer::with_session("/").await;
        let (cuts, seen) = watch::channel(0);
        let client = cut_a_socket(&server, deltas, Chance::new(seed), cuts);
        let publisher = async {
            publish(&server, seen.clone(), Chance::new(seed + 100)).await;
            // Held deltas are sent when another event follows.
            server.publish_event(&UiMessage::Display { content: "done".to_owned(), session_id: 1 }).await;
        };
        let (text, ()) = tokio::join!(in_time(client), publisher);
        assert_eq!(text, everything(), "{deltas}");
        assert!(*seen.borrow() >= CUTS);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f92_f93_streams_that_are_cut_off_a_hundred_times_miss_nothing() {
    for (seed, dialect) in [(4, "native"), (5, "ui")] {
        let builder = TestServer::builder().journal(TestJournal::File);
        let server = builder.api().session("/").start().await;
        let (cuts, seen) = watch::channel(0);
        let client = cut_a_stream(&server, dialect, Chance::new(seed), cuts);
        let (text, ()) =
            tokio::join!(in_time(client), publish(&server, seen.clone(), Chance::new(seed + 100)));
        assert_eq!(text, everything(), "{dialect}");
        assert!(*seen.borrow() >= CUTS);
    }
}

#[tokio::test]
async fn deltas_are_delivered_as_the_subscriber_requested() {
    let server = TestServer::with_session("/").await;
    server.publish(1..=3).await;
    server.publish_event(&UiMessage::Display { content: "over".to_owned(), session_id: 1 }).await;
    server.publish(4..=5).await;
    let cases = [
        ("all", vec!["1 ", "2 ", "3 ", "over", "4 ", "5 "], false),
        ("coalesced:50", vec!["1 2 3 ", "over", "4 5 "], false),
        ("none", vec!["1 2 3 ", "over"], true),
    ];
    for (deltas, expected, holds_the_rest) in cases {
        let mut socket = server.socket(Some("read")).await;
        let subscribe = json!({"id":"s","type":"subscribe","session":"1","deltas":deltas});
        let ack = send_request(&mut socket, &subscribe.to_string()).await;
        assert_eq!((&ack["id"], &ack["session"], &ack["seq"]), (&json!("s"), &json!("session"), &json!(6)));
        for (at, expected) in expected.iter().enumerate() {
            let message = receive(&mut socket).await.unwrap();
            let event = &message["event"];
            let said = event["TextChunk"]["text"].as_str().or(event["Display"]["content"].as_str());
            assert_eq!(said, Some(*expected), "{deltas} {at}");
        }
        let ping = send_request(&mut socket, r#"{"id":2,"type":"ping"}"#).await;
        assert_eq!(ping, json!({"type":"ack","id":2}), "{deltas} {holds_the_rest}");
    }
}

#[tokio::test]
async fn a_merged_delta_has_the_cursor_of_its_last_one() {
    let server = TestServer::with_session("/").await;
    server.publish(1..=4).await;
    let mut socket = server.socket(Some("read")).await;
    let subscribe = r#"{"id":1,"type":"subscribe","session":"session","deltas":"coalesced:20"}"#;
    let ack = send_request(&mut socket, subscribe).await;
    let message = receive(&mut socket).await.unwrap();
    assert_eq!(message["cursor"], ack["subscribed"]["head"]);
    assert_eq!(message["event"]["TextChunk"]["turn_id"], json!(turn()));
}

#[tokio::test]
async fn s3_a_stream_of_the_dialect_ui_has_exactly_the_json_of_the_page() {
    let server = TestServer::with_session("/").await;
    server.publish_event(&text("hello\nthere")).await;
    server.publish_event(&UiMessage::Error { message: "overloaded".to_owned(), session_id: None }).await;
    let url = server.url("/v1/sessions/session/events?dialect=ui");
    let mut events = Events::open(reqwest::Client::new().get(url).bearer_auth("read")).await;
    let first = events.next().await.unwrap();
    let state = &first.json()["state"];
    assert_eq!((first.name(), &state["key"], &state["handle"]), ("subscribed", &json!("session"), &json!(1)));
    let chunk = events.next().await.unwrap();
    let turn = serde_json::to_string(&turn()).unwrap();
    let expected = format!(r#"{{"TextChunk":{{"text":"hello\nthere","session_id":1,"turn_id":{turn}}}}}"#);
    assert_eq!((chunk.name(), &chunk.fields["data"]), ("TextChunk", &expected));
    let error = events.next().await.unwrap();
    assert_eq!(error.fields["data"], r#"{"Error":{"message":"overloaded","session_id":null}}"#);
    assert_eq!(error.fields["id"].rsplit(':').next(), Some("2"));
}

#[tokio::test]
async fn frames_of_the_cli_are_for_those_who_ask_for_them() {
    let server = TestServer::with_session("/").await;
    let silent = server.get("read", "/v1/sessions/1/events?dialect=frames").await;
    assert_eq!((silent.0, &silent.1["code"]), (409, &json!("conflict")), "there would never be one");
    let (keeps, at) = (Key::new("keeps").unwrap(), jiff::Timestamp::UNIX_EPOCH);
    let settings = r#"{"launch":{"keep_frames":true}}"#.to_owned();
    let new = NewSession { settings, ..NewSession::new(keeps.clone(), "/", at) };
    server.journal().create(new).await.unwrap();
    let fence = server.journal().claim(&keeps).await.unwrap();
    let line = r#"{"type":"system","subtype":"init"}"#;
    let frame = EventDraft::new(Class::Delta, at, Kind::new("frame").unwrap(), line.as_bytes());
    server.journal().append(&keeps, fence, vec![frame, draft(&text("1 "))]).await.unwrap();
    for (dialect, name, data) in
        [("frames", "frame", Some(line)), ("native", "TextChunk", None), ("mobile", "message", None)]
    {
        let url = server.url(&format!("/v1/sessions/keeps/events?dialect={dialect}"));
        let mut events = Events::open(reqwest::Client::new().get(url).bearer_auth("read")).await;
        assert_eq!(events.next().await.unwrap().name(), "subscribed");
        let event = events.next().await.unwrap();
        assert_eq!(event.name(), name);
        assert!(data.is_none_or(|data| event.fields["data"] == data));
    }
    let mut socket = server.socket(Some("read")).await;
    send_request(&mut socket, r#"{"id":1,"type":"subscribe","session":"keeps"}"#).await;
    assert!(receive(&mut socket).await.unwrap()["event"]["TextChunk"].is_object());
    let (_, history) = server.get("read", "/v1/sessions/keeps/history").await;
    assert_eq!(history["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_unknown_cursor_gets_the_verdict_reset() {
    let server = TestServer::with_session("/").await;
    server.publish(1..=3).await;
    let mut socket = server.socket(Some("read")).await;
    let foreign = r#"{"id":1,"type":"subscribe","session":"1","after":"00c0ffee00c0ffee:2"}"#;
    let ack = send_request(&mut socket, foreign).await;
    assert_eq!(ack["subscribed"]["verdict"], "reset");
    assert_eq!(receive(&mut socket).await.unwrap()["event"]["TextChunk"]["text"], "1 ");
    let no_cursor = r#"{"id":2,"type":"subscribe","session":"1","after":"nonsense"}"#;
    let refused = send_request(&mut socket, no_cursor).await;
    assert_eq!((&refused["type"], &refused["problem"]["code"]), (&json!("error"), &json!("invalid")));
}

#[tokio::test]
async fn a_deleted_session_says_so_and_ends_its_streams() {
    let server = TestServer::with_session("/").await;
    server.publish(1..=1).await;
    let url = server.url("/v1/sessions/1/events");
    let mut events = Events::open(reqwest::Client::new().get(url).bearer_auth("read")).await;
    let mut socket = server.socket(Some("read")).await;
    send_request(&mut socket, r#"{"id":1,"type":"subscribe","session":"1"}"#).await;
    for _ in 0..2 {
        events.next().await.unwrap();
    }
    receive(&mut socket).await.unwrap();
    server.journal().delete(&key()).await.unwrap();
    let last = events.next().await.unwrap();
    assert_eq!((last.name(), &last.json()["reason"]), ("resync", &json!("deleted")));
    assert!(events.next().await.is_none(), "the stream ends");
    let last = receive(&mut socket).await.unwrap();
    assert_eq!((&last["type"], &last["reason"]), (&json!("resync"), &json!("deleted")));
    assert_eq!(send_request(&mut socket, r#"{"id":2,"type":"ping"}"#).await["id"], 2, "the socket does not");
}
