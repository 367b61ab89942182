//! The one-line summaries of tool calls.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use tidings_protocol::json::{Json, Raw};
use tidings_protocol::tools::{SUMMARY_CHARS_MAX, ToolInput};

#[test]
fn summaries() {
    for (tool, json, expected) in [
        ("Bash", r#"{"command":"cd a &&\n\t make \u001b[31m "}"#, "cd a && make [31m"),
        ("BashOutput", r#"{"bash_id":"b1"}"#, "b1"),
        ("Read", r#"{"file_path":"/a b"}"#, "/a b"),
        ("Read", r#"{"file_path":"/a","offset":10,"limit":5}"#, "/a:10-14"),
        ("Read", r#"{"file_path":"/a","limit":5}"#, "/a:1-5"),
        ("Read", r#"{"file_path":"/a","offset":10}"#, "/a:10-"),
        ("Read", r#"{"file_path":"/a","pages":"1-3"}"#, "/a pages 1-3"),
        ("Write", r#"{"file_path":"/a","content":"x"}"#, "/a"),
        ("Edit", r#"{"file_path":"/a"}"#, "/a"),
        ("MultiEdit", r#"{"file_path":"/a","edits":[{}]}"#, "/a (1 edit)"),
        ("MultiEdit", r#"{"file_path":"/a","edits":[{},{}]}"#, "/a (2 edits)"),
        ("NotebookEdit", r#"{"notebook_path":"/a.ipynb","cell_id":"c1"}"#, "/a.ipynb cell c1"),
        ("Glob", r#"{"pattern":"*.rs","path":"src"}"#, "*.rs in src"),
        ("Grep", r#"{"pattern":"fn","type":"rust"}"#, "fn in rust"),
        ("ToolSearch", r#"{"query":"select:A"}"#, "select:A"),
        ("WebFetch", r#"{"url":"https://example.com/"}"#, "https://example.com/"),
        ("WebSearch", r#"{"query":"rust"}"#, "rust"),
        (
            "TodoWrite",
            r#"{"todos":[{"content":"A","status":"completed"},{"content":"B","status":"in_progress","activeForm":"Doing B"}]}"#,
            "1 of 2 done: Doing B",
        ),
        ("TodoWrite", r#"{"todos":[]}"#, "0 of 0 done"),
        ("TaskCreate", r#"{"subject":"Test"}"#, "Test"),
        ("TaskGet", r#"{"taskId":"1"}"#, "task 1"),
        ("TaskUpdate", r#"{"taskId":"1","status":"completed"}"#, "task 1: completed"),
        ("TaskList", "{}", "all tasks"),
        ("KillShell", r#"{"shell_id":"b1"}"#, "b1"),
        ("TaskStop", "{}", ""),
        ("Task", r#"{"prompt":"Look around"}"#, "Look around"),
        ("Agent", r#"{"description":"Look","prompt":"Look around"}"#, "Look"),
        (
            "AskUserQuestion",
            r#"{"questions":[{"question":"Which?"},{"question":"Why?"}]}"#,
            "Which? (and 1 more)",
        ),
        ("EnterPlanMode", "{}", "enter plan mode"),
        ("ExitPlanMode", "{}", "leave plan mode"),
        ("ExitPlanMode", r#"{"plan":"\n# Plan\n\n1. Go"}"#, "# Plan"),
        ("Skill", r#"{"skill":"review","args":"HEAD"}"#, "review HEAD"),
        ("SlashCommand", r#"{"command":"/review"}"#, "/review"),
        ("Monitor", r#"{"command":"tail -f a"}"#, "tail -f a"),
        ("Monitor", r#"{"ws":{"url":"wss://example.com/"}}"#, "wss://example.com/"),
        ("mcp__calc__add", "{\"a\":1,\n \"b\":2}", r#"{"a":1, "b":2}"#),
    ] {
        assert_eq!(input(tool, json).summary(), expected, "{tool}");
    }
}

#[test]
fn summaries_are_short() {
    let bash = |command: String| {
        input("Bash", &format!(r#"{{"command":{}}}"#, Json::from(serde_json::Value::from(command))))
    };
    for (command, expected) in [
        ("é".repeat(SUMMARY_CHARS_MAX), "é".repeat(SUMMARY_CHARS_MAX)),
        (format!("{}  ", "é".repeat(SUMMARY_CHARS_MAX)), "é".repeat(SUMMARY_CHARS_MAX)),
        ("é".repeat(SUMMARY_CHARS_MAX + 1), format!("{}…", "é".repeat(SUMMARY_CHARS_MAX - 1))),
        (
            format!("{} x", "é".repeat(SUMMARY_CHARS_MAX - 1)),
            format!("{}…", "é".repeat(SUMMARY_CHARS_MAX - 1)),
        ),
    ] {
        assert_eq!(bash(command).summary(), expected);
    }
}

fn input(tool: &str, json: &str) -> ToolInput {
    ToolInput::read(tool, Raw::parse(json).unwrap()).unwrap()
}
