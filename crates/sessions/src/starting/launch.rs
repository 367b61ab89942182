//! Launch options of a session's agent.

use std::path::{Path, PathBuf};

use futures_core::future::BoxFuture;
use tidings::control::{EffortLevel, McpServerConfig};
use tidings::json::Json;
use tidings::options::{self, Arg, EnvBase, SettingSource};
use tidings::permissions::PermissionMode;
use tidings::transport::{Link, Process, Transport};
use tidings::{Options, SystemPrompt};
use tidings_acp::adapter::OPTIONS_SETTING;
use tidings_api::Code;
use tidings_journal::Session;

use crate::backends::EFFORT;
use crate::capabilities::{BYPASS, USUAL_MODE};
use crate::limits::LEAST_BUDGET_USD;
use crate::settings::{Launch, SessionSettings};
use crate::starting::deny_rules;
use crate::{Config, Error};

/// The name by which agents of this server are known to the CLI.
pub(crate) const ENTRYPOINT: &str = "tidings";

/// The options for a session: one that ran before is resumed.
pub(crate) fn options(row: &Session, settings: &SessionSettings, config: &Config) -> Result<Options, Error> {
    let launch = &settings.launch;
    let mut options = Options::new()
        .cwd(&row.cwd)
        .env_base(EnvBase::Empty)
        .file_checkpoints()
        .client_app("tidings")
        // The picker of `claude --resume` leaves out sessions of the SDKs.
        .env("CLAUDE_CODE_ENTRYPOINT", ENTRYPOINT)
        // Hooks of the user's sessions report nothing about this one.
        .env("TIDINGS_SESSION", row.key.as_str())
        .session_owner(config.runner.owner_of(&row.key))
        .ids(config.ids.clone());
    if let Some(config_dir) = config.config_dir(launch.demo) {
        options = options.lock_in(config_dir);
    }
    if let Some(name) = &launch.backend {
        options = options.agent_name(name);
        if !launch.options.is_empty() {
            options = options.settings(serde_json::json!({ OPTIONS_SETTING: launch.options }));
        }
    } else {
        options = options.settings(deny_rules::settings(&config.protected, Path::new(&row.cwd)));
        if let Some(effort) = launch.options.get(EFFORT) {
            options = options.effort(EffortLevel::from(effort.as_str()));
        }
    }
    for (name, value) in &config.environment {
        options = options.env(name, value);
    }
    if settings.untrusted {
        options = options.setting_sources([SettingSource::User]).strict_mcp_config();
    }
    if let Some(claude) = config.program(launch.demo) {
        options = options.program(claude);
    }
    if let Some(id) = row.cli_sessions.last().or(launch.resume.as_ref()) {
        options = options.resume(id);
        if row.cli_sessions.is_empty() && launch.fork {
            options = options.fork_session();
        }
        if row.cli_sessions.is_empty() && launch.backend.is_some() {
            // Its conversation is not in the journal yet.
            options = options.extra_arg("replay-conversation", None);
        }
    } else if let Some(id) = &launch.cli_session {
        options = options.session_id(id);
    }
    if let Some(model) = &launch.model {
        options = options.model(model);
    }
    let mode = permission_mode(launch, config);
    options = options.permission_mode(mode_on_the_wire(mode));
    if mode == BYPASS {
        options = options.allow_bypass_permissions();
    }
    if let Some(text) = &launch.append_system_prompt {
        options = options.system_prompt(SystemPrompt::append(text));
    }
    if !launch.allowed_tools.is_empty() {
        options = options.allowed_tools(launch.allowed_tools.iter());
    }
    for folder in &launch.add_dirs {
        options = options.add_directory(folder);
    }
    for (name, server) in
        launch.mcp_config.iter().filter_map(|config| config["mcpServers"].as_object()).flatten()
    {
        let server = Json::parse(&server.to_string())
            .map_err(|error| Error::new(Code::Invalid, format!("The MCP server `{name}`: {error}"), ""))?;
        options = options.mcp_server(name, McpServerConfig::Unknown(server));
    }
    if let Some(dollars) = settings.budget.budget_usd {
        // A running agent is adopted although nothing is left of its budget, and the CLI takes zero for no
        // limit.
        let left = (dollars - settings.budget_used_usd()).max(LEAST_BUDGET_USD);
        options = options.max_budget_usd(left);
    }
    Ok(options)
}

