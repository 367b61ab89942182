//! `tidings sessions show` and `tidings sessions export`.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

use crate::test_root::{TestRoot, sessions};

const ID: &str = "11111111-2222-4333-8444-555555555555";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcript/tests/fixtures/export").join(name)
}

fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

#[test]
fn show_tells_the_newest_session_without_colours_in_a_pipe() {
    let shown = stdout(sessions(&fixture("branch")).arg("show"));
    assert!(shown.contains("User  00:28:56\nremember 7\n"), "{shown}");
    assert!(!shown.contains('\u{1b}'));
    let coloured = stdout(sessions(&fixture("branch")).args(["--color", "always", "show"]));
    assert!(coloured.contains("\u{1b}[1mUser\u{1b}[0m"), "{coloured}");
}

#[test]
fn show_takes_branches_by_number_and_by_uuid() {
    let active = stdout(sessions(&fixture("branch")).args(["show", "1111"]));
    assert!(active.contains("what did I say?") && !active.contains("and 8\n"), "{active}");
    let other = stdout(sessions(&fixture("branch")).args(["show", ID, "--branch", "2"]));
    assert!(other.contains("\nand 8\n") && !other.contains("\nwhat did I say?\n\nAssistant"), "{other}");
    sessions(&fixture("branch")).args(["show", "--branch", "7"]).assert().code(3);
}

#[test]
fn show_as_json_has_the_promised_keys_in_their_order() {
    let lines = stdout(sessions(&fixture("agent")).args(["show", "--json", "--sidechains"]));
    for line in lines.lines() {
        let mut at = 0;
        for key in [
            "uuid", "parent", "line", "at", "kind", "part", "actor", "flow", "lane", "text", "tools",
            "results",
        ] {
            let found =
                line.find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("{key} is missing in {line}"));
            assert!(found >= at, "{key} is out of order in {line}");
            at = found;
        }
    }
    assert!(lines.contains("\"lane\":\"a1cbaedb1e9924417\""));
    let main = stdout(sessions(&fixture("agent")).args(["show", "--json"]));
    assert!(!main.contains("\"lane\":\"a1cbaedb1e9924417\""));
}

#[test]
fn export_writes_to_a_file_or_to_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["md", "html", "json", "ndjson"] {
        let out = folder.path().join(format);
        sessions(&fixture("agent"))
            .args(["export", "5a15c0fc", "--to", format, "-o"])
            .arg(&out)
            .assert()
            .success()
            .stdout("");
        let printed =
            stdout(sessions(&fixture("agent")).args(["export", "5a15c0fc", "--to", format, "-o", "-"]));
        assert_eq!(fs::read_to_string(&out).unwrap(), printed, "{format}");
        assert!(!printed.is_empty());
    }
}

#[test]
fn export_tells_scripts_what_it_wrote() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["md", "html", "json", "ndjson", "ui"] {
        let out = folder.path().join(format);
        let args = ["--json", "export", "5a15c0fc", "--redact", "--to", format, "-o"];
        let told = stdout(sessions(&fixture("agent")).args(args).arg(&out));
        let bytes = fs::metadata(&out).unwrap().len();
        let expected = format!(
            "{{\"id\":\"5a15c0fc-95e4-428e-a126-8a8cf06dfac6\",\"to\":\"{format}\",\"file\":\"{}\",\"bytes\":{bytes},\"redacted\":{{}}}}\n",
            out.display()
        );
        assert_eq!(told, expected);
    }
    for format in ["md", "html"] {
        let refused =
            sessions(&fixture("agent")).args(["--json", "export", "--to", format]).output().unwrap();
        let told = String::from_utf8(refused.stdout).unwrap();
        assert!(told.starts_with("{\"error\":{\"code\":\"usage\"") && told.contains("-o"), "{told}");
        assert_eq!(refused.status.code(), Some(2));
    }
    // These formats are already JSON.
    for format in ["json", "ndjson", "ui"] {
        let plain = stdout(sessions(&fixture("agent")).args(["export", "--to", format]));
        assert_eq!(stdout(sessions(&fixture("agent")).args(["--json", "export", "--to", format])), plain);
    }
}

