//! Sessions of opencode: the recorded database, other layouts, and another process that writes.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rusqlite::Connection;
use tidings_transcript::ErrorKind;
use tidings_transcript::agents::{AgentKind, AgentVersion, open};
use tidings_transcript::cost::{CostBy, Ledger, Prices, Query};
use tidings_transcript::export::{Format, Style};

use super::{assert_reading_changes_nothing, exported, hits, newest, records, state};

const ID: &str = "ses_e1529177bffesCK2l5fighO4jg";

/// A database with the recorded session, in a folder of its own.
fn database() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let rows = include_str!("../fixtures/agents/opencode/opencode.sql");
    let connection = Connection::open(folder.path().join("opencode.db")).unwrap();
    connection.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    connection.execute_batch(rows).unwrap();
    folder
}

fn change(root: &Path, statement: &str) {
    Connection::open(root.join("opencode.db")).unwrap().execute_batch(statement).unwrap();
}

#[test]
fn a_recorded_session_of_opencode_is_listed_shown_searched_and_exported() {
    let root = database();
    let (store, session, conversation) = newest(AgentKind::Opencode, root.path());
    assert_eq!(session.files.id, ID);
    assert_eq!(session.title(), Some("Notes about tulips"));
    assert_eq!(session.cwd.as_deref(), Some("/home/dev/demo"));
    assert_eq!(session.version, AgentVersion::Known("1.18.33".into()));
    assert_eq!((conversation.prompts, conversation.messages), (1, 3));
    assert!(conversation.report.unknown.is_empty(), "{:?}", conversation.report.unknown);
    let plain = Style { bold: "", dim: "", error: "", plain: "" };
    let text = exported(&session, &conversation, Format::Text(plain));
    for shown in ["What do my notes say?", "I read the notes first.", "bash", "cat notes.txt"] {
        assert!(text.contains(shown), "{shown} is missing in {text}");
    }
    let markdown = exported(&session, &conversation, Format::Markdown);
    assert!(markdown.starts_with("# Notes about tulips"), "{markdown}");
    assert_eq!(hits(&session, &conversation, "plant tulips"), ["2 Tool bash", "3 Assistant -"]);
    let rows = records(&*store, &session);
    assert_eq!(rows.len(), 1 + 3 + 8);
    let first: serde_json::Value = serde_json::from_str(&rows[0]).unwrap();
    assert_eq!((&first["table"], &first["slug"]), (&"session".into(), &"quick-river".into()));
}

#[test]
fn the_cost_that_opencode_recorded_is_the_cost_and_zero_is_unknown() {
    let root = database();
    let sum = |prices: &Prices| {
        let (_, session, conversation) = newest(AgentKind::Opencode, root.path());
        let mut ledger = Ledger::default();
        ledger.add_recorded(&session.files.id, "/home/dev/demo", &conversation.usage);
        let query = Query::new(CostBy::Session, jiff::tz::TimeZone::UTC, jiff::Timestamp::UNIX_EPOCH);
        ledger.report(prices, &query)
    };
    let report = sum(&Prices::built_in());
    assert_eq!((report.total.responses, report.total.cost.to_string().as_str()), (2, "0.00792"));
    assert_eq!(report.total.tokens.cache_write(), 1400);
    assert!(report.unpriced.is_empty());
    change(root.path(), "UPDATE message SET data = replace(data, '\"cost\":0.00396', '\"cost\":0')");
    let report = sum(&Prices::built_in());
    assert_eq!((report.unpriced[0].model.as_str(), report.unpriced[0].responses), ("claude-sonnet-4-5", 2));
}

