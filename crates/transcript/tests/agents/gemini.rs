//! Sessions of Gemini CLI: recorded ones, older documents and damaged lines.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tidings_transcript::agents::{AgentKind, AgentVersion};
use tidings_transcript::export::{Format, Style};

use super::{assert_reading_changes_nothing, exported, hits, newest, records, sample};

const HEADER: &str = r#"{"sessionId":"5e55-1","projectHash":"abc","startTime":"2026-11-17T10:00:00.000Z","lastUpdated":"2026-11-17T10:00:00.000Z","kind":"main"}"#;

/// Writes a session file with these lines after a header.
fn chat(root: &Path, lines: &[&str]) -> PathBuf {
    let folder = root.join("tmp/shop/chats");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("session-2026-11-17T10-00-5e55.jsonl");
    let text: String =
        std::iter::once(HEADER).chain(lines.iter().copied()).flat_map(|line| [line, "\n"]).collect();
    fs::write(&path, text).unwrap();
    path
}

fn user(id: &str, text: &str) -> String {
    format!(
        r#"{{"id":"{id}","timestamp":"2026-11-17T10:00:01.000Z","type":"user","content":[{{"text":"{text}"}}]}}"#
    )
}

fn answer(id: &str, text: &str) -> String {
    format!(
        r#"{{"id":"{id}","timestamp":"2026-11-17T10:00:02.000Z","type":"gemini","content":"{text}","tokens":{{"input":100,"output":10,"cached":40,"thoughts":3,"tool":2,"total":115}},"model":"gemini-3-pro"}}"#
    )
}

#[test]
fn a_recorded_session_of_gemini_is_listed_shown_searched_and_exported() {
    let root = sample("gemini");
    let (store, session, conversation) = newest(AgentKind::Gemini, root.path());
    assert_eq!(session.files.id, "7839d9fc-e2da-44ea-954c-e974a0009043");
    assert_eq!(session.title(), Some("What do my notes say?"));
    assert_eq!(session.cwd.as_deref(), Some("/home/dev/demo"));
    assert_eq!(session.version, AgentVersion::NotRecorded);
    assert_eq!((conversation.prompts, conversation.messages), (1, 3));
    assert_eq!(conversation.model.as_deref(), Some("gemini-3.8-flash"));
    assert!(conversation.report.unknown.is_empty(), "{:?}", conversation.report.unknown);
    let plain = Style { bold: "", dim: "", error: "", plain: "" };
    let text = exported(&session, &conversation, Format::Text(plain));
    for shown in ["What do my notes say?", "read_file", "The notes say"] {
        assert!(text.contains(shown), "{shown} is missing in {text}");
    }
    assert!(!text.contains("session_context"), "{text}");
    let json = exported(&session, &conversation, Format::Json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["session"]["tools"]["read_file"], 1);
    assert_eq!(json["entries"][3]["results"][0]["text"], "plant tulips\n");
    assert_eq!(hits(&session, &conversation, "tulips"), ["5 Tool read_file", "10 Assistant -"]);
    assert_eq!(records(&*store, &session).len(), 11);
}

#[test]
fn tokens_of_gemini_are_those_of_the_last_version_of_a_message() {
    let root = tempfile::tempdir().unwrap();
    let partial = answer("m2", "Hi").replace("\"output\":10", "\"output\":1");
    chat(root.path(), &[&user("m1", "Hello"), &partial, &answer("m2", "Hi there")]);
    let (_, session, conversation) = newest(AgentKind::Gemini, root.path());
    let usage = &conversation.usage[0];
    assert_eq!((conversation.usage.len(), usage.model.as_str()), (1, "gemini-3-pro"));
    // Cached input is part of the input, thoughts are not part of the output.
    assert_eq!((usage.tokens.input, usage.tokens.cache_read, usage.tokens.output), (62, 40, 13));
    assert_eq!(usage.cost, None);
    assert!(exported(&session, &conversation, Format::Markdown).contains("Hi there"));
}

#[test]
fn a_rewind_of_gemini_is_an_abandoned_branch() {
    let root = tempfile::tempdir().unwrap();
    let rewind = r#"{"$rewindTo":"m3"}"#;
    chat(
        root.path(),
        &[&user("m1", "One"), &answer("m2", "First"), &user("m3", "Two"), &answer("m4", "Second"), rewind],
    );
    let (_, session, conversation) = newest(AgentKind::Gemini, root.path());
    let markdown = exported(&session, &conversation, Format::Markdown);
    assert!(markdown.contains("First") && !markdown.contains("Second"), "{markdown}");
    // What was rewound was paid for.
    assert_eq!(conversation.usage.len(), 2);
}

