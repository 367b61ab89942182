//! A server as `tidings serve` runs it, with one session whose events the test appends.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;
use tidings_agent::Clock;
use tidings_api::NewDevice;
use tidings_bridge::auth::{Auth, Settings, read_admin_token};
use tidings_bridge::server::{Bounds, Exposure, Listen, Retention, Server, TlsFiles, choose_tls};
use tidings_journal::broadcast::Broadcast;
use tidings_journal::{Class, Draft, Epoch, Fence, Journal, Key, Kind, MemoryJournal, NewSession, Opening};
use tidings_sessions::secret::Random;
use tidings_sessions::{Config, Error, Sessions};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// The timeout of everything that must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    /// The credential of a device with all scopes.
    pub(crate) admin: String,
    /// The admin token of the data folder.
    pub(crate) admin_token: String,
    pub(crate) socket: PathBuf,
    pub(crate) sessions: Sessions,
    fence: Fence,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<Result<(), Error>>>,
    _folder: TempDir,
}

/// The way in for processes of the same user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Local {
    /// A Unix socket in the data folder.
    Socket,
    /// None but the address.
    NoSocket,
}

impl TestServer {
    pub(crate) async fn new() -> TestServer {
        TestServer::with(Bounds::default(), None).await
    }

    pub(crate) async fn with(bounds: Bounds, tls: Option<TlsFiles>) -> TestServer {
        TestServer::with_events(bounds, tls, Retention::default(), 0).await
    }

    /// A server whose session has some events before it starts.
    pub(crate) async fn with_events(
        bounds: Bounds,
        tls: Option<TlsFiles>,
        retention: Retention,
        events: usize,
    ) -> TestServer {
        TestServer::start((bounds, retention), tls, events, Local::Socket, |_| {}).await
    }

    /// A server with other settings of authentication, with or without a socket.
    pub(crate) async fn with_auth(local: Local, change: impl FnOnce(&mut Settings)) -> TestServer {
        TestServer::start((Bounds::default(), Retention::default()), None, 0, local, change).await
    }

    async fn start(
        (bounds, retention): (Bounds, Retention),
        tls: Option<TlsFiles>,
        events: usize,
        local: Local,
        change: impl FnOnce(&mut Settings),
    ) -> TestServer {
        choose_tls();
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let mut settings = Settings::new(&data, Random::system(), Clock::system());
        change(&mut settings);
        let auth = Auth::open(settings).unwrap();
        let admin_token = read_admin_token(&data).unwrap().unwrap().reveal().to_owned();
        let all = NewDevice { scopes: Some(vec!["admin".to_owned()]), ..NewDevice::default() };
        let admin = auth.add_device(all).unwrap().1.reveal().to_owned();
        let socket = data.join("server.sock");
        let listen = Listen {
            address: Some(([127, 0, 0, 1], 0).into()),
            tls,
            exposure: Exposure::Guarded,
            unix: Some(socket.clone()).filter(|_| local == Local::Socket),
        };
        let bound = listen.bind().unwrap();
        let address = bound.address().unwrap();
        auth.reached_at(format!("http://{address}"));
        let opening = Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(1) };
        let journal = Arc::new(MemoryJournal::new(&opening));
        let sessions = Sessions::open(Broadcast::new(journal.clone()), Config::default()).await.unwrap();
        journal.create(NewSession::new(key(), "/", Timestamp::UNIX_EPOCH)).await.unwrap();
        let fence = journal.claim(&key()).await.unwrap();
        let said =
            || Draft::new(Class::Delta, Timestamp::UNIX_EPOCH, Kind::new("Display").unwrap(), *b"\"old\"");
        journal.append(&key(), fence, (0..events).map(|_| said()).collect()).await.unwrap();
        let (stop, stopped) = oneshot::channel();
        let server = Server::new(sessions.clone(), auth).bounds(bounds).retention(retention);
        let running = tokio::spawn(async move { server.run(bound, async { drop(stopped.await) }).await });
        TestServer {
            address,
            admin,
            admin_token,
            socket,
            sessions,
            fence,
            stop: Some(stop),
            running: Some(running),
            _folder: folder,
        }
    }

    /// Stops the server, and returns the task that runs it.
    pub(crate) fn stop(&mut self) -> JoinHandle<Result<(), Error>> {
        self.stop.take().unwrap().send(()).unwrap();
        self.running.take().unwrap()
    }

    pub(crate) async fn publish(&self, text: &str) {
        let body = serde_json::to_vec(text).unwrap();
        let draft = Draft::new(Class::Delta, Timestamp::UNIX_EPOCH, Kind::new("Display").unwrap(), body);
        self.sessions.broadcast().journal().append(&key(), self.fence, vec![draft]).await.unwrap();
    }

    pub(crate) async fn request(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let url = format!("http://{}{path}", self.address);
        let mut request =
            reqwest::Client::new().request(method.parse().unwrap(), url).bearer_auth(&self.admin);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
    }

    /// The response of `/healthz` on a new connection, if the server accepts one.
    pub(crate) async fn healthz(&self) -> Option<String> {
        let answer = reqwest::Client::new().get(format!("http://{}/healthz", self.address)).send().await;
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

fn key() -> Key {
    Key::new("session").unwrap()
}

/// Opens a WebSocket, with an optional credential in the request.
pub(crate) async fn connect(server: &TestServer, path: &str, token: Option<&str>) -> Socket {
    let mut request = format!("ws://{}{path}", server.address).into_client_request().unwrap();
    if path == "/v1/ws" {
        request.headers_mut().insert("sec-websocket-protocol", "tidings.v1".parse().unwrap());
    }
    if let Some(token) = token {
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    }
    let stream = MaybeTlsStream::Plain(TcpStream::connect(server.address).await.unwrap());
    tokio_tungstenite::client_async(request, stream).await.unwrap().0
}

/// Opens a WebSocket and subscribes to the session.
pub(crate) async fn subscribe(server: &TestServer, token: &str) -> Socket {
    let mut socket = connect(server, "/v1/ws", Some(token)).await;
    socket.send(Message::text(r#"{"id":1,"type":"subscribe","session":"1"}"#)).await.unwrap();
    let ack = tokio::time::timeout(PATIENCE, socket.next()).await.unwrap().unwrap().unwrap();
    assert!(ack.to_text().unwrap().contains(r#""type":"ack""#), "{ack}");
    socket
}

/// The code with which a socket is closed.
pub(crate) async fn close_code(socket: &mut Socket) -> Option<u16> {
    let close = async {
        loop {
            match socket.next().await {
                Some(Ok(Message::Close(frame))) => return frame.map(|frame| frame.code.into()),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    };
    tokio::time::timeout(PATIENCE, close).await.expect("it stays open")
}
