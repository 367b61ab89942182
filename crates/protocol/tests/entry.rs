//! Lines of session files: typed, lossless, in every dialect.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tidings_protocol::DecodeErrorKind;
use tidings_protocol::entry::{
    AssistantSubtype, CompactOperation, CompactStatistics, Dialect, Entry, EntryBody, EntryKind,
    EntryMessage, EntryRef, Envelope, Flags, Timestamp,
};
use tidings_protocol::json::{Json, Raw, same_json};
use tidings_protocol::view::Block;

/// Every JSON example of the session specification.
const SEED: &str = include_str!("fixtures/entries/seed-001.ndjson");
/// Lines of recorded sessions that together have every key of every kind.
const REAL: &str = include_str!("fixtures/entries/real.ndjson");
/// Lines written from the known shapes, for kinds that no recorded session has.
const DOCUMENTED: &str = include_str!("fixtures/entries/documented.ndjson");
/// Lines in the form of the later revision of the specification.
const REWRITE: &str = include_str!("fixtures/entries/rewrite.ndjson");

/// Checks that a line is typed completely, and round-trips.
fn check(line: &str, dialect: Dialect) {
    let entry = EntryRef::decode(line.as_bytes()).expect(line);
    let typed = entry.typed();
    assert!(!matches!(typed.body, EntryBody::Unknown(_)), "{:?}\n{line}", typed.body);
    assert!(typed.refused.is_empty(), "{:?}\n{line}", typed.refused);
    assert_eq!(entry.dialect(), dialect, "{line}");
    assert_eq!(typed.body.kind(), entry.kind());
    assert_lossless(line, &typed.body);
}

fn assert_lossless(line: &str, body: &EntryBody) {
    let written = body.to_line();
    let written = Raw::parse(&written).expect("a body writes JSON");
    assert!(same_json(Raw::parse(line).expect(line), written), "came: {line}\nwent: {written}");
    let again = Entry::from_body(body);
    assert_eq!(again.body(), *body, "{line}");
}

#[test]
fn seed_001_examples_are_typed_and_lossless() {
    assert_eq!(SEED.lines().count(), 8);
    for line in SEED.lines() {
        check(line, Dialect::Seed);
    }
}

/// The shipped lines, and all sessions below the folder that `TIDINGS_CORPUS` names.
#[test]
fn recorded_lines_are_typed_and_lossless() {
    let mut texts = vec![REAL.to_owned()];
    if let Some(root) = std::env::var_os("TIDINGS_CORPUS") {
        let mut files = Vec::new();
        session_files(Path::new(&root), false, &mut files);
        assert!(!files.is_empty(), "no transcripts below TIDINGS_CORPUS");
        texts.extend(files.iter().map(|file| fs::read_to_string(file).unwrap()));
    }
    for line in texts.iter().flat_map(|text| text.lines()).filter(|line| !line.trim().is_empty()) {
        check(line, Dialect::Real);
    }
}

#[test]
fn documented_lines_are_typed_and_lossless() {
    for line in DOCUMENTED.lines() {
        check(line, Dialect::Real);
    }
    for line in REWRITE.lines() {
        check(line, Dialect::Rewrite);
    }
}

#[test]
fn every_kind_has_an_example() {
    let seen: BTreeSet<EntryKind> = [SEED, REAL, DOCUMENTED, REWRITE]
        .into_iter()
        .flat_map(str::lines)
        .map(|line| EntryRef::decode(line.as_bytes()).unwrap().kind())
        .collect();
    for kind in EntryKind::KNOWN {
        assert!(seen.contains(kind), "{kind}");
    }
}

#[test]
fn chained_entries_are_those_with_a_uuid() {
    for line in [SEED, REAL, DOCUMENTED, REWRITE].into_iter().flat_map(str::lines) {
        let entry = EntryRef::decode(line.as_bytes()).unwrap();
        assert_eq!(entry.kind().is_chained(), entry.uuid().is_some(), "{line}");
        assert_eq!(entry.is_chained(), entry.uuid().is_some(), "{line}");
        assert_eq!(entry.body().envelope().is_some(), entry.is_chained(), "{line}");
    }
}