#[test]
fn a_place_that_cannot_be_written_to_is_an_error_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    for (out, hint) in [("no/such/x.md", "check the path"), ("", "name a file, not a folder")] {
        let mut command = sessions(&fixture("agent"));
        let output =
            command.args(["export", "--to", "md", "-o"]).arg(folder.path().join(out)).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("Failed to write") && told.contains(hint), "{told}");
        assert_eq!(output.status.code(), Some(3));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_may_have_any_name() {
    use std::os::unix::ffi::OsStrExt as _;

    let folder = tempfile::tempdir().unwrap();
    let named = |name: &[u8]| folder.path().join(std::ffi::OsStr::from_bytes(name));
    let file = named(b"odd\xff.jsonl");
    fs::copy(fixture("branch").join(format!("projects/-home-dev-demo/{ID}.jsonl")), &file).unwrap();
    for args in [
        &["show"][..],
        &["tree"],
        &["check"],
        &["du"],
        &["export", "--to", "md"],
        &["export", "--to", "ndjson", "-o", "OUT"],
        &["repair", "-o", "OUT"],
    ] {
        let out = named(format!("{}\u{fe}.out", args[0]).as_bytes());
        let mut command = sessions(folder.path());
        for arg in args {
            match *arg {
                "OUT" => command.arg(&out),
                arg => command.arg(arg),
            };
        }
        command.arg(&file).assert().success();
        assert_eq!(out.exists(), args.contains(&"OUT"), "{args:?}");
    }
}

#[test]
fn export_never_overwrites_the_session() {
    let root = TestRoot::new();
    let line = "{\"type\":\"user\",\"uuid\":\"u1\",\"message\":\"Hi\"}\n";
    let file = root.write(&format!("-p/{ID}.jsonl"), line);
    root.command(&["export", "--to", "ndjson", "-o"]).arg(&file).assert().code(2);
    assert_eq!(fs::read_to_string(&file).unwrap(), line);
}

#[test]
fn export_writes_over_a_file_only_by_a_clear_word() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("notes.md");
    fs::write(&out, "mine").unwrap();
    let export = |force: &[&str]| {
        let mut command = sessions(&fixture("agent"));
        command.args(["export", "--to", "md", "-o"]).arg(&out).args(force).output().unwrap()
    };
    let refused = export(&[]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && told.contains("--force"), "{told}");
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
    assert!(export(&["--force"]).status.success());
    assert_ne!(fs::read_to_string(&out).unwrap(), "mine");
    let device =
        sessions(&fixture("agent")).args(["export", "--to", "md", "-o", "/dev/null"]).output().unwrap();
    assert!(device.status.success(), "a device is not overwritten: {device:?}");
}

#[test]
fn f123_redacted_exports_say_what_was_taken_out() {
    let root = TestRoot::new();
    let token = ["ghp", "_", "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"].concat();
    let line = format!("{{\"type\":\"user\",\"uuid\":\"u1\",\"message\":\"my token is {token}\"}}\n");
    root.write(&format!("-p/{ID}.jsonl"), &line);
    for arguments in [
        &["export", "--redact", "--to", "md"][..],
        &["export", "--redact", "--to", "ndjson"],
        &["show", "--redact"],
    ] {
        let output = root.command(arguments).assert().success().get_output().clone();
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(!out.contains(&token) && out.contains("[redacted: github-token #1]"), "{out}");
        assert!(err.contains("github-token") && err.contains("images were not checked"), "{err}");
    }
}

#[test]
fn c23_a_redacted_export_says_what_was_looked_for() {
    for arguments in
        [&["export", "5a15c0fc", "--redact", "--to", "md"][..], &["show", "5a15c0fc", "--redact"]]
    {
        let output = sessions(&fixture("agent")).args(arguments).assert().success().get_output().clone();
        let err = String::from_utf8(output.stderr).unwrap();
        for kind in ["looked for", "cookie", "github-token", "mnemonic", "password", "private-key"] {
            assert!(err.contains(kind), "{err}");
        }
    }
}

