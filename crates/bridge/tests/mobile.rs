//! The phone protocol on a real WebSocket.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tidings_sessions::Carrier;
use tokio_tungstenite::tungstenite::Message;

use crate::test_server::*;

const ASKS: &str = r#"
    [[turn]]
    [[turn.block]]
    tool = "Bash"
    input = { command = "make test" }
    ask = true
    result = "all well"
    [[turn]]
    text = "All is well."
    [[turn]]
    text = "That was all."
"#;

/// The API of a server whose agents play a script, and work in its folder only.
async fn phone_server(script: &str) -> TestServer {
    phone_builder().script(script).start().await
}

fn phone_builder() -> Builder {
    let builder = TestServer::builder().api();
    let root = builder.root();
    builder.config(|config| config.roots = vec![root])
}

struct Phone {
    socket: Socket,
    received: Vec<Value>,
}

impl Phone {
    /// A phone that has sent a credential.
    async fn connect(server: &TestServer, token: &str) -> Phone {
        let mut phone = Phone::unauthenticated(server).await;
        phone.send(json!({"type":"auth","token":token})).await;
        phone.receive("auth_success").await;
        phone.receive("wrapper_handshake").await;
        phone
    }

    async fn unauthenticated(server: &TestServer) -> Phone {
        Phone { socket: server.socket_at("/v1/mobile", None).await, received: Vec::new() }
    }

    async fn send(&mut self, message: Value) {
        self.socket.send(Message::from(message.to_string())).await.unwrap();
    }

    /// The next message of a type; earlier messages are kept in `heard`.
    async fn receive(&mut self, kind: &str) -> Value {
        self.receive_matching(kind, |_| true).await
    }

    async fn receive_matching(&mut self, kind: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let next = async {
            loop {
                match self.socket.next().await.unwrap().unwrap() {
                    Message::Text(text) => {
                        let message: Value = serde_json::from_str(&text).unwrap();
                        self.received.push(message.clone());
                        if message["type"] == kind && fits(&message) {
                            return message;
                        }
                    }
                    Message::Close(frame) => panic!("closed: {frame:?}"),
                    _ => {}
                }
            }
        };
        let received = tokio::time::timeout(PATIENCE, next).await;
        received.unwrap_or_else(|_| panic!("no `{kind}` among {:#?}", self.received))
    }

    /// Opens a project and joins it.
    async fn init(&mut self, path: &str) {
        self.send(json!({"type":"project_init","id":"init","projectPath":path})).await;
        assert_eq!(self.receive("project_init_complete").await["success"], true);
    }

    async fn turn_ends(&mut self) -> Value {
        self.receive_matching("session_status", |message| message["status"]["state"] == "COMPLETED").await
    }

    /// The messages that `session_sync` announced, of all parts.
    fn missed(&self) -> Vec<Value> {
        let parts = self.received.iter().filter(|message| message["type"] == "session_sync");
        parts.flat_map(|part| part["messageHistory"].as_array().unwrap().clone()).collect()
    }

