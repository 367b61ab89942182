//! Rules of delivery: visible tabs, quiet hours, pauses that a service asks for, and other targets.

use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::browser::Browser;
use super::test_server::*;

const MOMENT: Duration = Duration::from_secs(4);

async fn phone(server: &TestServer) -> Browser {
    let browser = Browser::start(1).await;
    let (_, token) = server.add_device("phone", &["read", "decide"]).await;
    server.subscribe_browser(&token, &browser).await;
    browser
}

/// Waits until the inbox has taken the time into account.
async fn settled(server: &TestServer, id: &Value, next: &str) {
    let has = |page: &Value| {
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .any(|item| item["id"] == *id && item["next_reminder"] == next)
    };
    server.until_inbox("state=all", has).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_visible_tab_that_shows_the_request_holds_its_message_back() {
    let server = TestServer::pushing(ASKS).await;
    let mut browser = phone(&server).await;
    // Clients that are merely connected, asleep or half open.
    let url = format!("http://{}/v1/events", server.address);
    let connected = reqwest::Client::new().get(url).bearer_auth(&server.admin).send().await.unwrap();
    let (seen, unseen) = (server.ask().await, server.ask().await);
    server.call("POST", "/v1/inbox/visible", Some(json!({"ids": [seen["id"]]}))).await;
    server.pass(MOMENT).await;
    let pushed = browser.next().await.message;
    assert_eq!(pushed["id"], unseen["id"]);
    settled(&server, &seen["id"], "2026-03-02T12:01:04Z").await;
    assert!(browser.try_next().is_none(), "the other is on the screen");
    // The tab is closed: the reminder comes for both.
    server.pass(Duration::from_secs(61)).await;
    let mut reminded =
        [browser.next().await.message["id"].clone(), browser.next().await.message["id"].clone()];
    reminded.sort_by_key(ToString::to_string);
    let mut both = [seen["id"].clone(), unseen["id"].clone()];
    both.sort_by_key(ToString::to_string);
    assert_eq!(reminded, both);
    drop(connected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_before_a_kill_is_told_after_the_restart() {
    let server = TestServer::pushing(ASKS).await;
    let browser = Browser::start(1).await;
    let (_, token) = server.add_device("phone", &["read", "decide"]).await;
    server.subscribe_browser(&token, &browser).await;
    server.ask().await;
    // The moment of the message has not come when the server is killed.
    let mut browser = browser;
    let again = server.again().start().await;
    assert!(browser.try_next().is_none());
    // The agent of this test ended with its server, so that its request is lost, and the session cut off.
    again.pass(MOMENT).await;
    let message = browser.next_of("notify").await.message;
    assert!(
        ["agent_gone", "permission", "summary"].contains(&message["kind"].as_str().unwrap()),
        "{message}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn quiet_hours_postpone_a_message_to_their_end() {
    let server = TestServer::pushing(ASKS).await;
    let mut browser = phone(&server).await;
    server.clock().set("2026-03-02T23:00:00Z");
    let quiet = json!({"quiet": {"from": "22:00", "to": "07:00", "zone": "UTC"}, "details": true});
    assert_eq!(server.call("PUT", "/v1/notify/settings", Some(quiet)).await.0, 200);
    let item = server.ask().await;
    server.pass(MOMENT).await;
    settled(&server, &item["id"], "2026-03-03T07:00:00Z").await;
    assert!(browser.try_next().is_none(), "at night");
    server.clock().set("2026-03-03T07:00:01Z");
    server.pass(Duration::ZERO).await;
    let message = browser.next().await.message;
    assert_eq!((&message["id"], &message["reminder"]), (&item["id"], &0.into()));
    assert!(message["detail"].as_str().unwrap().contains("note.txt"), "the settings want it: {message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_names_a_time_is_called_again_then_and_not_before() {
    let server = TestServer::pushing(ASKS).await;
    let mut browser = phone(&server).await;
    browser.answer_with(429);
    server.ask().await;
    server.pass(MOMENT).await;
    browser.next().await;
    let is_failed = |page: &Value| page["items"][0]["deliveries"][0]["state"] == "failed";
    let page = server.until_inbox("state=waiting", is_failed).await;
    assert_eq!(page["items"][0]["deliveries"][0]["retry_at"], "2026-03-02T12:02:04Z", "{page}");
    let (_, targets) = server.call("GET", "/v1/notify/targets", None).await;
    assert_eq!(
        (&targets["items"][0]["state"], &targets["items"][0]["failures"]),
        (&"failing".into(), &1.into())
    );
    browser.answer_with(201);
    server.pass(Duration::from_secs(100)).await;
    assert!(browser.try_next().is_none(), "not even the reminder");
    server.pass(Duration::from_secs(21)).await;
    browser.next().await;
    server.until_inbox("state=waiting", |page| page["items"][0]["deliveries"][0]["state"] == "sent").await;
    let url = format!("http://{}/metrics", server.address);
    let metrics = reqwest::Client::new().get(url).bearer_auth(&server.admin).send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    assert!(metrics.contains("kind=\"web_push\",result=\"sent\"} 1"), "{metrics}");
    assert!(metrics.contains("tidings_inbox_items{state=\"waiting\"} 1"), "{metrics}");
}

/// A receiver of what is sent to a URL.
async fn receiver() -> (String, mpsc::Receiver<Value>) {
    let (sent, received) = mpsc::channel(64);
    let take = move |request: Request| {
        let sent = sent.clone();
        async move {
            let body = axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap();
            sent.send(serde_json::from_slice(&body).unwrap()).await.unwrap();
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/topic", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(take)).await });
    (address, received)
}

async fn next(received: &mut mpsc::Receiver<Value>) -> Value {
    in_time(received.recv()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn targets_are_added_and_tested_and_their_secrets_stay_here() {
    let server = TestServer::pushing(ASKS).await;
    for (kind, has) in [("slack", "text"), ("discord", "content"), ("ntfy", "message"), ("webhook", "event")]
    {
        let (url, mut received) = receiver().await;
        let new = json!({"kind": kind, "url": url, "token": "tk_secret", "secret": "key-secret"});
        let (status, target) = server.call("POST", "/v1/notify/targets", Some(new)).await;
        assert_eq!(status, 201, "{target}");
        let id = target["id"].as_str().unwrap();
        let (_, result) = server.call("POST", &format!("/v1/notify/targets/{id}/test"), None).await;
        assert_eq!(result, json!({"sent": true}), "{kind}");
        assert!(next(&mut received).await[has].is_string(), "{kind}");
    }
    let (_, listed) = server.call("GET", "/v1/notify/targets", None).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 4);
    assert!(!listed.to_string().contains("secret") || !listed.to_string().contains("tk_"), "{listed}");
    assert!(!listed.to_string().contains("topic"), "the path may be a secret: {listed}");
    let id = listed["items"][0]["id"].as_str().unwrap();
    assert_eq!(server.call("DELETE", &format!("/v1/notify/targets/{id}"), None).await.0, 204);
    for wrong in [
        json!({"kind": "web_push", "url": "https://push.example/a"}),
        json!({"kind": "webhook", "url": "ftp://example.org"}),
        json!({"kind": "ntfy", "url": "https://ntfy.sh/topic", "allow_button": true}),
        json!({"kind": "webhook", "url": "https://example.org", "events": ["banana"]}),
    ] {
        assert_eq!(server.call("POST", "/v1/notify/targets", Some(wrong.clone())).await.0, 400, "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_at_ntfy_denies_once_and_allows_only_where_an_admin_wants_it() {
    let (url, mut received) = receiver().await;
    let target = |more: Value| {
        let mut target = json!({"kind": "ntfy", "url": url, "events": ["permission"]});
        target.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(target).unwrap()
    };
    let server = push_server(ASKS, vec![target(json!({}))]).start().await;
    server.ask().await;
    server.pass(MOMENT).await;
    let labels = |message: &Value| -> Vec<String> {
        let actions = message["actions"].as_array().unwrap().iter();
        actions.map(|action| action["label"].as_str().unwrap().to_owned()).collect()
    };
    let message = next(&mut received).await;
    assert_eq!(labels(&message), ["Deny"]);
    let base = format!("http://{}", server.address);
    let route = message["actions"][0]["url"].as_str().unwrap().strip_prefix(&base).unwrap().to_owned();
    let changed = route.replace("/act/", "/act/x");
    assert_eq!(server.call_as("", "POST", &changed, None).await.0, 403);
    let (status, acted) = server.call_as("", "POST", &route, None).await;
    assert_eq!((status, &acted["outcome"]), (200, &"denied".into()), "{acted}");
    assert_eq!(server.call_as("", "POST", &route, None).await.0, 410, "once");

    let server = push_server(ASKS, vec![target(json!({"token": "tk", "allow_button": true}))]).start().await;
    server.ask().await;
    server.pass(MOMENT).await;
    assert_eq!(labels(&next(&mut received).await), ["Deny"], "k25: it does not show what it would allow");

    let shows = json!({"token": "tk", "allow_button": true, "include_details": true});
    let server = push_server(ASKS, vec![target(shows)]).start().await;
    server.ask().await;
    server.pass(MOMENT).await;
    let message = next(&mut received).await;
    assert_eq!(labels(&message), ["Allow once", "Deny"]);
    assert!(message["message"].as_str().unwrap().contains("secret"), "the whole content is shown: {message}");
}

/// The two ways share nothing before the session: one has the token of a button, the other a credential.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promise_5_of_a_button_and_an_answer_over_the_api_at_once_one_counts() {
    let (url, mut received) = receiver().await;
    let target = json!({"kind": "ntfy", "url": url, "events": ["permission"]});
    let server = push_server(ASKS, vec![serde_json::from_value(target).unwrap()]).start().await;
    let base = format!("http://{}", server.address);
    // The rate limit admits five presses without a credential.
    for round in 0..4 {
        let item = server.ask().await;
        server.pass(MOMENT).await;
        let message = next(&mut received).await;
        let route = message["actions"][0]["url"].as_str().unwrap().strip_prefix(&base).unwrap().to_owned();
        let (press, answer) = (server.call_as("", "POST", &route, None), server.answer(&item, "allow"));
        let (pressed, answered) = if round % 2 == 0 {
            tokio::join!(press, answer)
        } else {
            let (answered, pressed) = tokio::join!(answer, press);
            (pressed, answered)
        };
        let outcome = match (pressed.0, answered.0) {
            (200, 409) => {
                assert_eq!(answered.1["winner"]["outcome"], "denied", "the loser is told: {}", answered.1);
                "denied"
            }
            (409 | 410, 200) => "allowed",
            _ => panic!("round {round}: not one winner: {pressed:?} {answered:?}"),
        };
        let settled = |page: &Value| {
            let mut items = page["items"].as_array().unwrap().iter();
            items.any(|it| it["id"] == item["id"] && it["outcome"] == outcome)
        };
        server.until_inbox("state=all", settled).await;
    }
}

/// Requests of several sessions against clients of all kinds, over sockets.
#[tokio::test(flavor = "multi_thread")]
async fn each_request_of_many_is_seen_or_sent_and_none_twice() {
    let server = TestServer::pushing(ASKS).await;
    let mut browser = phone(&server).await;
    let rules = json!({"coalesce_from": 100});
    server.call("PUT", "/v1/notify/settings", Some(rules)).await;
    let mut items = Vec::new();
    for _ in 0..12 {
        items.push(server.ask().await);
    }
    let shown: Vec<Value> = items.iter().step_by(3).map(|item| item["id"].clone()).collect();
    server.call("POST", "/v1/inbox/visible", Some(json!({"ids": shown}))).await;
    server.pass(MOMENT).await;
    let mut sent = Vec::new();
    for _ in 0..items.len() - shown.len() {
        sent.push(browser.next().await.message["id"].clone());
    }
    for item in &items {
        let count = sent.iter().filter(|id| **id == item["id"]).count();
        assert_eq!(count, usize::from(!shown.contains(&item["id"])), "{item}");
    }
    assert!(browser.try_next().is_none());
}
