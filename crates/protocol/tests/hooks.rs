//! Hooks: every event's input and every output is typed, and none loses data.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::control::recordings;

use std::collections::BTreeSet;

use recordings::{RecordedKind, untyped};
use tidings_protocol::control::{Call, ControlOutcome, HookCallback};
use tidings_protocol::hooks::{
    HookBase, HookEvent, HookEventInput, HookInput, HookOutput, HookSpecificOutput, Stop,
};
use tidings_protocol::json::{Json, Raw, same_json};

#[test]
fn recorded_inputs_are_typed() {
    let mut events = BTreeSet::new();
    for recorded in recordings::all() {
        let RecordedKind::Request(Call::HookCallback(callback)) = recorded.kind else {
            continue;
        };
        assert!(recorded.refused.is_empty(), "{}: {:?}", recorded.place, recorded.refused);
        assert_same(&recorded.line, &recorded.written);
        let input = callback.input().unwrap_or_else(|| panic!("{}: no input", recorded.place));
        let event = callback.event().unwrap();
        assert!(event.is_known(), "{}: {event}", recorded.place);
        assert_eq!(input.event.name().as_ref(), Some(event), "{}: {input:?}", recorded.place);
        assert!(callback.callback_id().unwrap().starts_with("hook_"));
        assert!(untyped(input).is_empty(), "{}: {input:?}", recorded.place);
        events.insert(event.as_str().to_owned());
    }
    assert!(events.len() >= 15, "the shipped recordings show only {events:?}");
}

#[test]
fn recorded_answers_are_typed() {
    let mut answers = 0;
    for recorded in recordings::all() {
        let RecordedKind::Response(response, Some(Call::HookCallback(_))) = recorded.kind else {
            continue;
        };
        let ControlOutcome::Success(success) = &response.outcome else {
            continue;
        };
        let output = success.reply::<HookCallback>().unwrap();
        assert!(untyped(&output).is_empty(), "{}: {output:?}", recorded.place);
        assert!(!format!("{output:?}").contains("Unknown("), "{}: {output:?}", recorded.place);
        answers += 1;
    }
    assert!(answers > 20);
}

