//! `tidings frames`, as a user runs it.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::test_root::report;

fn tidings(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("tidings").unwrap();
    command.env_clear().args(args);
    command
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocol/tests/fixtures").join(name)
}

/// Exit code, stdout and stderr in one text.
fn run(args: &[&str], input: impl Into<Vec<u8>>) -> String {
    report(&tidings(args).write_stdin(input).output().unwrap())
}

const MIXED: &str = concat!(
    "Welcome\n",
    "{\"type\":\"user\",\"message\":{\"content\":\"hi\"}}\n",
    "\n",
    "{\"type\":\"user\",\"message\":{\"content\":\"half \\ud83d\"},\"uuid\":7}\n",
    "{\"type\":\"sparkle\",\"x\":1e400}\n",
    "{\"type\":\"assistant\",\"message\":{\"content\":42}}\n",
    "{\"type\":\"result\",\n",
);

#[test]
fn check_counts_every_line_and_says_what_is_wrong() {
    assert_snapshot!(run(&["frames", "check"], MIXED), @r#"
    exit: 1
    --- stdout
           2  user
           1  assistant  unknown
           1  sparkle  unknown

    -:1: noise: Welcome
    -:4: refused: `uuid` should be a string, found `7`
    -:6: unknown: `message.content` should be a string or a list of content blocks, found `42`
    -:7: invalid: expected a key in double quotes at byte 18, near `{"type":"result",�`

    4 frames: 1 typed, 1 refused, 2 unknown; 0 lossy, 1 repaired
    1 noise, 1 blank, 1 invalid
    --- stderr
    "#);
}

#[test]
fn check_json_has_the_keys_that_scripts_rely_on() {
    let output = tidings(&["frames", "check", "--json"]).write_stdin(MIXED).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        counts,
        json!({
            "frames": 4, "typed": 1, "refused": 1, "unknown": 2, "noise": 1, "blank": 1, "invalid": 1,
            "lossy": 0, "repaired": 1, "kinds": {"user": 2, "assistant": 1, "sparkle": 1},
        })
    );
}

#[test]
fn check_of_the_demo_recording_is_fine() {
    let demo = fixture("demo.ndjson");
    tidings(&["frames", "check", demo.to_str().unwrap()]).assert().success();
}

#[test]
fn a_line_over_the_limit_is_invalid_and_the_next_is_read() {
    let long = format!("{{\"type\":\"{}\"}}\n{{\"type\":\"user\"}}\n", "x".repeat(100));
    let output =
        tidings(&["frames", "check", "--json", "--max-line", "64"]).write_stdin(long).output().unwrap();
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&counts["invalid"], &counts["frames"]), (&json!(1), &json!(1)));
}

#[test]
fn echo_is_the_identity() {
    let mut stream =
        b"\xef\xbb\xbf \t{\"a\":\"\xc3\xa9\"} \r\n\r\n\xff\xfe noise\n{\"broken\":\n{\"type\":\"x\"}{}\n"
            .to_vec();
    stream.extend_from_slice(&std::fs::read(fixture("demo.ndjson")).unwrap());
    stream.extend_from_slice(b"{\"no\":\"line end\"}");
    let output = tidings(&["frames", "echo"]).write_stdin(stream.clone()).output().unwrap();
    assert!(output.stdout == stream);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn convert_to_seed_writes_the_page_s_shapes() {
    let frames = concat!(
        r#"{"type":"system","subtype":"init","session_id":"s","tools":["Bash"],"mcp_servers":[{"name":"m","status":"connected"}],"cwd":"/"}"#,
        "\n",
        r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t"}}"#,
        "\n",
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"deny","message":"no"}}}"#,
        "\n",
        r#"{"type":"system","subtype":"status","status":"requesting"}"#,
        "\n",
        r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["too many"],"session_id":"s"}"#,
        "\n",
    );
    assert_snapshot!(run(&["frames", "convert", "--to", "seed"], frames), @r#"
    exit: 0
    --- stdout
    {"type":"system","subtype":"init","session_id":"s","tools":[{"name":"Bash"}],"mcp_servers":[{"name":"m","status":"connected"}],"cwd":"/"}
    {"type":"control_request","request_id":"r1","subtype":"can_use_tool","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}
    {"type":"control_response","request_id":"r1","subtype":"success","allowed":false,"reason":"no"}
    {"type":"result","subtype":"error","error":"too many","error_code":"error_max_turns","session_id":"s"}
    --- stderr
    1 lines cannot be expressed in this format and were omitted
    "#);
}

#[test]
fn convert_to_json_gives_strict_json_of_the_real_wire() {
    let frames = "{\"type\":\"control_request\",\"request_id\":\"r\",\"subtype\":\"interrupt\"}\n{\"type\":\"user\",\"message\":{\"content\":\"\\ud83d\"}}\n";
    assert_snapshot!(run(&["frames", "convert", "--from", "seed", "--to", "json"], frames), @r#"
    exit: 0
    --- stdout
    {"type":"control_request","request_id":"r","request":{"subtype":"interrupt"}}
    {"type":"user","message":{"content":"�"}}
    --- stderr
    "#);
}

#[test]
fn errors_have_a_sentence_a_hint_and_an_exit_code() {
    assert_snapshot!(run(&["frames", "check", "no/such.ndjson"], ""), @r"
    exit: 3
    --- stdout
    --- stderr
    error: No such file: no/such.ndjson

    hint: give the path of a file of NDJSON lines, or `-` for standard input
    ");
    assert_snapshot!(run(&["frames", "check", "--json", "no/such.ndjson"], ""), @r#"
    exit: 3
    --- stdout
    {"error":{"code":"not_found","message":"No such file: no/such.ndjson","hint":"give the path of a file of NDJSON lines, or `-` for standard input"}}
    --- stderr
    "#);
    tidings(&["frames", "chekc"]).assert().code(2);
}

#[test]
fn text_from_files_cannot_steer_the_terminal() {
    let output = tidings(&["frames", "check", "--color", "always"])
        .write_stdin("{\"type\":\"evil\\u001b[2Jname\\u202e\"}\n\u{1b}]0;title\u{7}\n")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        !text.contains("\u{1b}[2J") && !text.contains("\u{1b}]0") && !text.contains('\u{202e}'),
        "{text:?}"
    );
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    use std::io::Read as _;
    use std::process::{Command, Stdio};
    let path = fixture("demo.ndjson");
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("tidings"))
        .args(["frames", "echo"])
        .args(vec![path; 50])
        .env_clear()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 64];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

/// The example of the phone protocol, and a call with its result.
const SAID: &str = concat!(
    r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I'll run the test suite now. Running test 5 of 20..."}]},"session_id":"sess_123"}"#,
    "\n",
    r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},"session_id":"sess_123"}"#,
    "\n",
    r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]},"session_id":"sess_123"}"#,
    "\n",
    r#"{"type":"result","subtype":"success","is_error":false,"stop_reason":"end_turn","session_id":"sess_123"}"#,
    "\n",
);

