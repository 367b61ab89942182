//! How the agent of a session is started.

use std::path::{Path, PathBuf};

use futures_core::future::BoxFuture;
use tidings::control::McpServerConfig;
use tidings::json::Json;
use tidings::options::{Arg, EnvBase, Launch, SettingSource};
use tidings::permissions::PermissionMode;
use tidings::transport::{Link, Process, Transport};
use tidings::{Options, SystemPrompt};

use super::Config;
use super::settings::Settings;
use crate::error::{Code, Error};
use crate::journal::Session;

/// The options for a session as it stands: one that ran before goes on where it was.
pub(super) fn options(row: &Session, settings: &Settings, config: &Config) -> Result<Options, Error> {
    let launch = &settings.launch;
    let mut options = Options::new()
        .cwd(&row.cwd)
        .env_base(EnvBase::Empty)
        .file_checkpoints()
        .client_app("tidings")
        .ids(config.ids.clone());
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
    }
    if let Some(model) = &launch.model {
        options = options.model(model);
    }
    if let Some(mode) = &launch.permission_mode {
        options = options.permission_mode(PermissionMode::from(mode.as_str()));
        if mode == BYPASS {
            options = options.allow_bypass_permissions();
        }
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
        let left = (dollars - settings.totals.cost_usd).max(0.0);
        options = options.max_budget_usd(left);
    }
    Ok(options)
}

/// Whether what a folder brings is to be left out: it is used only after somebody has seen it (T10).
pub(super) fn is_untrusted(folder: &str, config: &Config) -> Result<bool, Error> {
    let Some(trust) = &config.trust else { return Ok(false) };
    Ok(!trust.look(Path::new(folder))?.1)
}

/// The mode in which the CLI asks nobody.
pub(super) const BYPASS: &str = "bypassPermissions";

/// What carries the lines: a process, with the arguments of a stand-in before ours.
pub(super) fn carrier(config: &Config) -> Box<dyn Transport> {
    prefixed(Process::new(), config)
}

/// The same over another way to start it.
pub(super) fn prefixed(inner: impl Transport + 'static, config: &Config) -> Box<dyn Transport> {
    Box::new(Prefixed { program: config.claude.clone(), args: config.claude_args.clone(), inner })
}

#[derive(Debug)]
struct Prefixed<T> {
    /// The stand-in; a real agent beside it does not get its arguments.
    program: Option<PathBuf>,
    args: Vec<String>,
    inner: T,
}

impl<T: Transport + 'static> Transport for Prefixed<T> {
    fn open(self: Box<Self>, mut launch: Launch) -> BoxFuture<'static, Result<Link, tidings::Error>> {
        if launch.program == self.program {
            let ours = std::mem::take(&mut launch.args);
            launch.args = self.args.into_iter().map(Arg::Text).chain(ours).collect();
        }
        Box::new(self.inner).open(launch)
    }
}