/// Fields of each event, with every published one.
const INPUTS: &[(&str, &str)] = &[
    (
        "PreToolUse",
        r#""tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t","mcp_server":{"name":"m","source":"s"}"#,
    ),
    (
        "PostToolUse",
        r#""tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":""},"tool_use_id":"t","duration_ms":1.5,"mcp_server":{"name":"m","source":"s"}"#,
    ),
    (
        "PostToolUseFailure",
        r#""tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t","error":"e","is_interrupt":false,"duration_ms":1,"mcp_server":{"name":"m","source":"s"}"#,
    ),
    (
        "PostToolBatch",
        r#""tool_calls":[{"tool_name":"Bash","tool_input":{"a":1},"tool_use_id":"t","tool_response":"ok"}]"#,
    ),
    ("Notification", r#""message":"m","title":"t","notification_type":"permission_prompt""#),
    ("UserPromptSubmit", r#""prompt":"p","source":"sdk","session_title":"t""#),
    (
        "UserPromptExpansion",
        r#""expansion_type":"slash_command","command_name":"c","command_args":"a","command_source":"s","prompt":"p""#,
    ),
    (
        "SessionStart",
        r#""source":"startup","model":"m","session_title":"t","seconds_since_last_response":1.5,"context_tokens":1,"prompt_cache_likely_expired":true,"estimated_cache_write_usd":0.1"#,
    ),
    ("SessionEnd", r#""reason":"clear""#),
    (
        "Stop",
        r#""stop_hook_active":true,"last_assistant_message":"m","background_tasks":[{"id":"i","type":"t","status":"s","description":"d","command":"c","agent_type":"a","server":"s","tool":"t","name":"n"}],"session_crons":[{"id":"i","schedule":"s","recurring":true,"prompt":"p"}]"#,
    ),
    ("StopFailure", r#""error":"rate_limit","error_details":"d","last_assistant_message":"m""#),
    ("SubagentStart", ""),
    (
        "SubagentStop",
        r#""stop_hook_active":true,"agent_transcript_path":"p","last_assistant_message":"m","background_tasks":[{"id":"i"}],"session_crons":[{"id":"i"}]"#,
    ),
    ("PreCompact", r#""trigger":"manual","custom_instructions":"c""#),
    ("PostCompact", r#""trigger":"auto","compact_summary":"s""#),
    (
        "PreModelSwitch",
        r#""from_model":"a","to_model":"b","requested_model":"c","source":"picker","context_tokens":1,"prompt_cache_warm":true,"cache_ttl":"5m","estimated_cache_write_usd":0.1,"pricing":"catalog""#,
    ),
    (
        "PostModelSwitch",
        r#""from_model":"a","to_model":"b","requested_model":"c","source":"resume","context_tokens":1,"prompt_cache_warm":true,"cache_ttl":"1h","estimated_cache_write_usd":0.1,"pricing":"default""#,
    ),
    (
        "PermissionRequest",
        r#""tool_name":"Bash","tool_input":{"command":"ls"},"permission_suggestions":[{"type":"setMode","mode":"plan","destination":"session"}],"mcp_server":{"name":"m","source":"s"}"#,
    ),
    (
        "PermissionDenied",
        r#""tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t","reason":"r","mcp_server":{"name":"m","source":"s"}"#,
    ),
    ("Setup", r#""trigger":"init""#),
    ("TeammateIdle", r#""teammate_name":"n","team_name":"t""#),
    (
        "TaskCreated",
        r#""task_id":"i","task_subject":"s","task_description":"d","teammate_name":"n","team_name":"t""#,
    ),
    (
        "TaskCompleted",
        r#""task_id":"i","task_subject":"s","task_description":"d","teammate_name":"n","team_name":"t""#,
    ),
    (
        "Elicitation",
        r#""mcp_server_name":"m","message":"?","mode":"url","url":"u","elicitation_id":"e","requested_schema":{"type":"object"}"#,
    ),
    (
        "ElicitationResult",
        r#""mcp_server_name":"m","elicitation_id":"e","mode":"form","action":"accept","content":{"a":1}"#,
    ),
    ("ConfigChange", r#""source":"skills","file_path":"f""#),
    ("WorktreeCreate", r#""name":"n""#),
    ("WorktreeRemove", r#""worktree_path":"p""#),
    (
        "InstructionsLoaded",
        r#""file_path":"f","memory_type":"Project","load_reason":"include","globs":["g"],"trigger_file_path":"t","parent_file_path":"p""#,
    ),
    ("CwdChanged", r#""old_cwd":"a","new_cwd":"b""#),
    ("FileChanged", r#""file_path":"f","event":"unlink""#),
    ("DirectoryAdded", r#""directory":"d","source":"slash_command""#),
    ("MessageDisplay", r#""turn_id":"t","message_id":"m","index":1,"final":true,"delta":"d""#),
];

#[test]
fn every_published_field_of_every_input_is_typed() {
    let mut seen = Vec::new();
    for (event, members) in INPUTS {
        let comma = if members.is_empty() { "" } else { "," };
        let json = format!(
            r#"{{"session_id":"s","transcript_path":"p","cwd":"/a","prompt_id":"i","permission_mode":"plan","agent_id":"a","agent_type":"t","effort":{{"level":"high"}},"hook_event_name":"{event}"{comma}{members}}}"#
        );
        let input: HookInput = serde_json::from_str(&json).unwrap();
        assert_eq!(input.event.name(), Some(HookEvent::from(*event)));
        assert_eq!(input.base.agent_id.as_deref(), Some("a"));
        assert!(untyped(&input).is_empty(), "{input:?}");
        assert_same(&json, &serde_json::to_string(&input).unwrap());
        seen.push(*event);
    }
    assert_eq!(seen, HookEvent::KNOWN);
}

#[test]
fn unknown_keys_and_nulls_round_trip() {
    let json = r#"{"session_id":null,"cwd":7,"hook_event_name":"PreCompact","trigger":"auto","custom_instructions":null,"new":{"a":1},"agent_id":"a"}"#;
    let mut input: HookInput = serde_json::from_str(json).unwrap();
    assert_same(json, &serde_json::to_string(&input).unwrap());
    // Each half keeps its own members, so that a field set later does not duplicate an old value.
    assert!(input.base.extra.get("session_id").is_some());
    let HookEventInput::PreCompact(compact) = &input.event else { panic!("{input:?}") };
    assert!(compact.extra.get("new").is_some() && compact.extra.get("session_id").is_none());
    input.base.session_id = Some("s".to_owned());
    assert_eq!(serde_json::to_string(&input).unwrap().matches("session_id").count(), 1);
}

#[test]
fn an_unknown_event_keeps_its_members() {
    for json in [
        r#"{"session_id":"s","hook_event_name":"NewEvent","a":1,"b":null}"#,
        r#"{"session_id":"s","a":1}"#,
        // A known event without its required fields.
        r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_input":{}}"#,
        "{}",
    ] {
        let input: HookInput = serde_json::from_str(json).unwrap();
        assert!(matches!(input.event, HookEventInput::Unknown(_)), "{input:?}");
        assert_same(json, &serde_json::to_string(&input).unwrap());
    }
    assert!(serde_json::from_str::<HookInput>("[]").is_err());
}

#[test]
fn a_made_input_names_its_event() {
    let input = HookInput::new(HookBase::default(), Stop::default());
    assert_eq!(serde_json::to_string(&input).unwrap(), r#"{"hook_event_name":"Stop"}"#);
}

/// Every published field of every output.
const OUTPUTS: &[&str] = &[
    "{}",
    r#"{"continue":false,"suppressOutput":true,"stopReason":"s","decision":"block","systemMessage":"m","terminalSequence":"\u0007","reason":"r"}"#,
    r#"{"async":true,"asyncTimeout":1000}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer","permissionDecisionReason":"r","updatedInput":{"a":1},"additionalContext":"c"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"c","classifierContext":"c","updatedToolOutput":{"a":1},"updatedMCPToolOutput":[1]}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"c"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PostToolBatch","additionalContext":"c"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"Notification","additionalContext":"c"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"c","sessionTitle":"t","suppressOriginalPrompt":true}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"UserPromptExpansion","additionalContext":"c","suppressOriginalPrompt":true}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c","initialUserMessage":"m","sessionTitle":"t","watchPaths":["p"],"reloadSkills":true}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"c"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"c"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"SubagentStop","additionalContext":"c"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PreModelSwitch","permissionDecision":"ask","permissionDecisionReason":"r"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PostModelSwitch","additionalContext":"c"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"a":1},"updatedPermissions":[{"type":"setMode","mode":"plan","destination":"session"}]}}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"m","interrupt":true}}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PermissionDenied","retry":true}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"Setup","additionalContext":"c"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"a":1}}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"ElicitationResult","action":"cancel","content":{"a":1}}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"WorktreeCreate","worktreePath":"/w"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"CwdChanged","watchPaths":["p"]}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"FileChanged","watchPaths":["p"]}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"MessageDisplay","displayContent":"d"}}"#,
];

#[test]
fn every_published_field_of_every_answer_is_typed() {
    for json in OUTPUTS {
        let output: HookOutput = serde_json::from_str(json).unwrap();
        assert!(untyped(&output).is_empty(), "{output:?}");
        assert!(!format!("{output:?}").contains("Unknown("), "{output:?}");
        assert_same(json, &serde_json::to_string(&output).unwrap());
    }
}

#[test]
fn answers_are_written_as_the_cli_wants_them() {
    let specific =
        |members: &str| format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{members}}}}}"#);
    let cases = [
        (HookOutput::default(), "{}".to_owned()),
        (HookOutput::allow(), specific(r#""permissionDecision":"allow""#)),
        (HookOutput::deny("no"), specific(r#""permissionDecision":"deny","permissionDecisionReason":"no""#)),
        (HookOutput::ask("?"), specific(r#""permissionDecision":"ask","permissionDecisionReason":"?""#)),
        (
            HookOutput::defer("later"),
            specific(r#""permissionDecision":"defer","permissionDecisionReason":"later""#),
        ),
        (
            HookOutput::updated_input(Json::parse(r#"{"a":1}"#).unwrap()),
            specific(r#""updatedInput":{"a":1}"#),
        ),
        (
            HookOutput::allow_with(serde_json::json!({"a": 1})),
            specific(r#""permissionDecision":"allow","updatedInput":{"a":1}"#),
        ),
        (
            HookOutput::additional_context(&HookEvent::PRE_TOOL_USE, "c"),
            specific(r#""additionalContext":"c""#),
        ),
        (HookOutput::block("no"), r#"{"decision":"block","reason":"no"}"#.to_owned()),
        (HookOutput::stop("enough"), r#"{"continue":false,"stopReason":"enough"}"#.to_owned()),
        (HookOutput::in_background(Some(5)), r#"{"async":true,"asyncTimeout":5}"#.to_owned()),
    ];
    for (output, json) in cases {
        assert_eq!(serde_json::to_string(&output).unwrap(), json);
    }
}

#[test]
fn context_can_be_added_to_any_event() {
    let known = HookSpecificOutput::additional_context(&HookEvent::STOP, "go on");
    assert!(matches!(known, HookSpecificOutput::Stop(_)));
    let new = HookSpecificOutput::additional_context(&HookEvent::from("NewEvent"), "go on");
    assert_same(
        &serde_json::to_string(&new).unwrap(),
        r#"{"hookEventName":"NewEvent","additionalContext":"go on"}"#,
    );
}

fn assert_same(left: &str, right: &str) {
    assert!(same_json(Raw::parse(left).unwrap(), Raw::parse(right).unwrap()), "{left}\n{right}");
}
