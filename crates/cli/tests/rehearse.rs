//! `tidings rehearse`, as a user runs it.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

fn tidings(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("tidings").unwrap();
    command.env_clear().args(args);
    command
}

/// The recording of a host that asks one thing and sends one prompt.
const RECORDING: &str = r#"{"t_ms":0,"dir":"in","frame":{"type":"control_request","request_id":"old-1","request":{"subtype":"mcp_status"}}}
{"t_ms":5,"dir":"out","frame":{"type":"control_response","response":{"subtype":"success","request_id":"old-1","response":{"mcpServers":[]}}}}
{"t_ms":6,"dir":"out","raw":"Debugger attached."}
{"t_ms":7,"dir":"in","frame":{"type":"user","message":{"role":"user","content":"hi"}}}
{"t_ms":9,"dir":"out","frame":{"type":"assistant","message":{"id":"m1","model":"x","role":"assistant","content":[{"type":"text","text":"I look."}]}}}
{"t_ms":9,"dir":"out","frame":{"type":"assistant","message":{"id":"m1","model":"x","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls","timeout":null}}]}}}
{"t_ms":9,"dir":"out","frame":{"type":"control_request","request_id":"c1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}}}
{"t_ms":9,"dir":"in","frame":{"type":"control_response","response":{"subtype":"success","request_id":"c1","response":{"behavior":"allow"}}}}
{"t_ms":10,"dir":"out","frame":{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"README.md"}]},"tool_use_result":{"stdout":"README.md"}}}
{"t_ms":10,"dir":"out","frame":{"type":"assistant","message":{"id":"m2","model":"x","role":"assistant","content":[{"type":"text","text":"One file."}]}}}
{"t_ms":11,"dir":"out","frame":{"type":"result","subtype":"success","result":"done","is_error":false}}
{"t_ms":12,"dir":"exit","rc":0}
"#;

const HOST: &str = r#"{"type":"control_request","request_id":"live-7","request":{"subtype":"mcp_status"}}
{"type":"user","message":{"role":"user","content":"hello"}}
{"type":"control_response","response":{"subtype":"success","request_id":"c1","response":{"behavior":"allow"}}}
"#;

fn recording(folder: &Path) -> String {
    let path = folder.join("run.ndjson");
    std::fs::write(&path, RECORDING).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn replay_answers_a_live_host_under_its_own_ids() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(folder.path());
    let output = tidings(&["rehearse", "replay", "--speed", "0", &run]).write_stdin(HOST).output().unwrap();
    let lines: Vec<_> = std::str::from_utf8(&output.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 8, "{lines:?}");
    let answer: Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(answer["response"]["request_id"], json!("live-7"));
    assert_eq!(lines[1], "Debugger attached.");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn replay_stops_where_the_host_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(folder.path());
    let first = HOST.lines().next().unwrap().to_owned() + "\n";
    let output = tidings(&["rehearse", "replay", "--speed", "0", &run]).write_stdin(first).output().unwrap();
    assert_eq!(std::str::from_utf8(&output.stdout).unwrap().lines().count(), 2);
    let output = tidings(&["rehearse", "replay", "--speed", "0", "--no-wait", &run]).output().unwrap();
    assert_eq!(std::str::from_utf8(&output.stdout).unwrap().lines().count(), 8);
}

#[test]
fn a_recorded_run_becomes_a_script_that_the_stand_in_plays() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(folder.path());
    let program = assert_cmd::cargo::cargo_bin("tidings");
    let program = program.to_str().unwrap();
    let script = folder.path().join("run.toml");
    let script = script.to_str().unwrap();
    let recorded =
        ["rehearse", "record", "-o", script, "--", program, "rehearse", "replay", "--speed", "0", &run];
    let output = tidings(&recorded).write_stdin(HOST).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(script).unwrap();
    for part in
        ["text = \"I look.\"", "tool = \"Bash\"", "ask = true", "result = \"README.md\"", "command = \"ls\""]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let sessions = folder.path().join("config");
    let sessions = sessions.to_str().unwrap();
    let agent = [
        "rehearse",
        "agent",
        "--script",
        script,
        "--config-dir",
        sessions,
        "--allowedTools",
        "Bash",
        "-p",
        "hi",
    ];
    let output = tidings(&agent).env("PATH", "/usr/bin:/bin").output().unwrap();
    let answer = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), answer.trim()), (Some(0), "One file."));
}

