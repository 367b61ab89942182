//! Commands that talk to a server, against a demo server.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::Output;

use serde_json::{Value, json};
use tidings_api::INPUT_BYTES_MAX;

use crate::serve::machine::{Machine, Running, until};

const SCRIPT: &str = r#"
    [[turn]]
    [[turn.block]]
    text = "Let me look."
    [[turn.block]]
    tool = "Bash"
    input = { command = "make test" }
    ask = true
    result = "all well"
    [[turn]]
    text = "All is well."
    [[turn]]
    text = "And that was all."
"#;

/// A machine with a demo server that plays a script.
struct DemoServer {
    machine: Machine,
    server: Running,
}

impl DemoServer {
    fn start() -> Self {
        DemoServer::playing(SCRIPT)
    }

    fn playing(text: &str) -> Self {
        let machine = Machine::new();
        let script = machine.path("script.toml");
        fs::write(&script, text).unwrap();
        let server = machine.serve(&["--demo", "--script", script.to_str().unwrap()]);
        DemoServer { machine, server }
    }

    fn run(&self, args: &[&str]) -> Output {
        self.machine.tidings(args).arg("--data").arg(&self.server.data).output().unwrap()
    }

    /// Output of a command that must succeed.
    fn text(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {talk}");
        String::from_utf8(output.stdout).unwrap() + &talk
    }

    /// Waits until the only session is in a state, and returns it.
    fn session(&self, state: &str) -> Value {
        until(&format!("the session is {state}"), || {
            let session: Value = serde_json::from_str(self.text(&["ps", "--json"]).lines().next()?).unwrap();
            (session["state"] == state).then_some(session)
        })
    }
}

#[test]
fn a_session_is_listed_answered_watched_and_stopped() {
    let server = DemoServer::start();
    let session = server.session("needs_you");
    let number = session["handle"].to_string();
    let list = server.text(&["ps"]);
    assert!(session["first_prompt"].is_string(), "what to call it without a title: {session}");
    assert!(list.contains("needs you") && list.contains("(1 waiting)"), "{list}");

    let asked = server.run(&["approve", &number]);
    assert_eq!(asked.status.code(), Some(4), "there is no terminal to confirm on");
    let shown = String::from_utf8(asked.stderr).unwrap();
    assert!(shown.contains("make test"), "the request is shown first: {shown}");
    let allowed = server.text(&["approve", &number, "--yes"]);
    assert!(allowed.contains("allowed"), "{allowed}");
    let again = server.run(&["approve", &number, "--yes", "--json"]);
    assert_eq!(again.status.code(), Some(3));
    let error: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(error["error"]["code"], "not_found");

    server.session("idle");
    let sent: Value = serde_json::from_str(&server.text(&["send", &number, "And now?", "--json"])).unwrap();
    assert_eq!(sent["turn_id"]["role"], "User", "{sent}");
    let waited = server.run(&["attach", &number, "--wait"]);
    assert!(waited.status.success(), "{waited:?}");
    assert_eq!(String::from_utf8(waited.stdout).unwrap(), "And that was all.\n", "this answer alone");
    server.session("idle");
    let idle = server.text(&["stop", &number, "--turn"]);
    assert!(idle.starts_with("No turn was running"), "{idle}");
    server.text(&["stop", &number]);
    server.session("stopped");
}

/// `--always` changes the settings, so its rules are shown first.
#[test]
fn what_a_yes_would_do_is_shown_before_it_is_given() {
    let server = DemoServer::playing(&SCRIPT.replace("make test", "rm -rf build"));
    let number = server.session("needs_you")["handle"].to_string();
    let rule = "Bash(rm -rf build) in .claude/settings.local.json";
    let shown = |args: &[&str]| {
        let output = server.run(args);
        assert_eq!(output.status.code(), Some(4), "{args:?}: there is no terminal to confirm on");
        String::from_utf8(output.stderr).unwrap()
    };
    for (args, has_rule) in [(&["approve", &number][..], false), (&["approve", &number, "--always"], true)] {
        let shown = shown(args);
        assert!(shown.contains("⚠ high risk: check this carefully"), "{shown}");
        assert_eq!(shown.contains(rule), has_rule, "{shown}");
    }
    let shown = shown(&["approve", &number, "--always", "--json"]);
    assert!(shown.contains(rule), "also with --json: {shown}");
    let denied = server.text(&["deny", &number]);
    assert!(denied.contains("⚠ high risk: check this carefully") && !denied.contains(rule), "{denied}");
}

