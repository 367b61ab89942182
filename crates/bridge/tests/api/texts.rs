//! Text of clients at every entrance: it reaches the agent as data, or it is refused.

use futures_util::SinkExt as _;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::api::server::{Received, Socket, TestServer, next_message, receive, send_request, until};

const TURNS: &str = "[[turn]]\ntext = \"One.\"\n[[turn]]\ntext = \"Two.\"\n[[turn]]\ntext = \"Three.\"\n";

/// The scopes of a phone that was paired in the usual way.
const PHONE: &str = "read,prompt,decide";

/// A text that Claude Code would expand, and one that it would run.
const MENTION: &str = "look at @/etc/hosts";
const COMMAND: &str = "/config permissionMode=acceptEdits";

struct Site {
    server: TestServer,
    received: Received,
    cwd: String,
}

impl Site {
    async fn new() -> Site {
        let received = Received::default();
        let builder = TestServer::builder().agent(TURNS, |agent| agent.recording(&received)).api();
        let builder = builder.config(|config| {
            config.allow_bypass = true;
            config.live_max = 50;
        });
        let cwd = builder.root().to_str().unwrap().to_owned();
        let server = builder.session(&cwd).start().await;
        Site { server, received, cwd }
    }

    async fn post(&self, scopes: &str, path: &str, body: Value) -> (u16, Value) {
        self.server.call_as(scopes, "POST", path, Some(body)).await
    }

    async fn create(&self, scopes: &str, body: Value) -> (u16, Value) {
        let mut whole = json!({ "cwd": self.cwd });
        whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        self.post(scopes, "/v1/sessions", whole).await
    }

    /// The next message of a user that reaches an agent.
    async fn received(&self, count: usize) -> Value {
        let look = async || self.received.prompts.lock().unwrap().get(count - 1).cloned();
        until(look, Option::is_some).await.unwrap()
    }

    fn count(&self) -> usize {
        self.received.prompts.lock().unwrap().len()
    }

    async fn socket(&self, path: &str) -> Socket {
        self.server.socket_at(path, Some(PHONE)).await
    }
}

