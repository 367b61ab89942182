//! Posts each permission request to the webhook of a chat, and takes the answers of the people there.
//!
//! A message has a link for each answer, with a word in it that only those who see the message know.

#![expect(clippy::print_stdout, reason = "an example prints")]

mod common;

use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::post;
use serde_json::{Value, json};
use tidings_remote::api::PendingPermission;
use tidings_remote::{Answered, RemoteServer, RequestUpdate, SessionRequest, client_id};
use tokio::net::TcpListener;
use tokio::sync::Mutex;

/// The requests that wait, by the secret word of their links.
type Waiting = Arc<Mutex<HashMap<String, PendingPermission>>>;

struct Relay {
    http: reqwest::Client,
    webhook: String,
    /// Beginning of the links.
    address: String,
    waiting: Waiting,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = common::server()?;
    let webhook = env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:8080/".to_owned());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let (address, waiting) = (format!("http://{}", listener.local_addr()?), Waiting::default());
    let state = (server.clone(), Arc::clone(&waiting));
    let answers = Router::new().route("/{secret}/{answer}", post(take)).with_state(state);
    drop(tokio::spawn(axum::serve(listener, answers).into_future()));
    println!("answers are taken at {address}");
    let relay = Relay { http: reqwest::Client::new(), webhook, address, waiting };
    let mut requests = server.requests();
    loop {
        match requests.next().await? {
            RequestUpdate::Opened(SessionRequest::Permission(request)) => relay.ask(*request).await,
            RequestUpdate::Settled { tool_use_id, outcome, .. } => relay.settle(&tool_use_id, outcome).await,
            RequestUpdate::Lost(error) => println!("disconnected: {error}"),
            _ => {}
        }
    }
}

impl Relay {
    async fn ask(&self, request: PendingPermission) {
        let (details, secret) = (&request.details, client_id());
        let text = format!("May {} run? {}", details.tool_name, details.input);
        let link = |answer: &str| format!("{}/{secret}/{answer}", self.address);
        let message = json!({"text": text, "allow": link("allow"), "deny": link("deny")});
        self.waiting.lock().await.insert(secret, request);
        self.post(&message).await;
    }

    /// Reports an answer, which may come from another client.
    async fn settle(&self, tool_use_id: &str, outcome: Option<String>) {
        self.waiting.lock().await.retain(|_, request| request.tool_use_id != tool_use_id);
        let outcome = outcome.unwrap_or_else(|| "answered elsewhere".to_owned());
        self.post(&json!({"text": format!("The request was {outcome}")})).await;
    }

    async fn post(&self, message: &Value) {
        let posted = self.http.post(&self.webhook).json(message).send().await;
        if let Err(error) = posted.and_then(reqwest::Response::error_for_status) {
            println!("the chat did not take a message: {}", error.without_url());
        }
    }
}

/// Takes an answer from the chat.
async fn take(
    State((server, waiting)): State<(RemoteServer, Waiting)>,
    Path((secret, answer)): Path<(String, String)>,
) -> String {
    let request = waiting.lock().await.get(&secret).cloned();
    let Some(request) = request else { return "This request does not wait any more".to_owned() };
    let answered = match answer.as_str() {
        "allow" => server.approve(&request).await,
        "deny" => server.deny(&request, Some("Denied in the chat")).await,
        _ => return "An answer is `allow` or `deny`".to_owned(),
    };
    match answered {
        Ok(Answered::First(result)) => format!("The request is {}", result.outcome),
        Ok(Answered::Before(result)) => format!("The request was {} before", result.outcome),
        Err(error) => error.to_string(),
    }
}
