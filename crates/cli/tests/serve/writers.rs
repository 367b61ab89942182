//! R5: a session has one writer, whichever command started its agent, and whichever data folder it has.

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::machine::{Answer, Machine, Running, until};

const ID: &str = "4f2c0a52-7f10-4b58-a0a8-4f9be3f4a001";

/// The second prompt is never answered.
const SCRIPT: &str = r#"
[[turn]]
when = { last_contains = "slowly" }
text = "It takes its time."
pace = { chunk_chars = 1, chunk_delay_ms = 60000 }

[[turn]]
text = "Done."
"#;

fn machine() -> (Machine, String) {
    let machine = Machine::new();
    std::fs::write(machine.path("script.toml"), SCRIPT).unwrap();
    let program = assert_cmd::cargo::cargo_bin("tidings");
    let script = machine.path("script.toml");
    let line = format!("exec '{}' rehearse agent --script '{}' \"$@\"", program.display(), script.display());
    let claude = machine.claude(&line).to_str().unwrap().to_owned();
    (machine, claude)
}

fn serve(machine: &Machine, claude: &str, data: &str) -> Running {
    machine.serve(&["--data", machine.path(data).to_str().unwrap(), "--claude-path", claude])
}

fn resume(machine: &Machine, server: &Running, id: &str) -> Answer {
    let new = json!({"cwd": machine.path("project"), "resume": id, "prompt": "go on"});
    server.ask("POST", "/v1/sessions", Some(&new))
}

/// The agent of a run, until it is killed.
struct Run(Child);

impl Run {
    /// A run whose answer does not end.
    fn start(machine: &Machine, claude: &str) -> Self {
        let arguments = ["run", "--claude-path", claude, "--session-id", ID, "slowly, please"];
        let mut command: Command = machine.tidings(&arguments);
        let run = Run(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        until("the session has a file", || {
            let projects = std::fs::read_dir(machine.path("home/.claude/projects")).ok()?;
            projects.flatten().find(|found| found.path().join(format!("{ID}.jsonl")).exists())
        });
        run
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn r5_a_session_of_run_is_continued_by_no_other_command_until_it_has_ended() {
    let (machine, claude) = machine();
    let run = Run::start(&machine, &claude);
    let holder = format!("`tidings run` (process {}) has this session open", run.0.id());
    let server = serve(&machine, &claude, "data");
    let answer = resume(&machine, &server, ID);
    assert_eq!((answer.status, &answer.json()["detail"]), (409, &json!(holder)), "{answer:?}");
    assert!(!answer.json()["hint"].as_str().unwrap().is_empty());
    for arguments in [&["--resume", ID][..], &["--resume", &ID[..8]], &["--continue"]] {
        let arguments = [&["run", "--claude-path", &claude, "go on"], arguments].concat();
        let (code, talk) = machine.failure(&arguments);
        assert!(code != 0 && talk.contains(&holder), "{arguments:?}: {code} {talk}");
    }
    let (code, talk) = machine.failure(&["claude", "--resume", ID]);
    assert!(code != 0 && talk.contains(&holder), "{code} {talk}");
    // A copy is a session of its own.
    let fork = ["run", "--claude-path", &claude, "--resume", ID, "--fork-session", "go on"];
    assert!(machine.output(&fork).contains("Done."));
    run.kill();
    let answer = resume(&machine, &server, ID);
    assert_eq!(answer.status, 201, "{answer:?}");
    let key = answer.json()["key"].as_str().unwrap().to_owned();
    until("the prompt is answered", || (session(&server, &key)["totals"]["turns"] == 1).then_some(()));
}

fn session(server: &Running, key: &str) -> Value {
    server.ask("GET", &format!("/v1/sessions/{key}"), None).json()
}

#[test]
fn r5_two_servers_do_not_write_one_session_even_if_the_first_is_killed_and_its_agent_lives_on() {
    let (machine, claude) = machine();
    let mut first = serve(&machine, &claude, "first");
    let new = json!({"cwd": machine.path("project"), "prompt": "hello"});
    let created = first.ask("POST", "/v1/sessions", Some(&new)).json();
    let key = created["key"].as_str().unwrap().to_owned();
    let idle = |server: &Running, turns: u64| {
        until("the prompt is answered", || {
            let session = session(server, &key);
            (session["totals"]["turns"] == turns && session["state"] == "idle").then_some(session)
        })
    };
    let id = idle(&first, 1)["cli_session_ids"][0].as_str().unwrap().to_owned();
    let second = serve(&machine, &claude, "second");
    let attach = format!("tidings attach {key} --data {}", machine.path("first").display());
    let refused = |when: &str| {
        let answer = resume(&machine, &second, &id);
        assert_eq!(answer.status, 409, "{when}: {answer:?}");
        assert!(answer.json()["hint"].as_str().unwrap().contains(&attach), "{when}: {answer:?}");
        let (code, talk) = machine.failure(&["run", "--claude-path", &claude, "--resume", &id, "go on"]);
        assert!(code != 0 && talk.contains(&attach), "{when}: {code} {talk}");
    };
    refused("while the first server runs");
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    refused("while its agent lives on");
    // The next server of the data folder adopts the agent, and goes on.
    let first = serve(&machine, &claude, "first");
    let input = first.ask("POST", &format!("/v1/sessions/{key}/input"), Some(&json!({"content": "again"})));
    assert!(input.status < 300, "{input:?}");
    idle(&first, 2);
    refused("after the agent was adopted");
    assert_eq!(first.ask("POST", &format!("/v1/sessions/{key}/stop"), Some(&json!({}))).status, 200);
    let resumed = resume(&machine, &second, &id);
    assert_eq!(resumed.status, 201, "{resumed:?}");
    let other = resumed.json()["key"].as_str().unwrap().to_owned();
    until("the prompt is answered there", || {
        (session(&second, &other)["totals"]["turns"] == 3).then_some(())
    });
    let answer =
        first.ask("POST", &format!("/v1/sessions/{key}/input"), Some(&json!({"content": "and here?"})));
    assert_eq!(answer.status, 409, "{answer:?}");
}

/// R7: `tidings resume` ends the server's agent only if `claude` can continue its session.
#[test]
fn r7_an_agent_is_left_alone_if_claude_cannot_continue_its_session() {
    let (machine, claude) = machine();
    let server = serve(&machine, &claude, "data");
    let new = json!({"cwd": machine.path("project"), "prompt": "hello"});
    let created = server.ask("POST", "/v1/sessions", Some(&new)).json();
    let key = created["key"].as_str().unwrap().to_owned();
    let is_idle = || session(&server, &key)["state"] == "idle";
    until("the prompt is answered", || is_idle().then_some(()));
    let data = machine.path("data");
    let resume = |program: &str| {
        machine.failure(&["resume", &key, "--data", data.to_str().unwrap(), "--claude-path", program])
    };
    let (code, said) = resume("/bin/false");
    assert!(code != 0 && said.contains("`--version` prints no version"), "{code} {said}");
    std::fs::rename(machine.path("project"), machine.path("moved")).unwrap();
    std::fs::create_dir(machine.path("elsewhere")).unwrap();
    let mut command =
        machine.tidings(&["resume", &key, "--data", data.to_str().unwrap(), "--claude-path", &claude]);
    let output = command.current_dir(machine.path("elsewhere")).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("folder of the session does not exist"), "{said}");
    assert!(is_idle(), "the agent runs");
}