#[test]
fn a_recording_keeps_the_lines_of_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.ndjson");
    let copy = copy.to_str().unwrap();
    let output = tidings(&["rehearse", "record", "-o", copy, "--", "/bin/cat"])
        .write_stdin("{\"type\":\"user\",\"n\":1.50}\nplain text\n")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "{\"type\":\"user\",\"n\":1.50}\nplain text\n");
    let text = std::fs::read_to_string(copy).unwrap();
    let mut kept: Vec<_> =
        text.lines().map(|line| line.split_once("\"dir\":").unwrap().1.to_owned()).collect();
    kept.sort();
    assert_eq!(
        kept,
        [
            "\"exit\",\"rc\":0}",
            "\"in\",\"frame\":{\"type\":\"user\",\"n\":1.50}}",
            "\"in\",\"raw\":\"plain text\"}",
            "\"out\",\"frame\":{\"type\":\"user\",\"n\":1.50}}",
            "\"out\",\"raw\":\"plain text\"}",
        ]
    );
}

#[test]
fn a_recording_can_be_read_as_events() {
    let folder = tempfile::tempdir().unwrap();
    let run = recording(folder.path());
    let output = tidings(&["frames", "convert", "--to", "native", &run]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let has =
        |pointer: &str, value: &str| events.iter().any(|event| event.pointer(pointer) == Some(&json!(value)));
    assert!(has("/UserPrompt/text", "hi"), "what the host said: {text}");
    assert!(has("/TextChunk/text", "I look."), "what the agent said: {text}");
    assert!(has("/ToolCompleted/result", "README.md"), "{text}");
    let json = tidings(&["frames", "convert", "--to", "json", &run]).output().unwrap();
    assert!(String::from_utf8(json.stdout).unwrap().starts_with("{\"type\":\"control_request\""));
}

/// A run costs time and money, so the recording of an interrupted one is kept.
#[cfg(unix)]
#[test]
fn a_recording_that_is_interrupted_is_written_as_far_as_it_came() {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().unwrap();
    let said = r#"{"type":"assistant","message":{"id":"m1","model":"x","role":"assistant","content":[{"type":"text","text":"It begins."}]}}"#;
    // Ctrl-C reaches both; SIGTERM only the one that it is sent to.
    for (signal, to_all, name) in
        [("-INT", true, "int.toml"), ("-TERM", false, "term.toml"), ("-TERM", false, "term.ndjson")]
    {
        let out = folder.path().join(name);
        let mut recorder = Command::new(assert_cmd::cargo::cargo_bin("tidings"))
            .args(["rehearse", "record", "-o", out.to_str().unwrap(), "--"])
            .args(["/bin/sh", "-c", "echo \"$0\"; exec sleep 600", said])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(recorder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let pid = format!("{}{}", if to_all { "-" } else { "" }, recorder.id());
        assert!(Command::new("kill").args([signal, "--", &pid]).status().unwrap().success());
        let ended = recorder.wait_with_output().unwrap();
        let text = std::fs::read_to_string(&out).unwrap();
        let told = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(130), "{name}: {told}");
        assert!(told.contains("1 line recorded"), "{told}");
        if name.ends_with("toml") {
            assert!(text.contains("text = \"It begins.\""), "{text}");
            tidings_rehearsal::script::Script::parse(&text).unwrap();
        } else {
            let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!((lines.len(), &lines[1]["rc"]), (2, &Value::Null), "{text}");
        }
    }
}

#[test]
fn nothing_is_run_that_cannot_be_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let ran = folder.path().join("ran");
    let folder_itself = folder.path().to_str().unwrap();
    for (out, hint) in [
        ("/no/such/folder/r.toml", "check the path"),
        ("/no/such/folder/r.ndjson", "check the path"),
        (folder_itself, "name a file, not a folder"),
    ] {
        let output =
            tidings(&["rehearse", "record", "-o", out, "--", "/bin/mkdir"]).arg(&ran).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("Failed to write") && told.contains(hint), "{told}");
        assert_eq!(output.status.code(), Some(3));
        assert!(!ran.exists());
    }
}

