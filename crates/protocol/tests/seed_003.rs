//! Server mode, item by item of its specification: the UI wire of `tidings_protocol::ui`.

use std::collections::HashMap;

use serde_json::json;
use tidings_protocol::ui::{
    AskUserQuestionsRequest, ControllerInputPayload, PermissionLevel, PermissionRequest, Question,
    QuestionType, Role, StopReason, TargetType, TurnId, UiMessage,
};

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("fixtures/seed/003-", $name, ".json")).trim_end()
    };
}

/// Asserts that the event is written exactly as the fixture, and that the fixture is read as the event.
#[track_caller]
fn round_trips(event: &UiMessage, fixture: &str) {
    assert_eq!(write(event), fixture);
    assert_eq!(&read::<UiMessage>(fixture), event);
}

fn write<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("writes")
}

#[track_caller]
fn read<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn is_error<T: serde::de::DeserializeOwned>(text: &str) -> bool {
    serde_json::from_str::<T>(text).is_err()
}

#[test]
fn s3_1_text_chunk_round_trips() {
    let event = UiMessage::TextChunk {
        text: "Hello".to_owned(),
        session_id: 1,
        turn_id: TurnId::new_assistant_turn(1),
    };
    round_trips(&event, fixture!("text-chunk"));
}

#[test]
fn s3_2_tool_executing_round_trips() {
    let event = UiMessage::ToolExecuting {
        tool_use_id: "toolu_1".to_owned(),
        tool_name: "read_file".to_owned(),
        input: json!({ "limit": 5, "path": "src/main.rs" }),
        session_id: 1,
    };
    round_trips(&event, fixture!("tool-executing"));
}

#[test]
fn s3_3_tool_completed_round_trips() {
    let event = UiMessage::ToolCompleted {
        tool_use_id: "toolu_1".to_owned(),
        result: "fn main() {}\n".to_owned(),
        session_id: 1,
    };
    round_trips(&event, fixture!("tool-completed"));
}

#[test]
fn s3_4_complete_round_trips() {
    let event = UiMessage::Complete {
        session_id: 1,
        turn_id: TurnId::new_assistant_turn(1),
        stop_reason: StopReason::EndTurn,
    };
    round_trips(&event, fixture!("complete"));
}

#[test]
fn s3_4_stop_reasons_are_read_in_both_spellings_and_kept_when_unknown() {
    let cases = [
        (StopReason::EndTurn, "EndTurn", "end_turn"),
        (StopReason::MaxTokens, "MaxTokens", "max_tokens"),
        (StopReason::StopSequence, "StopSequence", "stop_sequence"),
        (StopReason::ToolUse, "ToolUse", "tool_use"),
        (StopReason::Other("refusal".to_owned()), "refusal", "refusal"),
        (StopReason::Other(String::new()), "", ""),
    ];
    for (reason, ours, api) in cases {
        assert_eq!(write(&reason), write(&ours));
        assert_eq!(read::<StopReason>(&write(&ours)), reason);
        assert_eq!(read::<StopReason>(&write(&api)), reason);
        assert_eq!(StopReason::from(api.to_owned()), reason);
        assert_eq!(reason.to_string(), ours);
    }
    assert!(is_error::<StopReason>("null"));
}

#[test]
fn s3_5_permission_required_round_trips() {
    let event = UiMessage::PermissionRequired {
        tool_use_id: "toolu_2".to_owned(),
        request: PermissionRequest {
            target_type: TargetType::Path,
            target: "/tmp/out".to_owned(),
            level: PermissionLevel::Write,
            description: "Write files under /tmp/out".to_owned(),
            reason: Some("The report goes there".to_owned()),
            recursive: true,
        },
        session_id: 1,
    };
    round_trips(&event, fixture!("permission-required"));
}

