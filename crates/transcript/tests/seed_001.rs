//! The session specification item by item: its types are read, can be written, and its rules are checked.
//!
//! Items about trees, pairs and flows (S1.17 to S1.19, S1.21 to S1.26) are tested with the sessions.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use tidings_protocol::entry::{
    AssistantSubtype, CompactOperation, CompactStatistics, Dialect, Entry, EntryBody, EntryKind, Envelope,
    SystemSubtype,
};
use tidings_protocol::json::{Json, Raw};
use tidings_protocol::tools::{ToolFamily, family};
use tidings_transcript::Severity;
use tidings_transcript::check::{self, Profile};
use tidings_transcript::roots::SessionFiles;
use tidings_transcript::session::{Actor, Session};

/// The examples of the specification's page.
const HUMAN: &str = r#"{"type":"user","uuid":"msg-001","parentUuid":"msg-000","timestamp":"2025-01-27T10:00:00Z","sessionId":"session-123","message":"Please help me write a Python script"}"#;
const CLAUDE_AS_USER: &str = r#"{"type":"user","uuid":"msg-002","parentUuid":"msg-001","timestamp":"2025-01-27T10:00:05Z","sessionId":"session-123","message":"Analyze this code for potential improvements","isSidechain":true,"userType":"external"}"#;
const RESPONSE: &str = r#"{"type":"assistant","uuid":"msg-003","parentUuid":"msg-002","timestamp":"2025-01-27T10:00:10Z","sessionId":"session-123","message":"I'll help you create a Python script.","subtype":"response"}"#;
const TOOL_USE: &str = r##"{"type":"assistant","uuid":"msg-004","parentUuid":"msg-003","timestamp":"2025-01-27T10:00:15Z","sessionId":"session-123","subtype":"tool_use","toolName":"Write","toolArguments":{"file_path":"/path/to/script.py","content":"#!/usr/bin/env python3\n..."}}"##;
const TOOL_RESULT: &str = r#"{"type":"system","uuid":"msg-006","parentUuid":"msg-005","timestamp":"2025-01-27T10:00:25Z","sessionId":"session-123","subtype":"tool_result","message":"File created successfully at: /path/to/script.py"}"#;
const ERROR: &str = r#"{"type":"system","uuid":"msg-007","parentUuid":"msg-006","timestamp":"2025-01-27T10:00:30Z","sessionId":"session-123","message":"Error: Permission denied writing to /protected/path","isError":true,"subtype":"error"}"#;
const COMPACTING: &str = r#"{"type":"compact_system","uuid":"msg-009","parentUuid":"msg-008","timestamp":"2025-01-27T10:00:40Z","sessionId":"session-123","message":"conversation_compacting"}"#;
const COMPACTED: &str = r#"{"type":"compact_system","uuid":"msg-010","parentUuid":"msg-009","timestamp":"2025-01-27T10:00:45Z","sessionId":"session-123","message":"conversation_compacted","metadata":{"preservedMessages":15,"totalMessages":150,"compressionRatio":0.1}}"#;

fn entry(line: &str) -> Entry {
    Entry::decode(line.as_bytes()).unwrap()
}

/// The errors of a strict check, as `line rule`.
fn errors(lines: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    check::source(lines.join("\n").as_bytes(), Some(Profile::Strict), |finding| {
        if finding.severity == Severity::Error {
            found.push(format!("{} {}", finding.place.line, finding.rule));
        }
    })
    .unwrap();
    found
}

/// An example without its references.
fn root(line: &str) -> String {
    let parent = line.find("\"parentUuid\"").unwrap();
    let end = parent + line[parent..].find(',').unwrap() + 1;
    format!("{}{}", &line[..parent], &line[end..])
}

/// An example as a root, with one change.
fn changed(line: &str, from: &str, to: &str) -> String {
    assert!(line.contains(from), "{line} lacks {from}");
    root(line).replacen(from, to, 1)
}

#[test]
fn s1_1_there_are_four_types() {
    for (name, kind) in [
        ("user", EntryKind::User),
        ("assistant", EntryKind::Assistant),
        ("system", EntryKind::System),
        ("compact_system", EntryKind::CompactSystem),
    ] {
        let line = format!(
            r#"{{"type":"{name}","uuid":"u","timestamp":"2025-01-27T10:00:00Z","sessionId":"s","message":"conversation_restored"}}"#
        );
        assert_eq!(entry(&line).kind(), kind);
        assert_eq!(entry(&line).dialect(), Dialect::Seed);
        assert_eq!(errors(&[&line]), [""; 0], "{name}");
        let fifth = line.replace(name, "tool");
        assert_eq!(errors(&[&fifth]), ["1 shape-matches-type"]);
    }
}