/// The permission mode of a new agent. One is always passed, so that no settings file chooses it; a server
/// that no longer allows `bypassPermissions` does not start an agent with it.
pub(crate) fn permission_mode<'a>(launch: &'a Launch, config: &Config) -> &'a str {
    let chosen = launch.permission_mode.as_deref().unwrap_or(USUAL_MODE);
    if chosen == BYPASS && !config.allow_bypass { USUAL_MODE } else { chosen }
}

/// True if a folder's own settings and commands must be left out: they are used only after a user has
/// reviewed them (T10).
///
/// There may be thousands of files to inspect, so it runs on a blocking thread.
pub(crate) async fn is_untrusted(folder: String, config: &Config) -> Result<bool, Error> {
    let Some(trust) = config.trust.clone() else { return Ok(false) };
    let lost = |_| Error::new(Code::Internal, "Failed to inspect the folder", "try again");
    let look = move || trust.look(Path::new(&folder));
    Ok(!tokio::task::spawn_blocking(look).await.map_err(lost)??.1)
}

/// The CLI session that the agent of a session resumes and writes; none if it starts a new one.
pub(crate) fn cli_session_of<'a>(row: &'a Session, launch: &'a Launch) -> Option<&'a str> {
    let resumed = launch.resume.as_deref().filter(|_| !launch.fork);
    row.cli_sessions.last().map(String::as_str).or(resumed)
}

/// A permission mode on the wire: the command line has another name for one of them.
pub(crate) fn mode_on_the_wire(mode: &str) -> PermissionMode {
    if mode == "manual" { PermissionMode::DEFAULT } else { PermissionMode::from(mode) }
}

/// The transport: a process, with the arguments of a stand-in before ours.
pub(crate) fn carrier(config: &Config) -> Box<dyn Transport> {
    prefixed(Process::new(), config)
}

/// The same over another transport.
pub(crate) fn prefixed(inner: impl Transport + 'static, config: &Config) -> Box<dyn Transport> {
    Box::new(Prefixed { program: config.claude.clone(), args: config.claude_args.clone(), inner })
}

#[derive(Debug)]
struct Prefixed<T> {
    /// The stand-in; a real agent does not get its arguments.
    program: Option<PathBuf>,
    args: Vec<String>,
    inner: T,
}

impl<T: Transport + 'static> Transport for Prefixed<T> {
    fn open(
        self: Box<Self>,
        mut launch: options::Launch,
    ) -> BoxFuture<'static, Result<Link, tidings::Error>> {
        let Prefixed { program, args, inner } = *self;
        if launch.program != program || args.is_empty() {
            return Box::new(inner).open(launch);
        }
        let ours = std::mem::take(&mut launch.args);
        launch.args = args.into_iter().map(Arg::Text).chain(ours).collect();
        // Without its arguments the stand-in is another program, whose version says nothing.
        Box::pin(async move {
            let mut link = Box::new(inner).open(launch).await?;
            link.program = None;
            Ok(link)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_a_word_on_the_wire() {
        for mode in PermissionMode::KNOWN.iter().chain(&["manual"]) {
            assert!(mode_on_the_wire(mode).is_known(), "{mode}");
        }
    }

    #[test]
    fn k1_an_agent_is_started_with_a_mode_that_the_server_allows() {
        let launch =
            |mode: Option<&str>| Launch { permission_mode: mode.map(str::to_owned), ..Launch::default() };
        let strict = Config::default();
        let loose = Config { allow_bypass: true, ..Config::default() };
        for (mode, config, wanted) in [
            (None, &strict, "default"),
            (None, &loose, "default"),
            (Some("plan"), &strict, "plan"),
            (Some(BYPASS), &strict, "default"),
            (Some(BYPASS), &loose, BYPASS),
        ] {
            assert_eq!(permission_mode(&launch(mode), config), wanted, "{mode:?}");
        }
    }
}