#[test]
fn a_command_that_cannot_start_leaves_recordings_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old.ndjson");
    std::fs::write(&old, RECORDING).unwrap();
    for name in ["old.ndjson", "new.ndjson"] {
        let out = folder.path().join(name);
        let args = ["rehearse", "record", "-o", out.to_str().unwrap(), "--", "/no/such/program"];
        assert_eq!(tidings(&args).output().unwrap().status.code(), Some(3));
    }
    assert_eq!(std::fs::read_to_string(&old).unwrap(), RECORDING);
    assert!(!folder.path().join("new.ndjson").exists());
    // A shorter recording leaves nothing of a longer one.
    tidings(&["rehearse", "record", "-o", old.to_str().unwrap(), "--", "/bin/echo", "hi"]).assert().success();
    assert_eq!(std::fs::read_to_string(&old).unwrap().lines().count(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_recording_that_does_not_fit_on_the_disk_is_kept_elsewhere() {
    use std::os::unix::ffi::OsStrExt as _;

    let folder = tempfile::tempdir().unwrap();
    let output = tidings(&["rehearse", "record", "-o", "/dev/full", "--", "/bin/echo"])
        .arg(std::ffi::OsStr::from_bytes(b"any \xff bytes"))
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(3), &b"any \xff bytes\n"[..]));
    let kept = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains(&format!("The recording is in `{}`", kept.display())), "{told}");
    assert!(std::fs::read_to_string(&kept).unwrap().contains("\"dir\":\"out\""));
}

#[test]
fn a_script_with_a_mistake_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("bad.toml");
    std::fs::write(&script, "[[turn]]\ntxet = \"hi\"\n").unwrap();
    let output = tidings(&["rehearse", "api", "--script", script.to_str().unwrap()]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("line 2: unknown field `txet`, expected one of"), "{error}");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn the_examples_and_the_demo_are_scripts_without_mistakes() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rehearsal");
    tidings_rehearsal::script::Script::parse(tidings_rehearsal::agent::DEMO).unwrap();
    let mut count = 0;
    for file in std::fs::read_dir(examples).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        tidings_rehearsal::script::Script::parse(&text).unwrap();
        count += 1;
    }
    assert!(count >= 3);
}

/// D4: a line that answers another stands after it in a recording, however fast the answer comes.
#[cfg(unix)]
#[test]
fn d4_a_recording_has_its_lines_in_the_order_of_their_causes() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Command, Stdio};

    const ROUNDS: usize = 300;
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.ndjson");
    // The agent answers each line with the same line, and the host answers that with the next one.
    let mut recorder = Command::new(assert_cmd::cargo::cargo_bin("tidings"))
        .args(["rehearse", "record", "-o", run.to_str().unwrap(), "--", "/bin/cat"])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = recorder.stdin.take().unwrap();
    let mut output = BufReader::new(recorder.stdout.take().unwrap());
    for round in 0..ROUNDS {
        writeln!(input, "{{\"type\":\"round\",\"number\":{round}}}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.contains(&format!(":{round}}}")), "{line}");
    }
    drop(input);
    assert!(recorder.wait().unwrap().success());
    let text = std::fs::read_to_string(&run).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen: Vec<(String, Option<u64>)> = lines
        .iter()
        .filter(|line| line["dir"] != "exit")
        .map(|line| (line["dir"].as_str().unwrap().to_owned(), line["frame"]["number"].as_u64()))
        .collect();
    let expected: Vec<(String, Option<u64>)> = (0..ROUNDS as u64)
        .flat_map(|round| [("in".to_owned(), Some(round)), ("out".to_owned(), Some(round))])
        .collect();
    assert_eq!(seen, expected);
}