#[test]
fn s1_2_a_user_entry_has_four_keys_and_may_have_four_more() {
    let EntryBody::User(user) = entry(CLAUDE_AS_USER).body() else { panic!("no user entry") };
    let envelope = &user.envelope;
    assert_eq!(envelope.uuid.as_deref(), Some("msg-002"));
    assert_eq!(envelope.session_id.as_deref(), Some("session-123"));
    assert_eq!(entry(CLAUDE_AS_USER).timestamp().as_deref(), Some("2025-01-27T10:00:05Z"));
    assert_eq!(user.message.as_ref().unwrap().text(), "Analyze this code for potential improvements");
    assert_eq!(envelope.parent_uuid.as_deref(), Some("msg-001"));
    assert_eq!(envelope.is_sidechain, Some(true));
    assert_eq!(envelope.user_type.as_deref(), Some("external"));
    let bare =
        r#"{"type":"user","uuid":"u","timestamp":"2025-01-27T10:00:00Z","sessionId":"s","message":"Hi"}"#;
    assert_eq!(errors(&[bare]), [""; 0]);
}

#[test]
fn s1_3_the_human_example_reads() {
    let human = entry(HUMAN);
    assert_eq!(human.text(), "Please help me write a Python script");
    assert_eq!(human.parent_uuid().as_deref(), Some("msg-000"));
    assert!(!human.is_sidechain());
    assert_eq!(errors(&[&root(HUMAN)]), [""; 0]);
}

