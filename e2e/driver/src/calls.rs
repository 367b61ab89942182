//! What a host may ask of the CLI, by name.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tidings::control::{McpCall, McpServerConfig, ReadFile, RegisterRepoRoot, ReloadPlugins, SettingsSource};
use tidings::json::Json;
use tidings::permissions::PermissionMode;
use tidings::{Client, Decision, Error, Interrupted};

use crate::options::read;
use crate::plan::CallPlan;
use crate::show::{parsed, to_value};

/// Makes a call: what it gave back, as JSON, or how it was refused.
pub(crate) async fn make(client: &Client, call: &CallPlan) -> Result<Result<Value, Error>> {
    let with = &call.with;
    let text = || read::<String>(with);
    Ok(match call.name.as_str() {
        "interrupt" => client.interrupt().await.map(|stopped| interrupted(&stopped)),
        "interrupt_and_cancel_queued" => {
            client.interrupt_and_cancel_queued().await.map(|stopped| interrupted(&stopped))
        }
        "set_model" => done(client.set_model(read::<Option<String>>(with)?.as_deref()).await),
        "set_permission_mode" => done(client.set_permission_mode(read::<PermissionMode>(with)?).await),
        "mcp_status" => shown(client.mcp_status().await),
        "context_usage" => shown(client.context_usage(None).await),
        "server_info" => Ok(to_value(&client.info())),
        "reconnect_mcp_server" => done(client.reconnect_mcp_server(&text()?).await),
        "disable_mcp_server" => done(client.disable_mcp_server(&text()?).await),
        "enable_mcp_server" => done(client.enable_mcp_server(&text()?).await),
        "rewind_files" => shown(client.rewind_files(&text()?).await),
        "stop_task" => done(client.stop_task(&text()?).await),
        other => return only_ours(client, other, with).await,
    })
}

/// What the Python SDK has no method for.
async fn only_ours(client: &Client, name: &str, with: &Value) -> Result<Result<Value, Error>> {
    let text = || read::<String>(with);
    Ok(match name {
        "preview_rewind" => shown(client.preview_rewind(&text()?).await),
        "settings" => shown(client.settings().await),
        "apply_settings" => done(client.apply_settings(with.clone()).await),
        "update_settings" => done(client.update_settings(SettingsSource::LOCAL_SETTINGS, with.clone()).await),
        "list_models" => shown(client.list_models().await),
        "session_cost" => shown(client.session_cost().await),
        "usage" => shown(client.usage().await),
        "binary_version" => shown(client.binary_version().await),
        "permission_rules" => shown(client.permission_rules().await),
        "hooks_listing" => shown(client.hooks_listing().await),
        "set_max_thinking_tokens" => done(client.set_max_thinking_tokens(read(with)?).await),
        "set_mcp_servers" => {
            shown(client.set_mcp_servers(read::<BTreeMap<String, McpServerConfig>>(with)?).await)
        }
        "set_mcp_permission_mode" => {
            let (server, mode): (String, Option<PermissionMode>) = read(with)?;
            shown(client.set_mcp_permission_mode(&server, mode).await)
        }
        "call_mcp_tool" => shown(client.call_mcp_tool(read::<McpCall>(with)?).await),
        "read_mcp_resource" => {
            let (server, uri): (String, String) = read(with)?;
            shown(client.read_mcp_resource(&server, &uri).await)
        }
        "read_file" => shown(client.read_file(read::<ReadFile>(with)?).await),
        "seed_read_state" => {
            let (path, mtime_ms): (String, f64) = read(with)?;
            done(client.seed_read_state(&path, mtime_ms).await)
        }
        "file_suggestions" => shown(client.file_suggestions(&text()?).await),
        "register_repo_root" => shown(client.register_repo_root(read::<RegisterRepoRoot>(with)?).await),
        "reload_plugins" => shown(client.reload_plugins(ReloadPlugins::default()).await),
        "reload_skills" => shown(client.reload_skills().await),
        "reload_output_styles" => shown(client.reload_output_styles().await),
        "background_tasks" => done(client.background_tasks().await),
        "background_task" => shown(client.background_task(&text()?).await),
        "task_output" => shown(client.task_output(&text()?).await),
        "cancel_prompt" => shown(client.cancel_prompt(&text()?).await),
        "rename_session" => done(client.rename_session(&text()?).await),
        "set_color" => done(client.set_color(&text()?).await),
        "keep_alive" => done(client.keep_alive().await),
        "update_environment" => done(client.update_environment(read(with)?).await),
        "reinitialize" => done(client.reinitialize(&tidings::Options::new()).await),
        "open_permissions" => {
            let open = client.open_permissions();
            Ok(json!(open.iter().map(|(_, call)| call.tool_name.clone()).collect::<Vec<_>>()))
        }
        "decide_allow" => {
            let open = client.open_permissions();
            let Some((id, _)) = open.first() else { bail!("nothing is open") };
            done(client.decide(id, Decision::allow()).await)
        }
        "stop_turn" => shown_debug(client.stop_turn(std::time::Duration::from_secs(20)).await),
        "settled" => done(client.settled().await),
        "request_untyped" => {
            let (subtype, body): (String, Value) = read(with)?;
            client.request_untyped(&subtype, Json::from(body)).await.map(|reply| parsed(&reply))
        }
        _ => bail!("no such call: `{name}`"),
    })
}

fn interrupted(stopped: &Interrupted) -> Value {
    json!(matches!(stopped, Interrupted::Stopping(_)))
}

fn shown(reply: Result<impl serde::Serialize, Error>) -> Result<Value, Error> {
    reply.map(|reply| to_value(&reply))
}

fn shown_debug(reply: Result<impl std::fmt::Debug, Error>) -> Result<Value, Error> {
    reply.map(|reply| json!(format!("{reply:?}")))
}

/// For calls whose reply says nothing, or that the Python SDK gives nothing back for.
fn done<T>(reply: Result<T, Error>) -> Result<Value, Error> {
    reply.map(|_| Value::Null)
}
