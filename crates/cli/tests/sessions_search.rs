//! `tidings sessions search` and `tidings sessions index`, as a user runs them.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::test_root::TestRoot;

const OLDER: &str = r#"{"type":"user","uuid":"u-1","cwd":"/home/dev/parser","timestamp":"2026-11-01T10:00:00.000Z","message":{"role":"user","content":"please run the needle"}}
{"type":"assistant","uuid":"u-2","timestamp":"2026-11-01T10:00:01.000Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t-1","name":"Bash","input":{"command":"needle --verbose"}}]}}
{"type":"user","uuid":"u-3","timestamp":"2026-11-01T10:00:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t-1","content":"\u001b[31mneedle\u001b[0m:\n\tnot found"}]},"toolUseResult":{"stdout":"\u001b[31mneedle\u001b[0m:\n\tnot found"}}
{"type":"assistant","uuid":"u-4","timestamp":"2026-11-01T10:00:03.000Z","message":{"role":"assistant","content":[{"type":"text","text":"There is no Needle."}]}}
{"type":"user","uuid":"u-5","message":{"role":"user","content":"the needle is to
"#;

const NEWER: &str = r#"{"type":"custom-title","customTitle":"Looking for a \"needle\"","sessionId":"bbbbbbbb-0000-4000-8000-000000000000"}
"#;

const AGENT: &str = r#"{"type":"user","uuid":"u-6","isSidechain":true,"agentId":"x1","cwd":"/home/dev/shop","timestamp":"2026-11-10T10:00:00.000Z","sessionId":"bbbbbbbb-0000-4000-8000-000000000000","message":{"role":"user","content":"find the needle"}}
"#;

/// A root with two sessions, one with a sub-agent.
fn two_sessions() -> TestRoot {
    let root = TestRoot::new();
    root.write_at("-home-dev-parser/aaaaaaaa-0000-4000-8000-000000000000.jsonl", OLDER, 1_794_400_000);
    let newer = "-home-dev-shop/bbbbbbbb-0000-4000-8000-000000000000";
    root.write_at(&format!("{newer}.jsonl"), NEWER, 1_794_486_400);
    root.write_at(&format!("{newer}/subagents/agent-x1.jsonl"), AGENT, 1_794_486_400);
    root
}

#[test]
fn hits_are_shown_by_session_newest_first_and_safe_for_a_terminal() {
    let root = two_sessions();
    assert_snapshot!(root.run(&["search", "-s", "needle"]), @r#"
    exit: 0
    --- stdout
    bbbbbbbb  Looking for a "needle"  -home-dev-shop
          1                    system          Looking for a "needle"
      agent-x1
          1  2026-11-10 10:00  user            find the needle

    aaaaaaaa  please run the needle  /home/dev/parser
          1  2026-11-01 10:00  user            please run the needle
          2  2026-11-01 10:00  assistant Bash  needle --verbose
          3  2026-11-01 10:00  tool Bash       �[31mneedle�[0m: not found
          5                    damaged         {"type":"user","uuid":"u-5","message":{"role":"user","content":"the needle is to
    --- stderr
    6 lines, 2 sessions
    "#);
    assert_snapshot!(root.run(&["search", "-i", "NEEDLE", "--role", "assistant"]), @"
    exit: 0
    --- stdout
    aaaaaaaa  please run the needle  /home/dev/parser
          2  2026-11-01 10:00  assistant Bash  needle --verbose
          4  2026-11-01 10:00  assistant       There is no Needle.
    --- stderr
    2 lines, 1 session
    ");
    assert_snapshot!(root.run(&["search", "nowhere at all"]), @"
    exit: 0
    --- stdout
    --- stderr
    0 lines, 0 sessions
    ");
}

#[test]
fn json_has_the_promised_keys_in_their_order() {
    let root = two_sessions();
    assert_snapshot!(root.run(&["--json", "search", "-s", "needle"]), @r#"
    exit: 0
    --- stdout
    {"session":"bbbbbbbb-0000-4000-8000-000000000000","file":"ROOT/projects/-home-dev-shop/bbbbbbbb-0000-4000-8000-000000000000.jsonl","line":1,"uuid":null,"role":"system","at":null,"text":"Looking for a \"needle\""}
    {"session":"bbbbbbbb-0000-4000-8000-000000000000","file":"ROOT/projects/-home-dev-shop/bbbbbbbb-0000-4000-8000-000000000000/subagents/agent-x1.jsonl","line":1,"uuid":"u-6","role":"user","at":"2026-11-10T10:00:00.000Z","text":"find the needle"}
    {"session":"aaaaaaaa-0000-4000-8000-000000000000","file":"ROOT/projects/-home-dev-parser/aaaaaaaa-0000-4000-8000-000000000000.jsonl","line":1,"uuid":"u-1","role":"user","at":"2026-11-01T10:00:00.000Z","text":"please run the needle"}
    {"session":"aaaaaaaa-0000-4000-8000-000000000000","file":"ROOT/projects/-home-dev-parser/aaaaaaaa-0000-4000-8000-000000000000.jsonl","line":2,"uuid":"u-2","role":"assistant","tool":"Bash","at":"2026-11-01T10:00:01.000Z","text":"needle --verbose"}
    {"session":"aaaaaaaa-0000-4000-8000-000000000000","file":"ROOT/projects/-home-dev-parser/aaaaaaaa-0000-4000-8000-000000000000.jsonl","line":3,"uuid":"u-3","role":"tool","tool":"Bash","at":"2026-11-01T10:00:02.000Z","text":"\u001b[31mneedle\u001b[0m:\n\tnot found"}
    {"session":"aaaaaaaa-0000-4000-8000-000000000000","file":"ROOT/projects/-home-dev-parser/aaaaaaaa-0000-4000-8000-000000000000.jsonl","line":5,"uuid":null,"role":null,"at":null,"text":"{\"type\":\"user\",\"uuid\":\"u-5\",\"message\":{\"role\":\"user\",\"content\":\"the needle is to"}
    --- stderr
    "#);
    for line in root.stdout(&["--json", "search", "-s", "needle"]).lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
}

#[test]
fn c12_case_counts_only_where_the_pattern_has_a_capital_letter() {
    let root = two_sessions();
    for (args, count) in [
        (&["needle"][..], "7\n"),
        (&["Needle"], "1\n"),
        (&["NEEDLE"], "0\n"),
        (&["-s", "needle"], "6\n"),
        (&["-i", "NEEDLE"], "7\n"),
        (&["-e", r"\SEEDLE"], "0\n"),
        (&["-e", r"\Seedle"], "7\n"),
    ] {
        assert_eq!(root.stdout(&[&["search", "--count"], args].concat()), count, "{args:?}");
    }
}

#[test]
fn a_count_is_only_a_number() {
    let root = two_sessions();
    for (args, count) in [
        (&["-s", "needle"][..], "6\n"),
        (&["-i", "NEEDLE"], "7\n"),
        (&["-s", "-e", r"needle\b.{0,4}:\s+not"], "1\n"),
        (&["-s", "needle", "--no-sidechains"], "5\n"),
        (&["-s", "needle", "--tool", "Bash"], "2\n"),
        (&["-s", "needle", "--tool", "Bash", "--role", "tool"], "1\n"),
        (&["-s", "needle", "--project", "shop"], "2\n"),
        (&["-s", "needle", "--since", "2026-11-05T00:00:00Z", "--until", "2026-11-10"], "1\n"),
        (&["-s", "needle", "--limit", "2"], "2\n"),
        (&["-s", "needle", "--limit", "0"], "0\n"),
        (&["\"needle\""], "1\n"),
        (&["nowhere at all"], "0\n"),
    ] {
        assert_eq!(root.stdout(&[&["search", "--count"], args].concat()), count, "{args:?}");
    }
}

#[test]
fn sessions_only_are_printed_once_each() {
    let root = two_sessions();
    assert_snapshot!(root.run(&["search", "-l", "-s", "needle"]), @r#"
    exit: 0
    --- stdout
    bbbbbbbb  Looking for a "needle"  -home-dev-shop
    aaaaaaaa  please run the needle  /home/dev/parser
    --- stderr
    "#);
    assert_snapshot!(root.run(&["--json", "search", "-l", "-s", "needle", "--limit", "1"]), @r#"
    exit: 0
    --- stdout
    {"session":"bbbbbbbb-0000-4000-8000-000000000000","file":"ROOT/projects/-home-dev-shop/bbbbbbbb-0000-4000-8000-000000000000.jsonl"}
    --- stderr
    "#);
}

#[test]
fn a_wrong_pattern_or_time_says_what_is_wrong() {
    let root = two_sessions();
    assert_snapshot!(root.run(&["search", "-e", "a(b"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: Not a regular expression (unclosed group): `a(b`

    hint: leave out --regex to search for the text as it is
    ");
    assert_snapshot!(root.run(&["search", "-s", "needle", "--since", "yesterday"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: Not a time: `yesterday`

    hint: give a day (2026-11-14), a time (2026-11-14T09:30, or with Z for UTC) or an age (30m, 12h, 7d, 2w)
    ");
    assert_snapshot!(root.run(&["--json", "search", ""]), @r#"
    exit: 2
    --- stdout
    {"error":{"code":"usage","message":"The pattern is empty","hint":"give a word; `.` with --regex matches every line with text"}}
    --- stderr
    "#);
}

#[test]
fn an_index_is_built_kept_up_to_date_by_searches_and_dropped() {
    let root = two_sessions();
    let index = root.path("cache/index.sqlite");
    let without: Vec<String> = [
        &["--json", "search", "-s", "needle"][..],
        &["--json", "search", "-i", "NEEDLE"],
        &["search", "--count", "ne"],
    ]
    .iter()
    .map(|args| root.stdout(args))
    .collect();
    assert_snapshot!(root.run(&["--json", "index", "--status"]), @r#"
    exit: 0
    --- stdout
    {"path":"TEMP/cache/index.sqlite","exists":false,"pending_bytes":1211,"files":0,"covered_bytes":0,"index_bytes":0}
    --- stderr
    "#);
    assert!(!index.exists(), "--status creates nothing");
    let built: Value = serde_json::from_str(&root.stdout(&["--json", "index"])).unwrap();
    assert_eq!((&built["added"], &built["files"]), (&3.into(), &3.into()));
    assert_eq!(built["covered_bytes"], OLDER.len() + NEWER.len() + AGENT.len());
    let with: Vec<String> = [
        &["--json", "search", "-s", "needle"][..],
        &["--json", "search", "-i", "NEEDLE"],
        &["search", "--count", "ne"],
    ]
    .iter()
    .map(|args| root.stdout(args))
    .collect();
    assert_eq!(with, without);

    let agent = root.file("-home-dev-shop/bbbbbbbb-0000-4000-8000-000000000000/subagents/agent-x1.jsonl");
    fs::OpenOptions::new().append(true).open(agent).unwrap().write_all(AGENT.as_bytes()).unwrap();
    let pending = |root: &TestRoot| -> Value {
        let status: Value = serde_json::from_str(&root.stdout(&["--json", "index", "--status"])).unwrap();
        status["pending_bytes"].clone()
    };
    assert_eq!(pending(&root), AGENT.len());
    assert_eq!(root.stdout(&["search", "--count", "-s", "needle"]), "7\n");
    assert_eq!(pending(&root), 0, "the search has read it");

    assert!(root.stdout(&["index", "--drop"]).starts_with("Removed "));
    assert!(!index.exists());
    assert_eq!(root.stdout(&["index", "--drop"]), "No index\n");
}

#[test]
fn a_damaged_index_stops_no_search_and_is_rebuilt() {
    let root = two_sessions();
    let index = root.path("cache/index.sqlite");
    fs::create_dir_all(index.parent().unwrap()).unwrap();
    fs::write(&index, "no database ".repeat(1000)).unwrap();
    assert_snapshot!(root.run(&["search", "--count", "-s", "needle"]), @"
    exit: 0
    --- stdout
    6
    --- stderr
    The index is damaged: `TEMP/cache/index.sqlite`; searched without it (build it anew with `tidings sessions index --rebuild`)
    ");
    let built: Value = serde_json::from_str(&root.stdout(&["--json", "index"])).unwrap();
    assert_eq!(built["added"], 3);
    assert_eq!(root.stdout(&["search", "--count", "-s", "needle"]), "6\n");
    let again: Value = serde_json::from_str(&root.stdout(&["--json", "index", "--rebuild"])).unwrap();
    assert_eq!(again["added"], 3);
}

#[test]
fn the_folder_of_the_index_can_be_missing() {
    let root = two_sessions();
    let mut command = root.command(&["search", "--count", "-s", "needle"]);
    let output =
        command.env_remove("TIDINGS_CACHE_DIR").env("HOME", Path::new("/nonexistent")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "6\n");
}

#[test]
fn relevant_sessions_come_first() {
    let root = two_sessions();
    // The newest session has a single hit, in the output of a tool.
    let output = format!(
        r#"{{"type":"user","uuid":"u-9","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t-9","content":"{} needle"}}]}}}}"#,
        "hay ".repeat(2_000)
    );
    let name = "-home-dev-shop/cccccccc-0000-4000-8000-000000000000.jsonl";
    root.write_at(name, &(output + "\n"), 1_795_000_000);
    let ids = |args: &[&str]| -> Vec<String> {
        let text = root.stdout(&[&["search", "-l", "needle"], args].concat());
        text.lines().map(|line| line[..8].to_owned()).collect()
    };
    assert_eq!(ids(&[]), ["cccccccc", "bbbbbbbb", "aaaaaaaa"]);
    assert_eq!(ids(&["--sort", "relevance"]), ["aaaaaaaa", "bbbbbbbb", "cccccccc"]);
    assert_eq!(ids(&["--sort", "relevance", "--limit", "1"]), ["aaaaaaaa"]);
    let lines = |args: &[&str]| root.stdout(&[&["search", "needle"], args].concat()).lines().count();
    assert_eq!(lines(&["--sort", "relevance"]), lines(&[]));
    let refused = root.run(&["search", "needle", "--open"]);
    assert!(refused.starts_with("exit: 2") && refused.contains("--open needs a terminal"), "{refused}");
}

/// A session in which a sub-agent's prompt is repeated by each line of its progress.
fn with_repeats(root: &TestRoot) {
    let prompt = "look for the thimble in every folder, and say where the thimble is";
    let message = format!(r#"{{"type":"user","message":{{"role":"user","content":"{prompt}"}}}}"#);
    let progress = format!(
        r#"{{"type":"progress","uuid":"p","timestamp":"2026-11-02T10:00:01.000Z","data":{{"type":"agent_progress","prompt":"{prompt}","message":{message}}}}}"#
    );
    let call = format!(
        r#"{{"type":"assistant","uuid":"u-1","cwd":"/home/dev/sewing","timestamp":"2026-11-02T10:00:00.000Z","message":{{"role":"assistant","content":[{{"type":"tool_use","id":"t-1","name":"mcp__a_long_name__of_a_tool","input":{{"prompt":"{prompt}"}}}}]}}}}"#
    );
    let answer = r#"{"type":"assistant","uuid":"u-2","timestamp":"2026-11-02T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"The thimble is in the drawer."}]}}"#;
    let lines = format!("{call}\n{}{answer}\n", format!("{progress}\n").repeat(115));
    let name = "-home-dev-sewing/dddddddd-0000-4000-8000-000000000000.jsonl";
    root.write_at(name, &lines, 1_795_000_000);
}

#[test]
fn c25_a_repeated_text_is_one_line_with_its_number() {
    let root = two_sessions();
    with_repeats(&root);
    assert_snapshot!(root.run(&["search", "thimble"]), @"
    exit: 0
    --- stdout
    dddddddd  /home/dev/sewing
          1  2026-11-02 10:00  assistant mcp__a_long_name__of_a_tool  look for the thimble in every folder, and say where the thimble is
          2  2026-11-02 10:00  user            look for the thimble in every folder, and say where the thimble is (×115)
        117  2026-11-02 10:00  assistant       The thimble is in the drawer.
    --- stderr
    117 lines (3 different), 1 session
    ");
    assert_eq!(root.stdout(&["search", "thimble", "--count"]), "117\n");
    let limited = root.stdout(&["search", "thimble", "--limit", "2"]);
    assert!(limited.contains("(×115)") && !limited.contains("drawer"), "{limited}");
    assert_eq!(root.stdout(&["--json", "search", "thimble"]).lines().count(), 117);
}

#[test]
fn c25_hits_fit_into_the_width_of_the_terminal() {
    let root = two_sessions();
    with_repeats(&root);
    for columns in [40, 60, 80, 200] {
        for args in [&["search", "thimble"][..], &["search", "needle"], &["search", "-l", "needle"]] {
            let output = root.command(args).env("COLUMNS", columns.to_string()).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            for line in text.lines() {
                let width = line.chars().count();
                assert!(width <= columns, "{width} of {columns}: {line}");
                let is_hit = line.starts_with("   ") && !line.trim_start().starts_with("agent");
                assert!(!is_hit || line.contains("thimble") || line.contains("eedle"), "{columns}: {line}");
            }
            let repeats = text.contains("(×115)");
            assert_eq!(repeats, args[1] == "thimble", "{text}");
        }
    }
}
