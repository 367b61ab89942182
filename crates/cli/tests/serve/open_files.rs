//! Limits of open files of the server and of its agents.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::serve::machine::{Machine, until};

/// Limit before the server raises it.
const BEFORE: &str = "300";

/// Makes a command start with a low limit, which a process may raise again.
fn limit(command: &mut Command) {
    let mut limited = Command::new("/bin/sh");
    limited.args(["-c", &format!("ulimit -S -n {BEFORE} && exec \"$0\" \"$@\"")]);
    limited.arg(command.get_program()).args(command.get_args()).env_clear();
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited.current_dir(command.get_current_dir().unwrap());
    limited.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    *command = limited;
}

/// A thousand subscribers need a thousand files. An agent and its tools have the same limit as without the
/// server.
#[test]
fn the_server_raises_the_limit_of_open_files_for_itself_only() {
    for (lease, is_raised) in [("60", true), ("0", false)] {
        let machine = Machine::new();
        let limit_file = machine.path("limit");
        let claude = machine.claude(&format!(
            "[ \"$1\" = --version ] && exit 1; ulimit -S -n > '{0}.new' && mv '{0}.new' '{0}'; exit 1",
            limit_file.display()
        ));
        let arguments = ["--claude-path", claude.to_str().unwrap(), "--agent-lease", lease];
        let server = machine.serve_with(&arguments, limit);
        let limits = fs::read_to_string(format!("/proc/{}/limits", server.child.id())).unwrap();
        let own = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
        let own = own.split_whitespace().next().unwrap();
        assert_eq!(own != BEFORE, is_raised, "with a lease of {lease} s the server has {own}");
        let body = json!({"cwd": machine.path("project"), "prompt": "hello"});
        assert_eq!(server.ask("POST", "/v1/sessions", Some(&body)).status, 201);
        let agent = until("the agent has run", || fs::read_to_string(&limit_file).ok());
        assert_eq!(agent.trim(), BEFORE, "with a lease of {lease} s");
    }
}