    fn response_text(&self) -> String {
        let texts = self.received.iter().filter(|message| message["type"] == "claude_response");
        texts.filter_map(|message| message["content"].as_str()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_28_a_project_is_a_folder_with_one_current_session() {
    let server = phone_server(HELLO).await;
    let (shop, inner) = (server.inside("shop"), server.inside("shop/till"));
    let mut phone = Phone::connect(&server, "admin").await;
    phone.send(json!({"type":"project_create","id":"1","data":{"path":shop}})).await;
    let state = phone.receive("project_state").await;
    assert_eq!((&state["project_id"], &state["data"]["state"]), (&json!(shop), &json!("IDLE")));
    for (path, code) in [
        (shop.as_str(), "PROJECT_EXISTS"),
        (&inner, "PROJECT_NESTING"),
        ("/", "INVALID_PATH"),
        ("shop", "INVALID_PATH"),
        ("/nowhere/at/all", "INVALID_PATH"),
    ] {
        phone.send(json!({"type":"project_create","id":path,"data":{"path":path}})).await;
        let error = phone.receive("error").await;
        assert_eq!((&error["code"], &error["details"]["requestId"]), (&json!(code), &json!(path)), "{error}");
    }
    phone.send(json!({"type":"project_join","project_id":shop})).await;
    phone.receive("project_joined").await;
    phone.send(json!({"type":"execute","id":"p1","project_id":shop,"data":{"prompt":"Hi"}})).await;
    phone.turn_ends().await;
    phone.send(json!({"type":"execute","id":"p2","project_id":shop,"data":{"prompt":"Again"}})).await;
    phone.turn_ends().await;
    assert_eq!(phone.response_text(), "Hello to you.And again.", "both prompts went to one session");
    assert_eq!(server.sessions.list(None, 10).await.unwrap().len(), 1);

    phone.send(json!({"type":"project_list"})).await;
    let list = phone.receive("project_list").await;
    assert!(list["data"]["projects"][0]["session_id"].is_string(), "{list}");
    phone.send(json!({"type":"agent_new_session","project_id":shop})).await;
    phone.receive("session_reset").await;
    phone.send(json!({"type":"execute","project_id":shop,"data":{"prompt":"Hi"}})).await;
    phone.turn_ends().await;
    assert_eq!(server.sessions.list(None, 10).await.unwrap().len(), 2, "the next prompt begins another one");

    phone.send(json!({"type":"project_leave","project_id":shop})).await;
    phone.receive("project_left").await;
    phone.send(json!({"type":"project_delete","project_id":shop})).await;
    phone.receive("project_deleted").await;
    phone.send(json!({"type":"project_join","project_id":shop})).await;
    assert_eq!(phone.receive("error").await["code"], "PROJECT_NOT_FOUND");
    assert_eq!(server.sessions.list(None, 10).await.unwrap().len(), 2, "the sessions are left alone");
}

/// P3: a phone that got no reply to its first prompt sends it again after the session was created.
#[tokio::test(flavor = "multi_thread")]
async fn s2_25_the_first_prompt_of_a_project_is_said_once_however_often_it_is_sent() {
    let server = phone_server(HELLO).await;
    let shop = server.inside("shop");
    let mut phone = Phone::connect(&server, "admin").await;
    phone.init(&shop).await;
    for (id, text) in [("c1", "Hi"), ("c1", "Hi"), ("c2", "Again")] {
        phone.send(json!({"type":"command","id":id,"command":text})).await;
        if text == "Again" || !phone.response_text().contains("Hello") {
            phone.turn_ends().await;
        }
    }
    assert_eq!(phone.response_text(), "Hello to you.And again.");
    phone.send(json!({"type":"command","id":"c2","command":"Something else"})).await;
    assert_eq!(phone.receive("error").await["details"]["requestId"], "c2");
    let sessions = server.sessions.list(None, 10).await.unwrap();
    assert_eq!((sessions.len(), sessions[0].totals.turns, sessions[0].queued), (1, 2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_28_everybody_in_a_project_sees_everything() {
    let server = phone_server(HELLO).await;
    let shop = server.inside("shop");
    let (mut one, mut other) =
        (Phone::connect(&server, "admin").await, Phone::connect(&server, "admin").await);
    one.init(&shop).await;
    other.init(&shop).await;
    // Messages of the first family name no project: the opened one is meant.
    one.send(json!({"type":"command","id":"c1","command":"Hi"})).await;
    for phone in [&mut one, &mut other] {
        let ended = phone.turn_ends().await;
        assert_eq!(ended["projectId"], shop);
        assert_eq!(phone.response_text(), "Hello to you.");
    }
    let response = one.received.iter().find(|message| message["type"] == "claude_response").unwrap();
    assert!(response["id"].is_string() && response["timestamp"].is_i64(), "{response}");
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_25_a_phone_that_was_away_gets_what_it_missed_once_and_then_what_happens() {
    let server = phone_server(ASKS).await;
    let shop = server.inside("shop");
    let mut phone = Phone::connect(&server, "admin").await;
    phone.init(&shop).await;
    phone.send(json!({"type":"command","id":"c1","command":"Test it"})).await;
    let request = phone.receive("permission_request").await;
    assert_eq!((&request["tool"], &request["details"]["command"]), (&json!("Bash"), &json!("make test")));
    let seen =
        phone.received.iter().rev().find(|message| message["id"].as_str().is_some_and(|id| id.contains(':')));
    let seen = seen.unwrap().clone();
    drop(phone);

    // The agent continues while the phone is disconnected: another phone answers.
    let mut other = Phone::connect(&server, "admin").await;
    other
        .send(json!({"type":"permission_response","id":"a1","requestId":request["id"],"approved":true}))
        .await;
    other.send(json!({"type":"project_join","project_id":shop})).await;
    let session = server.sessions.list(None, 1).await.unwrap().remove(0);
    until_view(&server.sessions, &session.key, |view| view.totals.turns > 0).await;

    let mut phone = Phone::connect(&server, "admin").await;
    let resume = json!({"type":"session_resume","sessionId":session.key,
        "lastMessageId":seen["id"],"lastMessageTimestamp":seen["timestamp"]});
    phone.send(resume).await;
    let pending = phone.receive("pending_permissions").await;
    assert_eq!(pending["permissions"], json!([]));
    phone.turn_ends().await;
    let missed = phone.missed();
    assert!(missed.iter().all(|message| message["id"] != seen["id"]), "{missed:?}");
    assert!(missed.iter().any(|message| message["summary"] == "All is well."), "{missed:?}");
    assert_eq!(phone.response_text(), "All is well.");
    let ids: Vec<_> = phone.received.iter().filter_map(|message| message["id"].as_str()).collect();
    let distinct: std::collections::HashSet<_> = ids.iter().collect();
    assert_eq!(ids.len(), distinct.len(), "nothing comes twice");
    phone.send(json!({"type":"command","command":"And now?"})).await;
    phone.turn_ends().await;
    assert_eq!(phone.response_text(), "All is well.That was all.");
}

/// The last delta of a text and its end may be two messages; a phone that has the first gets only the second.
#[tokio::test(flavor = "multi_thread")]
async fn s2_25_a_text_whose_end_was_missed_does_not_come_again() {
    let server = phone_server(HELLO).await;
    let shop = server.inside("shop");
    let mut phone = Phone::connect(&server, "admin").await;
    phone.init(&shop).await;
    phone.send(json!({"type":"command","command":"Hi"})).await;
    phone.turn_ends().await;
    let session = server.sessions.list(None, 1).await.unwrap().remove(0);
    let journal = server.sessions.broadcast().journal();
    let key = tidings_journal::Key::new(&session.key).unwrap();
    let fence = journal.claim(&key).await.unwrap();
    let turn = json!({"role":"Assistant","sequence":2});
    let mut cursors = Vec::new();
    for (kind, event) in [
        ("TextChunk", json!({"text":"One more thing.","session_id":session.handle,"turn_id":turn})),
        ("TextEnded", json!({"session_id":session.handle,"turn_id":turn})),
        ("Display", json!({"content":"A note.","session_id":session.handle})),
    ] {
        let draft = tidings_journal::EventDraft::new(
            tidings_journal::Class::Durable,
            jiff::Timestamp::now(),
            tidings_journal::Kind::new(kind).unwrap(),
            json!({kind: event}).to_string().into_bytes(),
        );
        cursors.push(journal.append(&key, fence, vec![draft]).await.unwrap()[0].cursor);
    }
    for (seen, expected) in [(cursors[0], "A note."), (cursors[1], "A note."), (cursors[2], "")] {
        let mut phone = Phone::connect(&server, "admin").await;
        let resume = json!({"type":"session_resume","sessionId":session.key,
            "lastMessageId":format!("{seen}:0"),"lastMessageTimestamp":0});
        phone.send(resume).await;
        phone.receive_matching("session_sync", |sync| sync["remaining"] == 0).await;
        let missed = phone.missed();
        let said: String = missed.iter().filter_map(|message| message["summary"].as_str()).collect();
        assert_eq!(said, expected, "after {seen}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_25_what_waits_for_an_answer_is_told_to_a_phone_that_comes_back() {
    let server = phone_server(ASKS).await;
    let shop = server.inside("shop");
    let mut phone = Phone::connect(&server, "admin").await;
    phone.init(&shop).await;
    phone.send(json!({"type":"command","command":"Test it"})).await;
    let request = phone.receive("permission_request").await;
    drop(phone);
    let mut phone = Phone::connect(&server, "admin").await;
    phone.send(json!({"type":"project_join","project_id":shop})).await;
    let pending = phone.receive("pending_permissions").await;
    let waiting = &pending["permissions"][0];
    assert_eq!((&waiting["id"], &waiting["type"]), (&request["id"], &json!("permission_request")));
    assert_eq!(waiting["details"], request["details"], "as it was first sent");
    phone.send(json!({"type":"permission_response","requestId":request["id"],"approved":false})).await;
    let answer = phone.receive("permission_response").await;
    assert_eq!((&answer["requestId"], &answer["approved"]), (&request["id"], &json!(false)));
    phone
        .send(json!({"type":"permission_response","id":"late","requestId":request["id"],"approved":true}))
        .await;
    let error = phone.receive("error").await;
    assert_eq!(
        (&error["code"], &error["details"]["requestId"]),
        (&json!("ALREADY_ANSWERED"), &json!("late"))
    );
}

/// A thousand messages are kept for a phone; an error says that older ones are in the history.
#[tokio::test(flavor = "multi_thread")]
async fn s2_25_no_more_than_a_thousand_messages_wait_for_a_phone() {
    let server = phone_server(HELLO).await;
    let shop = server.inside("shop");
    let mut phone = Phone::connect(&server, "admin").await;
    phone.init(&shop).await;
    phone.send(json!({"type":"command","command":"Hi"})).await;
    phone.turn_ends().await;
    let session = server.sessions.list(None, 1).await.unwrap().remove(0);
    let journal = server.sessions.broadcast().journal();
    let key = tidings_journal::Key::new(&session.key).unwrap();
    let fence = journal.claim(&key).await.unwrap();
    let draft = |n: u32| {
        let event = json!({"Display":{"content":format!("Note {n}"),"session_id":session.handle}});
        let kind = tidings_journal::Kind::new("Display").unwrap();
        let class = tidings_journal::Class::Delta;
        tidings_journal::EventDraft::new(class, jiff::Timestamp::now(), kind, event.to_string().into_bytes())
    };
    journal.append(&key, fence, (0..1500).map(draft).collect()).await.unwrap();
    let mut phone = Phone::connect(&server, "admin").await;
    let resume = json!({"type":"session_resume","sessionId":session.key,
        "lastMessageId":"unknown","lastMessageTimestamp":0});
    phone.send(resume).await;
    let sync = phone.receive("session_sync").await;
    assert_eq!((sync["messageHistory"].as_array().unwrap().len(), &sync["remaining"]), (1, &json!(999)));
    assert_eq!(phone.receive("error").await["code"], "MESSAGES_DROPPED");
    phone.receive_matching("claude_response", |message| message["content"] == "Note 500").await;
    phone.receive_matching("claude_response", |message| message["content"] == "Note 1499").await;
    assert!(!phone.response_text().contains("Note 499"), "the oldest are dropped");
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_26_a_crashed_agent_is_started_again_and_the_phone_is_told() {
    let crash = format!("{HELLO}\n[[fault]]\nkind = \"exit\"\nat_frame = 3\ncode = 1\n");
    let builder = phone_builder().script(HELLO);
    let [first, later] = [&crash, HELLO].map(|script| StandIn::new(script, builder.folder.path()).carrier());
    let starts = AtomicUsize::new(0);
    let carrier = Carrier::new(move |config| match starts.fetch_add(1, Ordering::Relaxed) {
        0 => first(config),
        _ => later(config),
    });
    let server = builder.config(|config| config.carrier = carrier).start().await;
    let shop = server.inside("shop");
    let mut phone = Phone::connect(&server, "admin").await;
    phone.init(&shop).await;
    phone.send(json!({"type":"command","command":"Hi"})).await;
    phone.receive_matching("session_status", |message| message["status"]["state"] == "ERROR").await;
    phone.send(json!({"type":"command","command":"Go on"})).await;
    let recovered = phone.receive("session_recovered").await;
    assert!(recovered["session_id"].is_string(), "{recovered}");
    phone.turn_ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_27_nobody_gets_in_without_a_credential_or_does_more_than_it_allows() {
    let server = phone_server(HELLO).await;
    for first in [
        json!({"type":"auth","token":"bad"}),
        json!({"type":"command","command":"Hi"}),
        json!({"type":"auth_response","publicKey":"ssh-ed25519 AAAA","signature":"…","clientVersion":"1"}),
    ] {
        let mut phone = Phone::unauthenticated(&server).await;
        phone.send(first).await;
        let refused = phone.receive("auth_error").await;
        assert_eq!(refused["code"], "UNAUTHORIZED", "{refused}");
        let closed = loop {
            if let Message::Close(frame) = phone.socket.next().await.unwrap().unwrap() {
                break frame.unwrap();
            }
        };
        assert_eq!(u16::from(closed.code), 4401);
    }
    let shop = server.inside("shop");
    Phone::connect(&server, "admin").await.init(&shop).await;
    let mut reader = Phone::connect(&server, "read").await;
    reader.send(json!({"type":"project_join","project_id":shop})).await;
    reader.receive("project_joined").await;
    for message in [
        json!({"type":"command","command":"Hi"}),
        json!({"type":"permission_response","requestId":"toolu_1","approved":true}),
        json!({"type":"project_delete","project_id":shop}),
        json!({"type":"session_control","action":"STOP"}),
    ] {
        reader.send(message.clone()).await;
        assert_eq!(reader.receive("error").await["code"], "PERMISSION_DENIED", "{message}");
    }
    assert_eq!(server.sessions.list(None, 10).await.unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_27_what_is_left_out_is_refused_in_words() {
    let server = phone_server(HELLO).await;
    let shop = server.inside("shop");
    let mut phone = Phone::connect(&server, "admin").await;
    phone.init(&shop).await;
    for (message, code) in [
        (json!({"type":"command","command":"rm -rf /","isShellCommand":true}), "PERMISSION_DENIED"),
        (
            json!({"type":"project_init","projectPath":shop,"repositoryUrl":"https://example.org/a.git",
            "accessToken":"secret"}),
            "VALIDATION_FAILED",
        ),
        (json!({"type":"execute","project_id":shop,"data":{"prompt":" "}}), "VALIDATION_FAILED"),
        (json!({"type":"execute","project_id":shop,"data":{"prompt":7}}), "INVALID_MESSAGE"),
        (json!({"type":"permission_response","approved":true}), "INVALID_MESSAGE"),
        (json!(7), "INVALID_MESSAGE"),
    ] {
        phone.send(message.clone()).await;
        let error = phone.receive("error").await;
        assert_eq!(error["code"], code, "{message}");
        assert!(!error.to_string().contains("secret"));
    }
    // Unknown types are ignored.
    phone.send(json!({"type":"not_yet_invented","x":1})).await;
    phone.send(json!({"type":"heartbeat"})).await;
    phone.receive("heartbeat").await;
    assert_eq!(server.sessions.list(None, 10).await.unwrap().len(), 0, "no prompt came of any of it");
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_29_a_question_is_answered_from_a_phone() {
    let server = phone_server(QUESTION).await;
    let shop = server.inside("shop");
    let mut phone = Phone::connect(&server, "admin").await;
    phone.init(&shop).await;
    phone.send(json!({"type":"command","command":"Paint it"})).await;
    let request = phone.receive("permission_request").await;
    assert_eq!(request["tool"], "AskUserQuestion");
    let question = &request["details"]["questions"][0]["id"];
    phone.send(json!({"type":"permission_response","requestId":request["id"],"approved":true})).await;
    assert_eq!(
        phone.receive("error").await["code"],
        "VALIDATION_FAILED",
        "an approval does not answer a question"
    );
    let answers = json!([{"question_id":question,"answer":["Blue"]}]);
    let answer =
        json!({"type":"permission_response","requestId":request["id"],"approved":true,"answers":answers});
    phone.send(answer).await;
    phone.turn_ends().await;
    assert_eq!(phone.response_text(), "Blue it is.");
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_30_a_phone_can_ask_whether_all_is_well() {
    let server = phone_server(HELLO).await;
    let mut phone = Phone::connect(&server, "admin").await;
    phone.send(json!({"type":"health_check","id":"h1"})).await;
    let health = phone.receive("health_check_response").await;
    assert_eq!((&health["requestId"], &health["healthy"]), (&json!("h1"), &json!(true)));
    assert_eq!(health["claudeStatus"], "idle");
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_31_a_script_stands_in_for_the_agent_and_its_past_can_be_asked_for() {
    let server = phone_server(HELLO).await;
    let shop = server.inside("shop");
    let mut phone = Phone::connect(&server, "admin").await;
    phone.init(&shop).await;
    phone.send(json!({"type":"command","command":"Hi"})).await;
    phone.turn_ends().await;
    phone.send(json!({"type":"get_messages","project_id":shop,"data":{"limit":100}})).await;
    let history = phone.receive("message_history").await;
    let messages = history["data"]["messages"].as_array().unwrap();
    let told: Vec<_> = messages
        .iter()
        .filter(|past| matches!(past["message"]["type"].as_str(), Some("command" | "claude_response")))
        .map(|past| (past["direction"].as_str().unwrap(), past["message"].clone()))
        .collect();
    assert_eq!(told[0].0, "client");
    assert_eq!(told[0].1["command"], "Hi");
    assert!(told[1..].iter().all(|(direction, _)| *direction == "claude"), "{history}");
    phone.send(json!({"type":"session_control","action":"STOP"})).await;
    phone.receive("session_complete").await;
}
