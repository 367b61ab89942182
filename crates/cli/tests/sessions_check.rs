//! `tidings sessions check` and `tidings sessions repair`, as a user runs them.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use insta::assert_snapshot;
use serde_json::Value;

use crate::test_root::{TestRoot, json_lines, write};

const ID: &str = "11111111-2222-4333-8444-555555555555";

/// A folder of sessions with a damaged one.
struct Folder(TestRoot);

impl Folder {
    fn new() -> Self {
        let folder = Folder(TestRoot::new());
        write(&folder.session(), &lines().concat());
        folder
    }

    fn project(&self) -> PathBuf {
        self.0.file("-home-dev-demo")
    }

    fn session(&self) -> PathBuf {
        self.project().join(format!("{ID}.jsonl"))
    }

    fn tidings(&self, args: &[&str]) -> Command {
        let mut command = self.0.command(args);
        command.current_dir(self.project());
        command
    }

    fn run(&self, args: &[&str]) -> String {
        self.0.report(&self.tidings(args).output().unwrap())
    }

    fn json(&self, args: &[&str]) -> Vec<Value> {
        json_lines(&self.tidings(args).output().unwrap())
    }
}

fn entry(kind: &str, uuid: u8, parent: u8, content: &str) -> String {
    let name = |number: u8| format!("\"{number:08}-0000-4000-8000-000000000000\"");
    let parent = if parent == 0 { "null".to_owned() } else { name(parent) };
    let model = if kind == "assistant" {
        format!("\"model\":\"example\",\"id\":\"msg_{uuid}\",")
    } else {
        String::new()
    };
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"{kind}\",\"message\":{{{model}\"role\":\"{kind}\",\"content\":{content}}},\"uuid\":{},\"timestamp\":\"2026-11-15T00:00:{uuid:02}.000Z\",\"sessionId\":\"{ID}\"}}",
        name(uuid)
    )
}

