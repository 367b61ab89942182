//! Findings of a check in files of the CLI.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tidings_transcript::check::{self, CheckEvent, CheckReport, Profile};
use tidings_transcript::roots::SessionFiles;
use tidings_transcript::{Finding, Severity};

/// A recorded session with three parallel tools.
const PARALLEL: &str = include_str!("fixtures/parallel.jsonl");
/// Its prompt, its three calls and their results, and the answer, by line.
const PROMPT: usize = 3;
const CALLS: [usize; 3] = [23, 24, 25];
const RESULTS: [usize; 3] = [28, 26, 27];
const ANSWER: usize = 33;

fn shown(finding: &Finding) -> String {
    format!("{}: {}[{}] {}", finding.place.line, finding.severity.as_str(), finding.rule, finding.message)
}

/// The findings of a lenient check.
fn found(lines: &[String]) -> Vec<String> {
    let text = lines.join("\n");
    let mut found = Vec::new();
    check::source(text.as_bytes(), Some(Profile::Lenient), |finding| found.push(shown(finding))).unwrap();
    found
}

fn lines() -> Vec<String> {
    PARALLEL.lines().map(str::to_owned).collect()
}

/// The session without one line, counted from 1.
fn without(line: usize) -> Vec<String> {
    let mut lines = lines();
    lines.remove(line - 1);
    lines
}

/// The session with a change in one line.
fn changed(line: usize, from: &str, to: &str) -> Vec<String> {
    let mut lines = lines();
    assert!(lines[line - 1].contains(from), "{} lacks {from}", lines[line - 1]);
    lines[line - 1] = lines[line - 1].replacen(from, to, 1);
    lines
}

fn value(line: usize, key: &str) -> String {
    let lines = lines();
    let from = &lines[line - 1][lines[line - 1].rfind(&format!("\"{key}\":\"")).unwrap() + key.len() + 4..];
    from[..from.find('"').unwrap()].to_owned()
}

fn session(path: &Path) -> (Vec<String>, CheckReport) {
    let mut found = Vec::new();
    let report = check::session(&SessionFiles::of_file(path).unwrap(), None, |event| {
        if let CheckEvent::Finding { file, finding } = event {
            let name = file.file_stem().unwrap().to_string_lossy();
            found.push(format!("{name}:{}", shown(finding)));
        }
        ControlFlow::Continue(())
    });
    (found, report)
}

/// A recorded session with a sub-agent, in a folder of its own.
fn with_agent(folder: &Path) -> PathBuf {
    let id = "5a15c0fc-95e4-428e-a126-8a8cf06dfac6";
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agent");
    let agents = format!("{id}/subagents");
    fs::create_dir_all(folder.join(&agents)).unwrap();
    for name in
        [format!("{id}.jsonl"), format!("{agents}/{AGENT}.jsonl"), format!("{agents}/{AGENT}.meta.json")]
    {
        fs::copy(from.join(&name), folder.join(&name)).unwrap();
    }
    folder.join(format!("{id}.jsonl"))
}

const AGENT: &str = "agent-a1cbaedb1e9924417";

#[test]
fn recorded_sessions_check_clean() {
    assert_eq!(found(&lines()), [""; 0]);
    let folder = tempfile::tempdir().unwrap();
    let (found, report) = session(&with_agent(folder.path()));
    assert_eq!(found, [""; 0]);
    assert_eq!((report.files, report.dialect()), (2, "real"));
    assert_eq!(report.lines, report.entries);
}

#[test]
fn under_the_rules_of_seed_001_a_real_file_fails() {
    let report = check::source(PARALLEL.as_bytes(), Some(Profile::Strict), |_| {}).unwrap();
    assert_eq!(report.errors, report.lines);
    assert_eq!(report.rules.keys().map(|rule| rule.as_str()).collect::<Vec<_>>(), ["shape-matches-type"]);
}

/// A lost result makes the API reject the whole conversation: `anthropics/claude-code#45286`.
#[test]
fn f83_a_lost_result_is_reported_with_the_id_of_its_call() {
    for (call, result) in CALLS.into_iter().zip(RESULTS) {
        let id = value(result, "tool_use_id");
        let found = found(&without(result));
        let expected = format!("{call}: error[tool-result-missing] The result of the ");
        assert!(found[0].starts_with(&expected) && found[0].contains(&id), "{found:?}");
        // The next line follows the last result.
        assert_eq!(found.len(), if result == RESULTS[0] { 2 } else { 1 }, "{found:?}");
    }
}

