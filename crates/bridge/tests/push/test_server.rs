//! A server whose sessions ask for permission, with a clock that the test sets.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use tidings_agent::Clock;
use tidings_api::NotifySettings;
use tidings_bridge::auth::{Auth, Settings, read_admin_token};
use tidings_bridge::notify::{Notifier, PushKeys, Target};
use tidings_bridge::server::{Exposure, Listen, Server, choose_tls};
use tidings_journal::MemoryStore;
use tidings_sessions::secret::Random;
use tokio::sync::oneshot;

use crate::stand_in;

/// A script whose agents ask for permission.
pub(crate) const ASKS: &str = r#"
    [[turn]]
    [[turn.block]]
    tool = "Write"
    input = { file_path = "note.txt", content = "secret-thing" }
    ask = true
    result = "done"
    [[turn]]
    text = "The secret thing is made."
"#;

/// The same with a command that can lose something.
pub(crate) const ASKS_HIGH: &str = r#"
    [[turn]]
    [[turn.block]]
    tool = "Bash"
    input = { command = "rm -rf /" }
    ask = true
    result = "done"
    [[turn]]
    text = "Gone."
"#;

pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) admin: String,
    pub(crate) folder: Arc<TempDir>,
    pub(crate) store: MemoryStore,
    now_ms: Arc<AtomicI64>,
    stop: Option<oneshot::Sender<()>>,
    script: String,
}

impl TestServer {
    pub(crate) async fn start(script: &str) -> TestServer {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let start = "2026-03-02T12:00:00Z".parse::<Timestamp>().unwrap().as_millisecond();
        let now_ms = Arc::new(AtomicI64::new(start));
        Self::on(script, folder, MemoryStore::default(), now_ms, Vec::new()).await
    }

    pub(crate) async fn with_targets(script: &str, targets: Vec<Target>) -> TestServer {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let now_ms = Arc::new(AtomicI64::new(1_772_452_800_000));
        Self::on(script, folder, MemoryStore::default(), now_ms, targets).await
    }

    /// Another server on the same data, as after a kill.
    pub(crate) async fn killed(&self) -> TestServer {
        let (folder, now) = (Arc::clone(&self.folder), Arc::clone(&self.now_ms));
        Self::on(&self.script, folder, self.store.clone(), now, Vec::new()).await
    }

    async fn on(
        script: &str,
        folder: Arc<TempDir>,
        store: MemoryStore,
        now_ms: Arc<AtomicI64>,
        targets: Vec<Target>,
    ) -> TestServer {
        choose_tls();
        let data = folder.path().join("data");
        let clock_ms = Arc::clone(&now_ms);
        let clock =
            Clock::from_fn(move || Timestamp::from_millisecond(clock_ms.load(Ordering::Relaxed)).unwrap());
        let auth = Auth::open(Settings::new(&data, Random::system(), clock.clone())).unwrap();
        let admin = read_admin_token(&data).unwrap().unwrap().reveal().to_owned();
        let address = Some(([127, 0, 0, 1], 0).into());
        let listen = Listen { address, tls: None, exposure: Exposure::Guarded, unix: None };
        let bound = listen.bind().unwrap();
        let address = bound.address().unwrap();
        let mut config = stand_in::config(script, folder.path());
        config.clock = clock;
        let sessions = stand_in::open_sessions(&store, config).await;
        let notifier = Notifier::new(targets, Some(format!("http://{address}"))).unwrap();
        let soon = NotifySettings { first_after_s: 3, ..NotifySettings::default() };
        let notifier = notifier.settings(soon).unwrap();
        let notifier = notifier.web_push_on_loopback(PushKeys::open(&data).unwrap()).unwrap();
        let server = Server::new(sessions, auth).notifier(notifier);
        let (stop, stopped) = oneshot::channel();
        tokio::spawn(async move { server.run(bound, async { drop(stopped.await) }).await });
        let script = script.to_owned();
        TestServer { address, admin, folder, store, now_ms, stop: Some(stop), script }
    }

    /// Lets time pass.
    pub(crate) async fn pass(&self, time: Duration) {
        self.now_ms.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::Relaxed);
        self.admin("POST", "/v1/inbox/read", Some(json!({}))).await;
    }

    pub(crate) fn set_time(&self, text: &str) {
        let at = text.parse::<Timestamp>().unwrap().as_millisecond();
        self.now_ms.store(at, Ordering::Relaxed);
    }

    pub(crate) async fn admin(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        self.request(&self.admin, method, path, body).await
    }

    pub(crate) async fn request(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> (u16, Value) {
        let url = format!("http://{}{path}", self.address);
        let mut request = reqwest::Client::new().request(method.parse().unwrap(), url);
        if !token.is_empty() {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
    }

    /// A device with these scopes. Returns its id and its token.
    pub(crate) async fn device(&self, name: &str, scopes: &[&str]) -> (String, String) {
        let wanted = json!({"name": name, "scopes": scopes});
        let (status, made) = self.admin("POST", "/v1/devices", Some(wanted)).await;
        assert_eq!(status, 201, "{made}");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&made["device"]["id"]), text(&made["token"]))
    }

    /// Subscribes the browser of a device.
    pub(crate) async fn subscribe(&self, token: &str, browser: &super::browser::Browser) {
        let (status, state) = self.request(token, "PUT", "/v1/push", Some(browser.subscription())).await;
        assert_eq!((status, &state["subscribed"]), (200, &true.into()), "{state}");
    }

    /// Starts a session, and waits until its request is in the inbox. Returns the item.
    pub(crate) async fn ask(&self) -> Value {
        let cwd = self.folder.path().canonicalize().unwrap().join("shop");
        std::fs::create_dir_all(&cwd).unwrap();
        let new = json!({"cwd": path(&cwd), "prompt": "Make it"});
        let (status, session) = self.admin("POST", "/v1/sessions", Some(new)).await;
        assert!(status < 300, "{session}");
        let key = session["key"].as_str().or(session["session"]["key"].as_str()).unwrap();
        self.item(&format!("session={key}&state=waiting")).await
    }

    /// The newest item of a list, once there is one.
    pub(crate) async fn item(&self, query: &str) -> Value {
        let found = async {
            loop {
                let (_, page) = self.admin("GET", &format!("/v1/inbox?{query}"), None).await;
                if let Some(item) = page["items"].get(0) {
                    return item.clone();
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), found).await.expect("it comes into the inbox")
    }

    /// Waits until the inbox has the state.
    pub(crate) async fn until(&self, query: &str, is: impl Fn(&Value) -> bool) -> Value {
        let waiting = async {
            loop {
                let (_, page) = self.admin("GET", &format!("/v1/inbox?{query}"), None).await;
                if is(&page) {
                    return page;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("the inbox gets there")
    }

    pub(crate) async fn answer(&self, item: &Value, decision: &str) -> (u16, Value) {
        let text = |name: &str| item[name].as_str().unwrap();
        let route = format!("/v1/sessions/{}/permissions/{}", text("session"), text("tool_use_id"));
        let answer = json!({"decision": decision, "digest": item["digest"]});
        self.admin("POST", &route, Some(answer)).await
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        drop(self.stop.take());
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}
