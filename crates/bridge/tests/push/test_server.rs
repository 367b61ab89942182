//! A server whose sessions ask for permission, with a clock that the test sets, and what its inbox shows.

use std::time::Duration;

use serde_json::{Value, json};
use tidings_api::NotifySettings;
use tidings_bridge::notify::{Notifier, PushKeys, Target};

pub(crate) use crate::test_server::*;

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

/// A server whose messages wait three seconds for a client that shows the request.
pub(crate) fn push_server(script: &str, targets: Vec<Target>) -> Builder {
    let builder = TestServer::builder().script(script).clock(&TestClock::at("2026-03-02T12:00:00Z"));
    let data = builder.data();
    builder.serve_with(move |server, url| {
        let soon = NotifySettings { first_after_s: 3, ..NotifySettings::default() };
        let notifier = Notifier::new(targets.clone(), Some(url.to_owned())).unwrap().settings(soon).unwrap();
        server.notifier(notifier.web_push_on_loopback(PushKeys::open(&data).unwrap()).unwrap())
    })
}

impl TestServer {
    /// A server that sends to browsers only.
    pub(crate) async fn pushing(script: &str) -> TestServer {
        push_server(script, Vec::new()).start().await
    }

    /// Lets time pass.
    pub(crate) async fn pass(&self, time: Duration) {
        self.clock().advance(time);
        self.call("POST", "/v1/inbox/read", Some(json!({}))).await;
    }

    /// A device with these scopes. Returns its id and its token.
    pub(crate) async fn add_device(&self, name: &str, scopes: &[&str]) -> (String, String) {
        let wanted = json!({"name": name, "scopes": scopes});
        let (status, made) = self.call("POST", "/v1/devices", Some(wanted)).await;
        assert_eq!(status, 201, "{made}");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&made["device"]["id"]), text(&made["token"]))
    }

    /// Subscribes the browser of a device.
    pub(crate) async fn subscribe_browser(&self, token: &str, browser: &super::browser::Browser) {
        let (status, state) = self.call_as(token, "PUT", "/v1/push", Some(browser.subscription())).await;
        assert_eq!((status, &state["subscribed"]), (200, &true.into()), "{state}");
    }

    /// Starts a session, and waits until its request is in the inbox. Returns the item.
    pub(crate) async fn ask(&self) -> Value {
        let new = json!({"cwd": self.inside("shop"), "prompt": "Make it"});
        let (status, session) = self.call("POST", "/v1/sessions", Some(new)).await;
        assert!(status < 300, "{session}");
        let key = session["key"].as_str().or(session["session"]["key"].as_str()).unwrap();
        self.item(&format!("session={key}&state=waiting")).await
    }

    /// The newest item of a list, once there is one.
    pub(crate) async fn item(&self, query: &str) -> Value {
        self.until_inbox(query, |page| page["items"].get(0).is_some()).await["items"][0].take()
    }

    /// Waits until the inbox has the state.
    pub(crate) async fn until_inbox(&self, query: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let path = format!("/v1/inbox?{query}");
        until(async || self.call("GET", &path, None).await.1, wanted).await
    }

    pub(crate) async fn answer(&self, item: &Value, decision: &str) -> (u16, Value) {
        let text = |name: &str| item[name].as_str().unwrap();
        let route = format!("/v1/sessions/{}/permissions/{}", text("session"), text("tool_use_id"));
        let answer = json!({"decision": decision, "digest": item["digest"]});
        self.call("POST", &route, Some(answer)).await
    }
}