#[test]
fn f83_a_call_that_still_runs_is_only_noted() {
    let found = found(&lines()[..CALLS[2]]);
    assert_eq!(found.len(), 3);
    for (finding, call) in found.iter().zip(CALLS) {
        assert!(finding.starts_with(&format!("{call}: note[tool-result-missing]")), "{finding}");
    }
}

#[test]
fn a_result_without_its_call_is_an_error() {
    let id = value(RESULTS[2], "tool_use_id");
    let found = found(&without(CALLS[2]));
    assert!(
        found.contains(&format!(
            "{}: error[tool-call-missing] The tool call that this result answers is missing: `{id}`",
            RESULTS[2] - 1
        )),
        "{found:?}"
    );
}

/// Five percent of a session were reachable behind a parent that was never written:
/// `anthropics/claude-code#58554`.
#[test]
fn f74_a_parent_that_is_not_there_is_a_warning_where_it_cuts_something_off() {
    let parent = value(ANSWER, "parentUuid");
    let lost = "00000000-0000-4000-8000-000000000000";
    assert_eq!(
        found(&changed(ANSWER, &parent, lost)),
        [format!("{ANSWER}: warning[known-parent] No readable line contains the parent: `{lost}`")]
    );
    let first = changed(PROMPT, "\"parentUuid\":null", &format!("\"parentUuid\":\"{lost}\""));
    assert_eq!(
        found(&first),
        [format!("{PROMPT}: note[known-parent] No readable line contains the parent: `{lost}`")]
    );
}

#[test]
fn f75_entries_on_progress_lines_are_noted_once() {
    let mut lines = changed(ANSWER, &value(ANSWER, "parentUuid"), "p-1");
    let progress = format!(
        r#"{{"type":"progress","uuid":"p-1","parentUuid":"{}","sessionId":"b29f9972-d8f7-469e-a381-397080c501a7","timestamp":"{}","data":{{}}}}"#,
        value(RESULTS[0], "uuid"),
        value(ANSWER, "timestamp")
    );
    lines.insert(ANSWER - 1, progress);
    assert_eq!(
        found(&lines),
        [format!(
            "{}: note[progress-link] 1 entry follows `progress` lines, starting with this one",
            ANSWER + 1
        )]
    );
}

/// Entries are written again, identical or with other metadata; 17,000 groups in one user's files.
#[test]
fn f76_copies_are_told_apart_by_what_they_change() {
    let mut lines = lines();
    let entry = lines[ANSWER - 1].clone();
    lines.push(entry.clone());
    lines.push(entry.replace("\"gitBranch\":\"main\"", "\"gitBranch\":\"other\""));
    lines.push(entry.replace("All three", "None of them"));
    // Side records are written again and again.
    let side = lines.iter().find(|line| line.contains("atis-latch")).unwrap().clone();
    lines.push(side);
    assert_eq!(
        found(&lines),
        [
            "35: warning[duplicate-line] The line repeats line 33 byte for byte",
            "36: warning[conflicting-copies] The entry of line 33 is repeated here with other metadata",
            "37: error[conflicting-copies] The entry of line 33 is repeated here with other contents",
        ]
    );
}

#[test]
fn f77_the_same_uuid_in_two_sessions_is_nobodys_fault() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b29f9972-d8f7-469e-a381-397080c501a7", "00000000-0000-4000-8000-000000000000"] {
        let path = folder.path().join(format!("{name}.jsonl"));
        fs::write(&path, PARALLEL.replace("b29f9972-d8f7-469e-a381-397080c501a7", name)).unwrap();
        assert_eq!(session(&path).0, [""; 0]);
    }
}

#[test]
fn f78_rings_of_parents_are_found() {
    let own = value(ANSWER, "uuid");
    let found_own = found(&changed(ANSWER, &value(ANSWER, "parentUuid"), &own));
    assert_eq!(found_own, [format!("{ANSWER}: error[parent-cycle] The entry is its own parent")]);
    let ring =
        changed(PROMPT, "\"parentUuid\":null", &format!("\"parentUuid\":\"{}\"", value(PROMPT + 2, "uuid")));
    assert_eq!(
        found(&ring),
        [
            "3: error[parent-cycle] 3 entries are each other's ancestors (cycle in `parentUuid`): line 3 → line 5 → line 4"
        ]
    );
}