fn session_files(dir: &Path, in_transcript: bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() {
            session_files(&path, in_transcript || path.ends_with("transcript"), found);
        } else if in_transcript && path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(path);
        }
    }
}

#[test]
fn every_prefix_of_a_line_is_an_error() {
    for line in SEED.lines().chain(REAL.lines().step_by(9)).chain(REWRITE.lines()) {
        for end in 0..line.len() {
            assert!(EntryRef::decode(&line.as_bytes()[..end]).is_err(), "{end} bytes of {line}");
        }
    }
}

#[test]
fn examples_of_the_specification_can_be_written() {
    let at = |second: u32, number: u32| {
        Envelope::seed(format!("msg-{number:03}"), format!("2025-01-27T10:00:{second:02}Z"), "session-123")
            .after(format!("msg-{:03}", number - 1))
    };
    let arguments =
        Json::parse(r##"{"file_path":"/path/to/script.py","content":"#!/usr/bin/env python3\n..."}"##);
    let statistics = CompactStatistics::new(15, 150, 0.1);
    let written = [
        EntryBody::seed_user(at(0, 1), "Please help me write a Python script"),
        EntryBody::seed_user(
            at(5, 2).in_sidechain().from_model(),
            "Analyze this code for potential improvements",
        ),
        EntryBody::seed_assistant(
            at(10, 3),
            AssistantSubtype::RESPONSE,
            "I'll help you create a Python script.",
        ),
        EntryBody::seed_tool_use(at(15, 4), "Write", arguments.unwrap()),
        EntryBody::seed_tool_result(at(25, 6), "File created successfully at: /path/to/script.py"),
        EntryBody::seed_error(at(30, 7), "Error: Permission denied writing to /protected/path"),
        EntryBody::seed_compact(at(40, 9), CompactOperation::COMPACTING, None),
        EntryBody::seed_compact(at(45, 10), CompactOperation::COMPACTED, Some(statistics)),
    ];
    assert_eq!(written.len(), SEED.lines().count());
    for (line, body) in SEED.lines().zip(&written) {
        assert_lossless(line, body);
        assert_eq!(EntryRef::decode(line.as_bytes()).unwrap().body(), *body);
    }
}

#[test]
fn entries_of_the_specification_read_like_real_ones() {
    let entries: Vec<_> = SEED.lines().map(|line| EntryRef::decode(line.as_bytes()).unwrap()).collect();
    assert_eq!(entries[0].text(), "Please help me write a Python script");
    assert_eq!(entries[0].parent_uuid().as_deref(), Some("msg-000"));
    assert!(entries[1].is_sidechain() && entries[1].flags().is_sidechain);
    let [call] = &entries[3].tool_calls()[..] else { panic!("one call") };
    assert_eq!((&*call.id, &*call.name), ("msg-004", "Write"));
    assert_eq!(call.input.get("file_path").unwrap().text().unwrap(), "/path/to/script.py");
    let [result] = &entries[4].tool_results()[..] else { panic!("one result") };
    assert_eq!(result.tool_use_id, None);
    assert!(!result.is_error);
    assert_eq!(result.content.unwrap().text().unwrap(), "File created successfully at: /path/to/script.py");
    assert_eq!(entries[4].name(), "system/tool_result");
    assert!(entries[5].flags().is_error);
    assert!(entries[5].tool_results().is_empty());
    // The operation is not text.
    assert_eq!(entries[6].text(), "");
    let EntryBody::CompactSystem(compacted) = entries[7].body() else { panic!("compact_system") };
    assert_eq!(compacted.operation, Some(CompactOperation::COMPACTED));
    assert_eq!(compacted.metadata.as_ref().unwrap().total_messages, Some(150));
}

#[test]
fn flags_are_read_on_any_entry() {
    for kind in ["user", "assistant", "system", "compact_system", "tag", "new-kind"] {
        let line = format!(
            r#"{{"type":"{kind}","isSidechain":true,"isDeleted":true,"isAborted":true,"isMeta":true,"isError":true}}"#
        );
        let flags = EntryRef::decode(line.as_bytes()).unwrap().flags();
        assert!(
            flags.is_sidechain && flags.is_deleted && flags.is_aborted && flags.is_meta && flags.is_error
        );
        let line = format!(r#"{{"type":"{kind}","isSidechain":false,"isError":null}}"#);
        assert_eq!(EntryRef::decode(line.as_bytes()).unwrap().flags(), Flags::default());
    }
}

#[test]
fn real_entries_answer_from_their_message() {
    let line = br#" {"parentUuid":null,"logicalParentUuid":"u-0","isSidechain":false,"type":"assistant","uuid":"u-1",
        "sessionId":"s-1","agentId":"a-1","requestId":"req_1","cwd":"/x","timestamp":"2026-01-01T00:00:00.000Z",
        "message":{"id":"msg_1","model":"m","role":"assistant","usage":{"input_tokens":3,"output_tokens":4},
        "content":[{"type":"text","text":"a\n"},{"type":"tool_use","id":"t-1","name":"Bash","input":{}}]}} "#;
    let entry = Entry::decode(line).unwrap();
    assert_eq!(entry.name(), "assistant");
    assert_eq!(entry.uuid().as_deref(), Some("u-1"));
    assert_eq!(entry.parent_uuid(), None);
    assert_eq!(entry.logical_parent_uuid().as_deref(), Some("u-0"));
    assert_eq!(entry.session_id().as_deref(), Some("s-1"));
    assert_eq!(entry.agent_id().as_deref(), Some("a-1"));
    assert_eq!(entry.request_id().as_deref(), Some("req_1"));
    assert_eq!(entry.cwd().as_deref(), Some("/x"));
    assert_eq!(entry.timestamp().as_deref(), Some("2026-01-01T00:00:00.000Z"));
    assert_eq!(entry.message_id().as_deref(), Some("msg_1"));
    assert_eq!(entry.model().as_deref(), Some("m"));
    assert_eq!(entry.usage().unwrap().output_tokens, 4);
    assert_eq!(entry.text(), "a\n");
    assert_eq!(entry.tool_calls()[0].id, "t-1");
    assert!(matches!(entry.content_blocks().next(), Some(Block::Text(_))));
    assert!(!entry.repaired());
    assert_eq!(entry.raw(), line.trim_ascii());
}

#[test]
fn results_attachments_and_the_request_log() {
    let real = |name: &str| {
        let mut lines = REAL.lines().map(|line| EntryRef::decode(line.as_bytes()).unwrap());
        lines.find(|entry| entry.name() == name).unwrap()
    };
    let result = REAL
        .lines()
        .map(|line| EntryRef::decode(line.as_bytes()).unwrap())
        .find(|entry| !entry.tool_results().is_empty())
        .unwrap();
    assert_eq!(result.kind(), EntryKind::User);
    assert!(result.tool_use_result().is_some());
    assert!(real("attachment").attachment_type().is_some());
    // It has a `message`, but not one of the conversation.
    let blob = real("api-request-blob");
    assert!(blob.get("message").is_some());
    assert_eq!(blob.content_blocks().count(), 0);
    let boundary = real("system/compact_boundary");
    assert!(boundary.logical_parent_uuid().is_some() && boundary.parent_uuid().is_none());
    let EntryBody::System(boundary) = boundary.body() else { panic!("system") };
    assert!(boundary.compact_metadata.as_ref().unwrap().pre_tokens.is_some());
}

#[test]
fn entries_of_the_later_revision_read_like_real_ones() {
    let entries: Vec<_> = REWRITE.lines().map(|line| EntryRef::decode(line.as_bytes()).unwrap()).collect();
    assert_eq!(entries[0].timestamp().as_deref(), Some("1738160130123"));
    assert_eq!(entries[0].text(), "Parse these files");
    assert_eq!(entries[1].tool_calls()[0].name, "Read");
    assert_eq!(entries[2].tool_results()[0].tool_use_id.as_deref(), Some("toolu_1"));
    let EntryBody::Human(human) = entries[0].body() else { panic!("human") };
    assert_eq!(human.envelope.timestamp, Some(Timestamp::Millis(1_738_160_130_123.0)));
    assert_eq!(human.message.as_ref().and_then(EntryMessage::api).unwrap().role, "user");
}

#[test]
fn an_edited_entry_keeps_what_it_does_not_know() {
    let line = r#"{"type":"user","parentUuid":null,"uuid":"u-1","cwd":7,"from":{"the":[1.50,"future"]},"isMeta":false,
        "message":{"role":"user","content":[{"type":"text","text":"a","new":null}],"odd":1},"sandboxed":"maybe"}"#;
    let entry = EntryRef::decode(line.as_bytes()).unwrap();
    let typed = entry.typed();
    let refused: Vec<_> = typed.refused.iter().map(|refused| refused.path.as_str()).collect();
    assert_eq!(refused, ["cwd", "sandboxed"]);
    assert_lossless(line, &typed.body);

    let EntryBody::User(mut user) = typed.body else { panic!("user") };
    user.envelope.parent_uuid = Some("u-0".to_owned());
    user.envelope.cwd = Some("/x".to_owned());
    user.sandboxed = Some(true);
    let edited = EntryBody::User(user).to_line();
    let expected = r#"{"type":"user","parentUuid":"u-0","uuid":"u-1","cwd":"/x","from":{"the":[1.5,"future"]},
        "isMeta":false,"message":{"role":"user","content":[{"type":"text","text":"a","new":null}],"odd":1},
        "sandboxed":true}"#;
    assert!(same_json(Raw::parse(&edited).unwrap(), Raw::parse(expected).unwrap()), "{edited}");
    // Nothing is written twice.
    assert_eq!(edited.matches("parentUuid").count(), 1);
    assert_eq!(edited.matches("\"cwd\"").count(), 1);
}

