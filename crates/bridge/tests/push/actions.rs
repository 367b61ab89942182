//! Messages of Web Push and the buttons in them, up to a decision.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde_json::{Value, json};

use super::browser::{Browser, ReceivedPush};
use super::test_server::*;

const MOMENT: Duration = Duration::from_secs(4);

fn act(received: &ReceivedPush, decision: &str) -> Value {
    json!({"token": received.message["actions"]["token"], "decision": decision})
}

/// Lets messages show what the agent wants to do, without which they cannot allow it.
async fn show_details(server: &TestServer) {
    let settings = json!({"first_after_s": 3, "details": true});
    assert_eq!(server.call("PUT", "/v1/notify/settings", Some(settings)).await.0, 200);
}

/// The decisions of the buttons of a message.
fn buttons(received: &ReceivedPush) -> Value {
    received.message["actions"]["decisions"].clone()
}

/// A phone that is subscribed, and its token.
async fn phone(server: &TestServer, number: u8) -> (Browser, String) {
    let browser = Browser::start(number).await;
    let (_, token) = server.add_device("phone", &["read", "decide"]).await;
    server.subscribe_browser(&token, &browser).await;
    (browser, token)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_reaches_the_phone_and_one_tap_decides_it() {
    let server = TestServer::pushing(ASKS).await;
    show_details(&server).await;
    let (mut browser, token) = phone(&server, 1).await;
    let (mut other, other_token) = phone(&server, 2).await;
    let item = server.ask().await;
    server.pass(MOMENT).await;
    let pushed = browser.next().await;
    let message = &pushed.message;
    assert_eq!(
        (&message["type"], &message["kind"], &message["title"]),
        (&"notify".into(), &"permission".into(), &"shop".into())
    );
    assert_eq!((&message["url"], &message["badge"]), (&item["link"], &1.into()));
    assert_eq!(pushed.headers["urgency"], "high");
    let expires = pushed.claims["exp"].as_i64().unwrap();
    assert!((1_772_452_800..1_772_452_800 + 86_400).contains(&expires), "within a day: {expires}");
    let detail = message["detail"].as_str().unwrap();
    assert!(detail.starts_with("Write ") && detail.ends_with("note.txt:\nsecret-thing"), "{detail}");
    let elsewhere = other.next().await;

    let refused = async |token: &str, body: Value, status: u16, code: &str| {
        let (found, problem) = server.call_as(token, "POST", "/v1/inbox/act", Some(body)).await;
        assert_eq!((found, &problem["code"]), (status, &code.into()), "{problem}");
    };
    refused(&other_token, act(&pushed, "allow"), 403, "forbidden").await;
    let (_, reader) = server.add_device("tv", &["read"]).await;
    refused(&reader, act(&pushed, "allow"), 403, "forbidden").await;
    refused(&server.admin, act(&pushed, "allow"), 403, "forbidden").await;
    refused(&token, json!({"token": "1.0.ad.x.y.z.w", "decision": "allow"}), 403, "forbidden").await;
    assert_eq!(server.item("state=waiting").await["id"], item["id"], "nothing was decided");

    let (status, result) = server.call_as(&token, "POST", "/v1/inbox/act", Some(act(&pushed, "allow"))).await;
    assert_eq!(
        (status, &result["outcome"], &result["by"]),
        (200, &"allowed".into(), &"phone".into()),
        "{result}"
    );
    // Replayed, and by the other device afterwards.
    refused(&token, act(&pushed, "allow"), 410, "gone").await;
    refused(&other_token, act(&elsewhere, "deny"), 410, "gone").await;
    // The notification is closed on both.
    for browser in [&mut browser, &mut other] {
        let closed = browser.next_of("withdraw").await;
        assert_eq!(closed.message["tags"][0], item["id"]);
    }
    let (_, log) =
        server.call("GET", &format!("/v1/inbox?session={}", item["session"].as_str().unwrap()), None).await;
    let settled = log["items"].as_array().unwrap().iter().find(|it| it["id"] == item["id"]).unwrap();
    assert_eq!(settled["outcome"], "allowed");
    assert_eq!(settled["deliveries"][0]["state"], "sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn k25_a_push_that_does_not_show_what_it_allows_has_no_button_that_allows() {
    let long = ASKS.replace("secret-thing", &"x".repeat(300));
    let hidden = ASKS.replace("secret-thing", "secret\\u202ething");
    for (script, has_details) in [(ASKS, false), (&long, true), (&hidden, true)] {
        let server = TestServer::pushing(script).await;
        if has_details {
            show_details(&server).await;
        }
        let (mut browser, token) = phone(&server, 1).await;
        let item = server.ask().await;
        server.pass(MOMENT).await;
        let pushed = browser.next().await;
        assert_eq!(buttons(&pushed), json!(["deny"]), "{}", pushed.message);
        let text = pushed.message.to_string();
        assert!(!text.contains("secret") && !text.contains("xxx"), "it says no more than it must: {text}");
        let (status, problem) =
            server.call_as(&token, "POST", "/v1/inbox/act", Some(act(&pushed, "allow"))).await;
        assert_eq!((status, &problem["code"]), (403, &"forbidden".into()), "{problem}");
        assert_eq!(server.item("state=waiting").await["id"], item["id"], "nothing was decided");
        let (status, result) =
            server.call_as(&token, "POST", "/v1/inbox/act", Some(act(&pushed, "deny"))).await;
        assert_eq!((status, &result["outcome"]), (200, &"denied".into()), "{result}");
    }
}

/// Tokens that can be made from files of the data folder: of each key, in the format that was signed once,
/// and the stored fingerprint itself.
fn tokens_from_files(server: &TestServer, item: &Value, target: &str, sent: &str) -> Vec<String> {
    let keys = std::fs::read(server.folder.path().join("data/push-keys.json")).unwrap();
    let keys: Value = serde_json::from_slice(&keys).unwrap();
    let keys = keys.as_object().unwrap().values().filter_map(|key| BASE64.decode(key.as_str()?).ok());
    let parts = [target, item["id"].as_str().unwrap(), item["digest"].as_str().unwrap()];
    let text = format!("1.0.ad.{}", parts.map(|part| BASE64.encode(part)).join("."));
    let signed = keys.map(|key| {
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key);
        let mac = ring::hmac::sign(&key, format!("action\0{text}").as_bytes());
        format!("{text}.{}", BASE64.encode(mac))
    });
    signed.chain([fingerprint(sent)]).collect()
}

fn fingerprint(token: &str) -> String {
    let hash = ring::digest::digest(&ring::digest::SHA256, token.as_bytes());
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn k21_no_file_of_the_server_lets_its_reader_press_a_button() {
    let server = TestServer::pushing(ASKS).await;
    show_details(&server).await;
    let mut browser = Browser::start(1).await;
    let (device, token) = server.add_device("phone", &["read", "decide"]).await;
    server.subscribe_browser(&token, &browser).await;
    let item = server.ask().await;
    server.pass(MOMENT).await;
    let pushed = browser.next().await;
    let sent = pushed.message["actions"]["token"].as_str().unwrap();
    let made = tokens_from_files(&server, &item, &format!("device:{device}"), sent);
    assert!(made.len() >= 2, "{made:?}");
    for made in made {
        let act = json!({"token": made, "decision": "allow"});
        let (status, problem) = server.call_as(&token, "POST", "/v1/inbox/act", Some(act)).await;
        assert_eq!((status, &problem["code"]), (403, &"forbidden".into()), "{made}: {problem}");
        let (status, _) = server.call_as("", "POST", &format!("/v1/notify/act/{made}"), None).await;
        assert_eq!(status, 403, "{made}");
    }
    assert_eq!(server.item("state=waiting").await["id"], item["id"], "nothing was decided");
    let (status, result) = server.call_as(&token, "POST", "/v1/inbox/act", Some(act(&pushed, "allow"))).await;
    assert_eq!((status, &result["outcome"]), (200, &"allowed".into()), "{result}");

    let documents = server.open_journal().documents("inbox").await.unwrap();
    let stored: String = documents.iter().map(|it| String::from_utf8_lossy(&it.body).into_owned()).collect();
    assert!(stored.contains(&fingerprint(sent)), "the journal has the fingerprint: {stored}");
    assert!(!stored.contains(sent), "the journal does not have the token: {stored}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reminder_renews_the_token_and_a_stale_one_decides_nothing() {
    let server = TestServer::pushing(ASKS).await;
    show_details(&server).await;
    let (mut browser, token) = phone(&server, 1).await;
    server.ask().await;
    server.pass(MOMENT).await;
    let first = browser.next().await;
    server.pass(Duration::from_secs(61)).await;
    let reminder = browser.next().await;
    assert_eq!((&first.message["reminder"], &reminder.message["reminder"]), (&0.into(), &1.into()));
    assert_eq!(first.message["tag"], reminder.message["tag"], "it replaces the first");
    let (status, _) = server.call_as(&token, "POST", "/v1/inbox/act", Some(act(&first, "allow"))).await;
    assert_eq!(status, 410);
    let (status, result) =
        server.call_as(&token, "POST", "/v1/inbox/act", Some(act(&reminder, "deny"))).await;
    assert_eq!((status, &result["outcome"]), (200, &"denied".into()), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_lose_something_has_no_buttons_and_a_device_that_may_not_decide_neither() {
    let server = TestServer::pushing(ASKS_HIGH).await;
    show_details(&server).await;
    let (mut browser, _) = phone(&server, 1).await;
    let item = server.ask().await;
    assert_eq!(item["risk"], "HIGH");
    server.pass(MOMENT).await;
    assert_eq!(browser.next().await.message.get("actions"), None);

    let server = TestServer::pushing(ASKS).await;
    let mut reader = Browser::start(3).await;
    let (_, token) = server.add_device("tv", &["read"]).await;
    server.subscribe_browser(&token, &reader).await;
    server.ask().await;
    server.pass(MOMENT).await;
    assert_eq!(reader.next().await.message.get("actions"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn subscriptions_end_with_their_device_and_when_the_service_says_so() {
    let server = TestServer::pushing(ASKS).await;
    let browser = Browser::start(1).await;
    let (device, token) = server.add_device("phone", &["read", "decide"]).await;
    server.subscribe_browser(&token, &browser).await;
    assert!(server.call("DELETE", &format!("/v1/devices/{device}"), None).await.0 < 300);
    let targets = async || server.call("GET", "/v1/notify/targets", None).await.1["items"].clone();
    until(targets, |targets| *targets == json!([])).await;

    let (_, token) = server.add_device("tablet", &["read", "decide"]).await;
    server.subscribe_browser(&token, &browser).await;
    let test = async || server.call_as(&token, "POST", "/v1/push/test", None).await.1;
    assert_eq!(test().await, json!({"sent": true}));
    for (status, kind) in
        [(503, "unavailable"), (429, "rate_limited"), (413, "refused"), (302, "refused"), (410, "gone")]
    {
        browser.answer_with(status);
        assert_eq!(test().await["kind"], kind, "{status}");
    }
    assert_eq!(test().await["kind"], "no_subscription", "410 has removed it");
    let (_, state) = server.call_as(&token, "GET", "/v1/push", None).await;
    assert_eq!((&state["subscribed"], &state["available"]), (&false.into(), &true.into()));
    assert_eq!(
        server.call("GET", "/v1/push", None).await.1["available"],
        false,
        "the admin token is no device"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn subscriptions_that_lead_elsewhere_or_have_wrong_keys_are_refused() {
    let server = TestServer::pushing(ASKS).await;
    let browser = Browser::start(1).await;
    let (_, token) = server.add_device("phone", &["read", "decide"]).await;
    let mut wrong = Vec::new();
    for endpoint in
        ["http://push.example/a", "https://10.0.0.1/a", "https://169.254.169.254/a", "ftp://x/a", "x"]
    {
        let mut subscription = browser.subscription();
        subscription["endpoint"] = endpoint.into();
        wrong.push(subscription);
    }
    for (name, value) in [("p256dh", "AAAA"), ("auth", "AAAA"), ("p256dh", "%%%")] {
        let mut subscription = browser.subscription();
        subscription["keys"][name] = value.into();
        wrong.push(subscription);
    }
    for subscription in wrong {
        let (status, problem) = server.call_as(&token, "PUT", "/v1/push", Some(subscription.clone())).await;
        assert_eq!((status, &problem["code"]), (400, &"invalid".into()), "{subscription}");
    }
    let (status, _) = server.call("PUT", "/v1/push", Some(browser.subscription())).await;
    assert_eq!(status, 403, "the admin token is no device");
}