/// A snapshot's `messageId` is the uuid of a message: `anthropics/claude-code#36583`.
#[test]
fn f79_a_snapshot_may_bear_the_name_of_a_message() {
    let mut lines = lines();
    let id = value(PROMPT, "uuid");
    lines.push(format!(r#"{{"type":"file-history-snapshot","messageId":"{id}","snapshot":{{"messageId":"{id}","trackedFileBackups":{{}},"timestamp":"2026-11-15T00:26:06.000Z"}},"isSnapshotUpdate":false}}"#));
    assert_eq!(found(&lines), [""; 0]);
}

#[test]
fn f136_clocks_that_go_back_are_noted_once() {
    let at = value(ANSWER, "timestamp");
    assert_eq!(
        found(&changed(ANSWER, &at, "2025-11-15T00:00:00.000Z"))
            .iter()
            .map(|found| found.split(" older").next().unwrap())
            .collect::<Vec<_>>(),
        [format!("{ANSWER}: note[clock-order] 1 entry is")]
    );
}

#[test]
fn other_oddities_are_named() {
    let id = "b29f9972-d8f7-469e-a381-397080c501a7";
    let leaf = value(31, "leafUuid");
    for (lines, expected) in [
        (
            changed(ANSWER, "\"isSidechain\":false", "\"isSidechain\":false,\"type\":\"assistant\""),
            "33: warning[duplicate-key] The key `type` occurs more than once",
        ),
        (
            changed(ANSWER, "\"role\":\"assistant\"", "\"role\":\"assistant\",\"role\":\"assistant\""),
            "33: warning[duplicate-key] The key `message.role` occurs more than once",
        ),
        (
            changed(ANSWER, id, "another"),
            "33: note[foreign-session] 1 line of another session, `another`, starting here",
        ),
        (
            changed(34, "cost-state", "gossip"),
            "34: note[unknown-type] 1 line of an unknown type, `gossip`, starting with this one",
        ),
        (
            changed(31, &leaf, "nowhere"),
            "31: warning[phantom-leaf] No readable line contains the leaf to resume from: `nowhere`",
        ),
        (
            lines()[..31].to_vec(),
            &format!("31: note[phantom-leaf] No readable line contains the leaf to resume from: `{leaf}`"),
        ),
        (
            changed(ANSWER, "\"role\":\"assistant\"", "\"role\":\"user\""),
            "33: warning[shape-matches-type] `message.role` is `user` in an entry of type `assistant`",
        ),
        (
            changed(ANSWER, &format!("\"sessionId\":\"{id}\""), "\"session\":1"),
            "33: warning[required-field] `sessionId` is missing",
        ),
        (
            changed(CALLS[2], "\"name\":\"Bash\"", "\"tool\":\"Bash\""),
            "25: warning[complete-tool-call] The tool call lacks `name`",
        ),
    ] {
        assert!(found(&lines).iter().any(|found| found == expected), "{expected}\n{:?}", found(&lines));
    }
}

#[test]
fn entries_out_of_damaged_lines_count_as_parents() {
    let mut lines = lines();
    let second = lines.remove(ANSWER - 2);
    lines[ANSWER - 3].push_str(&second);
    let found = found(&lines);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("error[glued-line]") && found[0].contains("2 entries can be salvaged"));
}

#[test]
fn files_that_belong_together_are_missed() {
    let folder = tempfile::tempdir().unwrap();
    let main = with_agent(folder.path());
    let agents = main.with_extension("").join("subagents");
    let id = "5a15c0fc-95e4-428e-a126-8a8cf06dfac6";
    fs::remove_file(agents.join(format!("{AGENT}.meta.json"))).unwrap();
    assert_eq!(
        session(&main).0,
        [format!(
            "{id}:25: note[missing-sidecar] The sub-agent `a1cbaedb1e9924417` has no `.meta.json` beside its file"
        )]
    );
    fs::rename(agents.join(format!("{AGENT}.jsonl")), agents.join("agent-other.jsonl")).unwrap();
    assert_eq!(
        session(&main).0,
        [
            format!(
                "{id}:25: warning[missing-agent-file] The file of the sub-agent `a1cbaedb1e9924417` is missing"
            ),
            "agent-other:1: note[unstarted-agent] No tool call of the session started the sub-agent `other`"
                .to_owned(),
        ]
    );
    // A copy of the main file alone never had them.
    let alone = folder.path().join("copy.jsonl");
    fs::copy(&main, &alone).unwrap();
    assert_eq!(
        session(&alone).0,
        ["copy:25: note[missing-agent-file] The file of the sub-agent `a1cbaedb1e9924417` is missing"]
    );
}

#[test]
fn an_output_that_was_moved_out_of_its_line_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("b29f9972-d8f7-469e-a381-397080c501a7.jsonl");
    let path =
        "/home/dev/.claude/projects/-home-dev-demo/b29f9972-d8f7-469e-a381-397080c501a7/tool-results/x1.txt";
    let lines = changed(
        RESULTS[0],
        "\"toolUseResult\":{",
        &format!("\"toolUseResult\":{{\"persistedOutputPath\":\"{path}\","),
    );
    fs::write(&main, lines.join("\n")).unwrap();
    assert_eq!(
        session(&main).0,
        [format!(
            "b29f9972-d8f7-469e-a381-397080c501a7:28: note[missing-output] The output file of the tool is not in the session's folder: `{path}`"
        )]
    );
    let outputs = main.with_extension("").join("tool-results");
    fs::create_dir_all(&outputs).unwrap();
    fs::write(outputs.join("x1.txt"), "long").unwrap();
    assert_eq!(session(&main).0, [""; 0]);
}

