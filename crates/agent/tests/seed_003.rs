//! Guarantees of the published UI events, as kept by the fold.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use crate::support;

use std::collections::HashMap;

use serde_json::{Value, json};
use tidings_agent::dialect::{Dialect, Lines, to_ui};
use tidings_agent::fold::{Exit, Fold, FoldOptions, Input, OpenedRequest, Prompt, SettledRequest};
use tidings_agent::{TurnId, UiMessage};
use tidings_protocol::FrameRef;
use tidings_protocol::mobile::RiskLevel;
use tidings_protocol::ui::{
    PermissionDetails, PermissionLevel, PermissionRequest, PermissionResolved, Resolution, Role, TargetType,
};

use support::{fixtures, fold, frames, live};

fn text_of(events: &[UiMessage], turn: TurnId) -> String {
    let mut text = String::new();
    for event in events {
        match event {
            UiMessage::TextChunk { text: delta, turn_id, .. } if *turn_id == turn => text.push_str(delta),
            UiMessage::Retracted(event) if event.turn_id == turn => {
                let rest = text.strip_suffix(event.text.as_str());
                text.truncate(rest.expect("what is taken back is the end of what was shown").len());
            }
            _ => {}
        }
    }
    text
}

/// The text blocks of the main conversation that were not retracted, turn by turn, directly from the frames.
fn written(name: &str) -> Vec<String> {
    let bytes = frames(name);
    let frames: Vec<Value> =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let void: Vec<&Value> = frames
        .iter()
        .flat_map(|frame| [&frame["retracted_message_uuids"], &frame["supersedes"]])
        .filter_map(Value::as_array)
        .flatten()
        .collect();
    let mut turns = vec![String::new()];
    for frame in &frames {
        if frame["type"] == "result" {
            turns.push(String::new());
        }
        let is_main = frame["type"] == "assistant" && frame["parent_tool_use_id"].is_null();
        if !is_main || frame["message"]["model"] == "<synthetic>" || void.contains(&&frame["uuid"]) {
            continue;
        }
        for block in frame["message"]["content"].as_array().unwrap() {
            turns.last_mut().unwrap().push_str(block["text"].as_str().unwrap_or_default());
        }
    }
    turns.pop();
    turns
}

#[test]
fn s3_15_chunks_concatenate_to_the_whole_text() {
    for (name, _) in fixtures() {
        if name == "lone-surrogate" {
            // The independent JSON reader cannot read these lines.
            continue;
        }
        let events = live(&name);
        let written = written(&name);
        for (text, turn) in written.iter().zip(1..) {
            assert_eq!(&text_of(&events, TurnId::new_assistant_turn(turn)), text, "{name}, turn {turn}");
        }
    }
}

#[test]
fn s3_16_complete_comes_last() {
    for (name, _) in fixtures() {
        let events = live(&name);
        let mut open = None;
        let mut completed = 0;
        for event in &events {
            match event {
                UiMessage::TurnStarted(event) => assert_eq!(open.replace(event.turn_id), None, "{name}"),
                UiMessage::TextChunk { turn_id, .. } => assert_eq!(open, Some(*turn_id), "{name}"),
                UiMessage::ToolExecuting { .. } | UiMessage::ToolCompleted { .. } => {
                    assert!(open.is_some(), "{name}");
                }
                UiMessage::Complete { turn_id, .. } => {
                    assert_eq!(open.take(), Some(*turn_id), "{name}");
                    completed += 1;
                }
                _ => {}
            }
        }
        assert_eq!(open, None, "{name}");
        let results = frames(&name).split(|byte| *byte == b'\n').filter(|line| is_result(line)).count();
        assert_eq!(completed, results, "{name}: one for each result");
    }
}

fn is_result(line: &[u8]) -> bool {
    FrameRef::decode(line).is_ok_and(|frame| frame.is_final())
}

