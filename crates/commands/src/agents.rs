//! Agents other than Claude Code: `[[agent]]` of the configuration, and well-known ones that are installed.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::backend::{AgentCommand, BACKEND};
use crate::error::CannotRun;
use crate::settings_file;

/// An agent in the configuration.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentEntry {
    /// Name by which sessions choose it.
    name: String,
    /// Program: an absolute path, or a name that is looked up on the PATH. A well-known agent has a default.
    command: Option<PathBuf>,
    /// Arguments.
    args: Option<Vec<String>>,
    /// Variables for it, beside those that all agents get.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Method to log in with before a session, for agents that need it.
    authenticate: Option<String>,
}

/// The agents in the file of settings; its other settings are for the server.
#[derive(Debug, Default, Deserialize)]
struct AgentSettings {
    #[serde(default, rename = "agent")]
    agents: Vec<AgentEntry>,
}

/// Well-known agents: name, program and arguments.
const PRESETS: [(&str, &str, &[&str]); 5] = [
    ("codex", "codex-acp", &[]),
    ("gemini", "gemini", &["--acp"]),
    ("opencode", "opencode", &["acp"]),
    ("goose", "goose", &["acp"]),
    ("claude-agent-acp", "claude-agent-acp", &[]),
];

/// Length of a name: it is shown beside titles.
const NAME_CHARS_MAX: usize = 40;

/// An agent with its program.
#[derive(Debug, Clone)]
pub struct InstalledAgent {
    pub command: AgentCommand,
    pub env: Vec<(String, String)>,
}

impl InstalledAgent {
    /// The arguments with which this program runs the agent in place of `claude`.
    pub fn adapter_args(&self) -> anyhow::Result<Vec<String>> {
        Ok(vec![BACKEND.to_owned(), serde_json::to_string(&self.command)?])
    }
}

/// The agents of the configuration, and the well-known ones on the PATH.
pub fn installed(entries: &[AgentEntry]) -> anyhow::Result<Vec<InstalledAgent>> {
    let path = env::var_os("PATH").unwrap_or_default();
    Ok(resolve(entries, &path)?)
}

/// The agent of this name, from the configuration file or the PATH.
pub(crate) fn named(name: &str) -> anyhow::Result<InstalledAgent> {
    let settings = settings_file::default_path().filter(|path| path.exists());
    let settings: AgentSettings =
        settings.map_or_else(|| Ok(AgentSettings::default()), |path| settings_file::read(&path))?;
    let entries = settings.agents;
    let all = installed(&entries)?;
    let names: Vec<&str> = all.iter().map(|agent| agent.command.name.as_str()).collect();
    let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let message = format!("There is no agent `{name}`; configured or installed are: {known}");
    let hint = "add an `[[agent]]` with `name` and `command` to the file of settings";
    let found = all.into_iter().find(|agent| agent.command.name == name);
    found.ok_or_else(|| CannotRun { code: "not_found", message, hint }.into())
}

fn resolve(entries: &[AgentEntry], path: &OsStr) -> Result<Vec<InstalledAgent>, CannotRun> {
    let mut agents = Vec::new();
    for entry in entries {
        let agent = configured(entry, path)?;
        let is_known = |known: &InstalledAgent| known.command.name == agent.command.name;
        if agents.iter().any(is_known) {
            return Err(wrong(format!("Two agents are named `{}`", entry.name), "give each its own name"));
        }
        agents.push(agent);
    }
    for (name, program, args) in PRESETS {
        let is_known = agents.iter().any(|agent: &InstalledAgent| agent.command.name == name);
        if let Some(command) = find(Path::new(program), path).filter(|_| !is_known) {
            let args = args.iter().map(ToString::to_string).collect();
            let command = AgentCommand { name: name.to_owned(), command, args, authenticate: None };
            agents.push(InstalledAgent { command, env: Vec::new() });
        }
    }
    Ok(agents)
}