#[test]
fn s3_5_permission_levels_are_ordered_and_targets_named() {
    use PermissionLevel::{Admin, Execute, Read, Write};
    assert!(Read < Write && Write < Execute && Execute < Admin);
    assert_eq!(write(&[Read, Write, Execute, Admin]), r#"["Read","Write","Execute","Admin"]"#);
    assert_eq!(
        write(&[TargetType::Path, TargetType::Domain, TargetType::Command, TargetType::Tool]),
        r#"["Path","Domain","Command","Tool"]"#
    );
}

#[test]
fn s3_6_batch_permission_required_round_trips() {
    let request = |target_type, target: &str, level, description: &str| PermissionRequest {
        target_type,
        target: target.to_owned(),
        level,
        description: description.to_owned(),
        reason: None,
        recursive: false,
    };
    let event = UiMessage::BatchPermissionRequired {
        batch_id: "batch_1".to_owned(),
        requests: vec![
            request(TargetType::Domain, "example.org", PermissionLevel::Read, "Fetch a page of example.org"),
            request(TargetType::Command, "cargo test", PermissionLevel::Execute, "Run cargo test"),
        ],
        session_id: 1,
    };
    round_trips(&event, fixture!("batch-permission-required"));
    let without_reason = fixture!("batch-permission-required").replace(r#""reason":null,"#, "");
    assert_eq!(read::<UiMessage>(&without_reason), event);
}

#[test]
fn s3_7_user_interaction_required_round_trips() {
    let question = |id: &str, text: &str, question_type, options: &[&str], required| Question {
        id: id.to_owned(),
        text: text.to_owned(),
        question_type,
        options: (!options.is_empty()).then(|| options.iter().map(|o| (*o).to_owned()).collect()),
        required,
    };
    let event = UiMessage::UserInteractionRequired {
        tool_use_id: "toolu_3".to_owned(),
        request: AskUserQuestionsRequest {
            questions: vec![
                question(
                    "q1",
                    "Which database?",
                    QuestionType::SingleChoice,
                    &["SQLite", "PostgreSQL"],
                    true,
                ),
                question("q2", "Which platforms?", QuestionType::MultiChoice, &["Linux", "macOS"], false),
                question("q3", "Anything else?", QuestionType::FreeText, &[], false),
            ],
        },
        session_id: 1,
    };
    round_trips(&event, fixture!("user-interaction-required"));
    let without_options = fixture!("user-interaction-required").replace(r#""options":null,"#, "");
    assert_eq!(read::<UiMessage>(&without_options), event);
}

#[test]
fn s3_8_token_update_round_trips() {
    let event = UiMessage::TokenUpdate { input_tokens: 1200, output_tokens: 34, session_id: 1 };
    round_trips(&event, fixture!("token-update"));
}

#[test]
fn s3_9_error_round_trips() {
    let event = UiMessage::Error { message: "Rate limited".to_owned(), session_id: None };
    round_trips(&event, fixture!("error"));
    let absent = r#"{"Error":{"message":"Rate limited"}}"#;
    assert_eq!(read::<UiMessage>(absent), event);
}

#[test]
fn s3_10_system_round_trips() {
    let event = UiMessage::System { message: "Context was compacted".to_owned(), session_id: Some(1) };
    round_trips(&event, fixture!("system"));
}

#[test]
fn s3_11_display_round_trips() {
    let event = UiMessage::Display { content: "Model: sonnet".to_owned(), session_id: 1 };
    round_trips(&event, fixture!("display"));
}

#[test]
fn s3_12_command_complete_round_trips() {
    let event = UiMessage::CommandComplete { command: "/model".to_owned(), session_id: 1 };
    round_trips(&event, fixture!("command-complete"));
}

#[test]
#[expect(clippy::str_to_string, reason = "as in the specification")]
fn s3_13_text_chunk_is_written_as_on_the_page() -> Result<(), serde_json::Error> {
    use serde_json;

    let event = UiMessage::TextChunk {
        text: "Hello".to_string(),
        session_id: 1,
        turn_id: TurnId::new_assistant_turn(1),
    };
    let json = serde_json::to_string(&event)?;
    assert_eq!(
        json,
        r#"{"TextChunk":{"text":"Hello","session_id":1,"turn_id":{"role":"Assistant","sequence":1}}}"#
    );
    assert_eq!(json, fixture!("text-chunk"));
    Ok(())
}

#[test]
fn s3_14_payload_without_metadata_is_read() -> Result<(), serde_json::Error> {
    let json = r#"{"session_id":1,"content":"Hi","turn_id":{"role":"User","sequence":1}}"#;
    let payload: ControllerInputPayload = serde_json::from_str(json)?;
    assert_eq!(payload, ControllerInputPayload::data(1, "Hi", TurnId::new_user_turn(1)));
    assert_eq!(json, fixture!("input-payload"));
    assert_eq!(write(&payload), json, "no metadata is written either");
    Ok(())
}

#[test]
#[expect(clippy::str_to_string, reason = "as in the specification")]
fn s3_24_payloads_are_made_by_constructor_and_directly() {
    let session_id = 7;
    let payload =
        ControllerInputPayload::data(session_id, "What's the weather like?", TurnId::new_user_turn(1));
    let ControllerInputPayload { session_id, content, turn_id, metadata } = payload;
    assert_eq!((session_id, metadata), (7, None));
    assert_eq!(content, "What's the weather like?");
    assert_eq!(turn_id, TurnId::new_user_turn(1));

    let mut metadata = HashMap::new();
    metadata.insert("client_timestamp".to_string(), json!(1_234_567_890));
    metadata.insert("client_version".to_string(), json!("1.2.3"));
    let payload = ControllerInputPayload {
        session_id: 1,
        content: "Hello".to_string(),
        turn_id: TurnId::new_user_turn(1),
        metadata: Some(metadata),
    };
    assert_eq!(
        serde_json::to_value(&payload).expect("writes"),
        json!({
            "session_id": 1,
            "content": "Hello",
            "turn_id": { "role": "User", "sequence": 1 },
            "metadata": { "client_timestamp": 1_234_567_890, "client_version": "1.2.3" },
        })
    );
    assert_eq!(read::<ControllerInputPayload>(&write(&payload)), payload);
}

#[test]
fn s3_25_turn_ids_are_made_by_role() {
    let turn = TurnId::new_user_turn(2);
    assert_eq!((turn.role, turn.sequence), (Role::User, 2));
    let turn = TurnId::new_assistant_turn(1);
    assert_eq!((turn.role, turn.sequence), (Role::Assistant, 1));

    let mut turns: Vec<TurnId> =
        ["a2", "u2", "a1", "u10", "u1"].iter().map(|text| text.parse().expect("a turn id")).collect();
    turns.sort();
    let turns: Vec<String> = turns.iter().map(TurnId::to_string).collect();
    assert_eq!(turns, ["u1", "a1", "u2", "a2", "u10"]);
}

#[test]
fn s3_25_turn_ids_are_read_in_three_spellings_and_written_in_one() {
    let turn = TurnId::new_user_turn(1);
    for text in [
        r#"{"role":"User","sequence":1}"#,
        r#"{"sequence":1,"role":"User","note":[{}]}"#,
        r#"{"owner":"u","number":1}"#,
        r#""u1""#,
    ] {
        assert_eq!(read::<TurnId>(text), turn, "{text}");
    }
    assert_eq!(write(&turn), r#"{"role":"User","sequence":1}"#);
    let most = TurnId::new_assistant_turn(u64::MAX);
    assert_eq!(read::<TurnId>(&write(&most)), most);
    assert_eq!(read::<TurnId>(&write(&most.to_string())), most);

    for text in [
        r#""""#,
        r#""u""#,
        r#""u+1""#,
        r#""u-1""#,
        r#""x1""#,
        r#""é1""#,
        r#""u18446744073709551616""#,
        r#"{"role":"User"}"#,
        r#"{"sequence":1}"#,
        r#"{"role":"user","sequence":1}"#,
        r#"{"owner":"User","number":1}"#,
        r#"{"role":"User","owner":"u","sequence":1}"#,
        r#"{"role":"User","sequence":-1}"#,
        r#"{"role":"User","sequence":1.5}"#,
        "1",
        "null",
    ] {
        assert!(is_error::<TurnId>(text), "{text}");
    }
}

#[test]
fn s3_26_events_are_routed_by_session() {
    let all = [
        fixture!("text-chunk"),
        fixture!("tool-executing"),
        fixture!("tool-completed"),
        fixture!("complete"),
        fixture!("permission-required"),
        fixture!("batch-permission-required"),
        fixture!("user-interaction-required"),
        fixture!("token-update"),
        fixture!("system"),
        fixture!("display"),
        fixture!("command-complete"),
    ];
    for text in all {
        assert_eq!(read::<UiMessage>(text).session_id(), Some(1), "{text}");
    }
    assert_eq!(read::<UiMessage>(fixture!("error")).session_id(), None);
}

/// The handlers of the specification, unchanged, with a client that records its calls.
mod s3_26_handlers_of_the_page {
    use std::cell::RefCell;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::{PermissionRequest, UiMessage, read};

    #[derive(Default)]
    struct Client {
        told: RefCell<Vec<String>>,
    }

    #[expect(clippy::unused_async, reason = "a real client waits for its network")]
    impl Client {
        async fn send_text(&self, session_id: i64, text: &str) {
            self.told.borrow_mut().push(format!("{session_id} text {text}"));
        }
        async fn send_status(&self, session_id: i64, text: &str) {
            self.told.borrow_mut().push(format!("{session_id} status {text}"));
        }
        async fn send_complete(&self, session_id: i64) {
            self.told.borrow_mut().push(format!("{session_id} complete"));
        }
        async fn send_error(&self, session_id: i64, text: &str) {
            self.told.borrow_mut().push(format!("{session_id} error {text}"));
        }
        async fn send_usage(&self, session_id: i64, input: i64, output: i64) {
            self.told.borrow_mut().push(format!("{session_id} usage {input} {output}"));
        }
    }

    mod log {
        macro_rules! error {
            ($($arg:tt)*) => { drop(format!($($arg)*)) };
        }
        pub(super) use error;
    }

    #[expect(clippy::unused_async, reason = "the specification awaits it")]
    async fn handle_permission(tool_use_id: String, request: PermissionRequest, session_id: i64) {
        assert_eq!((tool_use_id.as_str(), session_id), ("toolu_2", 1));
        assert_eq!(request.target, "/tmp/out");
    }

    #[expect(clippy::uninlined_format_args, reason = "as in the specification")]
    async fn handle_event(event: UiMessage, client: &Client) {
        match event {
            UiMessage::TextChunk { text, session_id, .. } => {
                client.send_text(session_id, &text).await;
            }

            UiMessage::ToolExecuting { tool_name, session_id, .. } => {
                client.send_status(session_id, &format!("Running {}...", tool_name)).await;
            }

            UiMessage::ToolCompleted { session_id, .. } => {
                client.send_status(session_id, "Tool complete").await;
            }

            UiMessage::Complete { session_id, .. } => {
                client.send_complete(session_id).await;
            }

            UiMessage::PermissionRequired { tool_use_id, request, session_id } => {
                // Auto-approve or forward to user based on your policy
                handle_permission(tool_use_id, request, session_id).await;
            }

            UiMessage::Error { message, session_id } => {
                log::error!("Agent error: {}", message);
                if let Some(sid) = session_id {
                    client.send_error(sid, &message).await;
                }
            }

            UiMessage::TokenUpdate { input_tokens, output_tokens, session_id } => {
                client.send_usage(session_id, input_tokens, output_tokens).await;
            }

            _ => {} // Ignore other events
        }
    }

    #[test]
    fn handle_event_tells_the_client() {
        let client = Client::default();
        for event in [
            fixture!("text-chunk"),
            fixture!("tool-executing"),
            fixture!("tool-completed"),
            fixture!("permission-required"),
            fixture!("token-update"),
            fixture!("display"),
            fixture!("error"),
            r#"{"Error":{"message":"Overloaded","session_id":1}}"#,
            fixture!("complete"),
        ] {
            block_on(handle_event(read(event), &client));
        }
        assert_eq!(
            client.told.into_inner(),
            [
                "1 text Hello",
                "1 status Running read_file...",
                "1 status Tool complete",
                "1 usage 1200 34",
                "1 error Overloaded",
                "1 complete",
            ]
        );
    }

    #[test]
    fn chunks_are_gathered_and_tools_shown() {
        let mut response_buffer = String::new();
        let mut shown = Vec::new();
        let mut handle = |event: UiMessage| match event {
            UiMessage::TextChunk { text, .. } => {
                response_buffer.push_str(&text);
            }
            UiMessage::ToolExecuting { tool_name, input, .. } => {
                shown.push(format!("Running {tool_name}: {:?}", input["limit"]));
            }
            UiMessage::ToolCompleted { tool_use_id, result, .. } => {
                shown.push(format!("Tool {tool_use_id} completed: {result}"));
            }
            _ => {}
        };
        handle(read(fixture!("text-chunk")));
        handle(read(fixture!("tool-executing")));
        handle(read(fixture!("tool-completed")));
        handle(read(fixture!("text-chunk")));
        assert_eq!(response_buffer, "HelloHello");
        assert_eq!(shown, ["Running read_file: Number(5)", "Tool toolu_1 completed: fn main() {}\n",]);
    }

    fn block_on<F: Future>(future: F) -> F::Output {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
        }
    }
}