/// With any value under any key, the entry keeps its kind and loses nothing.
#[test]
fn odd_values_are_kept() {
    const ODD: [&str; 9] = [
        "null",
        "false",
        "-1",
        "1e400",
        "12345678901234567890123",
        "\"\\ud800\"",
        "[]",
        "[{\"a\":null}]",
        "{}",
    ];
    let lines = [SEED, REAL, DOCUMENTED, REWRITE].into_iter().flat_map(str::lines);
    // Long lines have no keys that short ones lack, but take most of the time.
    for line in lines.filter(|line| line.len() < 1200) {
        let json = Raw::parse(line).unwrap();
        for (odd_key, _) in json.members().filter(|(key, _)| *key != "type") {
            for odd in ODD {
                let members = json.members().map(|(key, value)| {
                    let value = if key == odd_key.escaped() { odd } else { value.as_str() };
                    format!("\"{}\":{value}", key.escaped())
                });
                let line = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
                let entry = EntryRef::decode(line.as_bytes()).unwrap();
                let body = entry.body();
                assert!(!matches!(body, EntryBody::Unknown(_)), "{line}");
                assert_lossless(&line, &body);
            }
        }
    }
}

#[test]
fn a_record_of_bookkeeping_can_be_edited() {
    let line = r#"{"type":"continued-in","sessionId":"s-1","x":1}"#;
    let EntryBody::Bookkeeping(mut record) = EntryRef::decode(line.as_bytes()).unwrap().body() else {
        panic!("bookkeeping")
    };
    record.fields.insert("x", &2_u64);
    assert_eq!(
        EntryBody::Bookkeeping(record).to_line(),
        r#"{"type":"continued-in","sessionId":"s-1","x":2}"#
    );
}