fn configured(entry: &AgentEntry, path: &OsStr) -> Result<InstalledAgent, CannotRun> {
    let AgentEntry { name, command, args, env, authenticate } = entry;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(is_plain) || name == "claude" {
        let message = format!("Not a name of an agent: `{name}`");
        return Err(wrong(message, "use letters, digits, `-`, `_` and `.`; `claude` is Claude Code itself"));
    }
    let preset = PRESETS.iter().find(|(preset, ..)| preset == name);
    let (program, usual): (PathBuf, &[&str]) = match (command, preset) {
        (Some(command), _) => (command.clone(), &[]),
        (None, Some((_, program, args))) => (program.into(), args),
        (None, None) => {
            return Err(wrong(format!("The agent `{name}` has no `command`"), "name its program"));
        }
    };
    let Some(program) = find(&program, path) else {
        let message = format!("The program of the agent `{name}` was not found: `{}`", program.display());
        return Err(wrong(message, "install it, or give its absolute path as `command`"));
    };
    let args = args.clone().unwrap_or_else(|| usual.iter().map(ToString::to_string).collect());
    let command =
        AgentCommand { name: name.clone(), command: program, args, authenticate: authenticate.clone() };
    Ok(InstalledAgent { command, env: env.clone().into_iter().collect() })
}

/// The absolute path of a program, so that no program in a project's folder is run instead.
fn find(program: &Path, path: &OsStr) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return Some(program.to_owned()).filter(|program| program.is_absolute() && program.is_file());
    }
    let folders = env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find(|program| program.is_file())
}

fn wrong(message: String, hint: &'static str) -> CannotRun {
    CannotRun { code: CannotRun::USAGE, message, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str) -> Vec<AgentEntry> {
        #[derive(Deserialize)]
        struct File {
            agent: Vec<AgentEntry>,
        }
        toml::from_str::<File>(text).unwrap().agent
    }

    #[test]
    fn well_known_agents_are_found_on_the_path_and_the_configuration_precedes_them() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["gemini", "opencode", "mine"] {
            fs_err::write(folder.path().join(name), "").unwrap();
        }
        let path = folder.path().as_os_str();
        let text = "[[agent]]\nname = \"opencode\"\nargs = [\"acp\", \"--pure\"]\nenv = { A = \"1\" }\n\n[[agent]]\nname = \"own\"\ncommand = \"mine\"\n";
        let agents = resolve(&entries(text), path).unwrap();
        let shown: Vec<(String, Vec<String>)> =
            agents.iter().map(|agent| (agent.command.name.clone(), agent.command.args.clone())).collect();
        let expected = [("opencode", vec!["acp", "--pure"]), ("own", vec![]), ("gemini", vec!["--acp"])];
        let expected: Vec<(String, Vec<String>)> = expected
            .into_iter()
            .map(|(name, args)| (name.to_owned(), args.into_iter().map(str::to_owned).collect()))
            .collect();
        assert_eq!(shown, expected);
        assert_eq!(agents[0].env, [("A".to_owned(), "1".to_owned())]);
        assert_eq!(agents[1].command.command, folder.path().join("mine"));
    }

    #[test]
    fn wrong_agents_are_refused_with_a_hint() {
        for text in [
            "[[agent]]\nname = \"claude\"\ncommand = \"/bin/sh\"",
            "[[agent]]\nname = \"a b\"\ncommand = \"/bin/sh\"",
            "[[agent]]\nname = \"own\"",
            "[[agent]]\nname = \"own\"\ncommand = \"is-not-installed\"",
            "[[agent]]\nname = \"own\"\ncommand = \"./relative\"",
            "[[agent]]\nname = \"own\"\ncommand = \"/bin/sh\"\n[[agent]]\nname = \"own\"\ncommand = \"/bin/sh\"",
        ] {
            assert!(resolve(&entries(text), OsStr::new("")).is_err(), "{text}");
        }
    }
}
