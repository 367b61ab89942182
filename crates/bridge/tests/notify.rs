//! Notifications to a receiver on this machine.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tidings_api::{CommandRequest, CreateSession, NotifyKind, NotifySettings, SessionCommand, SessionView};
use tidings_bridge::notify::{Notifier, Occasion, Target};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::test_server::*;

const ASKS: &str = r#"
    [[turn]]
    [[turn.block]]
    tool = "Bash"
    input = { command = "make secret-thing" }
    ask = true
    result = "done"
    [[turn]]
    text = "The secret thing is made."
"#;

struct ReceivedRequest {
    path: String,
    headers: HeaderMap,
    body: String,
}

impl ReceivedRequest {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A receiver of notifications. `answer` makes the response to the n-th request.
struct Receiver {
    address: String,
    received: mpsc::Receiver<ReceivedRequest>,
}

impl Receiver {
    async fn start(answer: impl Fn(usize) -> Response + Clone + Send + Sync + 'static) -> Self {
        let (sent, received) = mpsc::channel(64);
        let count = Arc::new(AtomicUsize::new(0));
        let take = move |request: Request| {
            let (sent, answer, count) = (sent.clone(), answer.clone(), Arc::clone(&count));
            async move {
                let (parts, body) = request.into_parts();
                let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
                let body = String::from_utf8(body.to_vec()).unwrap();
                sent.send(ReceivedRequest {
                    path: parts.uri.path().to_owned(),
                    headers: parts.headers,
                    body,
                })
                .await
                .unwrap();
                answer(count.fetch_add(1, Ordering::Relaxed))
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(take)).await });
        Receiver { address, received }
    }

    async fn next(&mut self) -> ReceivedRequest {
        in_time(self.received.recv()).await.unwrap()
    }

    fn target(&self, kind: NotifyKind, events: &[Occasion]) -> Target {
        let mut target: Target =
            serde_json::from_value(serde_json::json!({"url":self.address,"kind":"webhook"})).unwrap();
        target.url.push_str("/topic");
        target.kind = kind;
        target.events = events.to_vec();
        target
    }
}

/// Sessions that ask for permission, and a notifier.
struct Fixture {
    server: TestServer,
    stopping: CancellationToken,
}

impl Fixture {
    async fn with_targets(targets: Vec<Target>) -> Self {
        Self::with_script(ASKS, targets).await
    }

    async fn with_script(script: &str, targets: Vec<Target>) -> Self {
        let server = TestServer::playing(script).await;
        let stopping = CancellationToken::new();
        let soon = NotifySettings { first_after_s: 0, ..NotifySettings::default() };
        let notifier = Notifier::new(targets, Some("https://page.example".to_owned())).unwrap();
        let notifier = notifier.settings(soon).unwrap();
        tokio::spawn(notifier.run(server.sessions.clone(), stopping.clone()));
        Fixture { server, stopping }
    }

    async fn ask(&self) -> SessionView {
        let (cwd, prompt) = (self.server.inside("shop"), Some("Make it".to_owned()));
        let new = CreateSession { cwd, prompt, ..CreateSession::default() };
        self.server.sessions.create(&me(), new).await.unwrap().0
    }

    async fn allow(&self, session: &SessionView, tool_use_id: &str) {
        self.server.sessions.answer_permission(&me(), &session.key, tool_use_id, yes()).await.unwrap();
    }

    /// The id of the first open request of a session.
    async fn asked(&self, session: &SessionView) -> String {
        let open = async || self.server.sessions.permissions(Some(&session.key)).await.unwrap();
        until(open, |open| !open.is_empty()).await[0].tool_use_id.clone()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.stopping.cancel();
    }
}

fn fine(_: usize) -> Response {
    StatusCode::OK.into_response()
}

