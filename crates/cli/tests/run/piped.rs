//! Runs in pipes, without a terminal.

use std::io::Write as _;
use std::process::{Output, Stdio};

use assert_cmd::Command;
use serde_json::Value;

use crate::run::sandbox::{ASKS, Sandbox};
use crate::run::started::StartedRun;

fn run(sandbox: &Sandbox, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
    command.env_clear().current_dir(sandbox.path(".")).args(sandbox.arguments(arguments)).write_stdin(input);
    command.envs(sandbox.environment());
    command.output().unwrap()
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_answer_is_plain_text_on_standard_output() {
    let sandbox = Sandbox::playing(ASKS);
    let output = run(&sandbox, &["clean up", "--on-ask", "deny"], "");
    let (data, talk) = texts(&output);
    assert_eq!(output.status.code(), Some(0), "{talk}");
    assert_eq!(data, "I will **clean up**.\n\nIt stays.\n");
    assert!(talk.contains("✗ Bash rm -rf build"), "{talk}");
    assert!(!data.contains('\x1b') && !talk.contains('\x1b'), "{talk:?}");
}

#[test]
fn a_request_without_a_terminal_ends_with_exit_code_four() {
    let sandbox = Sandbox::playing(ASKS);
    for arguments in [&["clean up"][..], &["clean up", "--on-ask", "fail"]] {
        let output = run(&sandbox, arguments, "");
        let (_, talk) = texts(&output);
        assert_eq!(output.status.code(), Some(4), "{talk}");
        assert!(talk.contains("rm -rf build") && talk.contains("--on-ask deny"), "{talk}");
    }
}

/// Programs that end at once, whether they read their input or not, and one that repeats it.
#[test]
fn c28_a_program_that_is_not_claude_code_gives_one_error_with_the_flags_of_this_command() {
    let sandbox = Sandbox::playing(ASKS);
    for (name, script) in [
        ("true", "exit 0"),
        ("false", "exit 1"),
        ("reads", "read line; exit 0"),
        ("closes", "exec 0<&-; sleep 0.1; exit 0"),
    ] {
        let program = sandbox.path(name);
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        for _ in 0..5 {
            let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
            command.env_clear().current_dir(sandbox.path(".")).args(["run", "hi"]);
            command.envs(sandbox.environment()).env("CLAUDE_CLI_PATH", &program);
            let (_, said) = texts(&command.output().unwrap());
            let expected = format!(
                "error: Not Claude Code, `--version` prints no version: `{}`\n\nhint: install Claude Code \
                 (`curl -fsSL https://claude.ai/install.sh | bash`), or set --claude-path or CLAUDE_CLI_PATH\n",
                program.display()
            );
            assert_eq!(said, expected, "{script}");
        }
    }
}

#[test]
fn an_unknown_session_is_an_error_with_a_hint() {
    let sandbox = Sandbox::playing("[[turn]]\ntext = \"Hello.\"\n");
    for id in ["aaaaaaaa-2222-4333-8444-555555555555", "unknown"] {
        let output = run(&sandbox, &["hi", "--resume", id], "");
        let (_, talk) = texts(&output);
        assert_eq!(output.status.code(), Some(3), "{talk}");
        assert!(talk.contains(id) && talk.contains("tidings sessions list"), "{talk}");
    }
}

#[test]
fn c9_a_session_is_resumed_by_the_beginning_of_its_id() {
    let sandbox = Sandbox::playing("[[turn]]\ntext = \"Hello.\"\n");
    let first = run(&sandbox, &["hi", "--output", "json"], "");
    let first: Value = serde_json::from_slice(&first.stdout).unwrap();
    let id = first["session_id"].as_str().unwrap();
    let again = run(&sandbox, &["more", "--resume", &id[..8], "--output", "json"], "");
    let (data, talk) = texts(&again);
    assert_eq!(again.status.code(), Some(0), "{talk}{data}");
    let again: Value = serde_json::from_str(&data).unwrap();
    assert_eq!(again["session_id"], id);
}

#[test]
fn c9_an_ambiguous_beginning_names_the_sessions() {
    let sandbox = Sandbox::playing("[[turn]]\ntext = \"Hello.\"\n");
    let project = sandbox.path("config/projects/-p");
    std::fs::create_dir_all(&project).unwrap();
    let ids = ["abcd0000-2222-4333-8444-555555555555", "abcd1111-2222-4333-8444-555555555555"];
    for id in ids {
        std::fs::write(project.join(format!("{id}.jsonl")), "{\"type\":\"summary\",\"summary\":\"x\"}\n")
            .unwrap();
    }
    let output = run(&sandbox, &["hi", "--resume", "abcd"], "");
    let (_, talk) = texts(&output);
    assert_eq!(output.status.code(), Some(3), "{talk}");
    assert!(ids.iter().all(|id| talk.contains(id)), "{talk}");
}

/// The session picker of Claude Code hides sessions of the SDKs.
#[test]
fn c13_agents_are_started_under_our_own_entrypoint() {
    let sandbox = Sandbox::playing("[[turn]]\ntext = \"Hello.\"\n");
    let script = std::fs::read_to_string(sandbox.claude()).unwrap();
    let said = sandbox.path("entrypoint");
    let says = format!("#!/bin/sh\necho \"$CLAUDE_CODE_ENTRYPOINT\" > '{}'\n", said.display());
    std::fs::write(sandbox.claude(), script.replacen("#!/bin/sh\n", &says, 1)).unwrap();
    let output = run(&sandbox, &["hi"], "");
    assert_eq!(output.status.code(), Some(0), "{:?}", texts(&output));
    assert_eq!(std::fs::read_to_string(said).unwrap(), "tidings\n");
}

#[test]
fn a_prompt_comes_from_a_pipe_from_a_dash_or_from_both() {
    let sandbox = Sandbox::playing(
        "[[turn]]\nwhen = { contains = \"first half\" }\ntext = \"Both.\"\n\n[[turn]]\ntext = \"One.\"\n",
    );
    for (arguments, input, answer) in [
        (&[][..], "hello", "One.\n"),
        (&["-"], "hello", "One.\n"),
        (&["first half"], "second half", "Both.\n"),
    ] {
        let output = run(&sandbox, arguments, input);
        assert_eq!(texts(&output), (answer.to_owned(), String::new()), "{arguments:?}");
    }
    let output = run(&sandbox, &[], "\n");
    assert_eq!(output.status.code(), Some(2), "{:?}", texts(&output));
}

#[test]
fn programs_get_the_frames_of_the_cli() {
    let sandbox = Sandbox::playing("[[turn]]\ntext = \"Hello.\"\n");
    let output = run(&sandbox, &["hi", "--output", "json"], "");
    let (data, talk) = texts(&output);
    assert_eq!((output.status.code(), data.lines().count()), (Some(0), 1), "{talk}");
    let result: Value = serde_json::from_str(&data).unwrap();
    for key in ["session_id", "total_cost_usd", "usage", "permission_denials"] {
        assert!(!result[key].is_null(), "{key}: {data}");
    }
    assert_eq!((&result["type"], &result["result"]), (&"result".into(), &"Hello.".into()));

    let kinds = |arguments: &[&str]| -> Vec<String> {
        let output = run(&sandbox, arguments, "");
        let (data, talk) = texts(&output);
        assert_eq!(output.status.code(), Some(0), "{talk}");
        data.lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
            .collect()
    };
    let plain = kinds(&["hi", "--output", "stream-json"]);
    assert_eq!(
        (plain.first().map(String::as_str), plain.last().map(String::as_str)),
        (Some("system"), Some("result"))
    );
    assert!(
        plain.contains(&"assistant".to_owned()) && !plain.contains(&"stream_event".to_owned()),
        "{plain:?}"
    );
    let partial = kinds(&["hi", "--output", "stream-json", "--include-partial-messages"]);
    assert!(partial.contains(&"stream_event".to_owned()), "{partial:?}");
}

/// An agent that writes all of `frames` at once, and exits with an error.
const DIES: &str = r#"#!/bin/sh
read -r line
id=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{}}}\n' "$id"
read -r line
cat frames
exit 9
"#;