#[test]
fn patches_of_gemini_set_the_title_and_replace_the_messages() {
    let root = tempfile::tempdir().unwrap();
    let summary = r#"{"$set":{"summary":"Greetings"}}"#;
    let kept = user("m3", "Go on");
    let checkpoint =
        format!(r#"{{"$set":{{"messages":[{},{kept}],"lastUpdated":"x"}}}}"#, user("s1", "We greeted."));
    chat(root.path(), &[&user("m1", "Hello"), &answer("m2", "Hi"), &kept, summary, &checkpoint]);
    let (_, session, conversation) = newest(AgentKind::Gemini, root.path());
    assert_eq!(session.title(), Some("Greetings"));
    let markdown = exported(&session, &conversation, Format::Markdown);
    for shown in ["# Greetings", "Hello", "Compacted", "We greeted.", "Go on"] {
        assert!(markdown.contains(shown), "{shown} is missing in {markdown}");
    }
}

#[test]
fn torn_lines_and_unknown_kinds_of_gemini_are_reported_and_kept() {
    let root = tempfile::tempdir().unwrap();
    let path = chat(
        root.path(),
        &[
            &user("m1", "Hello"),
            r#"{"id":"m2","type":"hologram","content":"x"}"#,
            r#"{"$patch":{"a":1}}"#,
            r#"{"$set":{"mood":"good"}}"#,
        ],
    );
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"id\":\"m3\",\"ty").unwrap();
    let (store, session, conversation) = newest(AgentKind::Gemini, root.path());
    let unknown: Vec<&str> = conversation.report.unknown.keys().map(String::as_str).collect();
    assert_eq!(unknown, ["$patch", "header/mood", "message/hologram"]);
    assert_eq!(conversation.report.damaged[0].rule.as_str(), "torn-tail");
    assert_eq!(conversation.prompts, 1);
    let json = exported(&session, &conversation, Format::Json);
    assert!(json.contains(r#""record":{"id":"m2","type":"hologram","content":"x"}"#), "{json}");
    assert_eq!(records(&*store, &session).len(), 6);
}

#[test]
fn a_document_of_an_older_gemini_is_read_unless_it_was_continued() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("tmp/abc/chats");
    fs::create_dir_all(&folder).unwrap();
    let document = format!(
        "{{\n \"sessionId\": \"5e55-1\",\n \"projectHash\": \"abc\",\n \"startTime\": \"2025-10-01T10:00:00.000Z\",\n \"messages\": [{},\n{}]}}",
        user("m1", "Hello"),
        answer("m2", "Hi")
    );
    fs::write(folder.join("session-2025-10-01T10-00-5e55.json"), &document).unwrap();
    let (store, session, conversation) = newest(AgentKind::Gemini, root.path());
    assert_eq!((session.title(), conversation.messages), (Some("Hello"), 2));
    assert_eq!(records(&*store, &session).len(), 1);
    fs::write(folder.join("session-2025-10-01T10-00-5e55.jsonl"), HEADER).unwrap();
    assert_eq!(store.scan().unwrap().sessions.len(), 1);
}

#[test]
fn a_sub_agent_of_gemini_names_the_session_that_started_it() {
    let root = tempfile::tempdir().unwrap();
    let folder = chat(root.path(), &[&user("m1", "Hello")]).parent().unwrap().join("5e55-1");
    fs::create_dir(&folder).unwrap();
    let header = HEADER.replace("5e55-1", "sub-1").replace("main", "subagent");
    fs::write(folder.join("sub-1.jsonl"), format!("{header}\n{}\n", answer("a1", "Done"))).unwrap();
    let store = tidings_transcript::agents::open(AgentKind::Gemini, root.path()).unwrap();
    let scan = store.scan().unwrap();
    let sub = scan.find("sub-1").unwrap();
    assert_eq!(sub.parent.as_deref(), Some("5e55-1"));
    assert!(store.read(sub).unwrap().usage[0].sub_agent);
    assert_eq!(scan.sessions.len(), 2);
}

#[test]
fn reading_sessions_of_gemini_changes_nothing() {
    assert_reading_changes_nothing(AgentKind::Gemini, sample("gemini").path());
}
