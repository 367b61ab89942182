//! A whole server on a port, with authentication: connection limits, slow clients and shutdown.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod admin_token;
#[cfg(unix)]
mod bursts;
mod test_server;
mod unauthenticated;

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use test_server::*;
use tidings_bridge::server::{Bounds, Retention, TlsFiles};
use tidings_journal::{AskId, Class, EventDraft, Key, Kind, NewRequest, NewSession};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

/// T6: revoking a lost phone closes its connections.
#[tokio::test]
async fn t6_revoking_a_device_closes_its_live_sockets() {
    let server = TestServer::served().await;
    let (status, made) =
        server.call("POST", "/v1/devices", Some(json!({"name": "phone", "scopes": ["read"]}))).await;
    assert_eq!(status, 201, "{made}");
    let mut phone = subscribe(&server, made["token"].as_str().unwrap()).await;
    let mut other = subscribe(&server, &server.admin).await;
    let path = format!("/v1/devices/{}", made["device"]["id"].as_str().unwrap());
    assert_eq!(server.call("DELETE", &path, None).await.0, 204);
    assert_eq!(close_code(&mut phone).await, Some(4401));
    server.publish_text("still here").await;
    let received = next_message(&mut other).await;
    assert!(received.to_text().unwrap().contains("still here"), "others are left alone");
}

