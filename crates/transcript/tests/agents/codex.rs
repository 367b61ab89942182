//! Sessions of Codex: recorded ones, older formats and damaged files.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tidings_transcript::agents::{AgentKind, AgentVersion, open};
use tidings_transcript::cost::{CostBy, Ledger, Prices, Query};
use tidings_transcript::export::{Format, Style};

use super::{assert_reading_changes_nothing, exported, hits, newest, records, sample};

const ID: &str = "01a1ead6-d494-78a1-b8a6-c72a8fe5a038";

fn file(root: &Path) -> PathBuf {
    root.join(format!("sessions/2026/11/17/rollout-2026-11-17T18-48-30-{ID}.jsonl"))
}

/// Writes a rollout file with these lines after a header.
fn rollout(root: &Path, lines: &[&str]) -> PathBuf {
    let path = file(root);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let header = format!(
        r#"{{"timestamp":"2026-11-17T10:00:00.000Z","type":"session_meta","payload":{{"id":"{ID}","cwd":"/home/dev/shop","cli_version":"0.61.0","git":{{"branch":"main"}}}}}}"#
    );
    let text: String =
        std::iter::once(header.as_str()).chain(lines.iter().copied()).flat_map(|line| [line, "\n"]).collect();
    fs::write(&path, text).unwrap();
    path
}

fn user(text: &str) -> String {
    format!(
        r#"{{"timestamp":"2026-11-17T10:00:01.000Z","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}}}"#
    )
}

fn answer(text: &str) -> String {
    format!(
        r#"{{"timestamp":"2026-11-17T10:00:02.000Z","type":"response_item","payload":{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{text}"}}]}}}}"#
    )
}

#[test]
fn a_recorded_session_of_codex_is_listed_with_prompt_folder_and_version() {
    let root = sample("codex");
    let (_, session, conversation) = newest(AgentKind::Codex, root.path());
    assert_eq!(session.files.id, ID);
    assert_eq!(session.title(), Some("What is in notes.txt?"));
    assert_eq!(session.cwd.as_deref(), Some("/home/dev/demo"));
    assert_eq!(session.version, AgentVersion::Known("0.166.0".into()));
    assert_eq!((conversation.prompts, conversation.messages), (2, 6));
    assert_eq!(conversation.model.as_deref(), Some("gpt-5.2-codex"));
    assert!(conversation.report.unknown.is_empty(), "{:?}", conversation.report.unknown);
    assert_eq!((conversation.report.records, conversation.report.damaged_lines), (38, 0));
}

#[test]
fn a_recorded_session_of_codex_is_shown_searched_and_exported() {
    let root = sample("codex");
    let (store, session, conversation) = newest(AgentKind::Codex, root.path());
    let plain = Style { bold: "", dim: "", error: "", plain: "" };
    let text = exported(&session, &conversation, Format::Text(plain));
    for shown in ["What is in notes.txt?", "exec_command", "plant tulips", "And now?"] {
        assert!(text.contains(shown), "{shown} is missing in {text}");
    }
    assert!(!text.contains("environment_context"), "{text}");
    let markdown = exported(&session, &conversation, Format::Markdown);
    assert!(markdown.contains("2 prompts · 4 responses · 2 tool calls"), "{markdown}");
    let json = exported(&session, &conversation, Format::Json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["session"]["version"], "0.166.0");
    assert_eq!(json["entries"].as_array().unwrap().len(), 12, "{json}");
    // A title that is only the first prompt is not a second hit.
    assert_eq!(hits(&session, &conversation, "What is in"), ["8 User -"]);
    assert_eq!(
        hits(&session, &conversation, "tulips"),
        ["15 Tool exec_command", "18 Assistant -", "32 Tool exec_command", "35 Assistant -"]
    );
    let stored = fs::read_to_string(file(root.path())).unwrap();
    assert_eq!(records(&*store, &session), stored.lines().collect::<Vec<_>>());
}