/// `send` and then `attach --wait` prints exactly the answer, even if it came before.
#[test]
fn who_waits_gets_the_turn_from_its_beginning_and_nothing_before_it() {
    let server = DemoServer::playing("[[turn]]\ntext = \"One.\"\n[[turn]]\ntext = \"Two.\"\n");
    let number = server.session("idle")["handle"].to_string();
    server.text(&["send", &number, "And now?"]);
    server.session("idle");
    let events = |args: &[&str]| -> Vec<Value> {
        let text = server.text(&[&["attach", &number, "--json"], args].concat());
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let lines = events(&["--wait"]);
    let texts: Vec<&str> =
        lines.iter().filter_map(|line| line["event"]["TextChunk"]["text"].as_str()).collect();
    assert_eq!(texts, ["Two."], "{lines:#?}");
    let (last, before) = lines.split_last().unwrap();
    assert!(last["cursor"].is_string() && before.iter().all(|line| line["cursor"].is_null()), "{lines:#?}");
    assert!(lines.iter().any(|line| line["event"]["UserPrompt"]["text"] == "And now?"), "{lines:#?}");

    let waited = server.run(&["attach", &number, "--wait"]);
    assert_eq!(String::from_utf8(waited.stdout).unwrap(), "Two.\n");
}

/// A script that waits for the end of a turn does not count as a client that can answer.
#[test]
fn who_only_waits_is_asked_nothing() {
    let slowly = "pace = { chunk_chars = 1, chunk_delay_ms = 80 }\n    [[turn.block]]\n    text = \"Let me";
    let server = DemoServer::playing(
        &SCRIPT.replacen("[[turn.block]]\n    text = \"Let me", slowly, 1).replace("make test", "rm -rf /"),
    );
    let cwd = server.machine.path("").display().to_string();
    let new = json!({"cwd": cwd, "prompt": "Look.", "policy": "unattended"});
    let made = server.server.ask("POST", "/v1/sessions", Some(&new)).json();
    let waited = server.run(&["attach", made["key"].as_str().unwrap(), "--wait"]);
    let said = String::from_utf8(waited.stdout).unwrap();
    assert!(said.contains("Let me look.") && said.contains("All is well."), "{said}");
}

#[test]
fn who_waits_for_a_turn_learns_whether_it_went_well() {
    let server = DemoServer::playing("[[turn]]\n[turn.error]\nstatus = 400\n[[turn]]\ntext = \"Well.\"\n");
    let session = server.session("idle");
    let number = session["handle"].to_string();
    for form in [&["--json"][..], &[]] {
        let waited = server.run(&[&["attach", &number, "--wait"], form].concat());
        assert_eq!(waited.status.code(), Some(1), "{form:?}: it has failed already");
    }
    server.text(&["send", &number, "Once more."]);
    server.text(&["attach", &number, "--wait"]);
}

#[test]
fn the_admin_token_of_this_machine_is_for_no_other() {
    let server = DemoServer::start();
    let token = server.text(&["token", "admin"]);
    let json: Value = serde_json::from_str(&server.text(&["token", "admin", "--json"])).unwrap();
    assert_eq!(json["token"], token.trim());
    let mut by_flag = server.machine.tidings(&["token", "admin", "--server", "https://box.example"]);
    let mut by_variable = server.machine.tidings(&["token", "admin"]);
    by_variable.env("TIDINGS_SERVER", "https://box.example");
    for command in [&mut by_flag, &mut by_variable] {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        assert!(output.stdout.is_empty(), "{command:?}");
    }
}

#[test]
fn a_refusal_reaches_the_agent() {
    let server = DemoServer::start();
    let session = server.session("needs_you");
    let key = session["key"].as_str().unwrap();
    let denied = server.text(&["deny", &key[..8], "--reason", "not on a Sunday"]);
    assert!(denied.contains("denied"), "{denied}");
    server.session("idle");
}

#[test]
fn an_unknown_session_or_server_is_an_error_with_a_hint() {
    let server = DemoServer::start();
    // Not a prefix of any key.
    for args in [["attach", "unknown"], ["send", "unknown"], ["stop", "unknown"], ["deny", "unknown"]] {
        let mut args = args.to_vec();
        if args[0] == "send" {
            args.push("Hello");
        }
        let output = server.run(&args);
        let talk = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{args:?}: {talk}");
        assert!(talk.contains("No such session") && talk.contains("tidings ps"), "{talk}");
    }
    let output = Machine::new().tidings(&["ps"]).output().unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{talk}");
    assert!(talk.contains("tidings serve"), "it says how to start one: {talk}");
}

/// Digits are the number of a session, even if an id begins with them, and a prefix has four characters.
#[test]
fn c21_a_name_acts_on_the_session_that_it_names_and_on_no_other() {
    let server = DemoServer::start();
    let session = server.session("needs_you");
    let key = session["key"].as_str().unwrap();
    let number = session["handle"].to_string();
    let before = server.text(&["ps", "--json"]);
    // Other numbers, the digits at the beginning of the key, and short prefixes.
    let digits: String = key.chars().take_while(char::is_ascii_digit).collect();
    let mut names: Vec<String> =
        (0..100).filter(|it| it.to_string() != number).map(|it| it.to_string()).collect();
    names.extend(
        ["99999999999999999999", &key[..1], &key[..2], &key[..3], "", "+1", " 1", "1 "].map(str::to_owned),
    );
    names.extend((1..=digits.len()).map(|length| digits[..length].to_owned()));
    names.retain(|name| *name != number);
    // Few of the numbers with every command: each call starts a process.
    let (some, rest) = names.split_at(3);
    let commands: [&[&str]; 6] = [
        &["stop"],
        &["stop", "--turn"],
        &["approve", "--yes"],
        &["deny"],
        &["set", "--title", "x"],
        &["take-over"],
    ];
    for command in commands {
        for name in some.iter().chain(&rest[rest.len() - 12..]) {
            let mut args = command.to_vec();
            args.insert(1, name);
            let output = server.run(&args);
            let talk = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(3), "{args:?}: {talk}");
            assert!(talk.contains("No such session"), "{args:?}: {talk}");
        }
    }
    for name in rest.iter().step_by(9) {
        for args in [&["send", name, "Hello"][..], &["attach", name], &["inbox", "--session", name]] {
            let output = server.run(args);
            let talk = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(3), "{args:?}: {talk}");
        }
    }
    let output = server.run(&["stop", "99"]);
    let talk = String::from_utf8(output.stderr).unwrap();
    assert!(talk.contains("no session has the number `99`") && talk.contains("whole id"), "{talk}");
    let now: Value = serde_json::from_str(server.text(&["ps", "--json"]).lines().next().unwrap()).unwrap();
    let before: Value = serde_json::from_str(before.lines().next().unwrap()).unwrap();
    for field in ["state", "title", "queued", "pending_permissions"] {
        assert_eq!(now[field], before[field], "{field}");
    }
}