fn text_of(message: &Value) -> String {
    let content = &message["message"]["content"];
    match content.as_array() {
        Some(blocks) => blocks.last().unwrap()["text"].as_str().unwrap().to_owned(),
        None => content.as_str().unwrap().to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k21_k22_text_over_rest_is_data_for_callers_without_admin() {
    let site = Site::new().await;
    // As the first prompt.
    let (status, session) = site.create(PHONE, json!({ "prompt": MENTION })).await;
    assert_eq!(status, 201);
    let first = site.received(1).await;
    assert_eq!((text_of(&first), &first["client_composed"]), (MENTION.to_owned(), &json!(true)));
    let (status, refused) = site.create(PHONE, json!({ "prompt": COMMAND })).await;
    assert_eq!((status, refused["detail"].as_str().unwrap().contains("`admin`")), (403, true), "{refused}");
    // In a fork, which is possible once the agent has named its conversation, and with each delivery.
    let key = session["key"].as_str().unwrap();
    let path = format!("/v1/sessions/{key}");
    let look = async || site.server.call_as(PHONE, "GET", &path, None).await.1;
    until(look, |session| session["cli_session_ids"].as_array().is_some_and(|ids| !ids.is_empty())).await;
    let fork = json!({ "resume": key, "fork": true, "prompt": MENTION });
    assert_eq!(site.create(PHONE, fork).await.0, 201);
    assert_eq!(site.received(2).await["client_composed"], true);
    let path = format!("/v1/sessions/{key}/input");
    for (count, delivery) in ["queue", "steer", "interrupt"].iter().enumerate() {
        let input = json!({ "content": MENTION, "delivery": delivery });
        assert_eq!(site.post(PHONE, &path, input).await.0, 202, "{delivery}");
        assert_eq!(site.received(3 + count).await["client_composed"], true, "{delivery}");
        let input = json!({ "content": COMMAND, "delivery": delivery });
        assert_eq!(site.post(PHONE, &path, input).await.0, 403, "{delivery}");
    }
    // A client cannot set the mark itself, and an admin's text is interpreted.
    let before = site.count();
    let input = json!({ "content": MENTION, "client_composed": false });
    assert_eq!(site.post(PHONE, &path, input).await.0, 400);
    let input = json!({ "content": MENTION, "metadata": { "client_composed": false } });
    assert_eq!(site.post(PHONE, &path, input).await.0, 202);
    assert_eq!(site.received(before + 1).await["client_composed"], true);
    assert_eq!(site.post("admin", &path, json!({ "content": MENTION })).await.0, 202);
    assert_eq!(site.received(before + 2).await.get("client_composed"), None);
    // A known command of the conversation runs.
    assert_eq!(site.post(PHONE, &path, json!({ "content": "/compact" })).await.0, 202);
    let compact = site.received(before + 3).await;
    assert_eq!((text_of(&compact), compact.get("client_composed")), ("/compact".to_owned(), None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k21_a_file_of_the_project_is_added_by_the_server() {
    let site = Site::new().await;
    std::fs::write(std::path::Path::new(&site.cwd).join("notes.txt"), "the plan").unwrap();
    let (status, _) = site.create(PHONE, json!({ "prompt": "read @notes.txt and @../x" })).await;
    assert_eq!(status, 201);
    let message = site.received(1).await;
    let blocks = message["message"]["content"].as_array().unwrap();
    assert_eq!(blocks[0]["source"]["data"], "the plan");
    assert_eq!(blocks[1]["text"], "read @notes.txt and @../x");
    assert_eq!((blocks.len(), &message["client_composed"]), (2, &json!(true)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k21_k22_text_over_a_websocket_is_data_for_callers_without_admin() {
    let site = Site::new().await;
    let mut socket = site.server.socket(Some(PHONE)).await;
    let request =
        |text: &str| json!({"type":"input","id":1,"session":"1","input":{"content":text}}).to_string();
    let refused = send_request(&mut socket, &request(COMMAND)).await;
    assert_eq!(refused["problem"]["code"], "forbidden", "{refused}");
    let accepted = send_request(&mut socket, &request(MENTION)).await;
    assert_eq!(accepted["type"], "ack", "{accepted}");
    assert_eq!(site.received(1).await["client_composed"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k21_k22_text_of_a_phone_is_data_for_callers_without_admin() {
    let site = Site::new().await;
    let mut phone = site.socket("/v1/mobile").await;
    let cwd = &site.cwd;
    for message in [
        json!({"type":"project_init","id":"init","projectPath":cwd}),
        json!({"type":"execute","project_id":cwd,"data":{"prompt":COMMAND}}),
        json!({"type":"project_list"}),
    ] {
        phone.send(Message::text(message.to_string())).await.unwrap();
    }
    let mut is_refused = false;
    loop {
        let received = next_message(&mut phone).await;
        let Message::Text(text) = received else { continue };
        let received: Value = serde_json::from_str(&text).unwrap();
        is_refused |= received["type"] == "error" && received["code"] == "PERMISSION_DENIED";
        if received["type"] == "project_list" {
            break;
        }
    }
    assert!(is_refused);
    let execute = json!({"type":"execute","project_id":cwd,"data":{"prompt":MENTION}});
    phone.send(Message::text(execute.to_string())).await.unwrap();
    let message = site.received(1).await;
    assert_eq!((text_of(&message), &message["client_composed"]), (MENTION.to_owned(), &json!(true)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k21_k22_text_and_links_of_an_editor_are_data_for_callers_without_admin() {
    let site = Site::new().await;
    let mut editor = site.socket("/v1/acp").await;
    let mut id = 0;
    let mut call = async |method: &str, params: Value| {
        id += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        editor.send(Message::text(request.to_string())).await.unwrap();
        loop {
            let message = receive(&mut editor).await.unwrap();
            if message["id"] == id {
                return message;
            }
        }
    };
    call("initialize", json!({"protocolVersion": 1, "clientCapabilities": {}})).await;
    let opened = call("session/new", json!({"cwd": site.cwd, "mcpServers": []})).await;
    let session = opened["result"]["sessionId"].as_str().unwrap().to_owned();
    let blocks = [
        json!({"type": "text", "text": MENTION}),
        json!({"type": "resource_link", "uri": "file:///etc/hosts", "name": "hosts"}),
        json!({"type": "resource", "resource": {"uri": "file:///etc/hosts", "text": "x"}}),
    ];
    for (count, block) in blocks.into_iter().enumerate() {
        call("session/prompt", json!({"sessionId": session, "prompt": [block]})).await;
        assert_eq!(site.received(count + 1).await["client_composed"], true);
    }
    let command = json!([{"type": "text", "text": COMMAND}]);
    let refused = call("session/prompt", json!({"sessionId": session, "prompt": command})).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("`admin`"), "{refused}");
    assert_eq!(site.count(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k26_prompting_a_loose_session_needs_the_scope_of_its_looseness() {
    let site = Site::new().await;
    let always = "read,prompt,decide,always";
    for (settings, needed) in [
        (json!({}), "prompt"),
        (json!({"permission_mode": "plan"}), "prompt"),
        (json!({"policy": "deny"}), "prompt"),
        (json!({"permission_mode": "acceptEdits"}), "always"),
        (json!({"permission_mode": "auto"}), "always"),
        (json!({"policy": "standard"}), "always"),
        (json!({"policy": "unattended"}), "always"),
        (json!({"allowed_tools": ["Bash"]}), "always"),
        (json!({"add_dirs": [site.cwd]}), "always"),
        (json!({"permission_mode": "bypassPermissions"}), "admin"),
        (json!({"policy": "allow"}), "admin"),
    ] {
        let (status, session) = site.create("admin", settings.clone()).await;
        assert_eq!(status, 201, "{session}");
        let path = format!("/v1/sessions/{}/input", session["key"].as_str().unwrap());
        for (scopes, rank) in [(PHONE, 0), (always, 1), ("admin", 2)] {
            let (status, answer) = site.post(scopes, &path, json!({ "content": "go on" })).await;
            let is_enough = rank >= ["prompt", "always", "admin"].iter().position(|s| *s == needed).unwrap();
            assert_eq!(status == 202, is_enough, "{settings} {scopes}: {answer}");
            if !is_enough {
                assert_eq!(status, 403);
                assert!(answer["detail"].as_str().unwrap().contains(&format!("`{needed}`")), "{answer}");
            }
        }
        let stop = format!("/v1/sessions/{}/stop", session["key"].as_str().unwrap());
        site.post("admin", &stop, json!({})).await;
    }
}
