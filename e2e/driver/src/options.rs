//! The options of a plan. Their names are those of the official Python SDK, and ours where it has none.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tidings::control::{AgentDefinition, McpServerConfig};
use tidings::options::{PermissionPrompts, PluginSource, SettingSource, Thinking, ToolSet};
use tidings::permissions::PermissionMode;
use tidings::{Options, SystemPrompt};

use crate::answers;
use crate::log::Log;
use crate::plan::Plan;

/// The options of a run, with those who answer questions.
pub(crate) fn of(plan: &Plan, log: &Log) -> Result<Options> {
    let mut options = Options::new();
    for (name, value) in plan.options.iter().chain(&plan.ours) {
        options = add(options, name, value).with_context(|| format!("the option `{name}`"))?;
    }
    Ok(answers::add(options, plan, log))
}

fn add(options: Options, name: &str, value: &Value) -> Result<Options> {
    Ok(match name {
        "model" => options.model(read::<String>(value)?),
        "fallback_model" => options.fallback_model(read::<String>(value)?),
        "max_turns" => options.max_turns(read(value)?),
        "max_budget_usd" => options.max_budget_usd(read(value)?),
        "max_thinking_tokens" => options.thinking(Thinking::Budget(read(value)?)),
        "effort" => options.effort(read(value)?),
        "output_schema" => options.output_schema(value.clone()),
        "system_prompt" => options.system_prompt(read::<String>(value)?),
        "system_prompt_append" => options.system_prompt(SystemPrompt::append(read::<String>(value)?)),
        "system_prompt_file" => options.system_prompt(SystemPrompt::File(read::<PathBuf>(value)?)),
        "system_prompt_blocks" => {
            options.system_prompt(SystemPrompt::Custom { blocks: read(value)?, snapshot: None })
        }
        "permission_mode" => permission_mode(options, read(value)?),
        "tools" => options.tools(ToolSet::Only(read(value)?)),
        "allowed_tools" => options.allowed_tools(read::<Vec<String>>(value)?),
        "disallowed_tools" => options.disallowed_tools(read::<Vec<String>>(value)?),
        "agents" => {
            let agents: BTreeMap<String, AgentDefinition> = read(value)?;
            agents.into_iter().fold(options, |options, (name, agent)| options.define_agent(name, agent))
        }
        "mcp_servers" => {
            let servers: BTreeMap<String, McpServerConfig> = read(value)?;
            servers.into_iter().fold(options, |options, (name, server)| options.mcp_server(name, server))
        }
        "resume" => options.resume(read::<String>(value)?),
        "session_id" => options.session_id(read::<String>(value)?),
        "resume_drops_turn" => options.resume_drops_turn(read::<String>(value)?),
        "resume_session_at" => options.resume_at(read::<String>(value)?),
        "env" => {
            let variables: BTreeMap<String, String> = read(value)?;
            variables.into_iter().fold(options, |options, (name, value)| options.env(name, value))
        }
        "add_dirs" => {
            let folders: Vec<PathBuf> = read(value)?;
            folders.into_iter().fold(options, Options::add_directory)
        }
        "settings" => options.settings(value.clone()),
        "setting_sources" => options.setting_sources(sources(&read::<Vec<String>>(value)?)?),
        "plugin" => options.plugin(PluginSource::new(read::<PathBuf>(value)?)),
        "client_app" => options.client_app(read::<String>(value)?),
        "extra_args" => {
            let flags: BTreeMap<String, Option<String>> = read(value)?;
            let add = |options: Options, (flag, value): (String, Option<String>)| {
                options.extra_arg(flag, value.as_deref())
            };
            flags.into_iter().fold(options, add)
        }
        // Those that only this SDK has.
        "agent" => options.agent(read::<String>(value)?),
        "title" => options.title(read::<String>(value)?),
        "managed_settings" => options.managed_settings(value.clone()),
        "plan_mode_instructions" => options.plan_mode_instructions(read::<String>(value)?),
        "project_config_root" => options.project_config_root(read::<PathBuf>(value)?),
        "debug_file" => options.debug_file(read::<PathBuf>(value)?),
        "line_bytes_max" => options.line_bytes_max(read(value)?),
        "tool_aliases" => {
            let aliases: BTreeMap<String, String> = read(value)?;
            aliases.into_iter().fold(options, |options, (alias, tool)| options.tool_alias(alias, tool))
        }
        switch if *value == Value::Bool(true) => switched(options, switch)?,
        _ => bail!("there is no such option, or it does not take this value"),
    })
}

fn switched(options: Options, name: &str) -> Result<Options> {
    Ok(match name {
        "continue_conversation" => options.continue_latest(),
        "fork_session" => options.fork_session(),
        "include_partial_messages" => options.include_partial_messages(),
        "include_hook_events" => options.include_hook_events(),
        "forward_subagent_text" => options.forward_subagent_text(),
        "verbatim_prompts" => options.verbatim_prompts(),
        "enable_file_checkpointing" => options.file_checkpoints(),
        "strict_mcp_config" => options.strict_mcp_config(),
        "replay_user_messages" => options.replay_user_messages(),
        "forget_session" => options.forget_session(),
        "mirror_session" => options.mirror_session(),
        "prompt_suggestions" => options.prompt_suggestions(),
        "include_auth_status" => options.include_auth_status(),
        "agent_progress_summaries" => options.agent_progress_summaries(),
        "plugins_by_handshake" => options.plugins_by_handshake(),
        "nobody_is_asked" => options.permission_prompts(PermissionPrompts::None),
        "thinking_disabled" => options.thinking(Thinking::Disabled),
        _ => bail!("there is no such option"),
    })
}

/// The mode that asks nobody needs to be allowed first.
fn permission_mode(options: Options, mode: PermissionMode) -> Options {
    if mode == PermissionMode::BYPASS_PERMISSIONS {
        options.allow_bypass_permissions().permission_mode(mode)
    } else {
        options.permission_mode(mode)
    }
}

fn sources(names: &[String]) -> Result<Vec<SettingSource>> {
    let source = |name: &String| match name.as_str() {
        "user" => Ok(SettingSource::User),
        "project" => Ok(SettingSource::Project),
        "local" => Ok(SettingSource::Local),
        _ => bail!("no such source of settings: `{name}`"),
    };
    names.iter().map(source).collect()
}

pub(crate) fn read<T: DeserializeOwned>(value: &Value) -> Result<T> {
    Ok(serde_json::from_value(value.clone())?)
}