#[test]
fn c27_tokens_of_codex_are_counted_once_per_response_and_have_the_list_price() {
    let root = sample("codex");
    let (_, session, conversation) = newest(AgentKind::Codex, root.path());
    let mut ledger = Ledger::default();
    // The same responses again, as a fork repeats them.
    for id in [ID, "a-fork"] {
        ledger.add_recorded(id, session.cwd.as_deref().unwrap(), &conversation.usage);
    }
    let query = Query::new(CostBy::Model, jiff::tz::TimeZone::UTC, jiff::Timestamp::UNIX_EPOCH);
    let report = ledger.report(&Prices::built_in(), &query);
    let tokens = report.total.tokens;
    assert_eq!(report.total.responses, 4);
    assert_eq!((tokens.input, tokens.cache_read, tokens.output), (4810 - 3200, 3200, 160));
    // 1610 × $1.75 + 3200 × $0.175 + 160 × $14, per million.
    assert_eq!(report.total.cost.to_string(), "0.0056175");
    assert!(report.unpriced.is_empty(), "{:?}", report.unpriced);
    // The user's own prices apply.
    let prices = Prices::with_file(r#"{"gpt-5.2-codex":{"input":1,"output":10,"cache_read":0.1}}"#).unwrap();
    assert_eq!(ledger.report(&prices, &query).total.cost.to_string(), "0.00353");
}

#[test]
fn older_files_of_codex_count_tokens_by_events_that_repeat() {
    let root = tempfile::tempdir().unwrap();
    let count = |total: u64, last: u64| {
        format!(
            r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{total},"output_tokens":1}},"last_token_usage":{{"input_tokens":{last},"output_tokens":1}}}}}}}}"#
        )
    };
    let nothing = r#"{"type":"event_msg","payload":{"type":"token_count","info":null}}"#;
    rollout(root.path(), &[nothing, &count(10, 10), &count(10, 10), &count(15, 5)]);
    let (_, _, conversation) = newest(AgentKind::Codex, root.path());
    let inputs: Vec<u64> = conversation.usage.iter().map(|usage| usage.tokens.input).collect();
    assert_eq!(inputs, [10, 5]);
}

#[test]
fn a_torn_line_of_a_growing_file_is_reported_and_the_rest_is_read() {
    let root = tempfile::tempdir().unwrap();
    let path = rollout(root.path(), &[&user("Hello"), "{\"broken\":", &answer("Hi")]);
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"timestamp\":\"2026-11-17T10:00:03.000Z\",\"type\":\"respon").unwrap();
    let (store, session, conversation) = newest(AgentKind::Codex, root.path());
    let rules: Vec<(u64, &str)> = conversation
        .report
        .damaged
        .iter()
        .map(|finding| (finding.place.line, finding.rule.as_str()))
        .collect();
    assert_eq!(rules, [(3, "cut-line"), (5, "torn-tail")]);
    assert_eq!((conversation.prompts, conversation.messages), (1, 2));
    assert_eq!(records(&*store, &session).len(), 5);
    let json = exported(&session, &conversation, Format::Json);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["session"]["damaged"], 2);
}

#[test]
fn unknown_kinds_and_versions_of_codex_are_counted_and_kept() {
    let root = tempfile::tempdir().unwrap();
    let lines = [
        &user("Hello") as &str,
        r#"{"timestamp":"2026-11-17T10:00:02.000Z","type":"mind_map","payload":{"secret":[1,2]}}"#,
        r#"{"type":"event_msg","payload":{"type":"hologram"}}"#,
        r#"{"type":"response_item","payload":{"type":"telepathy"}}"#,
        r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"Dream"}}}"#,
    ];
    let path = rollout(root.path(), &lines);
    let (store, session, conversation) = newest(AgentKind::Codex, root.path());
    let unknown: Vec<&str> = conversation.report.unknown.keys().map(String::as_str).collect();
    assert_eq!(
        unknown,
        ["event_msg/hologram", "event_msg/item_completed/Dream", "mind_map", "response_item/telepathy"]
    );
    let json = exported(&session, &conversation, Format::Json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["entries"][1]["record"]["payload"]["secret"], serde_json::json!([1, 2]));
    assert_eq!(records(&*store, &session)[2], lines[1]);
    let text = fs::read_to_string(&path).unwrap().replace("0.61.0", "7.1.0");
    fs::write(&path, text).unwrap();
    assert_eq!(newest(AgentKind::Codex, root.path()).1.version, AgentVersion::Unknown("7.1.0".into()));
}

#[test]
fn what_the_user_typed_is_the_prompt_even_if_codex_extended_the_message() {
    let root = tempfile::tempdir().unwrap();
    let event = r#"{"type":"event_msg","payload":{"type":"user_message","message":"Fix it"}}"#;
    rollout(root.path(), &[&user("# Context\\nopen.rs\\nFix it"), event, &answer("Done")]);
    let (_, session, conversation) = newest(AgentKind::Codex, root.path());
    assert_eq!((session.title(), conversation.prompts), (Some("Fix it"), 1));
    let markdown = exported(&session, &conversation, Format::Markdown);
    assert!(markdown.contains("## 1. Fix it") && !markdown.contains("open.rs"), "{markdown}");
}

