//! Options of a session, from the arguments of `tidings run`.

use tidings::options::{SettingSource, ToolSet};
use tidings::{Options, SessionOwner, SystemPrompt};
use tidings_transcript::ErrorKind;
use tidings_transcript::id_prefix::is_prefix;
use tidings_transcript::roots::Roots;

use super::args::{RunClaudeArgs, SettingSourceArg};
use crate::error::CannotRun;
use crate::sessions::RootArgs;

/// Builds the options of a session from the arguments.
pub(super) fn options(args: &RunClaudeArgs) -> anyhow::Result<Options> {
    let mut options = Options::new()
        .client_app(concat!("tidings-run/", env!("CARGO_PKG_VERSION")))
        // The picker of `claude --resume` hides sessions of the SDKs.
        .env("CLAUDE_CODE_ENTRYPOINT", "tidings")
        .session_owner(SessionOwner::new("tidings run"));
    options = conversation(options, args)?;
    options = tools(options, args);
    options = settings(options, args)?;
    options = options.system_prompt(match (&args.system_prompt, &args.append_system_prompt) {
        (Some(text), _) => SystemPrompt::custom(text),
        (None, Some(text)) => SystemPrompt::append(text),
        (None, None) => SystemPrompt::preset(),
    });
    if let Some(path) = &args.claude_path {
        options = options.program(path);
    }
    if let Some(model) = &args.model {
        options = options.model(model);
    }
    if let Some(model) = &args.fallback_model {
        options = options.fallback_model(model);
    }
    if let Some(effort) = &args.effort {
        options = options.effort(effort.as_str().into());
    }
    if let Some(turns) = args.max_turns {
        options = options.max_turns(turns);
    }
    if let Some(dollars) = args.max_budget_usd {
        options = options.max_budget_usd(dollars);
    }
    if let Some(schema) = &args.json_schema {
        options = options.output_schema(json("json-schema", schema)?);
    }
    Ok(options)
}

fn conversation(mut options: Options, args: &RunClaudeArgs) -> anyhow::Result<Options> {
    if args.continue_latest {
        options = options.continue_latest();
    }
    if let Some(id) = &args.resume {
        options = options.resume(full_id(id)?);
    }
    if args.fork_session {
        options = options.fork_session();
    }
    if let Some(id) = &args.session_id {
        options = options.session_id(id);
    }
    if args.no_session_persistence {
        options = options.forget_session();
    }
    for folder in &args.add_dir {
        options = options.add_directory(folder);
    }
    Ok(options)
}

/// Expands a prefix of a session id, as lists print them. A name without a match is passed on to Claude Code,
/// which also finds sessions by their titles.
fn full_id(name: &str) -> anyhow::Result<String> {
    let is_prefix = is_prefix(name) && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if !is_prefix || uuid::Uuid::try_parse(name).is_ok() {
        return Ok(name.to_owned());
    }
    match Roots::new([RootArgs::config_folder_of_user()]).find(name) {
        Ok(files) => Ok(files.id),
        Err(error) if error.kind() == ErrorKind::Ambiguous => Err(error.into()),
        Err(_) => Ok(name.to_owned()),
    }
}

fn tools(mut options: Options, args: &RunClaudeArgs) -> Options {
    if let Some(mode) = &args.permission_mode {
        options = options.permission_mode(mode.as_str().into());
    }
    if args.dangerously_skip_permissions {
        options = options.allow_bypass_permissions().permission_mode("bypassPermissions".into());
    } else if args.permission_mode.as_deref() == Some("bypassPermissions") {
        options = options.allow_bypass_permissions();
    }
    if !args.allowed_tools.is_empty() {
        options = options.allowed_tools(rules(&args.allowed_tools));
    }
    if !args.disallowed_tools.is_empty() {
        options = options.disallowed_tools(rules(&args.disallowed_tools));
    }
    if let Some(tools) = &args.tools {
        let tools = rules(tools);
        options = options.tools(if tools == ["default"] { ToolSet::Default } else { ToolSet::Only(tools) });
    }
    if let Some(agent) = &args.agent {
        options = options.agent(agent);
    }
    for file in &args.mcp_config {
        options = options.mcp_config_file(file);
    }
    if args.strict_mcp_config {
        options = options.strict_mcp_config();
    }
    options
}

fn settings(mut options: Options, args: &RunClaudeArgs) -> Result<Options, CannotRun> {
    if let Some(settings) = &args.settings {
        options = if settings.trim_start().starts_with('{') {
            options.settings(json("settings", settings)?)
        } else {
            options.settings_file(settings)
        };
    }
    if let Some(sources) = &args.setting_sources {
        options = options.setting_sources(sources.iter().map(|source| match source {
            SettingSourceArg::User => SettingSource::User,
            SettingSourceArg::Project => SettingSource::Project,
            SettingSourceArg::Local => SettingSource::Local,
        }));
    }
    Ok(options)
}

/// Splits arguments into rules, at commas and spaces outside of parentheses.
fn rules(arguments: &[String]) -> Vec<String> {
    let mut rules = Vec::new();
    for argument in arguments {
        let (mut rule, mut depth) = (String::new(), 0_usize);
        for c in argument.chars() {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                ',' | ' ' if depth == 0 => {
                    rules.push(std::mem::take(&mut rule));
                    continue;
                }
                _ => {}
            }
            rule.push(c);
        }
        rules.push(rule);
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}

fn json(option: &str, text: &str) -> Result<serde_json::Value, CannotRun> {
    serde_json::from_str(text).map_err(|error| CannotRun {
        code: CannotRun::USAGE,
        message: format!("--{option} is not valid JSON: {error}"),
        hint: "quote it for the shell: '{\"type\":\"object\"}'",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_split_outside_of_parentheses() {
        let arguments = ["Bash(git log:*),Edit", "Read Write", "Bash(echo a, b)", ""].map(str::to_owned);
        assert_eq!(rules(&arguments), ["Bash(git log:*)", "Edit", "Read", "Write", "Bash(echo a, b)"]);
    }
}