/// T5: wrong credentials count on sockets too, and a client that sends too many of them is disconnected.
#[tokio::test]
async fn t5_wrong_credentials_on_sockets_are_limited_too() {
    let server = TestServer::served().await;
    let wrong = Message::text(r#"{"id":1,"type":"auth","token":"tidings_guessed"}"#);
    // A socket that is authenticated, and then guesses other credentials.
    let mut inside = subscribe(&server, &server.admin).await;
    let guessing = async {
        for _ in 0..100 {
            if inside.send(wrong.clone()).await.is_err() {
                break;
            }
        }
        close_code(&mut inside).await
    };
    assert_eq!(guessing.await, Some(4429));
    // From now on guesses on new sockets are refused too.
    for path in ["/v1/ws", "/v1/mobile"] {
        let mut stranger = server.socket_at(path, None).await;
        stranger.send(wrong.clone()).await.unwrap();
        assert_eq!(close_code(&mut stranger).await, Some(4429), "{path}");
    }
    // A correct credential still works.
    let mut right = server.socket(None).await;
    let auth = json!({"id":1,"type":"auth","token":server.admin}).to_string();
    right.send(Message::text(auth)).await.unwrap();
    let ack = next_message(&mut right).await;
    assert!(ack.to_text().unwrap().contains(r#""type":"ack""#), "{ack}");
}

/// F112: retention removes old events at start, and a subscriber with an older cursor gets a gap.
#[tokio::test]
async fn f112_old_events_go_when_the_server_starts() {
    let everything = TestServer::keeping(Retention::default()).await;
    let kept = Retention { events: Some(4), ..Retention::default() };
    let some = TestServer::keeping(kept).await;
    let floor = async || some.call("GET", "/v1/sessions/1", None).await.1["floor"].as_u64().unwrap();
    until(floor, |floor| *floor == 7).await;
    let (_, session) = some.call("GET", "/v1/sessions/1", None).await;
    let epoch = session["cursor"].as_str().unwrap().split_once(':').unwrap().0.to_owned();
    let verdict = async |seq: u64| {
        let url = format!("http://{}/v1/sessions/1/events?after={epoch}:{seq}", some.address);
        let mut answer = reqwest::Client::new().get(url).bearer_auth(&some.admin).send().await.unwrap();
        let first = in_time(answer.chunk()).await.unwrap().unwrap();
        let text = String::from_utf8(first.to_vec()).unwrap();
        ["ok", "gap", "reset"].into_iter().find(|word| text.contains(&format!("\"verdict\":\"{word}\"")))
    };
    assert_eq!((verdict(5).await, verdict(6).await), (Some("gap"), Some("ok")));
    assert_eq!(
        everything.call("GET", "/v1/sessions/1", None).await.1["floor"],
        1,
        "everything is kept by default"
    );
}

/// Metrics count everything, and not only the first page of a list.
#[tokio::test]
async fn metrics_count_all_sessions_and_all_that_waits() {
    let server = TestServer::served().await;
    let journal = server.sessions.broadcast().journal();
    let last = Key::new("s1199").unwrap();
    for n in 0..1200 {
        let new = NewSession::new(Key::new(format!("s{n}")).unwrap(), "/", jiff::Timestamp::UNIX_EPOCH);
        let state = if n == 1199 { "needs_you" } else { "parked" };
        journal.create(NewSession { state: state.to_owned(), ..new }).await.unwrap();
    }
    let fence = journal.claim(&last).await.unwrap();
    for n in 0..1100 {
        let at = jiff::Timestamp::UNIX_EPOCH;
        let ask = NewRequest {
            id: AskId::new(format!("toolu_{n}")).unwrap(),
            kind: "permission".to_owned(),
            digest: None,
            body: (*b"{}").into(),
            deadline: None,
            event: EventDraft::new(Class::Durable, at, Kind::new("System").unwrap(), *b"{}"),
        };
        journal.ask(&last, fence, ask).await.unwrap();
    }
    let url = format!("http://{}/metrics", server.address);
    let answer = reqwest::Client::new().get(url).bearer_auth(&server.admin).send().await.unwrap();
    let text = answer.text().await.unwrap();
    for line in [
        "tidings_sessions{state=\"parked\"} 1199",
        "tidings_sessions{state=\"needs_you\"} 1",
        "tidings_asks_open 1100",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
}

/// Metrics reveal the number of sessions, so they need a credential without a folder limit.
#[tokio::test]
async fn metrics_are_not_for_those_who_do_not_see_all_sessions() {
    let server = TestServer::served().await;
    let client = reqwest::Client::new();
    let wanted = serde_json::json!({"scopes":["admin"],"folders":["/nowhere"]});
    let made =
        client.post(format!("http://{}/v1/devices", server.address)).bearer_auth(&server.admin).json(&wanted);
    let made: serde_json::Value = made.send().await.unwrap().json().await.unwrap();
    let token = made["token"].as_str().unwrap();
    let answer =
        client.get(format!("http://{}/metrics", server.address)).bearer_auth(token).send().await.unwrap();
    assert_eq!(answer.status(), 403);
}

/// P11: a server that stops closes its sockets with a delay for reconnecting.
#[tokio::test]
async fn promise_11_a_server_that_stops_closes_sockets_with_1012() {
    let mut server = TestServer::served().await;
    let mut socket = subscribe(&server, &server.admin).await;
    let running = server.stop();
    let frame = loop {
        match in_time(socket.next()).await {
            Some(Ok(Message::Close(Some(frame)))) => break frame,
            Some(Ok(_)) => {}
            other => panic!("no close frame: {other:?}"),
        }
    };
    assert_eq!(u16::from(frame.code), 1012);
    let retry: serde_json::Value = serde_json::from_str(&frame.reason).unwrap();
    assert!(retry["retry_after_ms"].as_u64().unwrap() >= 500, "{retry}");
    in_time(running).await.unwrap().unwrap();
    assert!(TcpStream::connect(server.address).await.is_err(), "no new connections");
}

/// T12: connections are limited, and one over the limit is closed at once.
#[tokio::test]
async fn t12_connections_are_bounded() {
    let mut bounds = Bounds::default();
    bounds.connections = 3;
    let server = TestServer::bounded(bounds).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(subscribe(&server, &server.admin).await);
    }
    let mut turned_away = TcpStream::connect(server.address).await.unwrap();
    turned_away.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    drop(in_time(turned_away.read_to_end(&mut answer)).await);
    let answer = String::from_utf8_lossy(&answer).to_lowercase();
    assert!(answer.starts_with("http/1.1 503") && answer.contains("\r\nretry-after: "), "{answer}");
    held.pop();
    // The server notices the closed connection after a while.
    until(async || server.healthz().await, Option::is_some).await;
}

/// T12: a request head that never ends does not hold a connection forever, neither silent nor byte by byte.
#[tokio::test]
async fn t12_a_request_that_never_ends_is_cut_off() {
    let mut bounds = Bounds::default();
    bounds.head_time = Duration::from_millis(100);
    let server = TestServer::bounded(bounds).await;
    for drip in [false, true] {
        let (mut read, mut write) = TcpStream::connect(server.address).await.unwrap().into_split();
        write.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n").await.unwrap();
        let dripping = async {
            while drip && write.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            std::future::pending::<()>().await;
        };
        let mut answer = Vec::new();
        let ended = async {
            tokio::select! {
                // Data in flight when the server closes makes the end an error, which is an end too.
                _ = read.read_to_end(&mut answer) => {}
                () = dripping => {}
            }
        };
        in_time(ended).await;
    }
    assert!(server.healthz().await.is_some(), "others are answered");
}

/// F98: a client that stops reading a stream of events is disconnected.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f98_a_stream_that_nobody_reads_is_let_go_of() {
    let mut bounds = Bounds::default();
    bounds.write_wait = Duration::from_millis(100);
    let server = TestServer::bounded(bounds).await;
    let mut stuck = TcpStream::connect(server.address).await.unwrap();
    let request = format!(
        "GET /v1/sessions/1/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        server.address, server.admin
    );
    stuck.write_all(request.as_bytes()).await.unwrap();
    until(async || server.sessions.broadcast().publisher().subscribed_sessions(), |count| *count == 1).await;
    // More than the buffers of both ends hold, and less than makes it fall behind.
    let line = "x".repeat(64 << 10);
    let publishing = async {
        loop {
            server.publish_text(&line).await;
            if server.sessions.broadcast().publisher().subscribed_sessions() == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    in_time(publishing).await;
    drop(stuck);
}

/// A renewed certificate is used for new connections; one that does not match its key is ignored.
#[tokio::test]
async fn a_certificate_is_read_again_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let files = TlsFiles { certificate: folder.path().join("pem"), key: folder.path().join("key") };
    let place = |name: &str| format!("{}/tests/served/certificates/{name}", env!("CARGO_MANIFEST_DIR"));
    let put = |pair: &str| {
        std::fs::copy(place(&format!("{pair}.key")), &files.key).unwrap();
        std::fs::copy(place(&format!("{pair}.pem")), &files.certificate).unwrap();
    };
    let der = |name: &str| {
        use rustls::pki_types::pem::PemObject as _;
        let pem = std::fs::read(place(&format!("{name}.pem"))).unwrap();
        rustls::pki_types::CertificateDer::from_pem_slice(&pem).unwrap().to_vec()
    };
    put("first");
    let mut bounds = Bounds::default();
    bounds.certificate_every = Duration::from_millis(20);
    let server = served().serve_with(move |server, _| server.bounds(bounds)).tls(files.clone()).start().await;
    assert_eq!(server.certificate().await, der("first"));
    std::fs::write(&files.certificate, "half of a file").unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(server.certificate().await, der("first"), "an invalid pair is ignored");
    put("second");
    until(async || server.certificate().await, |shown| *shown == der("second")).await;
}