#[test]
fn f122_show_prints_nothing_that_steers_a_terminal() {
    let root = TestRoot::new();
    let line = "{\"type\":\"user\",\"uuid\":\"u1\",\"message\":\"a\\u001b]52;c;x\\u0007\\u009b2J\\u202eb\\rc\\nd\"}\n";
    root.write(&format!("-p/{ID}.jsonl"), line);
    let shown = root.stdout(&["show"]);
    assert!(shown.contains("a\u{fffd}]52;c;x\u{fffd}\u{fffd}2J\u{fffd}b\u{fffd}c\nd\n"), "{shown:?}");
}

#[test]
fn a_session_that_is_not_there_is_an_error_with_a_hint() {
    let output = sessions(&fixture("agent")).args(["show", "ffff"]).assert().code(3).get_output().clone();
    assert!(String::from_utf8(output.stderr).unwrap().contains("tidings sessions list"));
    let output = TestRoot::new().command(&["--json", "show"]).assert().code(3).get_output().clone();
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("{\"error\":{\"code\":\"not_found\""));
    let output = sessions(Path::new("/no/such/root")).arg("show").assert().code(3).get_output().clone();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("No such folder: `/no/such/root`") && told.contains("hint: "), "{told}");
}

#[test]
fn export_to_ui_gives_the_events_that_a_client_would_have_seen() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agent/tests/fixtures/agent-foreground/root");
    let events = stdout(sessions(&folder).args(["export", "--to", "ui"]));
    let names: Vec<String> = events
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|event| event.as_object().unwrap().keys().next().unwrap().clone())
        .filter(|name| name != "TokenUpdate" && name != "System")
        .collect();
    assert_eq!(names, ["TextChunk", "ToolExecuting", "ToolCompleted", "TextChunk", "Complete"]);
    assert!(events.contains("A sub-agent completed"), "sub-agents appear as notes: {events}");

    let output = sessions(&folder).args(["export", "--to", "ui", "--all-branches"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// A conversation, and then commands that start at a new root.
fn commands_at_roots() -> TestRoot {
    let line = |kind: &str, uuid: &str, parent: &str, text: &str| {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"isSidechain":false,"sessionId":"{ID}","timestamp":"2026-11-15T10:00:00.000Z","message":{{"id":"m-{uuid}","role":"{kind}","content":"{text}"}}}}"#
        )
    };
    let export = "<command-name>/export</command-name>";
    let printed = "<local-command-stdout>Conversation exported</local-command-stdout>";
    let lines = [
        line("user", "a", "", "count the files"),
        line("assistant", "b", "a", "There are seven"),
        line("user", "c", "", export),
        line("user", "d", "c", printed),
        line("user", "e", "", export),
    ];
    let root = TestRoot::new();
    root.write(&format!("-home-dev-demo/{ID}.jsonl"), &(lines.join("\n") + "\n"));
    root
}

#[test]
fn c4_the_conversation_is_shown_and_other_branches_are_announced() {
    let root = commands_at_roots();
    let announced = "3 entries are in other branches (2) and not shown; `--all-branches`";
    for args in [&["show"][..], &["show", "--json"], &["export", "--to", "md"], &["export", "--to", "json"]] {
        let done = root.command(args).assert().success();
        let (out, note) = (done.get_output().stdout.clone(), done.get_output().stderr.clone());
        let (out, note) = (String::from_utf8(out).unwrap(), String::from_utf8(note).unwrap());
        assert!(out.contains("There are seven") && !out.contains("Conversation exported"), "{args:?}: {out}");
        assert!(note.contains(announced), "{args:?}: {note}");
    }
    let whole = root.command(&["show", "--all-branches"]).assert().success().stderr("");
    let whole = String::from_utf8(whole.get_output().stdout.clone()).unwrap();
    assert!(whole.contains("There are seven") && whole.contains("Conversation exported"), "{whole}");
    let text = root.stdout(&["show"]);
    assert!(text.contains("3 entries of other branches not shown"), "{text}");
}

