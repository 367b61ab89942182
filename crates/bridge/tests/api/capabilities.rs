//! Every field of every request, with every scope, at every endpoint: values that let something run unasked
//! need more than the scope `prompt`.

use std::collections::BTreeSet;

use futures_util::SinkExt as _;
use reqwest::Method;
use serde_json::{Value, json};
use tidings_api::Scope;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::api::server::{TestServer, next_message, send_request};

const HELLO: &str = "[[turn]]\ntext = \"Hello to you.\"\n";

/// A value of a field, and the scope that it needs.
type Sample = (&'static str, Value, Scope);

/// The scopes that every caller here has, besides the one under test.
const ALWAYS_THERE: [Scope; 3] = [Scope::Read, Scope::Prompt, Scope::Decide];

fn token(scope: Scope) -> String {
    let scopes: Vec<&str> = ALWAYS_THERE.into_iter().chain([scope]).map(Scope::as_str).collect();
    scopes.join(",")
}

fn may(scope: Scope, needed: Scope) -> bool {
    scope == needed || scope == Scope::Admin || ALWAYS_THERE.contains(&needed)
}

/// The fields that the description of the API has for a request.
fn published(name: &str) -> BTreeSet<String> {
    let api: Value = serde_json::from_str(&tidings_bridge::api::openapi().unwrap()).unwrap();
    let fields = api["components"]["schemas"][name]["properties"].as_object().unwrap();
    fields.keys().cloned().collect()
}

/// Refuses a table that leaves a field out.
fn complete(request: &str, samples: &[Sample], others: &[&str]) {
    let tried: BTreeSet<String> =
        samples.iter().map(|(field, ..)| *field).chain(others.iter().copied()).map(str::to_owned).collect();
    assert_eq!(tried, published(request), "each field of `{request}` is tried");
}

async fn server() -> TestServer {
    let builder = TestServer::builder().script(HELLO).api().config(|config| {
        config.allow_bypass = true;
        config.live_max = 200;
    });
    let cwd = builder.root();
    builder.session(cwd.to_str().unwrap()).start().await
}

fn creating(cwd: &str) -> Vec<Sample> {
    use Scope::{Admin, Always, Prompt};
    vec![
        ("prompt", json!("hello"), Prompt),
        ("attachments", json!([]), Prompt),
        ("model", json!("sonnet"), Prompt),
        ("permission_mode", json!("default"), Prompt),
        ("permission_mode", json!("manual"), Prompt),
        ("permission_mode", json!("plan"), Prompt),
        ("permission_mode", json!("dontAsk"), Prompt),
        ("permission_mode", json!("acceptEdits"), Always),
        ("permission_mode", json!("auto"), Always),
        ("permission_mode", json!("bypassPermissions"), Admin),
        ("policy", json!("ask"), Prompt),
        ("policy", json!("deny"), Prompt),
        ("policy", json!("standard"), Always),
        ("policy", json!("unattended"), Always),
        ("policy", json!("allow"), Admin),
        ("resume", json!("5f8cd0dc-4d43-4d7e-95c4-6a3b4f1f2f10"), Prompt),
        ("fork", json!(false), Prompt),
        ("fork_at", json!(null), Prompt),
        ("title", json!("a"), Prompt),
        ("append_system_prompt", json!("be kind"), Prompt),
        ("allowed_tools", json!(["Bash"]), Always),
        ("mcp_config", json!({"mcpServers":{"x":{"command":"true"}}}), Admin),
        ("mcp_config", json!({}), Admin),
        ("add_dirs", json!([cwd]), Always),
        ("max_turns", json!(5), Prompt),
        ("budget_usd", json!(5), Prompt),
        ("max_seconds", json!(5), Prompt),
        ("continue_after_limit", json!(false), Prompt),
        ("continue_after_limit", json!(true), Always),
        ("labels", json!({"a":"b"}), Prompt),
        ("demo", json!(false), Prompt),
        ("backend", json!(null), Prompt),
        ("keep_frames", json!(true), Prompt),
        ("worktree", json!(""), Always),
    ]
}

fn patching() -> Vec<Sample> {
    use Scope::{Admin, Always, Prompt};
    vec![
        ("title", json!("b"), Prompt),
        ("labels", json!({}), Prompt),
        ("budget", json!({"max_turns":4}), Prompt),
        ("budget", json!({"max_turns":6}), Admin),
        ("budget", json!({}), Admin),
        ("policy", json!("ask"), Prompt),
        ("policy", json!("deny"), Prompt),
        ("policy", json!("standard"), Always),
        ("policy", json!("unattended"), Always),
        ("policy", json!("allow"), Admin),
        ("continue_after_limit", json!(false), Prompt),
        ("continue_after_limit", json!(true), Always),
    ]
}

/// The commands of a session with one field each.
fn commanding() -> Vec<Sample> {
    use Scope::{Admin, Always, Prompt};
    vec![
        ("mode", json!("default"), Prompt),
        ("mode", json!("plan"), Prompt),
        ("mode", json!("acceptEdits"), Always),
        ("mode", json!("auto"), Always),
        ("mode", json!("bypassPermissions"), Admin),
        ("model", json!("sonnet"), Prompt),
        ("option", json!("thought_level"), Prompt),
        ("value", json!("high"), Prompt),
        ("prompt", json!("5f8cd0dc-4d43-4d7e-95c4-6a3b4f1f2f10"), Prompt),
        ("dry_run", json!(true), Prompt),
        ("if_idle", json!(true), Prompt),
    ]
}

/// Answers to a permission that allow. Each is about a request that does not exist.
fn allowing() -> Vec<Sample> {
    use Scope::{Always, Decide, Edit};
    vec![
        ("scope", json!("once"), Decide),
        ("scope", json!("session"), Always),
        ("scope", json!("always"), Always),
        ("updated_input", json!({"command":"true"}), Edit),
        ("message", json!("fine"), Decide),
        ("interrupt", json!(true), Decide),
        ("digest", json!("x"), Decide),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k1_every_field_over_rest_needs_its_scope() {
    let server = server().await;
    let cwd = server.cwd();
    let http = reqwest::Client::new();
    complete("CreateSession", &creating(&cwd), &["cwd", "client_id"]);
    complete("PatchSession", &patching(), &["client_id"]);
    complete("CommandRequest", &commanding(), &["client_id"]);
    complete("PermissionAnswer", &allowing(), &["decision", "client_id"]);
    let new = json!({"cwd":cwd,"policy":"ask","max_turns":5});
    for scope in Scope::ALL {
        let send = |method: Method, path: String, body: Value| {
            let request = http.request(method, server.url(&path)).bearer_auth(token(scope)).json(&body);
            server.send(request)
        };
        let check = |what: String, needed: Scope, (status, body): (u16, Value)| {
            assert_eq!(status != 403, may(scope, needed), "{scope}: {what}: {body}");
            assert!(status != 403 || body["hint"] != "", "{body}");
        };
        for (field, value, needed) in creating(&cwd) {
            let body = json!({"cwd":cwd, field:value});
            let answer = send(Method::POST, "/v1/sessions".to_owned(), body.clone()).await;
            check(format!("create {body}"), needed, answer);
        }
        for (field, value, needed) in patching() {
            let made = http.post(server.url("/v1/sessions")).bearer_auth("admin").json(&new);
            let path = format!("/v1/sessions/{}", server.send(made).await.1["handle"]);
            let body = json!({field:value});
            check(format!("patch {body}"), needed, send(Method::PATCH, path, body.clone()).await);
        }
        for (field, value, needed) in commanding() {
            // Fields that a command does not use are checked as well.
            for command in ["mode", "model", "interrupt", "rewind"] {
                let body = json!({field:value});
                let path = format!("/v1/sessions/1/{command}");
                check(format!("{command} {body}"), needed, send(Method::POST, path, body.clone()).await);
            }
        }
        let taken = send(Method::POST, "/v1/sessions/1/take_over".to_owned(), json!({})).await;
        check("take_over".to_owned(), Scope::Always, taken);
        for (field, value, needed) in allowing() {
            let body = json!({"decision":"allow", field:value});
            let path = "/v1/sessions/1/permissions/none".to_owned();
            check(format!("answer {body}"), needed, send(Method::POST, path, body.clone()).await);
            let batch = json!({"answers":[{"tool_use_id":"none","decision":"allow", field:value}]});
            let path = "/v1/sessions/1/permission-batches/none".to_owned();
            check(format!("batch {batch}"), needed, send(Method::POST, path, batch.clone()).await);
            let refusal = json!({"decision":"deny", field:value});
            let path = "/v1/sessions/1/permissions/none".to_owned();
            check(
                format!("refuse {refusal}"),
                Scope::Decide,
                send(Method::POST, path, refusal.clone()).await,
            );
        }
        for (word, needed) in [("Approve and accept edits", Scope::Always), ("Keep planning", Scope::Decide)]
        {
            let body = json!({"answers":[{"question_id":"plan","answer":[word]}]});
            let path = "/v1/sessions/1/questions/none".to_owned();
            check(format!("plan {body}"), needed, send(Method::POST, path, body.clone()).await);
        }
    }
    // The scope of the endpoint itself is needed too: `always` alone chooses no policy.
    for body in [json!({"cwd":cwd,"policy":"standard"}), json!({"cwd":cwd})] {
        for scopes in ["read", "read,decide", "read,always", "read,edit"] {
            let request = http.post(server.url("/v1/sessions")).bearer_auth(scopes).json(&body);
            assert_eq!(server.send(request).await.0, 403, "{scopes} {body}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k1_every_field_over_a_websocket_needs_its_scope() {
    let server = server().await;
    for scope in Scope::ALL {
        let mut socket = server.socket(Some(&token(scope))).await;
        let check = |what: String, needed: Scope, received: Value| {
            let is_refused = received["problem"]["code"] == "forbidden";
            assert_eq!(!is_refused, may(scope, needed), "{scope}: {what}: {received}");
        };
        for (field, value, needed) in commanding() {
            for command in ["mode", "model", "interrupt", "rewind"] {
                let request =
                    json!({"type":"command","id":1,"session":"1","command":command,"with":{field:value}});
                check(request.to_string(), needed, send_request(&mut socket, &request.to_string()).await);
            }
        }
        for (field, value, needed) in allowing() {
            let answer = json!({"decision":"allow", field:value});
            let one = json!({"type":"answer","id":1,"session":"1","to":"none","permission":answer});
            check(one.to_string(), needed, send_request(&mut socket, &one.to_string()).await);
            let item = json!({"tool_use_id":"none","decision":"allow", field:value});
            let all = json!({"type":"answer","id":1,"session":"1","to":"x","batch":{"answers":[item]}});
            check(all.to_string(), needed, send_request(&mut socket, &all.to_string()).await);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k1_every_option_of_a_phone_needs_its_scope() {
    use Scope::{Admin, Always, Prompt};
    let server = server().await;
    let cwd = server.cwd();
    let options: [Sample; 10] = [
        ("model", json!("sonnet"), Prompt),
        ("permission_mode", json!("plan"), Prompt),
        ("permission_mode", json!("acceptEdits"), Always),
        ("permission_mode", json!("bypassPermissions"), Admin),
        ("dangerously_skip_permissions", json!(true), Admin),
        ("dangerously_skip_permissions", json!(false), Prompt),
        ("allowed_tools", json!(["Bash"]), Always),
        ("mcp_config", json!({"mcpServers":{"x":{"command":"true"}}}), Admin),
        ("append_system_prompt", json!("be kind"), Prompt),
        ("add_dirs", json!([cwd]), Always),
    ];
    for scope in Scope::ALL {
        let mut request = format!("ws://{}/v1/mobile", server.address).into_client_request().unwrap();
        let bearer = format!("Bearer {}", token(scope));
        request.headers_mut().insert("authorization", bearer.parse().unwrap());
        let (mut phone, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        let init = json!({"type":"project_init","id":"init","projectPath":cwd});
        phone.send(Message::text(init.to_string())).await.unwrap();
        for (option, value, needed) in &options {
            // A new session takes all options. The list comes after the answer to the prompt.
            for message in [
                json!({"type":"agent_new_session","project_id":cwd}),
                json!({"type":"execute","project_id":cwd,"data":{"prompt":"hi","options":{*option:value}}}),
                json!({"type":"project_list"}),
            ] {
                phone.send(Message::text(message.to_string())).await.unwrap();
            }
            let mut refused = false;
            loop {
                let received = next_message(&mut phone).await;
                let Message::Text(text) = received else { continue };
                let received: Value = serde_json::from_str(&text).unwrap();
                refused |= received["type"] == "error" && received["code"] == "PERMISSION_DENIED";
                if received["type"] == "project_list" {
                    break;
                }
            }
            assert_eq!(!refused, may(scope, *needed), "{scope}: {option} {value}");
        }
    }
}
