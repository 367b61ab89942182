//! A server as `tidings serve` runs it, with one session whose events the test appends.

use futures_util::SinkExt as _;
use tidings_bridge::auth::Settings;
use tidings_bridge::server::{Bounds, Retention};
use tokio_tungstenite::tungstenite::Message;

pub(crate) use crate::test_server::*;

/// A server on TCP, which is called with the credential of a device.
pub(crate) fn served() -> Builder {
    TestServer::builder().session("/").serve().admin_device()
}

impl TestServer {
    pub(crate) async fn served() -> TestServer {
        served().start().await
    }

    pub(crate) async fn bounded(bounds: Bounds) -> TestServer {
        served().serve_with(move |server, _| server.bounds(bounds)).start().await
    }

    /// A server whose session has ten events before it starts.
    pub(crate) async fn keeping(retention: Retention) -> TestServer {
        let builder = served().session_with("/", 10);
        builder.serve_with(move |server, _| server.retention(retention)).start().await
    }

    /// A server with other settings of authentication, and with a Unix socket.
    pub(crate) async fn with_socket(set: fn(&mut Settings)) -> TestServer {
        served().auth(set).unix_socket().start().await
    }

    pub(crate) async fn publish_text(&self, text: &str) {
        self.append(vec![display(serde_json::to_vec(text).unwrap())]).await;
    }

    /// The response of `/healthz` on a new connection, if the server accepts one.
    pub(crate) async fn healthz(&self) -> Option<String> {
        let answer = self.http.get(self.url("/healthz")).send().await;
        answer.ok()?.error_for_status().ok()?.text().await.ok()
    }

    /// The certificate that the server shows on a new connection.
    pub(crate) async fn certificate(&self) -> Vec<u8> {
        let client =
            reqwest::Client::builder().danger_accept_invalid_certs(true).tls_info(true).build().unwrap();
        let answer = client.get(format!("https://{}/healthz", self.address)).send().await.unwrap();
        let shown = answer.extensions().get::<reqwest::tls::TlsInfo>().unwrap();
        shown.peer_certificate().unwrap().to_vec()
    }
}

/// Opens a WebSocket and subscribes to the session.
pub(crate) async fn subscribe(server: &TestServer, token: &str) -> Socket {
    let mut socket = server.socket(Some(token)).await;
    socket.send(Message::text(r#"{"id":1,"type":"subscribe","session":"1"}"#)).await.unwrap();
    let ack = next_message(&mut socket).await;
    assert!(ack.to_text().unwrap().contains(r#""type":"ack""#), "{ack}");
    socket
}