#[test]
fn s1_4_the_example_of_claude_as_user_reads_and_is_claudes() {
    let claude = entry(CLAUDE_AS_USER);
    assert_eq!(claude.kind(), EntryKind::User);
    assert_eq!(claude.text(), "Analyze this code for potential improvements");
    assert!(claude.flags().is_sidechain);
    assert_eq!(errors(&[&root(CLAUDE_AS_USER)]), [""; 0]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session-123.jsonl");
    std::fs::write(&path, format!("{}\n{CLAUDE_AS_USER}\n", root(HUMAN))).unwrap();
    let session = Session::open(&SessionFiles::of_file(&path).unwrap()).unwrap();
    let actors: Vec<Actor<'_>> = session.ids().map(|id| session.actor(id)).collect();
    assert_eq!(actors, [Actor::User, Actor::ClaudeAsUser]);
}

#[test]
fn s1_5_an_assistant_entry_has_four_keys_and_may_have_six_more() {
    let EntryBody::Assistant(call) = entry(TOOL_USE).body() else { panic!("no assistant entry") };
    assert_eq!(call.envelope.parent_uuid.as_deref(), Some("msg-003"));
    assert_eq!(call.subtype, Some(AssistantSubtype::TOOL_USE));
    assert_eq!(call.tool_name.as_deref(), Some("Write"));
    assert!(call.tool_arguments.as_ref().unwrap().raw().is_object());
    assert_eq!(call.message, None);
    let bare = r#"{"type":"assistant","uuid":"u","timestamp":"2025-01-27T10:00:00Z","sessionId":"s","isSidechain":true}"#;
    assert_eq!(errors(&[bare]), [""; 0]);
}

#[test]
fn s1_6_assistant_subtypes_are_five() {
    let names = ["response", "tool_use", "thinking", "command", "error"];
    assert_eq!(AssistantSubtype::KNOWN, names);
    for (name, subtype) in [
        ("response", AssistantSubtype::RESPONSE),
        ("thinking", AssistantSubtype::THINKING),
        ("command", AssistantSubtype::COMMAND),
        ("error", AssistantSubtype::ERROR),
    ] {
        let line = changed(RESPONSE, "response", name);
        let EntryBody::Assistant(said) = entry(&line).body() else { panic!("no assistant entry") };
        assert_eq!(said.subtype, Some(subtype));
        assert_eq!(entry(&line).text(), "I'll help you create a Python script.");
        assert_eq!(errors(&[&line]), [""; 0]);
    }
    assert_eq!(errors(&[&changed(RESPONSE, "\"response\"", "\"musing\"")]), ["1 shape-matches-type"]);
}

#[test]
fn s1_7_the_response_example_reads() {
    assert_eq!(entry(RESPONSE).text(), "I'll help you create a Python script.");
    assert_eq!(entry(RESPONSE).subtype().as_deref(), Some("response"));
    assert_eq!(errors(&[&root(RESPONSE)]), [""; 0]);
}

#[test]
fn s1_8_the_tool_example_reads() {
    let entry = entry(TOOL_USE);
    let calls = entry.tool_calls();
    assert_eq!(calls.len(), 1);
    assert_eq!((&*calls[0].id, &*calls[0].name), ("msg-004", "Write"));
    let argument = |key| calls[0].input.get(key).and_then(Raw::text).unwrap().get().into_owned();
    assert_eq!(argument("file_path"), "/path/to/script.py");
    assert_eq!(argument("content"), "#!/usr/bin/env python3\n...");
    assert_eq!(errors(&[&root(TOOL_USE)]), [""; 0]);
}

#[test]
fn s1_9_the_tools_of_the_page_have_their_families() {
    for (expected, names) in [
        (ToolFamily::File, &["Read", "Write", "Edit", "MultiEdit"][..]),
        (ToolFamily::Command, &["Bash", "BashOutput", "KillShell"]),
        (ToolFamily::Search, &["Grep", "Glob"]),
        (ToolFamily::Web, &["WebFetch", "WebSearch"]),
        (ToolFamily::Task, &["TodoWrite"]),
        (ToolFamily::SlashCommand, &["SlashCommand"]),
        (ToolFamily::SubAgent, &["Task"]),
    ] {
        for name in names {
            assert_eq!(family(name), expected, "{name}");
            let line = changed(TOOL_USE, "\"Write\"", &format!("\"{name}\""));
            assert_eq!(entry(&line).tool_calls()[0].name, *name);
        }
    }
}

#[test]
fn s1_10_a_system_entry_has_four_keys_and_may_have_five_more() {
    let line = r#"{"type":"system","uuid":"u","timestamp":"2025-01-27T10:00:00Z","sessionId":"s","message":"ready","parentUuid":null,"isError":false,"isMeta":true,"subtype":"meta"}"#;
    let EntryBody::System(system) = entry(line).body() else { panic!("no system entry") };
    assert_eq!(system.message.as_ref().unwrap().text(), "ready");
    assert_eq!((system.envelope.is_error, system.envelope.is_meta), (Some(false), Some(true)));
    assert_eq!(system.subtype, Some(SystemSubtype::META));
    assert_eq!(system.envelope.parent_uuid, None);
    assert_eq!(errors(&[line]), [""; 0]);
}

#[test]
fn s1_11_system_subtypes_are_three_or_none() {
    let plain = r#"{"type":"system","uuid":"u","timestamp":"2025-01-27T10:00:00Z","sessionId":"s","message":"ready"}"#;
    assert_eq!(errors(&[plain]), [""; 0]);
    assert_eq!(entry(plain).subtype(), None);
    for (more, found) in [
        (r#""subtype":"tool_result""#, None),
        (r#""subtype":"error","isError":true"#, None),
        (r#""subtype":"error""#, Some("1 shape-matches-type")),
        (r#""subtype":"meta","isMeta":true"#, None),
        (r#""subtype":"meta","isMeta":false"#, Some("1 shape-matches-type")),
        (r#""subtype":"weather""#, Some("1 shape-matches-type")),
    ] {
        let line = plain.replace('}', &format!(",{more}}}"));
        assert_eq!(errors(&[&line]), Vec::from_iter(found), "{more}");
    }
}

#[test]
fn s1_12_the_tool_result_example_reads() {
    let entry = entry(TOOL_RESULT);
    let results = entry.tool_results();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].tool_use_id, None);
    assert!(!results[0].is_error);
    assert_eq!(entry.text(), "File created successfully at: /path/to/script.py");
    assert_eq!(errors(&[&root(TOOL_RESULT)]), [""; 0]);
}

#[test]
fn s1_13_the_error_example_reads() {
    assert!(entry(ERROR).flags().is_error);
    assert_eq!(entry(ERROR).text(), "Error: Permission denied writing to /protected/path");
    assert_eq!(errors(&[&root(ERROR)]), [""; 0]);
}

#[test]
fn s1_14_a_compact_system_entry_has_five_keys_and_may_have_two_more() {
    let EntryBody::CompactSystem(step) = entry(COMPACTING).body() else { panic!("no compaction") };
    assert_eq!(step.envelope.parent_uuid.as_deref(), Some("msg-008"));
    assert_eq!(step.operation, Some(CompactOperation::COMPACTING));
    assert_eq!(step.metadata, None);
    assert_eq!(errors(&[&root(COMPACTING)]), [""; 0]);
    let silent = changed(COMPACTING, r#","message":"conversation_compacting""#, "");
    assert_eq!(errors(&[&silent]), ["1 required-field"]);
}

#[test]
fn s1_15_compaction_has_four_operations() {
    for (name, operation) in [
        ("conversation_compacting", CompactOperation::COMPACTING),
        ("conversation_compacted", CompactOperation::COMPACTED),
        ("conversation_restoring", CompactOperation::RESTORING),
        ("conversation_restored", CompactOperation::RESTORED),
    ] {
        let line = changed(COMPACTED, "conversation_compacted", name);
        let EntryBody::CompactSystem(step) = entry(&line).body() else { panic!("no compaction") };
        assert_eq!(step.operation, Some(operation));
        assert_eq!(errors(&[&line]), [""; 0]);
    }
    assert_eq!(errors(&[&changed(COMPACTING, "compacting", "shrinking")]), ["1 shape-matches-type"]);
}

#[test]
fn s1_16_compacted_has_its_statistics() {
    let EntryBody::CompactSystem(step) = entry(COMPACTED).body() else { panic!("no compaction") };
    assert_eq!(step.metadata, Some(CompactStatistics::new(15, 150, 0.1)));
    assert_eq!(errors(&[&root(COMPACTED)]), [""; 0]);
}

#[test]
fn s1_20_five_flags_can_stand_on_any_entry() {
    for line in [HUMAN, RESPONSE, TOOL_USE, TOOL_RESULT, COMPACTING] {
        let flags = r#""isSidechain":true,"isDeleted":true,"isAborted":true,"isMeta":true,"isError":true"#;
        let all = entry(&format!("{},{flags}}}", root(line).strip_suffix('}').unwrap())).flags();
        assert!(
            all.is_sidechain && all.is_deleted && all.is_aborted && all.is_meta && all.is_error,
            "{line}"
        );
        let none = entry(line).flags();
        assert!(
            !none.is_sidechain && !none.is_deleted && !none.is_aborted && !none.is_meta && !none.is_error
        );
        let wrong = format!("{},\"isDeleted\":\"yes\"}}", root(line).strip_suffix('}').unwrap());
        assert_eq!(errors(&[&wrong]), ["1 shape-matches-type"]);
    }
}

#[test]
fn s1_27_each_type_has_its_required_fields() {
    for line in [HUMAN, RESPONSE, TOOL_RESULT, COMPACTING] {
        for (key, rules) in [
            ("type", &["1 required-field"][..]),
            ("uuid", &["1 required-field"]),
            ("timestamp", &["1 required-field"]),
            ("sessionId", &["1 required-field"]),
        ] {
            let without = root(line).replacen(&format!("\"{key}\":"), &format!("\"no-{key}\":"), 1);
            assert_eq!(errors(&[&without]), rules, "{key} in {line}");
            let null = Json::parse(&without)
                .unwrap()
                .to_string()
                .replace(&format!("\"no-{key}\":"), &format!("\"{key}\":null,\"x\":"));
            assert!(errors(&[&null]).contains(&"1 required-field".to_owned()), "{key} in {line}");
        }
    }
}

#[test]
fn s1_28_some_fields_are_required_because_of_others() {
    let no_message = |line| changed(line, "\"message\":", "\"text\":");
    assert_eq!(errors(&[&no_message(HUMAN)]), ["1 conditional-field"]);
    assert_eq!(
        errors(&[&no_message(HUMAN).replace("\"text\"", "\"subtype\":\"command\",\"text\"")]),
        [""; 0]
    );
    assert_eq!(errors(&[&no_message(TOOL_RESULT)]), ["1 conditional-field"]);
    assert_eq!(errors(&[&no_message(RESPONSE)]), [""; 0]);
    assert_eq!(errors(&[&changed(TOOL_USE, "\"toolName\"", "\"tool\"")]), ["1 complete-tool-call"]);
    assert_eq!(errors(&[&changed(TOOL_USE, "\"toolArguments\"", "\"args\"")]), ["1 complete-tool-call"]);
    assert_eq!(errors(&[&changed(COMPACTED, "\"metadata\"", "\"about\"")]), ["1 conditional-field"]);
    assert_eq!(errors(&[&root(COMPACTING)]), [""; 0]);
}

#[test]
fn s1_29_a_uuid_is_used_once() {
    let (first, other) = (root(HUMAN), changed(RESPONSE, "msg-003", "msg-001"));
    assert_eq!(errors(&[&first, &root(RESPONSE), &other]), ["3 unique-uuid"]);
    assert_eq!(errors(&[&first, &first, &first]), ["2 unique-uuid", "3 unique-uuid"]);
}

#[test]
fn s1_30_timestamps_are_iso_8601() {
    for (timestamp, fits) in [
        ("\"2025-01-27T10:00:00Z\"", true),
        ("\"2025-01-27T10:00:00.123+02:00\"", true),
        ("\"2025-01-27 10:00:00\"", false),
        ("\"27.01.2025\"", false),
        ("\"2025-02-30T10:00:00Z\"", false),
        ("1737972000000", false),
    ] {
        let line = changed(HUMAN, "\"2025-01-27T10:00:00Z\"", timestamp);
        let expected = if fits { vec![] } else { vec!["1 iso-timestamp"] };
        assert_eq!(errors(&[&line]), expected, "{timestamp}");
    }
}

#[test]
fn s1_31_a_parent_exists_or_is_null() {
    assert_eq!(errors(&[HUMAN]), ["1 known-parent"]);
    assert_eq!(errors(&[&changed(HUMAN, "\"type\"", "\"parentUuid\":null,\"type\"")]), [""; 0]);
    let reply = RESPONSE.replace("msg-002", "msg-001");
    assert_eq!(errors(&[&root(HUMAN), &reply]), [""; 0]);
    // It may come later in the file.
    assert_eq!(errors(&[&reply, &root(HUMAN)]), [""; 0]);
}

#[test]
fn s1_32_the_structure_matches_the_type() {
    for line in [
        changed(HUMAN, "\"Please help me write a Python script\"", "17"),
        changed(HUMAN, "\"Please help me write a Python script\"", "{\"role\":\"user\",\"content\":\"Hi\"}"),
        changed(HUMAN, "\"message\"", "\"toolName\":\"Read\",\"message\""),
        changed(RESPONSE, "\"message\"", "\"metadata\":{},\"message\""),
        changed(RESPONSE, "\"message\"", "\"toolName\":\"Read\",\"toolArguments\":{},\"message\""),
        changed(
            TOOL_USE,
            "{\"file_path\":\"/path/to/script.py\",\"content\":\"#!/usr/bin/env python3\\n...\"}",
            "\"-r\"",
        ),
        changed(TOOL_USE, "\"Write\"", "5"),
        changed(COMPACTED, "{\"preservedMessages\":15,\"totalMessages\":150,\"compressionRatio\":0.1}", "[]"),
        changed(HUMAN, "\"session-123\"", "123"),
        changed(CLAUDE_AS_USER, "true", "\"true\""),
    ] {
        let found = errors(&[&line]);
        assert!(found.contains(&"1 shape-matches-type".to_owned()), "{line}: {found:?}");
    }
}

#[test]
fn s1_33_a_tool_call_is_complete() {
    for (from, to) in [
        ("\"toolName\":\"Write\",", ""),
        ("\"toolName\":\"Write\"", "\"toolName\":null"),
        ("\"toolName\":\"Write\"", "\"toolName\":\"\""),
        ("\"toolArguments\"", "\"arguments\""),
        ("\"subtype\":\"tool_use\",\"toolName\":\"Write\",", ""),
    ] {
        assert_eq!(errors(&[&changed(TOOL_USE, from, to)]), ["1 complete-tool-call"], "{from} -> {to}");
    }
}

#[test]
fn s1_34_the_sidechain_flag_is_consistent() {
    let line = |kind: &str, uuid: &str, parent: &str, side: bool| {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"timestamp":"2025-01-27T10:00:00Z","sessionId":"s","message":"m","isSidechain":{side}}}"#
        )
    };
    let good = [
        line("user", "1", "", false),
        line("assistant", "2", "1", false),
        line("user", "3", "2", true),
        line("assistant", "4", "3", true),
        line("assistant", "5", "4", false),
    ];
    let of = |lines: &[String]| errors(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(of(&good), [""; 0]);
    // The sub-agent's answer is not marked.
    let mut bad = good.clone();
    bad[3] = line("assistant", "4", "3", false);
    assert_eq!(of(&bad), ["4 sidechain-flag"]);
    // An answer is marked, and its prompt is not.
    let mut bad = good.clone();
    bad[1] = line("assistant", "2", "1", true);
    assert_eq!(of(&bad), ["2 sidechain-flag"]);
    // The model is the user, and the entry is not marked as a sidechain.
    let unmarked = changed(CLAUDE_AS_USER, "\"isSidechain\":true,", "");
    assert_eq!(errors(&[&unmarked]), ["1 sidechain-flag"]);
}

#[test]
fn s1_48_malformed_lines_are_skipped_and_reported_with_their_numbers() {
    let second = RESPONSE.replace("msg-002", "msg-001");
    let text = [&*root(HUMAN), "{\"type\":\"user\",\"uuid\":", "", "nonsense", &second, "{\"type\":\"assi"]
        .join("\n");
    let mut found = Vec::new();
    let report = check::source(text.as_bytes(), Some(Profile::Strict), |finding| {
        found.push((finding.place.line, finding.place.offset, finding.rule.as_str(), finding.severity));
    })
    .unwrap();
    let offset = |part: &str| text.find(part).unwrap() as u64;
    assert_eq!(
        found,
        [
            (2, offset("{\"type\":\"user\",\"uuid\":\n"), "cut-line", Severity::Error),
            (4, offset("nonsense"), "not-an-object", Severity::Error),
            (6, text.rfind('\n').unwrap() as u64 + 1, "torn-tail", Severity::Warning),
        ]
    );
    assert_eq!((report.lines, report.entries, report.damaged, report.blank), (6, 2, 3, 1));
    assert_eq!(report.dialect(), "seed");
}

/// A session with every shape of the page.
fn session() -> Vec<EntryBody> {
    let at = |number: u8| {
        let envelope = Envelope::seed(
            format!("msg-{number:03}"),
            format!("2025-01-27T10:00:{number:02}Z"),
            "session-123",
        );
        if number == 1 { envelope } else { envelope.after(format!("msg-{:03}", number - 1)) }
    };
    vec![
        EntryBody::seed_user(at(1), "Please help me write a Python script"),
        EntryBody::seed_assistant(at(2), AssistantSubtype::THINKING, "A script, then."),
        EntryBody::seed_assistant(at(3), AssistantSubtype::RESPONSE, "I'll help you create a Python script."),
        EntryBody::seed_tool_use(
            at(4),
            "Write",
            Json::parse(r#"{"file_path":"/a.py","content":"1"}"#).unwrap(),
        ),
        EntryBody::seed_tool_result(at(5), "File created successfully at: /a.py"),
        EntryBody::seed_tool_use(
            at(6),
            "Task",
            Json::parse(r#"{"subagent_type":"Explore","prompt":"Look"}"#).unwrap(),
        ),
        EntryBody::seed_user(at(7).in_sidechain().from_model(), "Look"),
        EntryBody::seed_assistant(at(8).in_sidechain(), AssistantSubtype::RESPONSE, "Looked."),
        EntryBody::seed_tool_result(at(9), "Looked."),
        EntryBody::seed_tool_use(at(10), "Bash", Json::parse(r#"{"command":"rm /etc/x"}"#).unwrap()),
        EntryBody::seed_error(at(11), "Error: Permission denied"),
        EntryBody::seed_assistant(at(12), AssistantSubtype::ERROR, "That is not allowed."),
        EntryBody::seed_meta(at(13), "model: example"),
        EntryBody::seed_system(at(14), None, "Ready"),
        EntryBody::seed_user(at(15), "/compact"),
        EntryBody::seed_assistant(at(16), AssistantSubtype::COMMAND, "/compact"),
        EntryBody::seed_compact(at(17), CompactOperation::COMPACTING, None),
        EntryBody::seed_compact(
            at(18),
            CompactOperation::COMPACTED,
            Some(CompactStatistics::new(15, 150, 0.1)),
        ),
        EntryBody::seed_compact(at(19), CompactOperation::RESTORING, None),
        EntryBody::seed_compact(at(20), CompactOperation::RESTORED, None),
        EntryBody::seed_assistant(at(21), AssistantSubtype::RESPONSE, "Here we are again."),
    ]
}

#[test]
fn a_whole_session_of_the_page_can_be_written_and_keeps_its_rules() {
    let lines: Vec<String> = session().iter().map(EntryBody::to_line).collect();
    let mut found = Vec::new();
    let report = check::source(lines.join("\n").as_bytes(), Some(Profile::Strict), |finding| {
        found.push(finding.clone());
    })
    .unwrap();
    assert_eq!(found, []);
    assert_eq!((report.lines, report.entries, report.dialect()), (21, 21, "seed"));
    for (line, body) in lines.iter().zip(session()) {
        assert_eq!(entry(line).body(), body);
        assert_eq!(entry(line).dialect(), Dialect::Seed);
    }
}