/// A session with one call and its result.
fn session_with_call(name: &str, input: &str, result: &str) -> TestRoot {
    let root = TestRoot::new();
    let entry = |uuid: &str, parent: &str, rest: &str| {
        format!(
            r#"{{"uuid":"{uuid}","parentUuid":{parent},"isSidechain":false,"sessionId":"{ID}","cwd":"/home/dev/demo","version":"2.1.325","timestamp":"2026-01-01T00:00:00.000Z",{rest}}}"#
        )
    };
    let call = format!(
        r#""type":"assistant","message":{{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{{"type":"tool_use","id":"toolu_1","name":"{name}","input":{input}}}],"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
    );
    let result = format!(
        r#""type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_1","content":"done"}}]}},"toolUseResult":{result}"#
    );
    let lines = [
        entry("a", "null", r#""type":"user","message":{"role":"user","content":"make it"}"#),
        entry("b", r#""a""#, &call),
        entry("c", r#""b""#, &result),
    ];
    root.write(&format!("-home-dev-demo/{ID}.jsonl"), &(lines.join("\n") + "\n"));
    root
}

/// A person may change the input of a call before it runs. The file has the original in the call, and what
/// was written in its result.
#[test]
fn p1_an_export_shows_the_text_that_was_written() {
    let root = session_with_call(
        "Write",
        r#"{"file_path":"/home/dev/demo/a.txt","content":"as it was asked"}"#,
        r#"{"type":"create","filePath":"/home/dev/demo/a.txt","content":"as it was written","structuredPatch":[],"originalFile":null}"#,
    );
    for args in [&["export", ID, "--to", "md"][..], &["export", ID, "--to", "html"]] {
        let shown = root.stdout(args);
        assert!(shown.contains("as it was written"), "{args:?}: {shown}");
        assert!(!shown.contains("as it was asked"), "{args:?}: {shown}");
    }
}

/// Of a changed command the file has only what the model asked for; the journal of the server has the rest.
#[tokio::test]
async fn p1_p41_the_command_that_ran_is_exported_and_found() {
    use tidings_journal::SqliteJournal;
    use tidings_journal::{
        AskId, Class, Epoch, EventDraft, Journal as _, Key, Kind, NewRequest, NewSession, Opening,
        SessionChange, Settle,
    };
    use tidings_protocol::ui::RequestOutcome;
    use tidings_protocol::ui::{PermissionResolved, Resolution, UiMessage};

    let root = session_with_call("Bash", r#"{"command":"rm -rf out"}"#, r#"{"stdout":"done","stderr":""}"#);
    let data = root.path("data");
    fs::create_dir(&data).unwrap();
    let opening = Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(1) };
    let journal = SqliteJournal::open(data.join("journal.db"), &opening).unwrap();
    let (key, now) = (Key::new("one").unwrap(), jiff::Timestamp::UNIX_EPOCH);
    journal.create(NewSession::new(key.clone(), "/home/dev/demo", now)).await.unwrap();
    let fence = journal.claim(&key).await.unwrap();
    let of_cli = SessionChange { cli_session: Some(ID.to_owned()), ..SessionChange::default() };
    journal.update(&key, fence, of_cli).await.unwrap();
    let input = serde_json::json!({"command": "ls out --token=sk-ant-not-a-real-key-at-all"});
    let mut resolved = PermissionResolved::new(1, "toolu_1", Resolution::Allowed);
    resolved.updated_input = Some(input.clone());
    let event = UiMessage::PermissionResolved(resolved);
    let body = serde_json::to_vec(&event).unwrap();
    let draft = EventDraft::new(Class::Durable, now, Kind::new(event.name()).unwrap(), body);
    let id = AskId::new("toolu_1").unwrap();
    let asked = NewRequest {
        id: id.clone(),
        kind: "permission".to_owned(),
        digest: None,
        body: std::sync::Arc::from(&b"{}"[..]),
        deadline: None,
        event: draft.clone(),
    };
    journal.ask(&key, fence, asked).await.unwrap();
    let answer =
        serde_json::json!({"decision": "allow", "scope": "once", "updated_input": input}).to_string();
    let settled = Settle { outcome: RequestOutcome::by_person(answer, "ada"), event: draft, audit: None };
    journal.settle(&key, &id, settled).await.unwrap();

    for args in [&["show", ID][..], &["export", ID, "--to", "md"], &["export", ID, "--to", "html"]] {
        let shown = root.stdout(args);
        assert!(shown.contains("ls out") && shown.contains("changed before it ran"), "{args:?}: {shown}");
        assert!(!shown.contains("rm -rf out"), "{args:?}: {shown}");
    }
    let redacted = root.stdout(&["show", ID, "--full", "--redact"]);
    assert!(redacted.contains("ls out") && !redacted.contains("sk-ant-not-a-real-key-at-all"), "{redacted}");
    let json = root.stdout(&["show", ID, "--json"]);
    let call = json.lines().find(|line| line.contains("toolu_1")).unwrap();
    let call: serde_json::Value = serde_json::from_str(call).unwrap();
    assert_eq!(call["tools"][0]["input"]["command"], "rm -rf out", "{call}");
    assert!(call["tools"][0]["changed_input"]["command"].as_str().unwrap().starts_with("ls out"), "{call}");

    // A search finds what ran, also in a fork, whose calls have the same ids.
    let searched = root.stdout(&["search", "ls out --token"]);
    assert!(searched.contains("assistant Bash  ls out --token"), "{searched}");
    root.stdout(&["fork", ID]);
    assert_eq!(root.stdout(&["search", "--count", "ls out --token"]), "2\n");
    let newest = root.stdout(&["show"]);
    assert!(newest.contains("ls out") && !newest.contains("rm -rf out"), "{newest}");
}

#[test]
fn a_project_is_exported_with_a_page_that_lists_its_sessions() {
    let root = TestRoot::new();
    let pages = root.path("pages");
    let export = |more: &[&str]| {
        let mut command = sessions(&fixture("branch"));
        command.args(["export", "--project", "", "-o", pages.to_str().unwrap()]).args(more);
        command
    };
    let said = stdout(&mut export(&["--to", "html"]));
    assert!(said.starts_with("1 session: "), "{said}");
    let index = fs::read_to_string(pages.join("index.html")).unwrap();
    assert!(index.contains(&format!("<a href=\"{ID}.html\">")) && index.contains("11111111"), "{index}");
    assert!(!index.contains("<script"), "{index}");
    assert!(fs::read_to_string(pages.join(format!("{ID}.html"))).unwrap().contains("remember 7"));
    export(&["--to", "html"]).assert().code(2);
    export(&["--to", "html", "--force"]).assert().success();
    export(&["--to", "md", "--force"]).assert().code(2);
    sessions(&fixture("branch")).args(["export", "--project", "x", "--to", "html"]).assert().code(2);
    // Titles are text, and secrets in them are redacted too.
    let key = format!("sk-ant-api03-{}-{}AA", "a1B2".repeat(23), "x");
    let title = format!(r#"{{"type":"custom-title","customTitle":"<b>{key}","sessionId":"{ID}"}}"#);
    let prompt =
        r#"{"type":"user","uuid":"u","cwd":"/home/dev/shop","message":{"role":"user","content":"hi"}}"#;
    root.write(&format!("-home-dev-shop/{ID}.jsonl"), &format!("{prompt}\n{title}\n"));
    root.stdout(&[
        "export",
        "--project",
        "shop",
        "--to",
        "html",
        "--redact",
        "--force",
        "-o",
        pages.to_str().unwrap(),
    ]);
    let index = fs::read_to_string(pages.join("index.html")).unwrap();
    assert!(index.contains("&lt;b&gt;") && !index.contains("<b>") && !index.contains(&key), "{index}");
    let none = root.path("none");
    let args = ["export", "--project", "no such project", "--to", "html", "-o", none.to_str().unwrap()];
    sessions(&fixture("branch")).args(args).assert().code(3);
}

#[test]
fn c31_a_session_with_files_of_sub_agents_only_says_so() {
    let root = TestRoot::new();
    let line = format!(
        r#"{{"type":"user","uuid":"u","isSidechain":true,"agentId":"a1","sessionId":"{ID}","message":{{"role":"user","content":"look around"}}}}"#
    );
    root.write(&format!("-home-dev-demo/{ID}/subagents/agent-a1.jsonl"), &(line + "\n"));
    let run = |args: &[&str]| {
        let output = root.output(args);
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (shown, told) = run(&["show", ID]);
    assert!(
        !shown.contains("look around") && told.contains("only those of its sub-agents are left"),
        "{told}"
    );
    let (shown, told) = run(&["show", ID, "--sidechains"]);
    assert!(shown.contains("look around") && told.is_empty(), "{shown}{told}");
}
