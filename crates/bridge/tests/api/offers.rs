//! Capabilities of a server: the version of Claude Code, the models, and dry runs of a rewind.

use serde_json::{Value, json};
use tidings_sessions::Real;

use crate::api::live::{events_until, live_server};
use crate::api::server::{Events, TestServer, until};

const TWO: &str = "[[turn]]\ntext = \"One.\"\n[[turn]]\ntext = \"Two.\"\n";

/// A server with this `claude`; with `demo`, beside demo sessions.
async fn server_with(claude: &str, demo: bool) -> TestServer {
    let builder = TestServer::builder().api().session("/").config(|config| {
        config.demo = demo;
        if demo {
            config.beside_demo = Some(Real { claude: claude.into(), config_dir: "/nowhere".into() });
        } else {
            config.claude = Some(claude.into());
        }
    });
    builder.start().await
}

async fn meta(server: &TestServer) -> Value {
    server.get("read", "/v1/meta").await.1
}

#[tokio::test]
async fn meta_says_whether_there_is_a_claude_and_which() {
    let folder = tempfile::tempdir().unwrap();
    let claude = folder.path().join("claude");
    let absent = server_with(claude.to_str().unwrap(), false).await;
    assert_eq!(meta(&absent).await["claude"], Value::Null);

    std::fs::write(&claude, "#!/bin/sh\necho '2.1.325 (Claude Code)'\n").unwrap();
    std::fs::set_permissions(&claude, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for demo in [false, true] {
        let server = server_with(claude.to_str().unwrap(), demo).await;
        // `claude` is present at once, and its version is known a moment later.
        let look = async || {
            let told = meta(&server).await["claude"].clone();
            assert!(told.is_object(), "{told}");
            told
        };
        let told = until(look, |told| told["version"].is_string()).await;
        assert_eq!(told["version"], "2.1.325");
        assert!(told["tested"].is_string() && told["compared"].is_array(), "{told}");
    }
}

#[tokio::test]
async fn a_real_session_beside_a_demo_needs_a_claude() {
    let server = server_with("/no/such/claude", true).await;
    let post = |body: Value| {
        let request =
            reqwest::Client::new().post(server.url("/v1/sessions")).bearer_auth("admin").json(&body);
        server.send(request)
    };
    let (status, problem) = post(json!({"cwd": "/", "demo": false})).await;
    assert_eq!(status, 409, "{problem}");
    assert!(problem["hint"].as_str().unwrap().contains("install"), "{problem}");
    let (status, view) = post(json!({"cwd": "/"})).await;
    assert_eq!((status, &view["demo"]), (201, &json!(true)), "{view}");

    let plain = server_with("/no/such/claude", false).await;
    let request = reqwest::Client::new().post(plain.url("/v1/sessions")).bearer_auth("admin");
    let (status, problem) = plain.send(request.json(&json!({"cwd": "/", "demo": true}))).await;
    assert_eq!(status, 400, "{problem}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn models_are_those_that_the_agent_lists() {
    let live = live_server(TWO).await;
    assert_eq!(live.get("read", "/v1/models").await.1, json!({"items": []}));
    complete_prompt(&live, &live.create_session().await).await;
    let (_, listed) = live.get("read", "/v1/models").await;
    let items = listed["items"].as_array().unwrap();
    assert!(items.iter().any(|model| model["value"] == "opus"), "{listed}");
    assert!(items.iter().all(|model| !model["name"].as_str().unwrap().is_empty()), "{listed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dry_run_of_a_rewind_answers_and_changes_nothing() {
    let live = live_server(TWO).await;
    let key = live.create_session().await;
    let prompt = complete_prompt(&live, &key).await;
    let head = live.get("read", &format!("/v1/sessions/{key}")).await.1["head"].clone();
    let rewind = format!("/v1/sessions/{key}/rewind");
    let (status, told) = live.post(&rewind, &json!({"prompt": prompt, "dry_run": true}), None).await;
    assert_eq!((status, &told["rewind"]["files"]), (200, &json!([])), "{told}");
    assert_eq!((&told["rewind"]["insertions"], &told["seq"]), (&json!(0), &head), "{told}");
    let (status, told) = live.post(&rewind, &json!({"prompt": prompt}), None).await;
    assert_eq!(status, 200, "{told}");
    assert!(told["seq"].as_u64() > head.as_u64(), "there is an event for others: {told}");
}

/// A retry would not help, so the error is not retryable.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_makes_no_sense_is_refused_with_what_to_do() {
    let live = live_server(TWO).await;
    let key = live.create_session().await;
    complete_prompt(&live, &key).await;
    for (command, body, code, status) in [
        ("rewind", json!({"prompt": "x"}), "conflict", 409),
        ("rewind", json!({"prompt": "x", "dry_run": true}), "conflict", 409),
        ("model", json!({"model": ""}), "invalid", 400),
        ("model", json!({"model": " "}), "invalid", 400),
        ("model", json!({"modell": "opus"}), "invalid", 400),
    ] {
        let (got, problem) = live.post(&format!("/v1/sessions/{key}/{command}"), &body, None).await;
        assert_eq!((got, &problem["code"]), (status, &json!(code)), "{problem}");
        assert_eq!((&problem["retryable"], problem["hint"] == ""), (&json!(false), false), "{problem}");
    }
}

/// Sends a prompt, waits for the answer, and returns the id of the prompt.
async fn complete_prompt(live: &TestServer, key: &str) -> String {
    let url = live.url(&format!("/v1/sessions/{key}/events"));
    let mut events = Events::open(reqwest::Client::new().get(url).bearer_auth("read")).await;
    live.post(&format!("/v1/sessions/{key}/input"), &json!({"content": "Hello"}), None).await;
    let seen = events_until(&mut events, "Complete").await;
    let uuid = seen.iter().find_map(|(_, event)| event["UserPrompt"]["uuid"].as_str());
    uuid.unwrap().to_owned()
}