#[test]
fn s2_18_convert_to_mobile_gives_the_two_messages_of_the_page() {
    let example = SAID.lines().next().unwrap();
    assert_snapshot!(run(&["frames", "convert", "--to", "mobile"], example), @r#"
    exit: 0
    --- stdout
    {"type":"claude_response","content":"I'll run the test suite now. Running test 5 of 20...","conversationId":"sess_123"}
    {"type":"progress_update","currentStep":"Running tests","completedSteps":5,"totalSteps":20,"percentage":25.0}
    --- stderr
    "#);
}

#[test]
fn convert_to_ui_gives_the_events_of_the_page_and_no_others() {
    assert_snapshot!(run(&["frames", "convert", "--to", "ui"], SAID), @r#"
    exit: 0
    --- stdout
    {"System":{"message":"Session sess_123","session_id":1}}
    {"TextChunk":{"text":"I'll run the test suite now. Running test 5 of 20...","session_id":1,"turn_id":{"role":"Assistant","sequence":1}}}
    {"ToolExecuting":{"tool_use_id":"t1","tool_name":"Bash","input":{"command":"ls"},"session_id":1}}
    {"ToolCompleted":{"tool_use_id":"t1","result":"a.txt","session_id":1}}
    {"Complete":{"session_id":1,"turn_id":{"role":"Assistant","sequence":1},"stop_reason":"EndTurn"}}
    --- stderr
    "#);
}

#[test]
fn convert_to_native_tells_everything_and_goes_on_after_a_broken_line() {
    let input = "{\"type\":\"sparkle\"}\nnoise\n{\"type\":\n";
    assert_snapshot!(run(&["frames", "convert", "--to", "native"], input), @r#"
    exit: 1
    --- stdout
    {"RawFrame":{"session_id":1,"kind":"sparkle","json":"{\"type\":\"sparkle\"}"}}
    --- stderr
    -:3: expected a value at byte 9, near `{"type":�`
    "#);
}

#[test]
fn convert_takes_a_session_file_and_ends_its_last_turn() {
    let input = concat!(
        r#"{"type":"user","uuid":"1","sessionId":"s","message":{"role":"user","content":"hi"}}"#,
        "\n",
        r#"{"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"s","message":{"id":"m","model":"x","content":[{"type":"text","text":"Hello."}],"stop_reason":"max_tokens"}}"#,
        "\n",
    );
    let output = run(&["frames", "convert", "--from", "transcript", "--to", "ui"], input);
    assert!(output.contains(r#"{"TextChunk":{"text":"Hello.""#), "{output}");
    assert!(output.contains(r#""stop_reason":"MaxTokens"}}"#), "{output}");
}

#[test]
fn s4_a_session_file_is_recognised() {
    let line = r#"{"type":"user","uuid":"u","parentUuid":null,"isSidechain":false,"message":{"role":"user","content":"hi"}}"#;
    let said = run(&["frames", "check"], format!("{line}\n"));
    assert!(said.contains("tidings sessions check"), "{said}");
    assert!(!run(&["frames", "check"], MIXED).contains("sessions check"));
}
