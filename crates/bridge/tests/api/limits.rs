//! Clients that do not read, lack a credential, or exceed a limit.

use std::sync::Arc;
use std::time::Duration;

use futures_util::SinkExt as _;
use jiff::Timestamp;
use serde_json::json;
use tidings_bridge::api::Api;
use tidings_journal::{Key, NewSession};
use tidings_protocol::ui::UiMessage;
use tokio::sync::Semaphore;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::api::server::{Events, TestServer, caller, receive, send_request, until};

#[tokio::test]
async fn t6_a_revoked_device_loses_its_streams_at_once() {
    let server = TestServer::with_session("/").await;
    let mut phone = server.socket(Some("read@phone")).await;
    let mut tablet = server.socket(Some("read@tablet")).await;
    for socket in [&mut phone, &mut tablet] {
        send_request(socket, r#"{"id":1,"type":"subscribe","session":"1"}"#).await;
    }
    let url = server.url("/v1/sessions/1/events");
    let mut events = Events::open(reqwest::Client::new().get(url).bearer_auth("read@phone")).await;
    let all = Events::open(reqwest::Client::new().get(server.url("/v1/events")).bearer_auth("read@phone"));
    let mut all = all.await;
    events.next().await.unwrap();
    all.next().await.unwrap();
    server.api().revoked.send("phone".to_owned()).unwrap();
    assert_eq!(receive(&mut phone).await, Err(Some(4401)));
    for stream in [&mut events, &mut all] {
        assert_eq!(stream.next().await.unwrap().name(), "revoked");
        assert!(stream.next().await.is_none());
    }
    assert_eq!(
        send_request(&mut tablet, r#"{"id":2,"type":"ping"}"#).await["id"],
        2,
        "others are left alone"
    );
}

/// The subscriptions of a socket belong to one credential and end with it: another one cannot take them over.
#[tokio::test]
async fn t6_a_socket_belongs_to_one_credential() {
    let server = TestServer::with_session("/").await;
    let mut socket = server.socket(Some("read@phone")).await;
    send_request(&mut socket, r#"{"id":1,"type":"subscribe","session":"1"}"#).await;
    for other in ["read@tablet", "admin"] {
        let again = send_request(&mut socket, &json!({"id":2,"type":"auth","token":other}).to_string()).await;
        assert_eq!(again["problem"]["code"], "forbidden", "{again}");
    }
    let again = send_request(&mut socket, r#"{"id":3,"type":"auth","token":"read@phone"}"#).await;
    assert_eq!(again, json!({"type":"ack","id":3}));
    server.api().revoked.send("tablet".to_owned()).unwrap();
    server.publish(1..=1).await;
    assert_eq!(receive(&mut socket).await.unwrap()["event"]["TextChunk"]["text"], "1 ");
    server.api().revoked.send("phone".to_owned()).unwrap();
    assert_eq!(receive(&mut socket).await, Err(Some(4401)));
}

#[tokio::test]
async fn f97_a_socket_is_closed_with_a_number_that_says_why() {
    let server = TestServer::with_session("/").await;
    // The credential must be the first message.
    let mut silent = server.socket(None).await;
    silent.send(Message::text(r#"{"id":1,"type":"ping"}"#)).await.unwrap();
    assert_eq!(receive(&mut silent).await, Err(Some(4401)));
    let mut wrong = server.socket(None).await;
    wrong.send(Message::text(r#"{"type":"auth","token":"guessed"}"#)).await.unwrap();
    assert_eq!(receive(&mut wrong).await, Err(Some(4401)));
    let mut narrow = server.socket(None).await;
    narrow.send(Message::text(r#"{"type":"auth","token":"decide"}"#)).await.unwrap();
    assert_eq!(receive(&mut narrow).await, Err(Some(4403)));
    let mut right = server.socket(None).await;
    let ack = send_request(&mut right, r#"{"id":"a","type":"auth","token":"read@phone"}"#).await;
    assert_eq!(ack, json!({"type":"ack","id":"a"}));
    // The socket is bound to a credential that came in a message, too.
    server.api().revoked.send("phone".to_owned()).unwrap();
    assert_eq!(receive(&mut right).await, Err(Some(4401)));

    let mut staying = server.socket(Some("read")).await;
    let url = server.url("/v1/sessions/1/events");
    let mut events = Events::open(reqwest::Client::new().get(url).bearer_auth("read")).await;
    events.next().await.unwrap();
    assert_eq!(send_request(&mut staying, r#"{"id":1,"type":"ping"}"#).await["id"], 1);
    server.api().stopping.cancel();
    assert_eq!(receive(&mut staying).await, Err(Some(1012)));
    let retry: u64 = events.next().await.unwrap().fields["retry"].parse().unwrap();
    assert!((500..5000).contains(&retry), "{retry}");
}

/// F97: too many sockets, and clients that stop reading, have close codes of their own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f97_too_many_sockets_and_those_who_do_not_read_are_closed_with_a_number() {
    let one_socket = |api: &mut Api| api.sockets = Arc::new(Semaphore::new(1));
    let server = TestServer::builder().api_for(caller, one_socket).session("/").start().await;
    // A client that falls behind before anything is written to it gets a `resync`, and one that begins to
    // read too late finds a closed socket without a code; so this may take some attempts.
    let mut told = None;
    while told != Some(4409) {
        let mut slow = server.socket(Some("read")).await;
        send_request(&mut slow, r#"{"id":1,"type":"subscribe","session":"1"}"#).await;
        let mut second = server.socket(Some("read")).await;
        assert_eq!(receive(&mut second).await, Err(Some(4429)), "one socket is allowed");
        let long = "x".repeat(1 << 20);
        for _ in 0..8 {
            server.publish_event(&UiMessage::Display { content: long.clone(), session_id: 1 }).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        told = loop {
            match receive(&mut slow).await {
                Err(closed) => break closed,
                Ok(message) if message["type"] == "resync" => break None,
                Ok(_) => {}
            }
        };
        drop((slow, second));
        until(async || server.api().sockets.available_permits(), |free| *free > 0).await;
    }
}

/// Without a close frame in return, a client would assume a broken connection.
#[tokio::test]
async fn a_close_frame_is_answered() {
    let server = TestServer::with_session("/").await;
    for token in [Some("read"), None] {
        let mut socket = server.socket(token).await;
        let goodbye = CloseFrame { code: CloseCode::Normal, reason: "that was all".into() };
        socket.send(Message::Close(Some(goodbye))).await.unwrap();
        assert_eq!(receive(&mut socket).await.unwrap_err(), Some(1000), "{token:?}");
    }
}

#[tokio::test]
async fn f132_a_message_that_is_too_long_closes_the_socket() {
    let server = TestServer::with_session("/").await;
    let mut socket = server.socket(Some("read")).await;
    let long = format!(r#"{{"type":"ping","more":"{}"}}"#, "x".repeat(2 << 20));
    // The server may close the socket before all of it is sent.
    drop(socket.send(Message::text(long)).await);
    let closed = receive(&mut socket).await.unwrap_err();
    assert!(matches!(closed, Some(1009) | None), "{closed:?}");
    assert_eq!(server.get("read", "/v1/meta").await.0, 200);
}

#[tokio::test]
async fn unknown_types_without_an_id_are_ignored_and_invalid_requests_are_refused() {
    let server = TestServer::with_session("/").await;
    let mut socket = server.socket(Some("read")).await;
    for unknown in [r#"{"type":"teleport"}"#, "{}", r#"{"type":"","id":null}"#] {
        socket.send(Message::text(unknown)).await.unwrap();
    }
    socket.send(Message::binary(vec![0, 159, 146, 150])).await.unwrap();
    assert_eq!(send_request(&mut socket, r#"{"id":1,"type":"ping"}"#).await, json!({"type":"ack","id":1}));
    let wrong = [
        ("[]", json!(null), "invalid"),
        ("{", json!(null), "invalid"),
        (r#"{"id":2,"type":"input"}"#, json!(2), "invalid"),
        (r#"{"id":10,"type":"teleport"}"#, json!(10), "invalid"),
        (r#"{"id":"eleven"}"#, json!("eleven"), "invalid"),
        (r#"{"id":12,"type":"subscribe","sesion":"1"}"#, json!(12), "invalid"),
        (r#"{"id":13,"type":"input","session":"1","input":{"content":"hi","to":1}}"#, json!(13), "invalid"),
        (
            r#"{"id":14,"type":"command","session":"1","command":"mode","with":{"mod":1}}"#,
            json!(14),
            "invalid",
        ),
        (r#"{"id":3,"type":"input","session":"1","input":{"content":"hi"}}"#, json!(3), "forbidden"),
        (
            r#"{"id":4,"type":"answer","session":"1","to":"t","permission":{"decision":"allow"}}"#,
            json!(4),
            "forbidden",
        ),
        (r#"{"id":5,"type":"answer","session":"1","to":"t"}"#, json!(5), "invalid"),
        (r#"{"id":6,"type":"command","session":"1","command":"interrupt"}"#, json!(6), "forbidden"),
        (r#"{"id":7,"type":"command","session":"1","command":"explode"}"#, json!(7), "invalid"),
        (r#"{"id":8,"type":"subscribe","session":"unknown"}"#, json!(8), "not_found"),
        (r#"{"id":9,"type":"subscribe","session":"1","deltas":"some"}"#, json!(9), "invalid"),
    ];
    for (request, id, code) in wrong {
        let answer = send_request(&mut socket, request).await;
        assert_eq!(
            (&answer["type"], &answer["problem"]["code"]),
            (&json!("error"), &json!(code)),
            "{request}"
        );
        assert_eq!(answer.get("id").cloned().unwrap_or_default(), id, "{request}");
        assert!(!answer["problem"]["request_id"].as_str().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_new_subscription_replaces_the_old_one_until_unsubscribe() {
    let server = TestServer::with_session("/").await;
    server.publish(1..=2).await;
    let mut socket = server.socket(Some("read")).await;
    let ack = send_request(&mut socket, r#"{"id":1,"type":"subscribe","session":"1"}"#).await;
    for _ in 0..2 {
        receive(&mut socket).await.unwrap();
    }
    // A second subscription replaces the first one, and does not send everything twice.
    let after = json!({"id":2,"type":"subscribe","session":"session","after":ack["subscribed"]["head"]});
    send_request(&mut socket, &after.to_string()).await;
    server.publish(3..=3).await;
    assert_eq!(receive(&mut socket).await.unwrap()["event"]["TextChunk"]["text"], "3 ");
    assert_eq!(send_request(&mut socket, r#"{"id":3,"type":"unsubscribe","session":"1"}"#).await["id"], 3);
    server.publish(4..=4).await;
    socket.send(Message::text(r#"{"id":4,"type":"ping"}"#)).await.unwrap();
    assert_eq!(receive(&mut socket).await.unwrap()["id"], 4, "nothing comes before the answer");
}

/// The published limit is the real one.
#[tokio::test]
async fn a_prompt_may_be_as_long_as_the_server_says_and_no_longer() {
    let builder = TestServer::builder().api().session("/");
    let server = builder.config(|config| config.claude = Some("/does/not/exist".into())).start().await;
    let (_, meta) = server.get("read", "/v1/meta").await;
    let max = usize::try_from(meta["limits"]["input_bytes"].as_u64().unwrap()).unwrap();
    let post = async |bytes: usize| {
        let body = format!(r#"{{"content":"{}"}}"#, "a".repeat(bytes - r#"{"content":""}"#.len()));
        let request = reqwest::Client::new().post(server.url("/v1/sessions/1/input")).bearer_auth("prompt");
        server.send(request.header("content-type", "application/json").body(body)).await
    };
    let (status, problem) = post(max + 1).await;
    assert_eq!((status, &problem["code"]), (413, &json!("too_large")));
    let (status, accepted) = post(max).await;
    assert_eq!(status, 202, "{accepted}");
}

#[tokio::test]
async fn f99_a_socket_takes_so_many_subscriptions_and_no_more() {
    let server = TestServer::with_session("/").await;
    let (_, meta) = server.get("read", "/v1/meta").await;
    let max = meta["limits"]["subscriptions"].as_u64().unwrap();
    let mut socket = server.socket(Some("read")).await;
    for n in 0..max {
        let key = Key::new(format!("s{n}")).unwrap();
        server.journal().create(NewSession::new(key, "/", Timestamp::UNIX_EPOCH)).await.unwrap();
        let subscribe = json!({"id":n,"type":"subscribe","session":format!("s{n}")});
        assert_eq!(send_request(&mut socket, &subscribe.to_string()).await["type"], "ack", "{n}");
    }
    let one_more = r#"{"id":"more","type":"subscribe","session":"session"}"#;
    assert_eq!(send_request(&mut socket, one_more).await["problem"]["code"], "too_many");
    // A subscribed session may be subscribed again, and unsubscribing makes room.
    for request in [
        r#"{"id":1,"type":"subscribe","session":"s0"}"#,
        r#"{"id":2,"type":"unsubscribe","session":"s1"}"#,
        r#"{"id":3,"type":"subscribe","session":"session"}"#,
    ] {
        assert_eq!(send_request(&mut socket, request).await["type"], "ack", "{request}");
    }
}