#[test]
fn s3_17_every_call_that_begins_also_ends_under_its_id() {
    let mut failures = 0;
    for (name, _) in fixtures() {
        let mut open: HashMap<String, String> = HashMap::new();
        let mut began = Vec::new();
        for event in live(&name) {
            let event = match event {
                UiMessage::Lane(lane) => *lane.event,
                other => other,
            };
            match event {
                UiMessage::ToolExecuting { tool_use_id, tool_name, .. } => {
                    assert!(!began.contains(&tool_use_id), "{name}: {tool_use_id} begins once");
                    began.push(tool_use_id.clone());
                    open.insert(tool_use_id, tool_name);
                }
                UiMessage::ToolDetails(details) => failures += usize::from(details.is_error),
                UiMessage::ToolCompleted { tool_use_id, .. } => {
                    assert!(open.remove(&tool_use_id).is_some(), "{name}: {tool_use_id} was running");
                }
                _ => {}
            }
        }
        assert!(open.is_empty(), "{name}: {open:?}");
    }
    assert!(failures > 3, "calls that fail are among them");
}

#[test]
fn s3_17_a_call_that_fails_completes_with_its_error() {
    let events = fold(&[
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"false"}}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"exit 1"},{"type":"image","source":{}}]}]}}"#,
    ]);
    let completed = events.iter().find_map(|event| match event {
        UiMessage::ToolCompleted { tool_use_id, result, .. } => Some((tool_use_id.as_str(), result.as_str())),
        _ => None,
    });
    assert_eq!(completed, Some(("t1", "exit 1\n[image]")));
}

#[test]
fn s3_17_tools_of_the_api_begin_and_end_too() {
    let events = fold(&[
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"rust"}}]}}"#,
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","title":"Rust","url":"https://example.com"}]}]}}"#,
    ]);
    let reported: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            UiMessage::ToolExecuting { tool_name, input, .. } => Some(format!("{tool_name} {input}")),
            UiMessage::ToolCompleted { result, .. } => Some(result.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(reported, [r#"web_search {"query":"rust"}"#, "Rust https://example.com"]);
}

#[test]
fn s3_21_tokens_are_told_as_they_grow_and_counted_once_per_response() {
    let frame = |block: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m1","content":[{block}],"usage":{{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":7}}}}}}"#
        )
    };
    let events = fold(&[
        &frame(r#"{"type":"text","text":"a"}"#),
        &frame(r#"{"type":"text","text":"b"}"#),
        r#"{"type":"assistant","message":{"id":"m2","content":[],"usage":{"input_tokens":120,"output_tokens":5}}}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"usage":{"input_tokens":130,"output_tokens":40}}"#,
    ]);
    let reported: Vec<(i64, i64)> = events
        .iter()
        .filter_map(|event| match event {
            UiMessage::TokenUpdate { input_tokens, output_tokens, .. } => {
                Some((*input_tokens, *output_tokens))
            }
            _ => None,
        })
        .collect();
    assert_eq!(reported, [(100, 7), (120, 12), (120, 40)]);
}

#[test]
fn s3_22_an_error_is_told_and_the_session_goes_on() {
    // Status 400, an exceeded rate limit, an interruption, and the limit of rounds.
    for name in ["err-400", "rate-limit-event", "interrupt-stream", "max-turns"] {
        let events = live(name);
        let error = events.iter().position(|event| matches!(event, UiMessage::Error { .. })).unwrap();
        let after = &events[error..];
        assert!(after.iter().any(|event| matches!(event, UiMessage::Complete { .. })), "{name}");
        let reported = events.iter().filter(|event| matches!(event, UiMessage::Error { .. })).count();
        let failed =
            events.iter().filter(|event| matches!(event, UiMessage::TurnResult(result) if result.is_error));
        assert_eq!(reported, failed.count(), "{name}: once for each turn that failed");
    }
}

#[test]
fn s3_23_output_of_a_command_is_displayed_and_then_the_command_is_complete() {
    let events = live("slash-local");
    let shown: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            UiMessage::Display { .. } => Some("output"),
            UiMessage::CommandComplete { command, .. } => Some(command.as_str()),
            UiMessage::TextChunk { .. } => Some("text"),
            _ => None,
        })
        .collect();
    assert_eq!(shown[..5], ["text", "output", "/usage", "output", "/usage"]);
    assert_eq!(shown.iter().filter(|event| **event == "text").count(), 1, "no model wrote the others");
}