#[test]
fn c21_every_action_names_the_session_that_it_acted_on() {
    let server = DemoServer::start();
    let session = server.session("needs_you");
    let key = session["key"].as_str().unwrap().to_owned();
    let number = session["handle"].to_string();
    let title = "Fix the flaky test";
    let named = format!("{number} · {title}");
    let prefix = key.char_indices().skip(3).map(|(at, c)| &key[..at + c.len_utf8()]);
    let prefix = prefix.into_iter().find(|name| !name.bytes().all(|byte| byte.is_ascii_digit())).unwrap();
    let says = |args: &[&str], expected: &str| {
        let text = server.text(args);
        assert!(text.contains(&format!("{expected} {named}")), "{args:?}: {text}");
    };
    says(&["set", prefix, "--title", title], "Changed");
    let shown = server.run(&["approve", &number]);
    assert!(String::from_utf8(shown.stderr).unwrap().contains(&named), "before it is confirmed");
    says(&["approve", &number, "--yes"], "Answered");
    server.session("idle");
    says(&["send", &key, "And now?"], "Sent to");
    server.session("idle");
    says(&["stop", prefix, "--turn"], "No turn was running in");
    says(&["stop", prefix], "Stopped");
    server.session("stopped");
    for args in [
        &["send", prefix, "Again", "--json"][..],
        &["stop", &number, "--json"],
        &["set", &key, "--title", title, "--json"],
    ] {
        let json: Value = serde_json::from_str(&server.text(args)).unwrap();
        let acted = (&json["handle"], &json["key"], &json["title"]);
        assert_eq!(acted, (&session["handle"], &json!(key), &json!(title)), "{args:?}: {json}");
    }
}

