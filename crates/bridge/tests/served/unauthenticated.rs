//! Connections that never authenticate, or send too slowly.

use std::time::Duration;

use tidings_bridge::server::Bounds;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::served::test_server::*;

/// Waits until the server has closed a connection, and returns what it sent before.
async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let ended = in_time(stream.read_to_end(&mut answer)).await;
    // Bytes that were not read when the server closed make the end an error, which is an end too.
    drop(ended);
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn k7_connections_that_never_authenticate_are_closed() {
    let mut bounds = Bounds::default();
    bounds.head_time = Duration::from_millis(200);
    bounds.auth_time = Duration::from_millis(200);
    let server = TestServer::bounded(bounds).await;
    let preface: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";
    for first in [&b""[..], b"G", preface, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(first).await.unwrap();
        let answer = read_to_end(&mut stream).await;
        assert_eq!(answer.starts_with("HTTP/1.1 200"), first.starts_with(b"GET"), "{answer}");
    }
}

#[tokio::test]
async fn k7_a_connection_with_a_credential_stays() {
    let mut bounds = Bounds::default();
    bounds.head_time = Duration::from_millis(100);
    bounds.auth_time = Duration::from_millis(100);
    let mut server = TestServer::bounded(bounds).await;
    let token = server.admin.clone();
    let mut socket = subscribe(&server, &token).await;
    // The deadlines of another connection pass meanwhile.
    let mut other = TcpStream::connect(server.address).await.unwrap();
    read_to_end(&mut other).await;
    drop(server.stop());
    assert_eq!(close_code(&mut socket).await, Some(1012), "it is there until the server stops");
}

#[tokio::test]
async fn k7_a_body_that_drips_is_cut_off() {
    let mut bounds = Bounds::default();
    bounds.body_time = Duration::from_millis(200);
    let server = TestServer::bounded(bounds).await;
    let (mut read, mut write) = TcpStream::connect(server.address).await.unwrap().into_split();
    let head = format!(
        "POST /v1/sessions HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: 1000\r\n\r\n{{",
        server.address, server.admin
    );
    write.write_all(head.as_bytes()).await.unwrap();
    let dripping = async {
        while write.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        std::future::pending::<()>().await;
    };
    let mut answer = Vec::new();
    let ended = async {
        tokio::select! {
            _ = read.read_to_end(&mut answer) => {}
            () = dripping => {}
        }
    };
    in_time(ended).await;
}

#[tokio::test]
async fn k7_silent_connections_of_one_address_do_not_lock_out_those_with_a_credential() {
    let mut bounds = Bounds::default();
    bounds.address_unauthenticated = 8;
    bounds.address_connections = 64;
    bounds.refused = 16;
    let server = TestServer::bounded(bounds).await;
    let mut silent = Vec::new();
    for _ in 0..200 {
        silent.push(TcpStream::connect(server.address).await.unwrap());
        // The server accepts connections in order, so the earlier ones were accepted.
        if silent.len() % 20 == 0 {
            assert_eq!(server.call("GET", "/v1/meta", None).await.0, 200, "after {} of them", silent.len());
        }
    }
    read_to_end(&mut silent[0]).await;
}