#[test]
fn s3_25_the_client_counts_its_turns_and_the_agent_its_own() {
    let mut fold = Fold::new(7, FoldOptions::default());
    let mut events = Vec::new();
    let mut send = |fold: &mut Fold, text: &str, turn: Option<u64>| {
        let mut prompt = Prompt::new(text);
        prompt.turn_id = turn.map(TurnId::new_user_turn);
        fold.step(Input::Prompt(&prompt), &mut events);
    };
    send(&mut fold, "one", Some(4));
    send(&mut fold, "two", None);
    let line = br#"{"type":"assistant","message":{"content":"Both."}}"#;
    fold.step(Input::Frame(&FrameRef::decode(line).unwrap()), &mut events);
    let started = events.iter().find_map(|event| match event {
        UiMessage::TurnStarted(event) => Some(event),
        _ => None,
    });
    let started = started.unwrap();
    assert_eq!(started.turn_id, TurnId::new_assistant_turn(1));
    assert_eq!(started.answers, [TurnId::new_user_turn(4), TurnId::new_user_turn(5)]);
}

#[test]
fn s3_25_turns_of_the_agent_count_up_by_one() {
    for (name, _) in fixtures() {
        let turns: Vec<TurnId> = live(&name)
            .iter()
            .filter_map(|event| match event {
                UiMessage::TurnStarted(event) => Some(event.turn_id),
                _ => None,
            })
            .collect();
        for (turn, number) in turns.iter().zip(1..) {
            assert_eq!((turn.role, turn.sequence), (Role::Assistant, number), "{name}");
        }
    }
}

#[test]
fn s3_26_every_event_names_the_session_it_is_routed_to() {
    for (name, _) in fixtures() {
        for event in live(&name) {
            assert_eq!(event.session_id(), Some(1), "{name}: {event:?}");
        }
    }
}

#[test]
fn s3_26_the_ui_dialect_has_nothing_but_the_twelve_events_of_the_page() {
    const PAGE: &[&str] = &[
        "TextChunk",
        "ToolExecuting",
        "ToolCompleted",
        "Complete",
        "PermissionRequired",
        "BatchPermissionRequired",
        "UserInteractionRequired",
        "TokenUpdate",
        "Error",
        "System",
        "Display",
        "CommandComplete",
    ];
    for (name, _) in fixtures() {
        let mut text = String::new();
        Lines::new(Dialect::Ui).write(&live(&name), &mut text).unwrap();
        for line in text.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            let (variant, body) = event.as_object().unwrap().iter().next().unwrap();
            assert!(PAGE.contains(&variant.as_str()), "{name}: {line}");
            if let Some(reason) = body.get("stop_reason") {
                let page = ["EndTurn", "MaxTokens", "StopSequence", "ToolUse"];
                assert!(page.contains(&reason.as_str().unwrap()), "{name}: {line}");
            }
        }
    }
}