/// Ids like these are rare, so a listener plays a server that has them.
#[test]
fn c21_a_prefix_of_several_sessions_lists_them_and_digits_are_no_prefix() {
    let server = DemoServer::start();
    let first = server.session("needs_you");
    let view = |number: u64, key: &str| {
        let mut view = first.clone();
        view["handle"] = json!(number);
        view["key"] = json!(key);
        view["title"] = json!("The till");
        view["cli_session_ids"] = json!([]);
        view
    };
    let (one, two) = ("abcd1111-5aa0-4b58-a0a8-4f9be3f4a001", "abcd2222-5aa0-4b58-a0a8-4f9be3f4a002");
    let address = played_sessions(&[view(1, one), view(2, two)]);
    let run = |name: &str| {
        let mut command = server.machine.tidings(&["stop", name, "--server", &address]);
        let output = command.env("TIDINGS_TOKEN", "token").output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        String::from_utf8(output.stderr).unwrap()
    };
    let talk = run("abcd");
    assert!(talk.contains("2 sessions begin with `abcd`: "), "{talk}");
    for key in [one, two] {
        assert!(talk.contains(&format!("({} The till)", &key[..8])), "{key}: {talk}");
    }
    let talk = run("abc");
    assert!(talk.contains("No such session: `abc`") && talk.contains("four characters"), "{talk}");

    let address = played_sessions(&[view(1, "57471234-5aa0-4b58-a0a8-4f9be3f4a001")]);
    for name in ["5", "57", "5747", "57471234"] {
        let mut command = server.machine.tidings(&["stop", name, "--server", &address]);
        let output = command.env("TIDINGS_TOKEN", "token").output().unwrap();
        let talk = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{talk}");
        assert!(talk.contains(&format!("no session has the number `{name}`")), "{talk}");
    }
}

/// The address of a server that has these sessions, and knows none by name.
fn played_sessions(sessions: &[Value]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let list = json!({"items": sessions}).to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            reader.read_line(&mut line).unwrap();
            let mut header = line.clone();
            while header.trim_end() != "" {
                header.clear();
                reader.read_line(&mut header).unwrap();
            }
            let (status, body) = match line.split(' ').nth(1).unwrap() {
                "/v1/sessions?limit=1000&after=0" => ("200 OK", list.clone()),
                path if path.starts_with("/v1/sessions?") => ("200 OK", json!({"items": []}).to_string()),
                _ => {
                    let problem = json!({"type": "about:blank", "title": "Not found", "status": 404, "code": "not_found",
                        "detail": "No such session", "hint": ""});
                    ("404 Not Found", problem.to_string())
                }
            };
            let length = body.len();
            let head =
                format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}");
            write!(stream, "{head}\r\nconnection: close\r\n\r\n{body}").unwrap();
        }
    });
    format!("http://{address}")
}

/// A script that answers requests says `--yes` whichever the answer is.
#[test]
fn r13_deny_takes_yes_like_approve() {
    let machine = Machine::new();
    for answer in ["approve", "deny"] {
        let output = machine.tidings(&[answer, "1", "--yes", "--json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{answer}: no server runs");
    }
}

/// Half of a prompt would be worse than none. Quotes are escaped, which doubles their length.
#[test]
fn a_prompt_that_the_server_would_not_take_is_refused_and_never_cut() {
    let machine = Machine::new();
    for text in ["x".repeat(INPUT_BYTES_MAX + 1), "\"".repeat(INPUT_BYTES_MAX / 2 + 1)] {
        let file = machine.path("prompt.txt");
        fs::write(&file, text).unwrap();
        let mut command = machine.tidings(&["send", "1", "-", "--json"]);
        let output = command.stdin(fs::File::open(&file).unwrap()).output().unwrap();
        let error: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (output.status.code(), &error["error"]["code"]),
            (Some(3), &"too_large".into()),
            "{error}"
        );
    }
}

