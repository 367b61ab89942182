//! A small router behind [`Auth`], and requests as browsers, scripts and attackers send them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use axum::routing::{get, post};
use serde_json::Value;
use tidings::Ids;
use tidings_api::{NewDevice, Scope};
use tidings_bridge::auth::{Auth, Peer, Settings, read_admin_token};
use tidings_sessions::{Caller, Error};
use tower::ServiceExt as _;

use crate::test_server::{TestClock, TestServer};

/// The host of the server in tests.
pub(crate) const HOST: &str = "127.0.0.1:7717";

/// Some routes behind authentication, in process, that return the caller.
pub(crate) struct TestRouter {
    pub(crate) auth: Auth,
    pub(crate) folder: Arc<tempfile::TempDir>,
    pub(crate) clock: TestClock,
    pub(crate) admin: String,
    /// The number of accepted prompts.
    pub(crate) prompts: Arc<AtomicUsize>,
    router: Router,
}

/// A complete response.
pub(crate) struct TestResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl TestRouter {
    pub(crate) fn new() -> Self {
        TestRouter::with(|_| {})
    }

    pub(crate) fn with(set: impl Fn(&mut Settings) + Send + Sync + 'static) -> Self {
        let clock = TestClock::at("2026-01-01T00:00:00Z");
        let builder = TestServer::builder().clock(&clock).auth(set);
        let auth = builder.open_auth().unwrap();
        auth.reached_at("http://127.0.0.1:7717");
        let admin = read_admin_token(&builder.data()).unwrap().unwrap().reveal().to_owned();
        let prompts = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&prompts);
        let say = move |_: Caller, _: String| async move {
            count.fetch_add(1, Ordering::Relaxed);
        };
        let inside = Router::new()
            .route("/v1/say", post(say))
            .route("/", get(|| async { "page" }))
            .route("/app.js", get(|| async { "script" }))
            .route("/healthz", get(|| async { "ok" }))
            .route("/v1/who", get(who).post(who))
            .route("/v1/ws", get(socket))
            .route("/v1/sessions/1/input", post(prompt))
            .merge(auth.routes());
        let router = auth.protect(inside, Ids::random());
        TestRouter { auth, folder: builder.folder, clock, admin, prompts, router }
    }

    /// Sends a request unchanged, from a loopback address.
    pub(crate) async fn send(&self, request: Request<Body>) -> TestResponse {
        let peer = Peer::Tcp { remote: ([127, 0, 0, 1], 50000).into(), local: ([127, 0, 0, 1], 7717).into() };
        self.send_from(peer, request).await
    }

    pub(crate) async fn send_from(&self, peer: Peer, mut request: Request<Body>) -> TestResponse {
        request.extensions_mut().insert(peer);
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, 1 << 20).await.unwrap();
        TestResponse {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    /// Sends a request with the admin token, on the socket.
    pub(crate) async fn admin(&self, method: Method, path: &str, body: Option<Value>) -> TestResponse {
        let bearer = format!("Bearer {}", self.admin);
        self.send_from(Peer::Unix, request(method, path, &[("authorization", &bearer)], body)).await
    }

    /// The `Authorization` of a new device with all scopes.
    pub(crate) fn device_bearer(&self) -> String {
        let all = NewDevice { scopes: Some(vec!["admin".to_owned()]), ..NewDevice::default() };
        format!("Bearer {}", self.auth.add_device(all).unwrap().1.reveal())
    }
}

impl TestResponse {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The code of a problem.
    pub(crate) fn code(&self) -> String {
        self.json()["code"].as_str().unwrap().to_owned()
    }
}

/// A request to [`HOST`], unless `headers` contains another host.
pub(crate) fn request(
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<Value>,
) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", HOST);
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    match body {
        Some(body) => {
            request.header("content-type", "application/json").body(Body::from(body.to_string())).unwrap()
        }
        None => request.body(Body::empty()).unwrap(),
    }
}

async fn who(caller: Caller) -> String {
    caller.name
}

async fn prompt(caller: Caller) -> Result<&'static str, Error> {
    caller.require(Scope::Prompt)?;
    Ok("said")
}

async fn socket(caller: Option<axum::Extension<Caller>>) -> String {
    caller.map_or("unauthenticated".to_owned(), |caller| caller.name.clone())
}
