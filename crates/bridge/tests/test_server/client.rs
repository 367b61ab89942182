//! Clients of the test server: requests, sockets and streams of events.

use std::collections::HashMap;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::{TestServer, in_time};

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

impl TestServer {
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> (u16, Value) {
        self.call_as(token, "GET", path, None).await
    }

    /// Sends a request with all scopes.
    pub(crate) async fn call(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        self.call_as(&self.admin, method, path, body).await
    }

    /// Sends a request with a credential, or without one if it is empty.
    pub(crate) async fn call_as(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> (u16, Value) {
        let mut request = self.http.request(method.parse().unwrap(), self.url(path));
        if !token.is_empty() {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        self.send(request).await
    }

    /// The status and the body of a response: JSON, or a text as it is.
    pub(crate) async fn send(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// Opens `/v1/ws` with a small receive buffer, like that of a phone.
    pub(crate) async fn socket(&self, token: Option<&str>) -> Socket {
        let stream = TcpSocket::new_v4().unwrap();
        stream.set_recv_buffer_size(16 << 10).unwrap();
        self.upgrade(stream, "/v1/ws", token).await
    }

    /// Opens a WebSocket, with an optional credential in the request.
    pub(crate) async fn socket_at(&self, path: &str, token: Option<&str>) -> Socket {
        self.upgrade(TcpSocket::new_v4().unwrap(), path, token).await
    }

    async fn upgrade(&self, stream: TcpSocket, path: &str, token: Option<&str>) -> Socket {
        let mut request = format!("ws://{}{path}", self.address).into_client_request().unwrap();
        if path == "/v1/ws" {
            request.headers_mut().insert("sec-websocket-protocol", "tidings.v1".parse().unwrap());
        }
        if let Some(token) = token {
            request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        }
        let stream = MaybeTlsStream::Plain(stream.connect(self.address).await.unwrap());
        let (socket, response) = tokio_tungstenite::client_async(request, stream).await.unwrap();
        if path == "/v1/ws" {
            assert_eq!(response.headers()["sec-websocket-protocol"], "tidings.v1");
        }
        socket
    }
}

/// The next message of any kind.
pub(crate) async fn next_message(socket: &mut Socket) -> Message {
    in_time(socket.next()).await.unwrap().unwrap()
}

/// Sends a request, and returns the next message that is not an event.
pub(crate) async fn send_request(socket: &mut Socket, request: &str) -> Value {
    socket.send(Message::text(request)).await.unwrap();
    loop {
        let message = receive(socket).await.unwrap();
        if message["type"] != "event" {
            return message;
        }
    }
}

/// The next message, or the close code.
pub(crate) async fn receive(socket: &mut Socket) -> Result<Value, Option<u16>> {
    let received = async {
        loop {
            match socket.next().await {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(frame))) => return Err(frame.map(|frame| frame.code.into())),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(None),
            }
        }
    };
    in_time(received).await
}

/// The code with which a socket is closed.
pub(crate) async fn close_code(socket: &mut Socket) -> Option<u16> {
    loop {
        if let Err(code) = receive(socket).await {
            return code;
        }
    }
}

/// One server-sent event.
#[derive(Debug, Default, Clone)]
pub(crate) struct Block {
    pub(crate) fields: HashMap<String, String>,
}

impl Block {
    pub(crate) fn name(&self) -> &str {
        self.fields.get("event").map_or("", String::as_str)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.fields["data"]).unwrap()
    }
}

/// A client of a stream of events. Unread data is lost when it is dropped, as in a real client.
pub(crate) struct Events {
    response: reqwest::Response,
    buffer: String,
}

impl Events {
    pub(crate) async fn open(request: reqwest::RequestBuilder) -> Events {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Events { response, buffer: String::new() }
    }

    /// The next event; `None` at the end. Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<Block> {
        in_time(self.read()).await
    }

    async fn read(&mut self) -> Option<Block> {
        loop {
            if let Some((block, rest)) = self.buffer.split_once("\n\n") {
                let mut parsed = Block::default();
                for line in block.lines() {
                    let (name, value) = line.split_once(':').unwrap();
                    let value = value.strip_prefix(' ').unwrap_or(value);
                    parsed.fields.insert(name.to_owned(), value.to_owned());
                }
                self.buffer = rest.into();
                return Some(parsed);
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.buffer.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}