/// A session is started, attached to and forked, and started only once per client id.
#[test]
fn a_session_is_started_from_the_terminal() {
    let server = DemoServer::playing("[[turn]]\ntext = \"Well.\"\nrepeat = true\n");
    server.session("idle");
    let folder = server.machine.path("shop");
    fs::create_dir(&folder).unwrap();
    let start = |args: &[&str]| {
        let mut command = server.machine.tidings(&["start"]);
        command.args(args).arg("--data").arg(&server.server.data).current_dir(&folder).output().unwrap()
    };
    let json = |args: &[&str]| -> Value {
        let output = start(&[args, &["--json"]].concat());
        let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{args:?}: {} {}", told(&output.stdout), told(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let waited = start(&["How is it?", "--wait"]);
    assert_eq!(String::from_utf8(waited.stdout).unwrap(), "Well.\n");

    let flags =
        "--policy standard --max-turns 7 --max-budget-usd 2 --max-seconds 60 --title Shop --label team=web";
    let flags: Vec<&str> = flags.split(' ').chain(["--client-id", "job-1"]).collect();
    let made = json(&flags);
    let here = folder.canonicalize().unwrap();
    assert_eq!((&made["cwd"], &made["policy"]), (&json!(here.to_str().unwrap()), &json!("standard")));
    assert_eq!((&made["title"], &made["labels"]), (&json!("Shop"), &json!({"team": "web"})));
    assert_eq!(made["budget"], json!({"max_turns": 7, "budget_usd": 2.0, "max_seconds": 60}));
    assert_eq!(made["state"], "parked", "no prompt was sent: {made}");
    assert_eq!(json(&flags)["key"], made["key"], "a job that is delivered twice");

    // A fork works in the folder of the original, independent of the current folder.
    let number = made["handle"].to_string();
    server.text(&["send", &number, "Hello"]);
    server.text(&["attach", &number, "--wait"]);
    let key = made["key"].as_str().unwrap();
    let copy =
        json(&["--resume", &key[..8], "--fork-session", "--cwd", server.machine.path("").to_str().unwrap()]);
    assert_eq!(copy["cwd"], server.machine.path("").canonicalize().unwrap().to_str().unwrap());
    let copy: Value =
        serde_json::from_str(&server.text(&["start", "--resume", &number, "--fork", "--json"])).unwrap();
    assert_eq!(copy["cwd"], made["cwd"]);

    for (args, code, words) in [
        (&["--resume", &number][..], 3, "already"),
        (&["--resume", "00000000-0000-4000-8000-000000000000"], 3, "session"),
        (&["--wait"], 2, "needs a prompt"),
        (&["--label", "web"], 2, "KEY=VALUE"),
        (&["Hello", "--server", "http://127.0.0.1:1"], 3, "token"),
    ] {
        let mut command = server.machine.tidings(&["start"]);
        command.args(args).current_dir(&folder);
        if !args.contains(&"--server") {
            command.arg("--data").arg(&server.server.data);
        }
        let refused = command.output().unwrap();
        let talk = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(code), "{args:?}: {talk}");
        assert!(talk.contains(words), "{args:?}: {talk}");
    }
}

#[test]
fn c10_a_prompt_can_be_typed_into_a_session_that_is_watched() {
    use std::io::{Read as _, Write as _};
    use std::sync::{Arc, Mutex};

    let texts = ["First.", "And that was all.", "Really all."];
    let server = DemoServer::playing(&texts.map(|text| format!("[[turn]]\ntext = \"{text}\"\n")).concat());
    let number = server.session("idle")["handle"].to_string();
    let terminal = portable_pty::native_pty_system().openpty(portable_pty::PtySize::default()).unwrap();
    let mut command = portable_pty::CommandBuilder::new(assert_cmd::cargo::cargo_bin("tidings"));
    command.env_clear();
    command.env("HOME", server.machine.path("home"));
    command.env("TERM", "xterm-256color");
    command.cwd(server.machine.path("project"));
    command.args(["attach", &number, "--data", server.server.data.to_str().unwrap()]);
    let mut child = terminal.slave.spawn_command(command).unwrap();
    drop(terminal.slave);
    let shown = Arc::new(Mutex::new(vt100::Parser::default()));
    let (mut output, copy) = (terminal.master.try_clone_reader().unwrap(), Arc::clone(&shown));
    drop(std::thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(read @ 1..) = output.read(&mut chunk) {
            copy.lock().unwrap().process(&chunk[..read]);
        }
    }));
    let wait_for = |text: &str| {
        until(text, || shown.lock().unwrap().screen().contents().contains(text).then_some(()));
    };
    let mut keys = terminal.master.take_writer().unwrap();
    wait_for("Type a prompt");
    wait_for("First.");
    keys.write_all(b"And now?").unwrap();
    wait_for("And now?");
    keys.write_all(b"\r").unwrap();
    wait_for("And that was all.");
    // Enter is not lost if it is pressed before the line editor has the terminal.
    keys.write_all(b"Once more\r").unwrap();
    wait_for("Really all.");
    // While the turn runs, Ctrl-C interrupts it; the total of three turns is shown when the last has ended.
    wait_for("$0.0005");
    keys.write_all(b"\x03").unwrap();
    assert_eq!(child.wait().unwrap().exit_code(), 0);
}
