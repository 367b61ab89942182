//! The phone protocol, as produced by the mobile dialect.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use crate::support;

use serde_json::Value;
use tidings_agent::UiMessage;
use tidings_agent::dialect::{Dialect, Lines, Mobile};
use tidings_agent::fold::FoldOptions;
use tidings_agent::history::Recording;
use tidings_protocol::FrameRef;
use tidings_protocol::mobile::{MobileBody, MobileMessage};
use tidings_protocol::ui::{SubAgentEnded, SubAgentOutcome, SubAgentProgressed, SubAgentStarted};

use support::{fixtures, frames};

/// Frames as lines for a phone.
fn phone(lines: &[&str]) -> String {
    let mut options = FoldOptions::default();
    options.text_progress = true;
    let mut recording = Recording::new(1, options);
    let mut writer = Lines::new(Dialect::Mobile);
    let mut text = String::new();
    for line in lines {
        let mut events = Vec::new();
        recording.frame(&FrameRef::decode(line.as_bytes()).unwrap(), &mut events);
        writer.write(&events, &mut text).unwrap();
    }
    text
}

/// A recorded session as messages for a phone.
fn messages(name: &str) -> Vec<MobileMessage> {
    let frames = String::from_utf8(frames(name)).unwrap();
    let lines: Vec<&str> = frames.lines().collect();
    phone(&lines).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn kinds(name: &str) -> Vec<String> {
    messages(name).iter().map(|message| message.kind().to_owned()).collect()
}

#[test]
fn s2_18_the_worked_example_comes_out_to_the_letter() {
    let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I'll run the test suite now. Running test 5 of 20..."}]},"session_id":"sess_123"}"#;
    assert_eq!(
        phone(&[line]),
        concat!(
            r#"{"type":"claude_response","content":"I'll run the test suite now. Running test 5 of 20...","conversationId":"sess_123"}"#,
            "\n",
            r#"{"type":"progress_update","currentStep":"Running tests","completedSteps":5,"totalSteps":20,"percentage":25.0}"#,
            "\n",
        )
    );
}

#[test]
fn s2_13_files_commands_and_changes_are_told_as_they_happen() {
    let told = |text: &str| -> Vec<String> {
        let statuses = text.lines().filter_map(|line| match serde_json::from_str(line).unwrap() {
            MobileMessage { body: MobileBody::SessionStatus(status), .. } => Some(status),
            _ => None,
        });
        let statuses = statuses.map(|status| serde_json::to_value(status.status).unwrap());
        statuses.filter_map(|status| status["message"].as_str().map(str::to_owned)).collect()
    };
    let recorded = String::from_utf8(frames("tool-parallel")).unwrap();
    let calls: Vec<&str> = recorded.lines().take_while(|line| !line.contains("\"tool_result\"")).collect();
    let expected =
        ["Bash: sleep 1; cat src/util.py | head -1", "Read: /home/dev/demo/README.md", "Bash: false"];
    assert_eq!(told(&phone(&calls)), expected, "before the first result");
    let call = |name: &str, input: &str| {
        let block = format!(r#"{{"type":"tool_use","id":"toolu_{name}","name":"{name}","input":{input}}}"#);
        format!(r#"{{"type":"assistant","message":{{"content":[{block}]}},"session_id":"s"}}"#)
    };
    let edit = call("Edit", r#"{"file_path":"src/a.rs","old_string":"a","new_string":"b"}"#);
    let write = call("Write", r#"{"file_path":"src/b.rs","content":"c"}"#);
    assert_eq!(told(&phone(&[&edit, &write])), ["Edit: src/a.rs", "Write: src/b.rs"]);
}

#[test]
fn s2_14_a_list_of_things_to_do_is_progress() {
    let progress: Vec<Value> = messages("tool-todo")
        .into_iter()
        .filter_map(|message| match message.body {
            MobileBody::ProgressUpdate(update) => Some(serde_json::to_value(update).unwrap()),
            _ => None,
        })
        .collect();
    let last = progress.last().unwrap();
    assert_eq!((&last["completedSteps"], &last["totalSteps"]), (&1.into(), &2.into()));
    assert_eq!(last["percentage"], 50.0);
}

#[test]
fn s2_15_sub_agents_start_run_and_end() {
    let statuses: Vec<Value> = messages("agent-foreground")
        .into_iter()
        .filter_map(|message| match message.body {
            MobileBody::SubAgentProgress(agent) => Some(serde_json::to_value(agent.status).unwrap()),
            _ => None,
        })
        .collect();
    assert_eq!(statuses, ["STARTING", "RUNNING", "COMPLETED"]);
}

/// The share is an estimate from the number of tool uses; it does not shrink, and reaches one only at
/// completion.
#[test]
fn s2_22_a_phone_sees_how_far_a_sub_agent_has_come() {
    for (outcome, status, last) in
        [(SubAgentOutcome::Completed, "COMPLETED", 1.0), (SubAgentOutcome::Failed, "FAILED", 0.75)]
    {
        let mut events: Vec<UiMessage> = vec![SubAgentStarted::new(1, "a").into()];
        for tool_uses in [Some(4), None, Some(12), Some(1)] {
            let mut news = SubAgentProgressed::new(1, "a");
            news.tool_uses = tool_uses;
            events.push(news.into());
        }
        events.push(SubAgentEnded::new(1, "a", outcome).into());
        let mut text = String::new();
        Lines::new(Dialect::Mobile).write(&events, &mut text).unwrap();
        let messages: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let shares: Vec<f64> = messages.iter().map(|message| message["progress"].as_f64().unwrap()).collect();
        assert_eq!(shares, [0.0, 0.5, 0.5, 0.75, 0.75, last]);
        assert_eq!(messages.last().unwrap()["status"], status);
    }
}

#[test]
fn s2_15_a_sub_agent_that_is_only_mentioned_is_told_too() {
    let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Delegating to testing agent: run everything"}]},"session_id":"s"}"#;
    assert!(
        phone(&[line])
            .contains(r#""type":"sub_agent_progress","agentId":"mentioned:testing","agentType":"TESTING""#)
    );
}

#[test]
fn s2_16_a_tool_that_needs_permission_is_a_request_the_phone_can_answer() {
    let request = messages("perm-deny").into_iter().find_map(|message| match message.body {
        MobileBody::PermissionRequest(request) => Some((message.id, request)),
        _ => None,
    });
    let (id, request) = request.unwrap();
    assert!(id.unwrap().starts_with("toolu_"));
    assert_eq!(
        (request.tool.as_str(), request.details["command"].as_str()),
        ("Bash", Some("rm -rf /home/dev/demo/src"))
    );
    assert_eq!(serde_json::to_value(request.risk).unwrap(), "HIGH");
}

#[test]
fn s2_17_answers_name_the_conversation() {
    for message in messages("multi-turn") {
        if let MobileBody::ClaudeResponse(response) = message.body {
            assert_eq!(
                response.conversation_id.unwrap().len(),
                36,
                "the id that the session can be resumed by"
            );
        }
    }
}

#[test]
fn s2_19_a_streamed_answer_is_partial_until_it_is_whole() {
    let deltas: Vec<(String, bool)> = messages("partial-stream")
        .into_iter()
        .filter_map(|message| match message.body {
            MobileBody::ClaudeResponse(response) => Some((response.content, response.is_partial)),
            _ => None,
        })
        .collect();
    assert!(deltas.len() > 2);
    let (last, before) = deltas.split_last().unwrap();
    assert!(!last.1, "the last one ends the answer");
    assert!(before.iter().filter(|(content, _)| !content.is_empty()).all(|(_, is_partial)| *is_partial));
}

#[test]
fn s2_19_a_session_is_told_from_its_start_to_its_end() {
    assert_eq!(
        kinds("multi-turn"),
        [
            "session_ready",
            "claude_response",
            "session_status",
            "claude_response",
            "session_status",
            "claude_response",
            "session_status",
        ]
    );
}

#[test]
fn every_message_for_a_phone_is_one_that_it_knows() {
    for (name, _) in fixtures() {
        for message in messages(&name) {
            assert!(MobileBody::KINDS.contains(&message.kind()), "{name}: {}", message.kind());
        }
    }
}

#[test]
fn an_event_of_ours_that_a_phone_has_no_message_for_is_left_out() {
    let event = UiMessage::System { message: "note".to_owned(), session_id: None };
    let mut text = String::new();
    Lines::new(Dialect::Mobile).write(&[event], &mut text).unwrap();
    assert_eq!(text, "");
}

/// Samples of all events.
const SAMPLES: &str = include_str!("../../protocol/tests/fixtures/ui/events.ndjson");

#[test]
fn a_phone_is_told_of_the_events_for_which_the_table_of_events_says_so() {
    let mut mobile = Mobile::default();
    let mut told = Vec::new();
    for sample in SAMPLES.lines() {
        let event: UiMessage = serde_json::from_str(sample).unwrap();
        let before = format!("{mobile:?}");
        let mut messages = Vec::new();
        mobile.translate(std::slice::from_ref(&event), &mut messages);
        if (!messages.is_empty() || before != format!("{mobile:?}")) && !told.contains(&event.name()) {
            told.push(event.name());
        }
    }
    let is_declared = |name: &&str| UiMessage::facts_of(name).unwrap().phone;
    let mut declared: Vec<&str> = UiMessage::NAMES.iter().copied().filter(is_declared).collect();
    told.sort_unstable();
    declared.sort_unstable();
    assert_eq!(told, declared);
}
