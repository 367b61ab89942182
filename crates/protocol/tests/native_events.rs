//! Our own events on the UI wire.

use serde_json::{Value, json};
use tidings_protocol::mobile::RiskLevel;
use tidings_protocol::ui::*;

const TURN: TurnId = TurnId::new_assistant_turn(2);

/// One event of every native variant, with its required fields only.
fn bare() -> Vec<UiMessage> {
    vec![
        SessionStarted::new(1, "9f1c").into(),
        SessionTitle::new(1, "Fix the build").into(),
        SessionStateChanged::new(1, SessionPhase::WaitingForPerson).into(),
        SettingsChanged::new(1).into(),
        UserPrompt::new(1, "Hello").into(),
        PromptDropped::new(1, "u-1").into(),
        TurnStarted::new(1, TURN).into(),
        TextEnded::new(1, TURN).into(),
        Thinking::new(1, TURN, "Hm.").into(),
        ToolPreparing::new(1, "toolu_1", "Bash").into(),
        ToolProgress::new(1, "toolu_1", "Bash", 30.5).into(),
        ToolDetails::new(1, "toolu_1", true).into(),
        Lane::new(1, "toolu_1", Box::new(Thinking::new(1, TURN, "Hm.").into())).into(),
        SubAgentStarted::new(1, "toolu_1").into(),
        SubAgentProgressed::new(1, "toolu_1").into(),
        SubAgentEnded::new(1, "toolu_1", SubAgentOutcome::Stopped).into(),
        TaskChanged::new(1, "b12", "running").into(),
        Progress::new(1, ProgressSource::Text).into(),
        TodoList::new(1).into(),
        PlanProposed::new(1, "toolu_1", "# Plan").into(),
        Compacted::new(1).into(),
        RateLimit::new(1, "allowed").into(),
        Retrying::new(1, 1_u64).into(),
        TurnResult::new(1, TURN, "success", false).into(),
        PermissionDetails::new(1, "toolu_1", "Bash", json!({"command": "ls"}), RiskLevel::Low).into(),
        QuestionDetails::new(1, "toolu_1", QuestionKind::Plan).into(),
        PermissionResolved::new(1, "toolu_1", Resolution::TimedOut).into(),
        InteractionResolved::new(1, "toolu_1", Resolution::Answered).into(),
        Retracted::new(1, TURN, RetractReason::Retry).into(),
        Suggestion::new(1, "run the tests").into(),
        RawFrame::new(1, "system/new", r#"{"type":"system"}"#).into(),
    ]
}

#[test]
fn every_native_event_round_trips_under_its_name_and_names_its_session() {
    let mut names = Vec::new();
    for event in bare() {
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<UiMessage>(&text).unwrap(), event, "{text}");
        assert!(event.is_native() && !event.is_seed(), "{text}");
        assert_eq!(event.session_id(), Some(1), "{text}");
        assert!(!text.contains("null"), "an absent field is left out: {text}");
        let Value::Object(object) = serde_json::from_str(&text).unwrap() else { panic!("{text}") };
        names.extend(object.into_iter().map(|(name, _)| name));
    }
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len(), "{names:?}");
}

#[test]
fn what_has_a_default_may_be_absent_when_read() {
    for event in bare() {
        let Value::Object(tagged) = serde_json::to_value(&event).unwrap() else { panic!() };
        for (name, body) in tagged {
            let Value::Object(mut body) = body else { panic!("{name}") };
            body.retain(|_, value| !matches!(value, Value::Array(items) if items.is_empty()));
            body.retain(|_, value| *value != json!(false) || name == "TurnResult");
            let read: UiMessage = serde_json::from_value(json!({ &name: body })).unwrap();
            assert_eq!(read, event);
        }
    }
}

#[test]
fn a_lane_holds_any_event() {
    let inner = UiMessage::TextChunk { text: "Found it".to_owned(), session_id: 1, turn_id: TURN };
    let lane: UiMessage = Lane::new(1, "toolu_1", Box::new(inner)).into();
    assert_eq!(
        serde_json::to_string(&lane).unwrap(),
        r#"{"Lane":{"session_id":1,"agent_id":"toolu_1","event":{"TextChunk":{"text":"Found it","session_id":1,"turn_id":{"role":"Assistant","sequence":2}}}}}"#
    );
}
