//! Hooks of other copies of the program than the server's, and processes that pretend to be hooks.
//!
//! The test process stands for `claude`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use serde_json::{Value, json};

use super::desk::feed;
use crate::serve::machine::{Machine, Running, until};

const SESSION: &str = "7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a001";
const OTHER: &str = "7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a002";

/// A sentence of the program by which it is recognised.
const SENTENCE: &[u8] = b"This message comes from no process of Claude Code that is known here";

/// A machine with a server that is started from a copy of the program.
struct Installation {
    machine: Machine,
    server: Running,
    program: PathBuf,
}

impl Installation {
    fn new() -> Self {
        let machine = Machine::new();
        let program = machine.path("bin/tidings");
        copy(&assert_cmd::cargo::cargo_bin("tidings"), &program);
        fs::create_dir_all(machine.path("home/.claude/sessions")).unwrap();
        describe(&machine, std::process::id(), SESSION);
        let server = machine.serve_at(&program, &[], |_| {});
        Installation { machine, server, program }
    }

    /// Moves another copy to the path of the program, as package managers do.
    fn upgrade(&self) {
        let fresh = self.machine.path("bin/fresh");
        copy(&self.program, &fresh);
        fs::rename(&fresh, &self.program).unwrap();
    }

    /// A hook of a session with a permission request for this command.
    fn command(&self, program: &Path) -> Command {
        let arguments = ["hook", "run", "PermissionRequest", "--reply-ms", "60000", "--data"];
        let mut command = self.machine.tidings_at(program, &arguments);
        command.arg(&self.server.data).env("CLAUDE_CODE_SESSION_ATTENDED", "1");
        command
    }

    fn input(&self, session: &str, command: &str) -> String {
        let cwd = self.machine.path("project");
        let input = json!({"session_id": session, "cwd": cwd, "hook_event_name": "PermissionRequest",
            "tool_name": "Bash", "tool_input": {"command": command}});
        input.to_string()
    }

    fn ask(&self, program: &Path, command: &str) -> Child {
        feed(&mut self.command(program), &self.input(SESSION, command))
    }

    /// The commands that wait for an answer.
    fn waiting(&self) -> Vec<String> {
        let output = self.machine.tidings(&["inbox", "--waiting", "--json", "--data"]);
        let output = { output }.arg(&self.server.data).output().unwrap();
        let items = String::from_utf8(output.stdout).unwrap();
        let items = items.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        items.map(|item| item["line"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Waits until a request is pending, denies it, and returns what the hook printed.
    fn denied(&self, hook: Child, command: &str) -> String {
        until(&format!("{command} waits: {:?} {}", self.waiting(), self.server.log()), || {
            self.waiting().iter().any(|line| line.contains(command)).then_some(())
        });
        let denied = self.machine.tidings(&["deny", "1", "--data"]).arg(&self.server.data).output().unwrap();
        assert!(denied.status.success(), "{denied:?}");
        String::from_utf8(hook.wait_with_output().unwrap().stdout).unwrap()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
    fs::set_permissions(to, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Writes the file in which a process of Claude Code describes itself.
fn describe(machine: &Machine, pid: u32, session: &str) {
    let fields = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let start = fields.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap();
    let process = json!({"pid": pid, "sessionId": session, "cwd": machine.path("project"), "procStart": start,
        "kind": "interactive", "entrypoint": "cli", "status": "busy"});
    fs::write(machine.path(&format!("home/.claude/sessions/{pid}.json")), process.to_string()).unwrap();
}

#[test]
fn p31_an_upgrade_in_place_costs_no_request() {
    let installed = Installation::new();
    let denied = installed.denied(installed.ask(&installed.program, "make before"), "make before");
    assert!(denied.contains("deny"), "{denied}");
    // The program is replaced while a hook runs, and again before the next one.
    let waits = installed.ask(&installed.program, "make during");
    until("it waits", || (installed.waiting().len() == 1).then_some(()));
    installed.upgrade();
    assert!(installed.denied(waits, "make during").contains("deny"));
    installed.upgrade();
    let hook = installed.ask(&installed.program, "make after");
    assert!(installed.denied(hook, "make after").contains("deny"));
    // The hooks may name another copy, and the server's may be removed.
    fs::remove_file(&installed.program).unwrap();
    let elsewhere = installed.machine.path("project/tidings-2");
    copy(&assert_cmd::cargo::cargo_bin("tidings"), &elsewhere);
    let hook = installed.ask(&elsewhere, "make elsewhere");
    assert!(installed.denied(hook, "make elsewhere").contains("deny"));
}

#[test]
fn p31_what_only_looks_like_a_hook_is_refused() {
    let installed = Installation::new();
    let (machine, program) = (&installed.machine, &installed.program);
    // A program of this name that does the same, and is another one.
    let forged = machine.path("project/tidings");
    let mut bytes = fs::read(program).unwrap();
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == SENTENCE[0]) {
        at += found;
        if bytes[at..].starts_with(SENTENCE) {
            bytes[at..at + SENTENCE.len()].fill(b'-');
        }
        at += 1;
    }
    fs::write(&forged, bytes).unwrap();
    fs::set_permissions(&forged, fs::Permissions::from_mode(0o755)).unwrap();
    // A process of the user that describes itself as the process of the session.
    let claim = format!(
        "cp {0}/{1}.json {0}/$$.json; sed -i s/{1}/$$/ {0}/$$.json",
        machine.path("home/.claude/sessions").display(),
        std::process::id()
    );
    let shell = |script: &str| {
        let hook = installed.command(program);
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]).arg(hook.get_program()).args(hook.get_args()).env_clear();
        command.envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    };
    let cases: [(&str, Command, &str); 5] = [
        ("another program", installed.command(&forged), SESSION),
        ("a command of the agent", shell("\"$@\"; true"), SESSION),
        ("a command that claims the session", shell(&format!("{claim}; \"$@\"; true")), SESSION),
        ("another session", installed.command(program), OTHER),
        ("a command for another session", shell("\"$@\"; true"), OTHER),
    ];
    // The session of another process.
    let mut other = Command::new("sleep").arg("600").spawn().unwrap();
    describe(machine, other.id(), OTHER);
    for (what, mut command, session) in cases {
        let hook = feed(&mut command, &installed.input(session, "make evil"));
        let output = hook.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "{what}");
        assert_eq!(installed.waiting(), [""; 0], "{what}");
    }
    other.kill().unwrap();
    other.wait().unwrap();
    // The session still has its own hooks.
    let hook = installed.ask(program, "make fine");
    assert!(installed.denied(hook, "make fine").contains("deny"));
}
