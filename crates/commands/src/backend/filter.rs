//! The adapter as the filter of an agent host.

use std::process::Command;

use tidings::host::{FilterEnds, Translate};
use tidings_protocol::ndjson::LINE_BYTES_MAX;
use tokio::runtime::Handle;

use super::agent_process::AgentProcess;
use super::{AgentCommand, BACKEND, Bridge, Running};
use crate::input::StreamLines;

/// The filter for a command that would start this program as an adapter, which becomes the command of the
/// agent. A wrong one stays, and its process reports what is wrong.
pub fn filter(command: &mut Command) -> Option<Translate> {
    let args = command.get_args().map(|arg| arg.to_str().map(str::to_owned));
    let args: Vec<String> = args.collect::<Option<_>>()?;
    let [name, agent, args @ ..] = &*args else { return None };
    if name != BACKEND || std::env::current_exe().ok()? != *command.get_program() {
        return None;
    }
    let agent: AgentCommand = serde_json::from_str(agent).ok()?;
    let variables = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let (variables, cwd): (Vec<_>, _) = (variables.collect(), command.get_current_dir()?.to_owned());
    let mut program = agent.command(&variables);
    program.current_dir(&cwd);
    let running = Running::new(&agent, args, &cwd, variables).ok()?;
    *command = program;
    Some(Box::new(|ends: FilterEnds| {
        let mut process = AgentProcess::new(ends.agent, ends.agent_exit, ends.errors);
        let lines = StreamLines::new(ends.input, LINE_BYTES_MAX);
        let relay = running.relay(Bridge { lines, output: Box::new(ends.output) }, &mut process);
        Handle::current().block_on(async {
            tokio::select! {
                code = relay => code.unwrap_or(1),
                () = ends.stopped.cancelled() => 0,
            }
        })
    }))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::Path;

    use super::*;

    const AGENT: &str = r#"{"name":"sample","command":"/opt/sample","args":["--acp"]}"#;

    fn launch(program: &Path, args: &[&str], cwd: &Path) -> Command {
        let mut command = Command::new(program);
        command.args(args).env_clear().env("MARK", "1").env("CLAUDE_AGENT_SDK_VERSION", "1").current_dir(cwd);
        command
    }

    #[test]
    fn only_the_launch_of_an_adapter_of_this_program_becomes_that_of_its_agent() {
        let own = std::env::current_exe().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut command = launch(&own, &[BACKEND, AGENT, "--permission-mode=plan"], folder.path());
        assert!(filter(&mut command).is_some());
        assert_eq!(command.get_program(), "/opt/sample");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["--acp"]);
        assert_eq!(command.get_envs().collect::<Vec<_>>(), [(OsStr::new("MARK"), Some(OsStr::new("1")))]);
        assert_eq!(command.get_current_dir(), Some(folder.path()));

        let gone = folder.path().join("gone");
        for (program, args, cwd) in [
            (Path::new("/bin/claude"), [BACKEND, AGENT], folder.path()),
            (&own, ["host", AGENT], folder.path()),
            (&own, [BACKEND, "no agent"], folder.path()),
            (&own, [BACKEND, AGENT], &gone),
        ] {
            let mut command = launch(program, &args, cwd);
            assert!(filter(&mut command).is_none(), "{args:?}");
            assert_eq!(command.get_program(), program);
        }
    }
}