#[test]
fn a_file_that_cannot_be_read_is_a_finding_and_the_others_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let main = with_agent(folder.path());
    let (_, whole) = session(&main);
    let lines = fs::read_to_string(&main).unwrap().lines().count() as u64;
    let files = SessionFiles::of_file(&main).unwrap();
    // A folder can be opened and not be read, whatever the permissions.
    fs::remove_file(&main).unwrap();
    fs::create_dir(&main).unwrap();
    let mut found = Vec::new();
    let report = check::session(&files, None, |event| {
        if let CheckEvent::Finding { file, finding } = event {
            found.push((file.to_owned(), finding.rule.as_str(), finding.severity, finding.place.line));
        }
        ControlFlow::Continue(())
    });
    assert_eq!(found, [(main, "unreadable", Severity::Error, 0)]);
    assert_eq!((report.lines, report.errors), (whole.lines - lines, 1));
}

#[test]
fn without_a_profile_a_file_is_held_to_the_rules_of_its_dialect() {
    let folder = tempfile::tempdir().unwrap();
    let seed = r#"{"type":"user","uuid":"1","parentUuid":"0","timestamp":"2025-01-27T10:00:00Z","sessionId":"s","message":"Hi"}"#;
    let rewrite = r#"{"uuid":"1","parentUuid":null,"sessionId":"s","type":"human","timestamp":1738160130123,"message":{"type":"message","content":"Hi"}}"#;
    for (line, errors, dialect) in
        [(seed, 1, "seed"), (rewrite, 0, "rewrite"), (PARALLEL.trim_end(), 0, "real")]
    {
        let path = folder.path().join("s.jsonl");
        fs::write(&path, format!("{line}\n")).unwrap();
        let (found, report) = session(&path);
        assert_eq!((report.errors, report.dialect()), (errors, dialect), "{found:?}");
        let alone = check::file(&path, None, |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(alone.errors, errors);
    }
}

#[test]
fn findings_come_in_the_order_of_lines_and_can_be_cut_short() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, "nonsense\n".repeat(10_000)).unwrap();
    let mut last = 0;
    let report = check::file(&path, None, |event| {
        if let CheckEvent::Finding { finding, .. } = event {
            assert!(finding.place.line > last);
            last = finding.place.line;
        }
        if last == 5000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!((last, report.errors), (5000, 5000));
    let all = check::file(&path, None, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((all.lines, all.damaged, all.errors), (10_000, 10_000, 10_000));
}

/// Several entries with an empty uuid were mistaken for copies of one, and a repair would have dropped all
/// but one.
#[test]
fn entries_with_an_empty_uuid_are_no_copies_of_each_other() {
    let mut lines = lines();
    let uuid = value(ANSWER, "uuid");
    let nameless = lines[ANSWER - 1].replace(&format!("\"uuid\":\"{uuid}\""), "\"uuid\":\"\"");
    lines.insert(ANSWER, nameless.replace("\"text\":\"", "\"text\":\"One "));
    lines.insert(ANSWER + 1, nameless.replace("\"text\":\"", "\"text\":\"Two "));
    let missing = |line: usize| format!("{line}: warning[required-field] `uuid` is missing");
    assert_eq!(found(&lines), [missing(ANSWER + 1), missing(ANSWER + 2)]);
}