#[test]
fn a_retraction_is_a_note_in_the_ui_dialect_and_the_new_text_follows() {
    let events = live("err-stream-cut");
    let shown: Vec<UiMessage> = events.iter().filter_map(to_ui).map(std::borrow::Cow::into_owned).collect();
    let note = shown.iter().position(|event| matches!(event, UiMessage::System { message, .. } if message.contains("This answer will be cut")));
    let after: String = shown[note.unwrap()..]
        .iter()
        .filter_map(|event| match event {
            UiMessage::TextChunk { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(after, "Second attempt is whole.");
}

#[test]
fn s3_36_what_the_crate_of_the_page_has_beyond_it_is_in_our_events() {
    let events = live("tool-bash");
    // Status and error of a call, tokens and turn of a result, the name of the tool with its result.
    let details = events.iter().find_map(|event| match event {
        UiMessage::ToolDetails(details) => Some(details),
        _ => None,
    });
    let details = details.unwrap();
    assert_eq!(details.tool_name.as_deref(), Some("Bash"));
    assert!(details.tool_use_result.as_ref().unwrap().get("stdout").is_some());
    let result = events.iter().find_map(|event| match event {
        UiMessage::TurnResult(result) => Some(result),
        _ => None,
    });
    let result = result.unwrap();
    assert!(result.usage.as_ref().unwrap().output_tokens > 0);
    assert!(result.cost_usd.unwrap() > 0.0);
    assert_eq!(result.answers, [TurnId::new_user_turn(1)]);
}

#[test]
fn a_question_pauses_the_session_until_it_is_settled() {
    let mut fold = Fold::new(1, FoldOptions::default());
    let mut events = Vec::new();
    let request = PermissionRequest {
        target_type: TargetType::Tool,
        target: "mcp__x__y".to_owned(),
        level: PermissionLevel::Execute,
        description: "Use it".to_owned(),
        reason: None,
        recursive: false,
    };
    let details = PermissionDetails::new(1, "t1", "mcp__x__y", json!({}), RiskLevel::High);
    fold.step(Input::RequestOpened(&OpenedRequest::Permission { request, details }), &mut events);
    let resolved = PermissionResolved::new(1, "t1", Resolution::Allowed);
    fold.step(Input::RequestSettled(&SettledRequest::Permission(resolved)), &mut events);
    insta::assert_snapshot!(support::readable(&events), @r#"
    PermissionDetails input={} risk="HIGH" tool_name="mcp__x__y" tool_use_id=#1
    PermissionRequired request={"description":"Use it","level":"Execute","reason":null,"recursive":false,"target":"mcp__x… tool_use_id=#1
    SessionStateChanged state="WaitingForPerson"
    PermissionResolved outcome="Allowed" tool_use_id=#1
    SessionStateChanged state="Idle"
    "#);
    // The specification has no tools as targets.
    let on_page = events.iter().filter_map(to_ui).find_map(|event| match event.into_owned() {
        UiMessage::PermissionRequired { request, .. } => Some(request.target_type),
        _ => None,
    });
    assert_eq!(on_page, Some(TargetType::Command));
}

#[test]
fn an_agent_that_dies_leaves_nothing_open() {
    let mut fold = Fold::new(1, FoldOptions::default());
    let mut events = Vec::new();
    let line = br#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"Wait"},{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}"#;
    fold.step(Input::Frame(&FrameRef::decode(line).unwrap()), &mut events);
    fold.step(Input::Tick(0), &mut events);
    fold.step(Input::Tick(12_000), &mut events);
    let exit = Exit { code: None, signal: Some(9), error: None };
    fold.step(Input::Exited(&exit), &mut events);
    insta::assert_snapshot!(support::readable(&events), @r#"
    TurnStarted turn_id=a1
    SessionStateChanged state="Running"
    TextChunk text="Wait" turn_id=a1
    TextEnded turn_id=a1
    ToolExecuting input={} tool_name="Bash" tool_use_id=#1
    ToolProgress elapsed_seconds tool_name="Bash" tool_use_id=#1
    ToolDetails is_error=true tool_name="Bash" tool_use_id=#1
    ToolCompleted result="The agent ended in the middle of a turn" tool_use_id=#1
    Error message="The agent ended in the middle of a turn"
    Complete stop_reason="exited" turn_id=a1
    SessionStateChanged signal=9 state="Ended"
    "#);
}