#[test]
fn unknown_entries_are_kept_whole() {
    for line in
        [r#"{"type":"brand-new","uuid":"u-1","a":[1e400]}"#, r#"{"uuid":"u-1"}"#, r#"{"type":7}"#, r"{}"]
    {
        let entry = EntryRef::decode(line.as_bytes()).unwrap();
        let EntryBody::Unknown(unknown) = entry.body() else { panic!("{line}") };
        assert_eq!(unknown.reason, None);
        assert_eq!(entry.dialect(), Dialect::Unknown);
        assert_lossless(line, &entry.body());
    }
}

#[test]
fn glued_and_damaged_lines_can_be_read() {
    let glued = br#"{"type":"mode","mode":"normal"}{"type":"tag","tag":"x"}"#;
    let error = EntryRef::decode(glued).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::Trailing);
    let kinds: Vec<_> = EntryRef::decode_glued(glued).unwrap().iter().map(EntryRef::kind).collect();
    assert_eq!(kinds, [EntryKind::Mode, EntryKind::Tag]);

    let damaged = b"{\"type\":\"tag\",\"tag\":\"\xff\"}\n";
    assert_eq!(Entry::decode(damaged).unwrap_err().kind, DecodeErrorKind::Utf8);
    let entry = Entry::decode_lossy(damaged).unwrap();
    assert!(entry.is_damaged());
    assert_eq!(entry.raw(), damaged.trim_ascii());
    assert_eq!(entry.kind(), EntryKind::Tag);

    let lone = Entry::decode(br#"{"type":"user","message":"\ud83d"}"#).unwrap();
    assert!(lone.repaired());
    assert_eq!(lone.text(), "\u{fffd}");
}

#[test]
fn keys_written_with_escapes_count() {
    let entry =
        Entry::decode(br#"{"\u0074ype":"tag","t\u0061g":"x","sessionId":"a","sessionId":"b"}"#).unwrap();
    assert_eq!(entry.kind(), EntryKind::Tag);
    assert_eq!(entry.session_id().as_deref(), Some("b"));
    let EntryBody::Tag(tag) = entry.body() else { panic!("tag") };
    assert_eq!(tag.tag.as_deref(), Some("x"));
    assert_eq!(tag.session_id.as_deref(), Some("b"));
}

#[test]
fn serde_goes_through_the_same_text() {
    for line in SEED.lines().chain(REWRITE.lines()) {
        let body: EntryBody = serde_json::from_str(line).unwrap();
        let written = serde_json::to_string(&body).unwrap();
        assert!(same_json(Raw::parse(line).unwrap(), Raw::parse(&written).unwrap()));
    }
}

/// Readers of whole folders take the parts of a message from the positions noted by the check; a duplicate
/// key must not mix two messages.
#[test]
fn of_two_messages_in_one_entry_only_the_last_counts() {
    let line = concat!(
        r#"{"type":"assistant","message":{"id":"first","model":"m","usage":{"input_tokens":1},"content":"a"},"#,
        r#""message":{"content":"b","id":"sec\u006fnd"}}"#,
    );
    let entry = EntryRef::decode(line.as_bytes()).unwrap();
    assert_eq!(entry.message_id().as_deref(), Some("second"));
    assert_eq!((entry.model(), entry.usage()), (None, None));
    assert_eq!(entry.text(), "b");

    let line = r#"{"type":"assistant","message":{"id":"first","usage":{"input_tokens":1}},"message":7}"#;
    let entry = EntryRef::decode(line.as_bytes()).unwrap();
    assert_eq!((entry.message_id(), entry.usage()), (None, None));
}
