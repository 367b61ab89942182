//! Sessions with a running agent, over the API.

use futures_util::SinkExt as _;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::api::server::{Events, TestServer, receive, send_request};

const ASKS: &str = r#"
    [[turn]]
    [[turn.block]]
    tool = "Bash"
    input = { command = "ls" }
    ask = true
    result = "README.md"
    [[turn]]
    text = "There is a README."
    [[turn]]
    text = "That was all."
"#;

/// The API of a server whose agents play a script.
pub(crate) async fn live_server(script: &str) -> TestServer {
    TestServer::builder().script(script).api().session("/").start().await
}

impl TestServer {
    pub(crate) async fn post(&self, path: &str, body: &Value, key: Option<&str>) -> (u16, Value) {
        let mut request = self.http.post(self.url(path)).bearer_auth("admin").json(body);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        self.send(request).await
    }

    pub(crate) async fn create_session(&self) -> String {
        let (status, view) = self.post("/v1/sessions", &json!({"cwd":self.cwd()}), None).await;
        assert_eq!(status, 201, "{view}");
        view["key"].as_str().unwrap().to_owned()
    }
}

/// The events of a session up to the first with this name.
pub(crate) async fn events_until(events: &mut Events, name: &str) -> Vec<(String, Value)> {
    let mut seen = Vec::new();
    while seen.last().is_none_or(|(last, _): &(String, Value)| last != name) {
        let block = events.next().await.unwrap();
        if block.name().is_empty() {
            continue;
        }
        seen.push((block.name().to_owned(), block.json()));
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f95_a_command_that_is_sent_again_has_one_effect_and_one_answer() {
    let live = live_server(ASKS).await;
    let cwd = live.cwd();
    let new = json!({"cwd":cwd,"title":"one"});
    let (status, first) = live.post("/v1/sessions", &new, Some("make-1")).await;
    assert_eq!(status, 201, "{first}");
    let (status, again) = live.post("/v1/sessions", &new, Some("make-1")).await;
    assert_eq!((status, &again["key"]), (201, &first["key"]));
    let input = format!("/v1/sessions/{}/input", first["handle"]);
    let said = json!({"content":"look around"});
    let (status, first) = live.post(&input, &said, Some("say-1")).await;
    assert_eq!((status, first["turn_id"]["role"].as_str()), (202, Some("User")), "{first}");
    let (status, again) = live.post(&input, &said, Some("say-1")).await;
    assert_eq!((status, &again), (202, &first));
}

/// A client could not see from `parked` that the agent works.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_made_with_a_prompt_is_being_started() {
    let live = live_server(ASKS).await;
    let cwd = live.cwd();
    let (_, view) = live.post("/v1/sessions", &json!({"cwd":cwd,"prompt":"look"}), None).await;
    let state = view["state"].as_str().unwrap();
    assert!(["starting", "running", "needs_you"].contains(&state), "{view}");
    let (_, view) = live.post("/v1/sessions", &json!({"cwd":cwd}), None).await;
    assert_eq!(view["state"], "parked", "there is nothing to do");
}

/// A misspelt key is an error.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_makes_no_sense_is_refused_and_nothing_happens() {
    let live = live_server(ASKS).await;
    let key = live.create_session().await;
    let cwd = live.cwd();
    for wrong in [
        json!({"cwd":cwd,"promt":"x"}),
        json!({"cwd":cwd,"budget_usd":-1}),
        json!({"cwd":cwd,"max_turns":0}),
        json!({"cwd":cwd,"max_seconds":0}),
    ] {
        let (status, problem) = live.post("/v1/sessions", &wrong, None).await;
        assert_eq!((status, &problem["code"]), (400, &json!("invalid")), "{wrong}: {problem}");
        assert_ne!(problem["hint"], "");
    }
    for (wrong, hint) in [
        (json!({"budget_usd":10}), "send it inside of `budget`"),
        (json!({"budget":{"budget_usd":-0.5}}), "leave it out for no limit; `stop` ends the agent"),
    ] {
        let url = live.url(&format!("/v1/sessions/{key}"));
        let patch = reqwest::Client::new().patch(url).bearer_auth("admin").json(&wrong);
        let (status, problem) = live.send(patch).await;
        assert_eq!((status, &problem["hint"]), (400, &json!(hint)), "{wrong}: {problem}");
    }
    let (_, listed) = live.get("read", "/v1/sessions").await;
    assert!(listed["items"].as_array().unwrap().iter().all(|view| view["budget"] == json!({})), "{listed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s2_27_the_first_answer_counts_and_the_next_one_is_told_who_was_faster() {
    let live = live_server(ASKS).await;
    let key = live.create_session().await;
    let url = live.url(&format!("/v1/sessions/{key}/events"));
    let mut events = Events::open(reqwest::Client::new().get(url).bearer_auth("read")).await;
    let mut notices =
        Events::open(reqwest::Client::new().get(live.url("/v1/events")).bearer_auth("read")).await;
    let mut socket = live.socket(Some("admin")).await;
    let subscribe = json!({"id":1,"type":"subscribe","session":key});
    assert_eq!(send_request(&mut socket, &subscribe.to_string()).await["session"], json!(key));
    let input = json!({"id":2,"type":"input","session":key,"input":{"content":"look around"}});
    let ack = send_request(&mut socket, &input.to_string()).await;
    assert_eq!((&ack["type"], &ack["turn_id"]["sequence"]), (&json!("ack"), &json!(1)), "{ack}");

    let asked = events_until(&mut events, "PermissionRequired").await;
    let id = asked.last().unwrap().1["PermissionRequired"]["tool_use_id"].as_str().unwrap().to_owned();
    let waits = events_until(&mut notices, "permission").await;
    assert_eq!(waits.last().unwrap().1["permission"]["tool_use_id"], json!(id));
    let (_, listed) = live.get("read", "/v1/permissions").await;
    assert_eq!(listed["items"][0]["tool_use_id"], json!(id));

    let answer = json!({"id":3,"type":"answer","session":key,"to":id,"permission":{"decision":"allow"}});
    let won = send_request(&mut socket, &answer.to_string()).await;
    assert_eq!((&won["type"], &won["answer"]["outcome"]), (&json!("ack"), &json!("allowed")), "{won}");
    let path = format!("/v1/sessions/{key}/permissions/{id}");
    let (status, lost) = live.post(&path, &json!({"decision":"deny"}), None).await;
    assert_eq!((status, &lost["code"]), (409, &json!("already_answered")));
    assert_eq!(lost["winner"]["outcome"], "allowed");
    // The same answer over the socket is refused with the same error.
    let later = json!({"id":4,"type":"answer","session":key,"to":id,"permission":{"decision":"deny"}});
    let lost = send_request(&mut socket, &later.to_string()).await;
    assert_eq!(lost["problem"]["winner"]["seq"], won["seq"]);

    let rest = events_until(&mut events, "Complete").await;
    let said: String = rest.iter().filter_map(|(_, event)| event["TextChunk"]["text"].as_str()).collect();
    assert_eq!(said, "There is a README.");
    let (_, log) = live.get("admin", "/v1/audit").await;
    assert_eq!(log["decision"], "allowed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prompts_of_one_client_keep_their_order() {
    let script = "[[turn]]\ntext = \"ok\"\n".repeat(10);
    let live = live_server(&script).await;
    let key = live.create_session().await;
    let mut socket = live.socket(Some("admin")).await;
    for n in 1..=10 {
        let input = json!({"id":n,"type":"input","session":key,"input":{"content":format!("prompt {n}")}});
        socket.send(Message::text(input.to_string())).await.unwrap();
    }
    let mut turns = Vec::new();
    while turns.len() < 10 {
        let ack = receive(&mut socket).await.unwrap();
        turns.push((ack["id"].as_u64().unwrap(), ack["turn_id"]["sequence"].as_u64().unwrap()));
    }
    turns.sort_unstable();
    assert_eq!(turns, (1..=10).map(|n| (n, n)).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notices_go_only_to_callers_that_may_see_the_session() {
    let live = live_server(ASKS).await;
    let mut unlimited = live.socket(Some("read")).await;
    let mut elsewhere = live.socket(Some("read:/somewhere/else")).await;
    for socket in [&mut unlimited, &mut elsewhere] {
        assert_eq!(send_request(socket, r#"{"id":1,"type":"subscribe"}"#).await["type"], "ack");
    }
    let key = live.create_session().await;
    let message = receive(&mut unlimited).await.unwrap();
    assert_eq!(message["type"], "notice");
    assert_eq!(message["notice"]["session"]["key"], json!(key), "{message}");
    let next = send_request(&mut elsewhere, r#"{"id":2,"type":"ping"}"#).await;
    assert_eq!(next["id"], 2, "nothing came before it: {next}");
}
