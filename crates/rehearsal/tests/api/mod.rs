//! Tests of the API stand-in over HTTP, with a third-party client.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod failures;
mod requests;
mod safeguards;
mod streaming;

use std::sync::{Arc, Mutex};

use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use tidings_rehearsal::api::{Bodies, Server, Settings};
use tidings_rehearsal::script::Script;

struct Stand {
    server: Server,
    client: Client,
    log: Arc<Mutex<Vec<String>>>,
}

impl Stand {
    async fn new(script: &str) -> Self {
        // Another crate in the build may leave the choice of a TLS provider to the program.
        drop(rustls::crypto::ring::default_provider().install_default());
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&log);
        let mut settings = Settings::new("127.0.0.1:0".parse().unwrap());
        settings.bodies = Bodies::Kept;
        let script = Script::parse(script).unwrap();
        let server = Server::start(&script, settings, move |entry| {
            lines.lock().unwrap().push(serde_json::to_string(entry).unwrap());
        });
        Stand { server: server.await.unwrap(), client: Client::new(), log }
    }

    async fn call(&self, method: Method, path: &str, body: &Value) -> reqwest::Result<Response> {
        let url = format!("{}{path}", self.server.url());
        self.client.request(method, url).header("anthropic-beta", "one,two").json(body).send().await
    }

    async fn post(&self, body: &Value) -> Response {
        self.call(Method::POST, "/v1/messages?beta=true", body).await.unwrap()
    }

    /// The `data` of all events of a streamed answer.
    async fn events(&self, body: &Value) -> Vec<Value> {
        let text = self.post(body).await.text().await.unwrap();
        let events = text.split_terminator("\n\n").map(|event| {
            let (name, data) = event.split_once('\n').unwrap();
            let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!(name.strip_prefix("event: "), data["type"].as_str());
            data
        });
        events.collect()
    }

    fn log(&self) -> Vec<Value> {
        self.log.lock().unwrap().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn ask(text: &str) -> Value {
    json!({
        "model": "claude-x", "max_tokens": 1000, "stream": true,
        "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}],
    })
}