/// HMAC-SHA-256, implemented independently of the sender.
fn hmac(secret: &str, message: &str) -> String {
    let pad = |byte: u8| {
        let mut key = secret.as_bytes().to_vec();
        key.resize(64, 0);
        key.into_iter().map(|it| it ^ byte).collect::<Vec<u8>>()
    };
    let inner = Sha256::digest([pad(0x36), message.as_bytes().to_vec()].concat());
    let outer = Sha256::digest([pad(0x5c), inner.to_vec()].concat());
    outer.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_29_what_needs_a_person_is_told_without_what_it_is_about() {
    let mut receiver = Receiver::start(fine).await;
    let mut target = receiver.target(NotifyKind::Webhook, &[]);
    target.secret = Some("between us".to_owned());
    let fixture = Fixture::with_targets(vec![target]).await;
    let session = fixture.ask().await;
    let asked = receiver.next().await;
    let notification = asked.json();
    assert_eq!(
        (&notification["event"], &notification["tool"], &notification["project"]),
        (&"permission".into(), &"Bash".into(), &"shop".into())
    );
    assert_eq!(notification["text"], "shop: may `Bash` run?");
    let ask = notification["tool_use_id"].as_str().unwrap();
    assert_eq!(notification["link"], format!("https://page.example/#/s/{}?ask={ask}", session.key));
    assert!(!asked.body.contains("secret-thing"), "the command stays here: {}", asked.body);
    assert!(!asked.body.contains("Make it"), "and so does the prompt: {}", asked.body);
    let header = |name: &str| asked.headers[name].to_str().unwrap().to_owned();
    assert_eq!(
        (header("x-tidings-event"), header("x-tidings-delivery")),
        ("permission".to_owned(), notification["id"].as_str().unwrap().to_owned())
    );
    let signed = format!("{}.{}", header("x-tidings-timestamp"), asked.body);
    assert_eq!(header("x-tidings-signature"), format!("sha256={}", hmac("between us", &signed)));

    fixture.allow(&session, notification["tool_use_id"].as_str().unwrap()).await;
    let ended = receiver.next().await;
    assert_eq!(ended.json()["event"], "turn_ended");
    assert!(!ended.body.contains("secret") && !ended.body.contains("Make it"), "{}", ended.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_29_details_are_told_where_the_owner_wants_it_and_only_of_what_is_wanted() {
    let mut receiver = Receiver::start(fine).await;
    let mut target = receiver.target(NotifyKind::Webhook, &[Occasion::TurnEnded]);
    target.include_details = true;
    let fixture = Fixture::with_targets(vec![target]).await;
    let session = fixture.ask().await;
    let asked = fixture.asked(&session).await;
    fixture.allow(&session, &asked).await;
    let ended = receiver.next().await.json();
    assert_eq!(ended["event"], "turn_ended", "the permission was not wanted");
    assert_eq!(ended["details"]["line"], "The secret thing is made.");
    assert_eq!(ended["details"]["title"], "Make it", "the first prompt, while there is no title");
}

#[tokio::test(flavor = "multi_thread")]
async fn p13_s2_29_ntfy_gets_a_title_a_text_a_priority_and_the_session_to_open() {
    let mut receiver = Receiver::start(fine).await;
    let mut target = receiver.target(NotifyKind::Ntfy, &[Occasion::Permission]);
    target.token = Some("tk_1".to_owned());
    let fixture = Fixture::with_targets(vec![target]).await;
    let session = fixture.ask().await;
    let posted = receiver.next().await;
    let notification = posted.json();
    let request = format!("https://page.example/#/s/{}?ask=", session.key);
    assert!(notification["click"].as_str().unwrap().starts_with(&request), "{notification}");
    assert_eq!((posted.path.as_str(), &notification["topic"]), ("/", &"topic".into()));
    assert_eq!(
        (&notification["message"], &notification["priority"]),
        (&"shop: may `Bash` run?".into(), &4.into())
    );
    assert_eq!(posted.headers[header::AUTHORIZATION], "Bearer tk_1");
    assert!(!posted.body.contains("secret-thing"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_that_fails_is_sent_again_with_the_same_name() {
    let flaky = |count| match count {
        0 => (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "0")]).into_response(),
        count => fine(count),
    };
    let mut receiver = Receiver::start(flaky).await;
    let fixture =
        Fixture::with_targets(vec![receiver.target(NotifyKind::Webhook, &[Occasion::Permission])]).await;
    fixture.ask().await;
    let (first, second) = (receiver.next().await.json(), receiver.next().await.json());
    assert_eq!(first["id"], second["id"]);
}

/// A notification of an ended turn may be late; one of a pending permission request may not.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_waits_behind_a_notification_that_fails() {
    let broken = |_| (StatusCode::INTERNAL_SERVER_ERROR, [(header::RETRY_AFTER, "60")]).into_response();
    let mut receiver = Receiver::start(broken).await;
    let fixture = Fixture::with_targets(vec![receiver.target(NotifyKind::Webhook, &[])]).await;
    let (first, second) = (fixture.ask().await, fixture.ask().await);
    let notification = [receiver.next().await.json(), receiver.next().await.json()];
    let mut asked = notification.each_ref().map(|notification| notification["session"].as_str().unwrap());
    asked.sort_unstable();
    let mut keys = [first.key.as_str(), second.key.as_str()];
    keys.sort_unstable();
    assert_eq!(asked, keys, "each is tried once before any is tried again");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answered_request_is_not_notified() {
    let flaky = |count| match count {
        0 => (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "1")]).into_response(),
        count => fine(count),
    };
    let mut receiver = Receiver::start(flaky).await;
    let fixture = Fixture::with_targets(vec![receiver.target(NotifyKind::Webhook, &[])]).await;
    let session = fixture.ask().await;
    let notification = receiver.next().await.json();
    fixture.allow(&session, notification["tool_use_id"].as_str().unwrap()).await;
    assert_eq!(receiver.next().await.json()["event"], "turn_ended");
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(receiver.received.try_recv().is_err(), "the permission is not open");
}

/// An agent that is killed, for example for lack of memory: its turn has no result.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_dies_in_a_turn_has_failed_and_one_that_is_stopped_has_not() {
    let dies = format!("{ASKS}\n[[fault]]\nkind = \"exit\"\nat_frame = 4\ncode = 137\n");
    let mut receiver = Receiver::start(fine).await;
    let events = [Occasion::Failed, Occasion::TurnEnded];
    let fixture = Fixture::with_script(&dies, vec![receiver.target(NotifyKind::Webhook, &events)]).await;
    let session = fixture.ask().await;
    let notification = receiver.next().await.json();
    assert_eq!(
        (&notification["event"], &notification["session"]),
        (&"failed".into(), &session.key.as_str().into())
    );
    assert_eq!(notification["text"], "shop: the agent has ended during a turn");

    let fixture =
        Fixture::with_targets(vec![receiver.target(NotifyKind::Webhook, &[Occasion::Failed])]).await;
    let session = fixture.ask().await;
    fixture.asked(&session).await;
    let stop = CommandRequest::default();
    fixture.server.sessions.command(&me(), &session.key, SessionCommand::Stop, stop).await.unwrap();
    let other = fixture.ask().await;
    fixture.asked(&other).await;
    fixture.server.sessions.drain().await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let notification = receiver.received.try_recv().ok().map(|received| received.body);
    assert_eq!(notification, None, "these were ended by the user");
}

/// A redirect must not send the text and the signature to another host.
#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_to_another_host_is_refused() {
    let mut other = Receiver::start(fine).await;
    let elsewhere = format!("{}/stolen", other.address);
    let lead_away =
        move |_| (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, elsewhere.clone())]).into_response();
    let mut receiver = Receiver::start(lead_away).await;
    let around = |count| match count {
        0 => (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, "/moved")]).into_response(),
        count => fine(count),
    };
    let mut moved = Receiver::start(around).await;
    let targets = [&receiver, &moved].map(|it| it.target(NotifyKind::Webhook, &[Occasion::Permission]));
    let fixture = Fixture::with_targets(targets.to_vec()).await;
    fixture.ask().await;
    receiver.next().await;
    moved.next().await;
    assert_eq!(moved.next().await.path, "/moved", "the same host may move it");
    assert!(other.received.try_recv().is_err());
}