#[test]
fn unknown_and_damaged_rows_of_opencode_are_reported_and_kept() {
    let root = database();
    change(
        root.path(),
        "INSERT INTO part SELECT 'prt_x1', message_id, session_id, 1, 1, '{\"type\":\"hologram\"}' FROM part LIMIT 1;
         INSERT INTO part SELECT 'prt_x2', message_id, session_id, 1, 1, '{\"type\":' FROM part LIMIT 1;
         INSERT INTO session_message SELECT 'sm_1', session_id, 'prompt', 1, 1, 1, '{\"text\":\"new\"}' FROM part LIMIT 1;
         UPDATE session SET version = '9.0.0'",
    );
    let (store, session, conversation) = newest(AgentKind::Opencode, root.path());
    let unknown: Vec<&str> = conversation.report.unknown.keys().map(String::as_str).collect();
    assert_eq!(unknown, ["part/hologram", "session_message/prompt"]);
    assert_eq!(conversation.report.damaged_lines, 1);
    assert_eq!(session.version, AgentVersion::Unknown("9.0.0".into()));
    assert!(exported(&session, &conversation, Format::Json).contains(r#""record":{"type":"hologram"}"#));
    assert_eq!(records(&*store, &session).len(), 12 + 3);
}

#[test]
fn an_undone_message_of_opencode_is_an_abandoned_branch() {
    let root = database();
    change(root.path(), "UPDATE session SET revert = '{\"messageID\":\"msg_1ead6f2a90017QgfdXEBIiuz61\"}'");
    let (_, session, conversation) = newest(AgentKind::Opencode, root.path());
    let markdown = exported(&session, &conversation, Format::Markdown);
    assert!(
        markdown.contains("I read the notes first.") && !markdown.contains("The notes say"),
        "{markdown}"
    );
}

#[test]
fn another_layout_of_the_database_is_an_error_with_a_reason() {
    let root = database();
    change(root.path(), "ALTER TABLE part RENAME COLUMN data TO contents");
    let scan = open(AgentKind::Opencode, root.path()).unwrap().scan().unwrap();
    assert_eq!(scan.unreadable[0].kind(), ErrorKind::Invalid);
    assert!(scan.unreadable[0].to_string().contains("no column `part.data`"), "{}", scan.unreadable[0]);
    fs::write(root.path().join("opencode-dev.db"), "not a database, but longer than a header of one")
        .unwrap();
    assert_eq!(open(AgentKind::Opencode, root.path()).unwrap().scan().unwrap().unreadable.len(), 2);
}

#[test]
fn reading_a_closed_database_changes_nothing() {
    let root = database();
    assert!(!root.path().join("opencode.db-wal").exists());
    assert_reading_changes_nothing(AgentKind::Opencode, root.path());
}

/// Not a test of its own: the process that writes while another reads.
#[test]
fn writer_process() {
    let Some(path) = std::env::var_os("TIDINGS_TEST_WRITES_DATABASE") else { return };
    let mut connection = Connection::open(path).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
    // A small log is checkpointed often.
    connection.execute_batch("PRAGMA wal_autocheckpoint = 4").unwrap();
    for number in 0.. {
        let transaction = connection.transaction().unwrap();
        let row = "INSERT INTO message SELECT 'msg_w' || ?1, id, ?1, ?1, '{\"role\":\"user\"}' FROM session";
        transaction.execute(row, [number]).unwrap();
        let row = "INSERT INTO part SELECT 'prt_w' || ?1, 'msg_w' || ?1, id, ?1, ?1, \
                   '{\"type\":\"text\",\"text\":\"Prompt\"}' FROM session";
        transaction.execute(row, [number]).unwrap();
        transaction.commit().unwrap();
        std::io::stdout().write_all(b"\nwritten\n").unwrap();
        std::io::stdout().flush().unwrap();
    }
}

/// Starts a process that writes until it is killed, and waits for its first rows.
fn writer(root: &Path) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "agents::opencode::writer_process", "--nocapture"])
        .env("TIDINGS_TEST_WRITES_DATABASE", root.join("opencode.db"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while line.trim() != "written" {
        line.clear();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "the writer ended");
    }
    (child, output)
}

#[test]
fn a_database_is_read_whole_while_another_process_writes_it() {
    let root = database();
    let (mut child, mut output) = writer(root.path());
    let drain = std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()).map(drop));
    let mut last = 0;
    for _ in 0..40 {
        let (_, _, conversation) = newest(AgentKind::Opencode, root.path());
        // The writer adds a message and its text together.
        assert_eq!(conversation.prompts + 2, conversation.report.records - conversation.prompts - 7);
        assert!(conversation.prompts >= last, "rows were lost");
        last = conversation.prompts;
    }
    assert!(last > 1, "nothing was written meanwhile");
    child.kill().unwrap();
    child.wait().unwrap();
    drain.join().unwrap().unwrap();
}

#[test]
fn reading_a_log_that_a_killed_process_left_changes_nothing() {
    let root = database();
    let (mut child, mut output) = writer(root.path());
    child.kill().unwrap();
    child.wait().unwrap();
    output.read_to_end(&mut Vec::new()).unwrap();
    assert!(root.path().join("opencode.db-wal").metadata().unwrap().len() > 0);
    assert_reading_changes_nothing(AgentKind::Opencode, root.path());
    let (_, _, conversation) = newest(AgentKind::Opencode, root.path());
    assert!(conversation.prompts > 1);
    // Without its index the log cannot be read without writing.
    fs::remove_file(root.path().join("opencode.db-shm")).unwrap();
    let before = state(root.path());
    let scan = open(AgentKind::Opencode, root.path()).unwrap().scan().unwrap();
    assert!(scan.unreadable[0].to_string().contains("without its index"), "{}", scan.unreadable[0]);
    assert_eq!(state(root.path()), before);
}

#[cfg(unix)]
#[test]
fn a_database_behind_a_link_is_not_read() {
    let outside = database();
    let root = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path().join("opencode.db"), root.path().join("opencode.db")).unwrap();
    assert!(open(AgentKind::Opencode, root.path()).unwrap().scan().unwrap().sessions.is_empty());
}