/// Lines of a damaged session: the result of the call is missing, the answer refers to it, a line is
/// truncated and joined to another, the prompt is duplicated, and the last line is incomplete.
fn lines() -> Vec<String> {
    let prompt = entry("user", 1, 0, "\"Go\"");
    let call = entry(
        "assistant",
        2,
        1,
        r#"[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]"#,
    );
    let answer = entry("assistant", 4, 3, r#"[{"type":"text","text":"Done."}]"#);
    let next = entry("user", 5, 4, "\"And then?\"");
    vec![
        format!("{prompt}\n"),
        format!("{prompt}\n"),
        format!("{call}\n"),
        format!("{}{answer}\n", &call[..60]),
        "\n".to_owned(),
        format!("{next}\n"),
        // A name that would clear the terminal.
        format!("{{\"type\":\"\\u001b[2J\",\"sessionId\":\"{ID}\"}}\n"),
        answer[..40].to_owned(),
    ]
}

#[test]
fn check_says_where_and_what_like_a_compiler() {
    let folder = Folder::new();
    assert_snapshot!(folder.run(&["check"]), @"
    exit: 1
    --- stdout
    ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl:2: warning[duplicate-line] The line repeats line 1 byte for byte
    ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl:3: error[tool-result-missing] The result of the Bash call `toolu_1` is missing, although the model continued
    ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl:4: error[glued-line] Another record begins before the line ends; 1 entry can be salvaged
    ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl:4: warning[known-parent] No readable line contains the parent: `00000003-0000-4000-8000-000000000000`
    ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl:7: note[unknown-type] 1 line of an unknown type, `�[2J`, starting with this one
    ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl:8: warning[torn-tail] The last line is cut off after 40 bytes
    8 lines in 1 file: 5 entries, 2 damaged (1 entry salvaged), 1 blank
    2 errors, 3 warnings, 1 note
    --- stderr
    ");
}

#[test]
fn check_json_has_the_keys_that_scripts_rely_on() {
    let folder = Folder::new();
    assert_snapshot!(folder.run(&["check", "--json", ID]), @r#"
    exit: 1
    --- stdout
    {"file":"ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl","line":2,"offset":231,"rule":"duplicate-line","severity":"warning","message":"The line repeats line 1 byte for byte","uuid":"00000001-0000-4000-8000-000000000000"}
    {"file":"ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl","line":3,"offset":462,"rule":"tool-result-missing","severity":"error","message":"The result of the Bash call `toolu_1` is missing, although the model continued","uuid":"00000002-0000-4000-8000-000000000000"}
    {"file":"ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl","line":4,"offset":839,"rule":"glued-line","severity":"error","message":"Another record begins before the line ends; 1 entry can be salvaged","uuid":"00000004-0000-4000-8000-000000000000"}
    {"file":"ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl","line":4,"offset":899,"rule":"known-parent","severity":"warning","message":"No readable line contains the parent: `00000003-0000-4000-8000-000000000000`","uuid":"00000004-0000-4000-8000-000000000000"}
    {"file":"ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl","line":7,"offset":1506,"rule":"unknown-type","severity":"note","message":"1 line of an unknown type, `\u001b[2J`, starting with this one"}
    {"file":"ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl","line":8,"offset":1578,"rule":"torn-tail","severity":"warning","message":"The last line is cut off after 40 bytes"}
    {"summary":{"files":1,"lines":8,"entries":5,"damaged":2,"blank":1,"salvaged":1,"errors":2,"warnings":3,"notes":1,"dialect":"real","rules":{"duplicate-line":1,"glued-line":1,"known-parent":1,"tool-result-missing":1,"torn-tail":1,"unknown-type":1}}}
    --- stderr
    "#);
    let lines = folder.json(&["check", "--json"]);
    let summary = &lines.last().unwrap()["summary"];
    let count = |key: &str| summary[key].as_u64().unwrap();
    assert_eq!(count("lines"), count("entries") + count("damaged") + count("blank"));
    assert_eq!(lines.len() as u64 - 1, count("errors") + count("warnings") + count("notes"));
    let rules: u64 =
        summary["rules"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(rules, lines.len() as u64 - 1);
}

#[test]
fn check_takes_files_ids_and_beginnings_of_ids_and_says_which_is_unknown() {
    let folder = Folder::new();
    for name in [ID, "1111", &format!("{ID}.jsonl"), folder.session().to_str().unwrap()] {
        folder.tidings(&["check", name]).assert().code(1);
    }
    assert_snapshot!(folder.run(&["check", "2222"]), @"
    exit: 3
    --- stdout
    --- stderr
    error: No such session: `2222`

    hint: `tidings sessions list` shows the ids; a unique prefix of four characters or more is enough
    ");
    assert_snapshot!(folder.run(&["check", "2222", "--json"]), @r#"
    exit: 3
    --- stdout
    {"error":{"code":"not_found","message":"No such session: `2222`","hint":"`tidings sessions list` shows the ids; a unique prefix of four characters or more is enough"}}
    --- stderr
    "#);
    folder.tidings(&["check", "--spec", "--lenient"]).assert().code(2);
}

#[test]
fn check_of_a_clean_session_is_fine_and_seed_001_can_be_demanded_of_it() {
    let folder = Folder::new();
    fs::write(folder.session(), format!("{}\n", entry("user", 1, 0, "\"Go\""))).unwrap();
    assert_snapshot!(folder.run(&["check"]), @"
    exit: 0
    --- stdout
    1 line in 1 file: 1 entry, 0 damaged, 0 blank
    0 errors, 0 warnings, 0 notes
    --- stderr
    ");
    assert_snapshot!(folder.run(&["check", "--spec"]), @"
    exit: 1
    --- stdout
    ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl:1: error[shape-matches-type] `message` should be a string and is an object
    1 line in 1 file: 1 entry, 0 damaged, 0 blank
    1 error, 0 warnings, 0 notes
    --- stderr
    ");
    let seed =
        "{\"type\":\"user\",\"uuid\":\"1\",\"timestamp\":\"today\",\"sessionId\":\"s\",\"message\":\"Hi\"}\n";
    fs::write(folder.session(), seed).unwrap();
    folder.tidings(&["check"]).assert().code(1);
    folder.tidings(&["check", "--lenient"]).assert().success();
}

#[test]
fn repair_says_what_it_did_and_the_copy_checks_clean() {
    let folder = Folder::new();
    let before = fs::read(folder.session()).unwrap();
    assert_snapshot!(folder.run(&["repair", ID, "-o", "copy.jsonl"]), @"
    exit: 0
    --- stdout
    ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl:2: repaired[duplicate-line] Removed the copy of line 1
    ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl:3: repaired[tool-result-missing] Added an error in place of the lost result of the Bash call `toolu_1`
    ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl:4: repaired[glued-line] Salvaged 1 entry, set aside 60 bytes that are not an entry
    ROOT/projects/-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl:8: repaired[torn-tail] Set aside 40 bytes that are not an entry
    4 repairs; the copy is copy.jsonl
    100 bytes that could not be repaired are in copy.jsonl.lost
    --- stderr
    ");
    assert_eq!(fs::read(folder.session()).unwrap(), before);
    assert_snapshot!(folder.run(&["check", "copy.jsonl"]), @"
    exit: 0
    --- stdout
    copy.jsonl:7: note[unknown-type] 1 line of an unknown type, `�[2J`, starting with this one
    7 lines in 1 file: 6 entries, 0 damaged, 1 blank
    0 errors, 0 warnings, 1 note
    --- stderr
    ");
    assert_snapshot!(folder.run(&["repair", "copy.jsonl", "-o", "again.jsonl"]), @"
    exit: 0
    --- stdout
    Nothing to repair; the copy is again.jsonl
    --- stderr
    ");
    let read = |name: &str| fs::read(folder.project().join(name)).unwrap();
    assert_eq!(read("again.jsonl"), read("copy.jsonl"));
    let lost = String::from_utf8(read("copy.jsonl.lost")).unwrap();
    assert_eq!(lost.lines().map(str::len).collect::<Vec<_>>(), [60, 40]);
}

#[test]
fn repair_json_has_a_line_for_each_repair_and_a_summary() {
    let folder = Folder::new();
    assert_snapshot!(folder.run(&["repair", ID, "-o", "copy.jsonl", "--json"]), @r#"
    exit: 0
    --- stdout
    {"line":2,"offset":231,"rule":"duplicate-line","message":"Removed the copy of line 1","uuid":"00000001-0000-4000-8000-000000000000"}
    {"line":3,"offset":462,"rule":"tool-result-missing","message":"Added an error in place of the lost result of the Bash call `toolu_1`","uuid":"00000003-0000-4000-8000-000000000000"}
    {"line":4,"offset":839,"rule":"glued-line","message":"Salvaged 1 entry, set aside 60 bytes that are not an entry","uuid":"00000004-0000-4000-8000-000000000000"}
    {"line":8,"offset":1578,"rule":"torn-tail","message":"Set aside 40 bytes that are not an entry"}
    {"summary":{"output":"copy.jsonl","lines":8,"actions":4,"lost_bytes":100,"lost":"copy.jsonl.lost","rules":{"duplicate-line":1,"glued-line":1,"tool-result-missing":1,"torn-tail":1}}}
    --- stderr
    "#);
}

#[test]
fn repair_overwrites_only_when_told_and_never_the_file_itself() {
    let folder = Folder::new();
    let name = format!("{ID}.jsonl");
    fs::write(folder.project().join("copy.jsonl"), "mine").unwrap();
    assert_snapshot!(folder.run(&["repair", ID, "-o", "copy.jsonl"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: The file exists already: `copy.jsonl`

    hint: give another name, or --force to overwrite it
    ");
    assert_snapshot!(folder.run(&["repair", &name, "-o", &name, "--force"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: The copy would overwrite the file itself: `11111111-2222-4333-8444-555555555555.jsonl`

    hint: give the copy another name, review it, then move it
    ");
    folder.tidings(&["repair", ID, "-o", "copy.jsonl", "--force"]).assert().success();
    assert_ne!(fs::read(folder.project().join("copy.jsonl")).unwrap(), b"mine");
    folder.tidings(&["repair", ID]).assert().code(2);
    assert!(!Path::new(&folder.project().join("copy.jsonl.part")).exists());
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_a_finding_and_ends_no_check() {
    let folder = Folder::new();
    let whole = folder.json(&["check", "--json"]);
    // A folder with the name of a session file, and a cycle of links.
    fs::create_dir(folder.project().join("00000000-0000-4000-8000-000000000000.jsonl")).unwrap();
    std::os::unix::fs::symlink("circle.jsonl", folder.project().join("circle.jsonl")).unwrap();
    let found = folder.json(&["check", "--json"]);
    let unreadable: Vec<&Value> = found.iter().filter(|line| line["rule"] == "unreadable").collect();
    assert_eq!(unreadable.len(), 2, "{found:?}");
    for finding in unreadable {
        assert_eq!((&finding["severity"], &finding["line"]), (&"error".into(), &0.into()));
    }
    let summary = |lines: &[Value]| lines.last().unwrap()["summary"].clone();
    let (before, after) = (summary(&whole), summary(&found));
    assert_eq!(after["errors"], before["errors"].as_u64().unwrap() + 2);
    assert_eq!((&after["lines"], &after["rules"]["unreadable"]), (&before["lines"], &2.into()));

    fs::remove_file(folder.session()).unwrap();
    fs::remove_file(folder.project().join("circle.jsonl")).unwrap();
    assert_snapshot!(folder.run(&["check"]), @"
    exit: 1
    --- stdout
    ROOT/projects/-home-dev-demo/00000000-0000-4000-8000-000000000000.jsonl: error[unreadable] Not a regular file: `ROOT/projects/-home-dev-demo/00000000-0000-4000-8000-000000000000.jsonl`
    0 lines in 0 files: 0 entries, 0 damaged, 0 blank
    1 error, 0 warnings, 0 notes
    --- stderr
    ");
}

#[test]
fn c8_strict_fails_on_warnings_and_not_on_what_the_cli_writes() {
    let folder = Folder::new();
    fs::write(folder.session(), format!("{}\n", entry("user", 1, 0, "\"Go\""))).unwrap();
    folder.tidings(&["check", "--strict"]).assert().success();
    // The parent of the second entry is missing, which is a warning.
    let lines = [entry("user", 1, 0, "\"Go\""), entry("user", 3, 2, "\"And on\"")];
    fs::write(folder.session(), lines.join("\n") + "\n").unwrap();
    folder.tidings(&["check"]).assert().success();
    folder.tidings(&["check", "--strict"]).assert().code(1);
}
