//! The phone protocol: messages of `tidings_protocol::mobile`.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};
use tidings_protocol::mobile::{
    ClaudeResponse, ErrorMessage, HeartbeatMessage, MobileBody, MobileMessage, MobilePermissionRequest,
    ProgressUpdateMessage, RiskLevel,
};

const CLAUDE_RESPONSE: &str = include_str!("fixtures/seed/002-mobile-claude-response.json");
const PROGRESS_UPDATE: &str = include_str!("fixtures/seed/002-mobile-progress-update.json");
const ALL_TYPES: &str = include_str!("fixtures/seed/002-mobile-all-types.json");

#[track_caller]
fn read(value: &Value) -> MobileMessage {
    MobileMessage::deserialize(value).unwrap_or_else(|error| panic!("{error} in {value}"))
}

fn write(message: &MobileMessage) -> Value {
    serde_json::to_value(message).expect("writes")
}

fn error(value: Value) -> String {
    serde_json::from_value::<MobileMessage>(value).expect_err("is refused").to_string()
}

#[test]
fn s2_18_claude_response_is_written_as_on_the_page() {
    let message = MobileMessage::new(ClaudeResponse {
        content: "I'll run the test suite now. Running test 5 of 20...".to_owned(),
        conversation_id: Some("sess_123".to_owned()),
        ..ClaudeResponse::default()
    });
    assert_eq!(serde_json::to_string(&message).expect("writes"), CLAUDE_RESPONSE.trim_end());
    let back: MobileMessage = serde_json::from_str(CLAUDE_RESPONSE).expect("reads");
    assert_eq!(back, message);
}

#[test]
fn s2_18_progress_update_is_written_as_on_the_page() {
    let message = MobileMessage::new(ProgressUpdateMessage {
        current_step: Some("Running tests".to_owned()),
        completed_steps: Some(5),
        total_steps: Some(20),
        percentage: Some(25.0),
        ..ProgressUpdateMessage::default()
    });
    assert_eq!(serde_json::to_string(&message).expect("writes"), PROGRESS_UPDATE.trim_end());
    let back: MobileMessage = serde_json::from_str(PROGRESS_UPDATE).expect("reads");
    assert_eq!(back, message);
}

#[test]
fn every_type_round_trips() {
    let all: Vec<Value> = serde_json::from_str(ALL_TYPES).expect("a list");
    let mut seen = BTreeSet::new();
    for value in all {
        let message = read(&value);
        assert!(!matches!(message.body, MobileBody::Unknown(_)), "{value}");
        assert_eq!(value["type"], message.kind());
        assert_eq!(value.get("id").and_then(Value::as_str), message.id.as_deref());
        assert_eq!(write(&message), value);
        let text = serde_json::to_string(&message).expect("writes");
        let back: MobileMessage = serde_json::from_str(&text).expect("reads");
        assert_eq!(back, message);
        seen.insert(message.kind().to_owned());
    }
    let known: BTreeSet<String> = MobileBody::KINDS.iter().map(|kind| (*kind).to_owned()).collect();
    assert_eq!(seen, known);
}

#[test]
fn type_id_and_timestamp_come_first() {
    let message = MobileMessage::new(HeartbeatMessage {}).stamped("m1", 1_750_000_000_000);
    assert_eq!(
        serde_json::to_string(&message).expect("writes"),
        r#"{"type":"heartbeat","id":"m1","timestamp":1750000000000}"#
    );
}

#[test]
fn unknown_type_is_kept_whole() {
    let value = json!({
        "type": "voice_note",
        "id": "m1",
        "timestamp": 1_750_000_000_000_i64,
        "seconds": 2.5,
        "nested": { "list": [null, 18_446_744_073_709_551_615_u64] },
    });
    let message = read(&value);
    assert_eq!(message.kind(), "voice_note");
    assert_eq!(message.id.as_deref(), Some("m1"));
    assert_eq!(message.timestamp, Some(1_750_000_000_000));
    let MobileBody::Unknown(object) = &message.body else {
        panic!("not unknown: {message:?}");
    };
    assert_eq!(&Value::Object(object.clone()), &value);
    assert_eq!(write(&message), value);

    let odd = json!({ "type": "voice_note", "id": 7, "timestamp": "today" });
    let message = read(&odd);
    assert_eq!((message.id.as_deref(), message.timestamp), (None, None));
    assert_eq!(write(&message), odd);
    let stamped = write(&message.stamped("m2", 3));
    assert_eq!(stamped, json!({ "type": "voice_note", "id": "m2", "timestamp": 3 }));
}

#[test]
fn what_is_left_out_of_the_protocol_is_unknown_or_ignored() {
    for kind in ["auth_challenge", "auth_response"] {
        assert!(matches!(
            read(&json!({ "type": kind, "nonce": "n", "timestamp": 1 })).body,
            MobileBody::Unknown(_)
        ));
    }
    let message = read(&json!({
        "type": "project_init", "projectPath": "/p", "accessToken": "not kept",
    }));
    assert!(!format!("{message:?}").contains("not kept"));
    assert_eq!(write(&message), json!({ "type": "project_init", "projectPath": "/p" }));
}

#[test]
fn defaults_are_filled_in_and_unknown_keys_ignored() {
    let request = read(&json!({
        "type": "permission_request", "tool": "Bash", "action": "run", "later": true,
    }));
    let MobileBody::PermissionRequest(MobilePermissionRequest { risk, timeout, details, .. }) = request.body
    else {
        panic!("not a permission request");
    };
    assert_eq!((risk, timeout, details.len()), (RiskLevel::Medium, None, 0));
    assert!(RiskLevel::Low < RiskLevel::Medium && RiskLevel::Medium < RiskLevel::High);

    let error = read(&json!({ "type": "error", "code": "C", "message": "m", "id": null }));
    let MobileBody::Error(ErrorMessage { recoverable, .. }) = error.body else {
        panic!("not an error");
    };
    assert!(recoverable && error.id.is_none());

    let command = read(&json!({ "type": "command", "command": "ls", "isShellCommand": true }));
    assert!(
        matches!(command.body, MobileBody::Command(command) if command.is_shell_command),
        "a shell command can be told from a prompt"
    );
    let response = read(&json!({ "type": "permission_response", "requestId": "r", "approved": false }));
    assert_eq!(write(&response)["remember"], json!(false));
}

#[test]
fn a_message_that_cannot_be_understood_says_why() {
    assert_eq!(error(json!({ "content": "x" })), "missing field `type`");
    assert_eq!(error(json!({ "type": 1 })), "`type` is not a string");
    assert_eq!(error(json!({ "type": "claude_response" })), "missing field `content`");
    assert!(error(json!({ "type": "heartbeat", "id": 1 })).starts_with("`id`: invalid type"));
    assert!(error(json!({ "type": "session_control", "action": "pause" })).contains("PAUSE"));
    assert!(error(json!({ "type": "session_status", "status": "idle" })).contains("running"));
    assert!(error(json!([])).contains("expected a map"));
}
