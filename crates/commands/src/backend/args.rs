//! Settings from the arguments that a host passes to `claude`.

use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;
use tidings_acp::adapter::{AdapterSettings, OPTIONS_SETTING};

use super::AgentCommand;

/// Reads the arguments. Those that other agents have no use for are ignored.
pub(super) fn settings(agent: &AgentCommand, args: &[String], cwd: &Path) -> anyhow::Result<AdapterSettings> {
    let mut settings = AdapterSettings {
        name: agent.name.clone(),
        cwd: cwd.to_string_lossy().into_owned(),
        authenticate: agent.authenticate.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..AdapterSettings::default()
    };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let (flag, value) = match arg.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        match flag {
            "--resume" => settings.resume = value,
            "--replay-conversation" => settings.replay = true,
            "--model" => settings.model = value,
            // The help of the command line calls `default` `manual`.
            "--permission-mode" => {
                settings.mode = value.map(|mode| if mode == "manual" { "default".to_owned() } else { mode });
            }
            "--include-partial-messages" => settings.partial_messages = true,
            "--add-dir" => {
                let folder = value.or_else(|| rest.next().cloned());
                settings.folders.extend(folder.map(|folder| cwd.join(folder).to_string_lossy().into_owned()));
            }
            "--mcp-config" => {
                if let Some(config) = value.or_else(|| rest.next().cloned()) {
                    settings.mcp_servers.extend(mcp_servers(&config)?);
                }
            }
            "--settings" => {
                if let Some(given) = value.or_else(|| rest.next().cloned()) {
                    let given = object(&given).context("The settings are not JSON")?;
                    let options = given[OPTIONS_SETTING].as_object().into_iter().flatten();
                    let chosen =
                        options.filter_map(|(id, value)| Some((id.clone(), value.as_str()?.to_owned())));
                    settings.options.extend(chosen);
                }
            }
            _ => {}
        }
    }
    Ok(settings)
}

/// MCP servers from a file, or from JSON in the argument itself.
fn mcp_servers(config: &str) -> anyhow::Result<Vec<(String, Value)>> {
    let config = object(config).context("The configuration of MCP servers is not JSON")?;
    let servers = config["mcpServers"].as_object().into_iter().flatten();
    Ok(servers.map(|(name, server)| (name.clone(), server.clone())).collect())
}

/// JSON in a file, or in the argument itself.
fn object(argument: &str) -> anyhow::Result<Value> {
    let is_inline = argument.trim_start().starts_with('{');
    let text = if is_inline { argument.to_owned() } else { fs_err::read_to_string(argument)? };
    Ok(serde_json::from_str(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_of_claude_become_settings() {
        let agent = AgentCommand {
            name: "sample".to_owned(),
            command: "sample".into(),
            args: Vec::new(),
            authenticate: None,
        };
        let mcp = r#"{"mcpServers":{"box":{"command":"box"}}}"#;
        let chosen = r#"{"configOptions":{"effort":"high","other":5}}"#;
        let args =
            ["--verbose", "--resume=abc", "--permission-mode=plan", "--mcp-config", mcp, "--add-dir", "/b"];
        let args = [&args[..], &["--settings", chosen]].concat();
        let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
        let settings = settings(&agent, &args, Path::new("/a")).unwrap();
        assert_eq!(settings.options.into_iter().collect::<Vec<_>>(), [("effort".into(), "high".into())]);
        assert_eq!(settings.resume.as_deref(), Some("abc"));
        assert_eq!(settings.mode.as_deref(), Some("plan"));
        assert_eq!(settings.folders, ["/b"]);
        assert_eq!(settings.mcp_servers[0].0, "box");
        assert!(!settings.partial_messages);
    }
}