#[test]
fn a_rolled_back_turn_of_codex_is_an_abandoned_branch() {
    let root = tempfile::tempdir().unwrap();
    let rolled_back = r#"{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}"#;
    let lines =
        [user("One"), answer("First"), user("Two"), answer("Second"), rolled_back.into(), user("Three")];
    rollout(root.path(), &lines.each_ref().map(String::as_str));
    let (_, session, conversation) = newest(AgentKind::Codex, root.path());
    let markdown = exported(&session, &conversation, Format::Markdown);
    assert!(markdown.contains("Three") && !markdown.contains("Second"), "{markdown}");
    assert_eq!(
        conversation
            .session(&session.files)
            .unwrap()
            .branches(tidings_transcript::session::LaneId::MAIN)
            .len(),
        2
    );
}

#[test]
fn a_compaction_of_codex_keeps_the_conversation_before_it() {
    let root = tempfile::tempdir().unwrap();
    let compacted = r#"{"type":"compacted","payload":{"message":"We greeted each other."}}"#;
    rollout(root.path(), &[&user("Hello"), &answer("Hi"), compacted, &user("Go on")]);
    let (_, session, conversation) = newest(AgentKind::Codex, root.path());
    let markdown = exported(&session, &conversation, Format::Markdown);
    for shown in ["Hello", "Compacted", "We greeted each other.", "Go on"] {
        assert!(markdown.contains(shown), "{shown} is missing in {markdown}");
    }
}

#[test]
fn the_first_format_of_codex_without_envelopes_is_read() {
    let root = tempfile::tempdir().unwrap();
    let path = file(root.path());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let lines = format!(
        r#"{{"id":"{ID}","timestamp":"2025-06-01T10:00:00.000Z","instructions":null}}
{{"record_type":"state"}}
{{"type":"message","role":"user","content":[{{"type":"input_text","text":"List the files"}}]}}
{{"type":"function_call","name":"shell","arguments":"{{\"command\":[\"ls\"]}}","call_id":"c1"}}
{{"type":"function_call_output","call_id":"c1","output":"{{\"output\":\"ls: no such folder\",\"metadata\":{{\"exit_code\":2}}}}"}}
"#
    );
    fs::write(&path, lines).unwrap();
    let (_, session, conversation) = newest(AgentKind::Codex, root.path());
    assert!(conversation.report.unknown.is_empty(), "{:?}", conversation.report);
    assert_eq!(session.version, AgentVersion::NotRecorded);
    let json = exported(&session, &conversation, Format::Json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["entries"][2]["results"][0]["text"], "ls: no such folder");
    assert_eq!(json["entries"][2]["results"][0]["is_error"], true);
}

#[cfg(feature = "archive")]
#[test]
fn compressed_and_archived_files_of_codex_are_read_and_names_are_shown() {
    let root = sample("codex");
    let plain = file(root.path());
    let archived = root.path().join("archived_sessions");
    fs::create_dir(&archived).unwrap();
    let packed = zstd::encode_all(fs::File::open(&plain).unwrap(), 3).unwrap();
    let name = plain.file_name().unwrap().to_str().unwrap();
    fs::write(archived.join(format!("{name}.zst")), packed).unwrap();
    fs::remove_file(&plain).unwrap();
    let index = format!(r#"{{"id":"{ID}","thread_name":"Gardening","updated_at":"2026-11-17T19:00:00Z"}}"#);
    fs::write(root.path().join("session_index.jsonl"), index + "\n").unwrap();
    let (_, session, conversation) = newest(AgentKind::Codex, root.path());
    assert_eq!(session.title(), Some("Gardening"));
    assert_eq!(conversation.messages, 6);
}

#[cfg(unix)]
#[test]
fn links_in_the_folder_of_codex_are_not_followed() {
    let outside = sample("codex");
    let root = tempfile::tempdir().unwrap();
    let day = root.path().join("sessions/2026/11/17");
    fs::create_dir_all(&day).unwrap();
    let target = file(outside.path());
    std::os::unix::fs::symlink(&target, day.join(target.file_name().unwrap())).unwrap();
    std::os::unix::fs::symlink(outside.path().join("sessions/2026"), root.path().join("sessions/2025"))
        .unwrap();
    std::os::unix::fs::symlink(outside.path().join("sessions"), root.path().join("archived_sessions"))
        .unwrap();
    assert!(open(AgentKind::Codex, root.path()).unwrap().scan().unwrap().sessions.is_empty());
}

#[test]
fn reading_sessions_of_codex_changes_nothing() {
    assert_reading_changes_nothing(AgentKind::Codex, sample("codex").path());
}
