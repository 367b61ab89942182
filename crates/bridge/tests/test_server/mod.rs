//! The test server: one builder for sessions alone, the API on a socket, and whole servers.
//!
//! Modules of tests add helpers for their own subject; what starts, stops or restarts a server is here.

mod agent;
mod builder;
mod client;
mod clock;
mod wait;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::{self, Next};
use jiff::Timestamp;
use tempfile::TempDir;
use tidings_api::{Choice, Code, Input, NewDevice, PermissionAnswer, PermissionScope, Scope};
use tidings_bridge::api::{self, Api};
use tidings_bridge::auth::{Auth, read_admin_token};
use tidings_bridge::server::Server;
use tidings_journal::{Class, EventDraft, Fence, Journal, Key, Kind, NewSession};
use tidings_sessions::{Caller, Error, Sessions};
use tokio::net::TcpSocket;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use builder::Offer;

pub(crate) use agent::{HELLO, QUESTION, Received, StandIn};
pub(crate) use builder::{Builder, TestJournal, opening};
pub(crate) use client::{Events, Socket, close_code, next_message, receive, send_request};
pub(crate) use clock::TestClock;
pub(crate) use wait::{
    PATIENCE, TestSubscriber, in_time, stored_events, text_of, until, until_state, until_view,
};

/// A running server. What [`Builder::serve`] has started stops when this is dropped.
pub(crate) struct TestServer {
    pub(crate) sessions: Sessions,
    /// The address; its port is 0 if the server does not listen on TCP.
    pub(crate) address: SocketAddr,
    /// A credential with all scopes; empty if nothing asks for one.
    pub(crate) admin: String,
    pub(crate) folder: Arc<TempDir>,
    pub(crate) http: reqwest::Client,
    builder: Builder,
    auth: Option<Auth>,
    api: Option<Api>,
    fence: Option<Fence>,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<Result<(), Error>>>,
}

impl TestServer {
    /// Options for sessions without an API, on a journal in memory, in a new folder.
    pub(crate) fn builder() -> Builder {
        Builder::new()
    }

    /// A server without an API, whose agents play a script.
    pub(crate) async fn playing(script: &str) -> TestServer {
        TestServer::builder().script(script).start().await
    }

    /// The options of another server on the same data, as after a kill.
    pub(crate) fn again(&self) -> Builder {
        self.builder.clone()
    }

    /// Stops the server, and returns the task that runs it.
    pub(crate) fn stop(&mut self) -> JoinHandle<Result<(), Error>> {
        self.stop.take().unwrap().send(()).unwrap();
        self.running.take().unwrap()
    }

    /// The clock of [`Builder::clock`].
    pub(crate) fn clock(&self) -> &TestClock {
        self.builder.clock.as_ref().unwrap()
    }

    /// Opens the journal again, which closes it for the server.
    pub(crate) fn open_journal(&self) -> Arc<dyn Journal> {
        self.builder.open_journal()
    }

    pub(crate) fn api(&self) -> &Api {
        self.api.as_ref().unwrap()
    }

    pub(crate) fn auth(&self) -> &Auth {
        self.auth.as_ref().unwrap()
    }

    /// The admin token of the data folder.
    pub(crate) fn admin_token(&self) -> String {
        read_admin_token(&self.builder.data()).unwrap().unwrap().reveal().to_owned()
    }

    /// The path of the Unix socket.
    pub(crate) fn socket_path(&self) -> PathBuf {
        self.builder.data().join("server.sock")
    }

    pub(crate) fn journal(&self) -> &Arc<dyn Journal> {
        self.sessions.broadcast().journal()
    }

    /// Appends events to the session of [`Builder::session`].
    pub(crate) async fn append(&self, drafts: Vec<EventDraft>) {
        self.journal().append(&key(), self.fence.unwrap(), drafts).await.unwrap();
    }

    pub(crate) fn cwd(&self) -> String {
        self.builder.root().to_str().unwrap().to_owned()
    }

    /// A folder inside of the one that sessions usually work in.
    pub(crate) fn inside(&self, name: &str) -> String {
        let folder = self.builder.root().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder.to_str().unwrap().to_owned()
    }

    async fn open_session(&mut self) {
        let Some((cwd, events)) = &self.builder.session else { return };
        let journal = self.journal();
        journal.create(NewSession::new(key(), cwd, Timestamp::UNIX_EPOCH)).await.unwrap();
        let fence = journal.claim(&key()).await.unwrap();
        let old = || display(*b"\"old\"");
        journal.append(&key(), fence, (0..*events).map(|_| old()).collect()).await.unwrap();
        self.fence = Some(fence);
    }

    fn listen(&mut self) {
        match self.builder.offer.clone() {
            Offer::Sessions => {}
            Offer::Api(find, set) => {
                let mut api = Api::new(self.sessions.clone());
                let found = Arc::clone(&find);
                api.sign_in = Arc::new(move |token, _| {
                    found(token).ok_or_else(|| Error::new(Code::Unauthorized, "Unknown credential", ""))
                });
                set(&mut api);
                let authenticate = move |mut request: Request, next: Next| {
                    let header = request.headers().get("authorization");
                    let token = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
                    if let Some(caller) = find(token.unwrap_or_default()) {
                        request.extensions_mut().insert(caller);
                    }
                    next.run(request)
                };
                let router = api::router(api.clone()).layer(middleware::from_fn(authenticate));
                // Small buffers, so that a client that does not read is noticed early.
                let socket = TcpSocket::new_v4().unwrap();
                socket.set_send_buffer_size(16 << 10).unwrap();
                socket.bind(self.address).unwrap();
                let listener = socket.listen(1024).unwrap();
                self.address = listener.local_addr().unwrap();
                tokio::spawn(async move { axum::serve(listener, router).await });
                "admin".clone_into(&mut self.admin);
                self.api = Some(api);
            }
            Offer::Server(set) => {
                let auth = self.auth().clone();
                let bound = self.builder.listen.clone().bind().unwrap();
                if let Some(address) = bound.address() {
                    self.address = address;
                    auth.reached_at(self.url(""));
                }
                self.admin = if self.builder.admin_device {
                    let all = NewDevice { scopes: Some(vec!["admin".to_owned()]), ..NewDevice::default() };
                    auth.add_device(all).unwrap().1.reveal().to_owned()
                } else {
                    self.admin_token()
                };
                let server = set(Server::new(self.sessions.clone(), auth), &self.url(""));
                let (stop, stopped) = oneshot::channel();
                let run = async move { server.run(bound, async { drop(stopped.await) }).await };
                (self.stop, self.running) = (Some(stop), Some(tokio::spawn(run)));
            }
        }
    }
}

/// The key of the session of [`Builder::session`].
pub(crate) fn key() -> Key {
    Key::new("session").unwrap()
}

/// An event of the kind `Display`, whose body may be anything.
pub(crate) fn display(body: impl Into<Arc<[u8]>>) -> EventDraft {
    EventDraft::new(Class::Delta, Timestamp::UNIX_EPOCH, Kind::new("Display").unwrap(), body)
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

/// A user who may do everything.
pub(crate) fn me() -> Caller {
    Caller::admin("ada")
}

pub(crate) fn say(text: &str) -> Input {
    Input { content: text.to_owned(), ..Input::default() }
}

pub(crate) fn yes() -> PermissionAnswer {
    PermissionAnswer {
        decision: Choice::Allow,
        scope: PermissionScope::Once,
        updated_input: None,
        message: None,
        interrupt: false,
        digest: None,
        client_id: None,
    }
}