#[test]
fn programs_get_every_frame_of_an_agent_that_dies() {
    let sandbox = Sandbox::playing("");
    std::fs::write(sandbox.claude(), DIES).unwrap();
    let frame = |part: usize| {
        let content = format!(r#"[{{"type":"text","text":"part {part}"}}]"#);
        let message = format!(r#"{{"role":"assistant","content":{content}}}"#);
        format!(r#"{{"type":"assistant","message":{message},"parent_tool_use_id":null,"session_id":"s"}}"#)
    };
    let init = r#"{"type":"system","subtype":"init","session_id":"s","tools":[]}"#.to_owned();
    let frames: Vec<String> = std::iter::once(init).chain((0..20).map(frame)).collect();
    std::fs::write(sandbox.path("frames"), frames.join("\n") + "\n").unwrap();
    // Several times, since a lost frame would depend on timing.
    for _ in 0..5 {
        let output = run(&sandbox, &["hi", "--output", "stream-json"], "");
        let (data, talk) = texts(&output);
        assert_eq!(output.status.code(), Some(3), "{talk}");
        let got: Vec<&str> = data.lines().collect();
        let (error, got) = got.split_last().unwrap();
        assert!(error.starts_with("{\"error\":"), "{error}");
        assert_eq!(got, frames);
    }
}

#[test]
fn a_silent_pipe_is_ignored_with_a_warning() {
    let sandbox = Sandbox::playing("[[turn]]\ntext = \"Hello.\"\n");
    let mut run = StartedRun::run(&sandbox, &["review"], Stdio::piped());
    let input = run.input();
    assert_eq!(run.ended(), Some(0), "{:?}", run.texts());
    let (data, talk) = run.texts();
    assert_eq!(data, "Hello.\n");
    assert!(talk.contains("warning: no input came through the pipe"), "{talk}");
    drop(input);
}

#[test]
fn a_pipe_that_holds_too_much_is_refused() {
    let sandbox = Sandbox::playing("[[turn]]\ntext = \"Hello.\"\n");
    let mut run = StartedRun::run(&sandbox, &["review"], Stdio::piped());
    let mut input = run.input().unwrap();
    // The write fails, since the run stops reading at the limit.
    drop(input.write_all("é".repeat((8 << 20) + 1).as_bytes()));
    drop(input);
    assert_eq!(run.ended(), Some(3), "{:?}", run.texts());
    let (data, talk) = run.texts();
    assert_eq!(data, "");
    assert!(talk.contains("More than 16 MiB") && talk.contains("name the file"), "{talk}");
}

/// An error of standard output is reported on standard error.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported_on_standard_error() {
    let sandbox = Sandbox::playing("[[turn]]\ntext = \"Hello.\"\n");
    for format in ["json", "stream-json", "text"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_tidings"))
            .env_clear()
            .envs(sandbox.environment())
            .current_dir(sandbox.path("."))
            .args(sandbox.arguments(&["hi", "--output", format]))
            .stdin(Stdio::null())
            .stdout(full)
            .output()
            .unwrap();
        let (_, talk) = texts(&output);
        assert_eq!(output.status.code(), Some(3), "{format}: {talk}");
        assert!(talk.contains("error: "), "{format}: {talk}");
    }
}

#[test]
fn exit_codes_tell_what_went_wrong() {
    let sandbox = Sandbox::playing("[[turn]]\nerror = { status = 400, message = \"no\" }\nrepeat = true\n");
    let output = run(&sandbox, &["hi"], "");
    assert_eq!(output.status.code(), Some(1), "an error result: {:?}", texts(&output));
    let output = run(&sandbox, &["hi", "--json-schema", "{"], "");
    assert_eq!(output.status.code(), Some(2), "wrong usage: {:?}", texts(&output));
    std::fs::remove_file(sandbox.claude()).unwrap();
    let output = run(&sandbox, &["hi"], "");
    assert_eq!(output.status.code(), Some(3), "no CLI: {:?}", texts(&output));
    let (_, talk) = texts(&output);
    assert!(
        talk.contains("--claude-path") && !talk.contains("Options::"),
        "the hint names flags of the command: {talk}"
    );
    let output = run(&sandbox, &["hi", "--output", "json"], "");
    assert_eq!(output.status.code(), Some(3));
    let error: Value = serde_json::from_str(&texts(&output).0).unwrap();
    assert!(error["error"]["message"].is_string(), "{error}");
}

#[test]
fn the_help_teaches() {
    let sandbox = Sandbox::playing("");
    let (data, _) = texts(&run(&sandbox, &["--help"], ""));
    for words in ["Examples:", "[y] once", "Exit codes:", "--allowed-tools", "stream-json"] {
        assert!(data.contains(words), "{words} is missing:\n{data}");
    }
}
