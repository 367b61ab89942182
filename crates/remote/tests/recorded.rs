//! A recorded exchange with a server, cut at every byte. The tests of the client for TypeScript replay the
//! same one; `web/client/tests/record.mjs` records it.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use tidings_remote::SessionUpdate;
use tokio::net::TcpListener;

use crate::proxy::Proxy;
use crate::test_server::in_time;

/// The session of the recording.
const SESSION: &str = "a-session";

/// More bytes than the server sends for the stream of its events, with its head.
const STREAM_BYTES: usize = 6600;

/// The same for a client that has the first twenty events.
const END_BYTES: usize = 1500;

/// A request and its response.
#[derive(Deserialize)]
struct Exchange {
    method: String,
    path: String,
    status: u16,
    body: String,
}

/// A recording, as a server that answers as recorded.
struct Recording(Vec<Exchange>);

impl Recording {
    fn read() -> Self {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/client/tests/exchanges/one-turn.ndjson");
        let text = std::fs::read_to_string(path).unwrap();
        Recording(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    fn exchange(&self, method: &str, path: &str) -> Option<&Exchange> {
        let has_path = |exchange: &&Exchange| exchange.path.split('?').next() == Some(path);
        self.0.iter().find(|exchange| exchange.method == method && has_path(exchange))
    }

    /// The messages of the events, of which the first one is about the subscription.
    fn messages(&self) -> Vec<&str> {
        let events = self.exchange("GET", &format!("/v1/sessions/{SESSION}/events")).unwrap();
        events.body.split("\n\n").filter(|message| !message.is_empty()).collect()
    }

    fn cursors(&self) -> Vec<String> {
        self.messages().iter().skip(1).map(|message| cursor(message)).collect()
    }

    /// What the server sends to a client that has the events up to a cursor.
    fn stream_after(&self, after: Option<&str>) -> String {
        let messages = self.messages();
        let (cursors, begin) = (self.cursors(), cursor(messages[0]));
        let from = after.and_then(|after| cursors.iter().position(|cursor| cursor == after));
        let rest = messages.iter().skip(1 + from.map_or(0, |from| from + 1));
        let first = messages[0].replace(&begin, after.unwrap_or(&begin));
        let sent: Vec<&str> = std::iter::once(first.as_str()).chain(rest.copied()).collect();
        sent.join("\n\n") + "\n\n"
    }

    /// A proxy before a server that answers as recorded.
    async fn serve(self: &Arc<Self>) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new().fallback(answer).with_state(Arc::clone(self));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Proxy::to(address).await
    }
}

fn cursor(message: &str) -> String {
    message.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned()
}

async fn answer(State(recording): State<Arc<Recording>>, method: Method, uri: Uri) -> Response {
    if uri.path().ends_with("/events") {
        let after =
            uri.query().and_then(|query| query.split('&').find_map(|part| part.strip_prefix("after=")));
        let after = after.map(|after| after.replace("%3A", ":"));
        let sent = Bytes::from(recording.stream_after(after.as_deref()));
        // The stream of a session has no end.
        let sent = stream::iter([Ok::<_, std::convert::Infallible>(sent)]).chain(stream::pending());
        return ([("content-type", "text/event-stream")], Body::from_stream(sent)).into_response();
    }
    let Some(exchange) = recording.exchange(method.as_str(), uri.path()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let status = StatusCode::from_u16(exchange.status).unwrap();
    (status, [("content-type", "application/json")], exchange.body.clone()).into_response()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_event_of_a_recorded_exchange_comes_once_wherever_it_is_cut() {
    let recording = Arc::new(Recording::read());
    let (proxy, all) = (recording.serve().await, recording.cursors());
    let session = proxy.client().session(SESSION);
    // The end of the stream at every byte, and the whole of it in steps.
    for (known, cuts) in [(20, (0..END_BYTES).step_by(1)), (0, (0..STREAM_BYTES).step_by(53))] {
        let (after, expected) = (all[..known].last().cloned(), &all[known..]);
        for bytes in cuts {
            proxy.cut_after(bytes);
            let (mut cursors, mut events) = (Vec::new(), session.events(after.clone()));
            while cursors.len() < expected.len() {
                if let SessionUpdate::Event(event) = in_time(events.next()).await.unwrap().unwrap() {
                    cursors.push(event.cursor);
                }
            }
            assert_eq!(cursors, expected, "cut after {bytes} bytes");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_of_a_recorded_exchange_is_the_same_wherever_it_is_cut() {
    let recording = Arc::new(Recording::read());
    let proxy = recording.serve().await;
    let session = proxy.client().session(SESSION);
    for bytes in (0..STREAM_BYTES).step_by(29) {
        proxy.cut_after(bytes);
        let answer = in_time(session.ask("Look around")).await.unwrap();
        assert_eq!(answer.text(), "There is a README.", "cut after {bytes} bytes");
    }
}
