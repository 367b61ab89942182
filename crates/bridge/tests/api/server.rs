//! A server on a real socket, with a journal that tests append to.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use futures_util::{SinkExt as _, StreamExt as _};
use jiff::Timestamp;
use serde_json::Value;
use tidings_api::{Code, Scope};
use tidings_bridge::api::{self, Api};
use tidings_journal::broadcast::Broadcast;
use tidings_journal::{Class, Draft, Epoch, Fence, Journal, Key, Kind, MemoryJournal, NewSession, Opening};
use tidings_protocol::ui::{TurnId, UiMessage};
use tidings_sessions::{Caller, Config, Error, Sessions};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// The timeout of everything that must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) api: Api,
    pub(crate) fence: Fence,
}

pub(crate) fn key() -> Key {
    Key::new("session").unwrap()
}

pub(crate) fn opening() -> Opening {
    Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(1) }
}

impl Server {
    pub(crate) async fn start() -> Server {
        Server::on(Arc::new(MemoryJournal::new(&opening())), "/").await
    }

    /// A server with one session in the folder `cwd`, whose events the test appends.
    pub(crate) async fn on(journal: Arc<dyn Journal>, cwd: &str) -> Server {
        Server::with(journal, cwd, |_| {}).await
    }

    /// The same, with another configuration of sessions.
    pub(crate) async fn with(journal: Arc<dyn Journal>, cwd: &str, set: impl FnOnce(&mut Config)) -> Server {
        Server::set_up(journal, cwd, set, |_| {}).await
    }

    /// The same, with another configuration of the API too.
    pub(crate) async fn set_up(
        journal: Arc<dyn Journal>,
        cwd: &str,
        set: impl FnOnce(&mut Config),
        set_api: impl FnOnce(&mut Api),
    ) -> Server {
        // reqwest needs a TLS provider even without TLS.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut config = Config::default();
        config.environment.push(("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()));
        set(&mut config);
        let sessions = Sessions::open(Broadcast::new(Arc::clone(&journal)), config).await.unwrap();
        journal.create(NewSession::new(key(), cwd, Timestamp::UNIX_EPOCH)).await.unwrap();
        let fence = journal.claim(&key()).await.unwrap();
        let (address, api) = Server::serve_api(sessions, set_api);
        Server { address, api, fence }
    }

    /// Serves sessions on a socket.
    pub(crate) fn serve(sessions: Sessions) -> SocketAddr {
        Server::serve_api(sessions, |_| {}).0
    }

    fn serve_api(sessions: Sessions, set_api: impl FnOnce(&mut Api)) -> (SocketAddr, Api) {
        let mut api = Api::new(sessions);
        api.sign_in = Arc::new(|token, _| {
            caller(token).ok_or_else(|| Error::new(Code::Unauthorized, "Unknown credential", ""))
        });
        set_api(&mut api);
        let router = api::router(api.clone()).layer(middleware::from_fn(auth));
        // Small buffers, so that a client that does not read is noticed early.
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_send_buffer_size(16 << 10).unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1024).unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        (address, api)
    }

    pub(crate) fn journal(&self) -> &Arc<dyn Journal> {
        self.api.sessions.broadcast().journal()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Publishes these numbers as deltas.
    pub(crate) async fn publish(&self, numbers: std::ops::RangeInclusive<u64>) {
        let drafts = numbers.map(|n| draft(&text(&format!("{n} ")))).collect();
        self.journal().append(&key(), self.fence, drafts).await.unwrap();
    }

    pub(crate) async fn publish_event(&self, message: &UiMessage) {
        self.journal().append(&key(), self.fence, vec![draft(message)]).await.unwrap();
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> (u16, Value) {
        self.send(reqwest::Client::new().get(self.url(path)).bearer_auth(token)).await
    }

    pub(crate) async fn send(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    pub(crate) async fn socket(&self, token: Option<&str>) -> Socket {
        let mut request = format!("ws://{}/v1/ws", self.address).into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", "tidings.v1".parse().unwrap());
        if let Some(token) = token {
            request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        }
        // A small receive buffer, like that of a phone.
        let stream = TcpSocket::new_v4().unwrap();
        stream.set_recv_buffer_size(16 << 10).unwrap();
        let stream = MaybeTlsStream::Plain(stream.connect(self.address).await.unwrap());
        let (socket, response) = tokio_tungstenite::client_async(request, stream).await.unwrap();
        assert_eq!(response.headers()["sec-websocket-protocol"], "tidings.v1");
        socket
    }
}

/// Authentication for tests: the credential is the list of its scopes.
async fn auth(mut request: Request, next: Next) -> Response {
    let token = request.headers().get("authorization").and_then(|value| value.to_str().ok());
    if let Some(caller) = token.and_then(|token| caller(token.strip_prefix("Bearer ")?)) {
        request.extensions_mut().insert(caller);
    }
    next.run(request).await
}

/// Parses a credential: scopes separated by commas, then `@` and a device, or `:` and a folder.
pub(crate) fn caller(token: &str) -> Option<Caller> {
    let (token, folder) =
        token.split_once(':').map_or((token, None), |(token, folder)| (token, Some(folder)));
    let (scopes, device) =
        token.split_once('@').map_or((token, None), |(token, device)| (token, Some(device)));
    let scopes: Result<Vec<Scope>, _> = scopes.split(',').map(str::parse).collect();
    Some(Caller {
        name: "a test".to_owned(),
        device: device.map(str::to_owned),
        scopes: scopes.ok()?.into_iter().collect(),
        folders: folder.map(str::to_owned).into_iter().collect(),
    })
}

pub(crate) fn turn() -> TurnId {
    TurnId::new_assistant_turn(1)
}

pub(crate) fn text(text: &str) -> UiMessage {
    UiMessage::TextChunk { text: text.to_owned(), session_id: 1, turn_id: turn() }
}

pub(crate) fn draft(message: &UiMessage) -> Draft {
    let json = serde_json::to_value(message).unwrap();
    let kind = json.as_object().unwrap().keys().next().unwrap();
    let body = serde_json::to_vec(message).unwrap();
    Draft::new(Class::Delta, Timestamp::UNIX_EPOCH, Kind::new(kind).unwrap(), body)
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
    tokio::time::timeout(PATIENCE, received).await.expect("nothing came")
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
        tokio::time::timeout(PATIENCE, self.read()).await.expect("nothing came")
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
