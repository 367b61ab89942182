//! The example `read_session`, over the fixtures of the `rusty_claw` wire format.

#[expect(dead_code, reason = "`main` of the example is not called here")]
#[path = "../examples/read_session.rs"]
mod example;

fn shown(session: &str) -> String {
    let mut out = Vec::new();
    example::read_session(session.as_bytes(), &mut out).expect("writing into memory cannot fail");
    String::from_utf8(out).expect("text")
}

#[test]
fn a_session_reads_as_a_conversation() {
    let expected = r#"<  Let me check the current directory.
$  bash {"command":"ls -la"}
=  total 42
<  This is a Rust project with a Cargo.toml and src directory.
-- done, 2 turns, 0.0000 USD so far

"#;
    assert_eq!(shown(include_str!("fixtures/tool_use.ndjson")), expected);
}

#[test]
fn failures_thinking_and_noise_are_shown_too() {
    let error = shown(include_str!("fixtures/error_response.ndjson"));
    assert_eq!(
        error,
        "-- failed: Failed to execute command: permission denied, 0 turns, 0.0000 USD so far\n\n"
    );
    assert!(shown(include_str!("fixtures/thinking_content.ndjson")).starts_with("~  Let me analyze"));
    let rubbish = shown(
        "a banner\n\n{\"type\":\n{\"type\":\"user\",\"parent_tool_use_id\":\"t\",\"message\":{\"content\":\"go\"}}",
    );
    let lines: Vec<&str> = rubbish.lines().collect();
    assert!(lines[0].starts_with("?  expected"), "{rubbish}");
    assert_eq!(lines[1], "    >  go");
}
