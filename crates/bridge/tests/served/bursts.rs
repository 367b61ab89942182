//! Many clients that come at once from one address: each is served, or told when to come again.

use std::collections::BTreeMap;

use tidings_bridge::server::{Bounds, TlsFiles, raise_open_files};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::served::test_server::*;

/// Clients that come at once.
const CLIENTS: usize = 1000;

/// The first request of a client.
#[derive(Debug, Clone, Copy)]
enum First {
    List,
    Events,
    Socket,
}

impl First {
    fn head(self, server: &TestServer) -> String {
        let (path, more) = match self {
            First::List => ("/v1/sessions", ""),
            First::Events => ("/v1/sessions/1/events", ""),
            First::Socket => (
                "/v1/ws",
                "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: tidings.v1\r\n",
            ),
        };
        let (host, token) = (server.address, &server.admin);
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{more}\r\n")
    }
}

/// The head of the response, in lower case; empty if the server closed the connection without one.
async fn response(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte).await {
            Ok(1) => head.push(byte[0]),
            _ => return String::new(),
        }
    }
    String::from_utf8_lossy(&head).to_lowercase()
}

/// Opens all connections, then sends all requests, and counts the responses by their status. The connections
/// stay open until every client has its response.
async fn burst(server: &TestServer, clients: usize) -> BTreeMap<String, usize> {
    let mut opening = JoinSet::new();
    for _ in 0..clients {
        opening.spawn(TcpStream::connect(server.address));
    }
    let connections = opening.join_all().await;
    let mut asking = JoinSet::new();
    for (n, connection) in connections.into_iter().enumerate() {
        let head = [First::List, First::Events, First::Socket][n % 3].head(server);
        asking.spawn(async move {
            let mut stream = connection.unwrap();
            // A connection that is closed already shows itself when it is read.
            drop(stream.write_all(head.as_bytes()).await);
            (response(&mut stream).await, stream)
        });
    }
    let answers = in_time(asking.join_all()).await;
    let mut counts = BTreeMap::new();
    for (head, _) in &answers {
        let status = head.split(' ').nth(1).unwrap_or("closed").to_owned();
        let says_when = head.contains("\r\nretry-after: ");
        assert_eq!(says_when, ["429", "503"].contains(&status.as_str()), "{head}");
        *counts.entry(status).or_default() += 1;
    }
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k30_a_thousand_clients_at_once_from_one_address_are_all_served() {
    raise_open_files().unwrap();
    let server = TestServer::served().await;
    let counts = burst(&server, CLIENTS).await;
    assert_eq!(counts, BTreeMap::from([("200".to_owned(), 667), ("101".to_owned(), 333)]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k30_clients_without_room_are_told_when_to_come_again() {
    raise_open_files().unwrap();
    let mut bounds = Bounds::default();
    bounds.address_connections = 100;
    bounds.address_unauthenticated = 50;
    let server = TestServer::bounded(bounds).await;
    let counts = burst(&server, CLIENTS).await;
    assert_eq!(counts.get("closed"), None, "{counts:?}");
    assert_eq!(counts.values().sum::<usize>(), CLIENTS, "{counts:?}");
    assert!(counts.get("503").is_some_and(|told| *told >= 500), "{counts:?}");
    // They come again when the others have gone.
    until(async || server.healthz().await, Option::is_some).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k30_many_clients_at_once_over_tls_are_all_served() {
    raise_open_files().unwrap();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/served/certificates");
    let tls = TlsFiles { certificate: folder.join("first.pem"), key: folder.join("first.key") };
    let server = served().tls(tls).start().await;
    let url = format!("https://{}/v1/meta", server.address);
    let mut asking = JoinSet::new();
    for _ in 0..300 {
        let client = reqwest::Client::builder().danger_accept_invalid_certs(true).build().unwrap();
        let request = client.get(&url).bearer_auth(&server.admin);
        asking.spawn(async move { request.send().await.map(|response| response.status().as_u16()) });
    }
    for answer in in_time(asking.join_all()).await {
        assert_eq!(answer.unwrap(), 200);
    }
}

#[tokio::test]
async fn k30_a_socket_too_many_is_told_when_to_come_again() {
    let server = TestServer::served().await;
    let mut reason = None;
    // Wrong credentials are limited too; the close frame is that of too many sockets.
    for _ in 0..40 {
        let mut socket = server.socket(None).await;
        futures_util::SinkExt::send(&mut socket, r#"{"type":"auth","token":"wrong"}"#.into()).await.unwrap();
        let close = in_time(futures_util::StreamExt::next(&mut socket)).await;
        if let Some(Ok(tokio_tungstenite::tungstenite::Message::Close(Some(frame)))) = close
            && u16::from(frame.code) == 4429
        {
            reason = Some(frame.reason.to_string());
            break;
        }
    }
    let reason: serde_json::Value = serde_json::from_str(&reason.expect("there is a limit")).unwrap();
    assert!(reason["retry_after_ms"].as_u64().is_some_and(|ms| ms > 0), "{reason}");
}
