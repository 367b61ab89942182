//! Every control request of a host has a method.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tidings::control::{Call, McpCall, ReadFile, RegisterRepoRoot, ReloadPlugins, SettingsSource};
use tidings::permissions::PermissionMode;
use tidings::{Client, Options};

use crate::session::cli::session;

/// Requests of the CLI to a host, and a request of the flat style that it does not support.
const NOT_OURS: &[&str] =
    &["can_use_tool", "hook_callback", "elicitation", "request_user_dialog", "get_server_info"];

async fn call_everything(client: &Client) -> Result<(), tidings::Error> {
    client.reinitialize(&Options::new()).await?;
    let empty = || tidings::json::Json::from(json!({}));
    client.set_permission_mode(PermissionMode::PLAN).await?;
    client.set_mcp_permission_mode("m", None).await?;
    client.permission_rules().await?;
    client.set_model(None).await?;
    client.set_max_thinking_tokens(Some(1)).await?;
    client.set_thinking_display(None).await?;
    client.list_models().await?;
    client.settings().await?;
    client.apply_settings(empty()).await?;
    client.update_settings(SettingsSource::LOCAL_SETTINGS, empty()).await?;
    client.context_usage(None).await?;
    client.session_cost().await?;
    client.usage().await?;
    client.binary_version().await?;
    client.hooks_listing().await?;
    client.rename_session("t").await?;
    client.set_color("red").await?;
    client.set_has_subscribers(None).await?;
    client.cancel_prompt("u").await?;
    client.mcp_status().await?;
    client.set_mcp_servers(BTreeMap::new()).await?;
    client.reconnect_mcp_server("m").await?;
    client.enable_mcp_server("m").await?;
    client.disable_mcp_server("m").await?;
    client.read_mcp_resource("m", "ui://x").await?;
    client.call_mcp_tool(McpCall::new("mcp__m__t", empty())).await?;
    client.send_mcp_message("m", empty()).await?;
    client.rewind_files("u").await?;
    client.preview_rewind("u").await?;
    client.read_file(ReadFile::new("f")).await?;
    client.seed_read_state("f", 1.0).await?;
    client.file_suggestions("f").await?;
    client.register_repo_root(RegisterRepoRoot::new("/r")).await?;
    client.stop_task("t").await?;
    client.background_tasks().await?;
    client.background_task("t").await?;
    client.task_output("t").await?;
    client.reload_plugins(ReloadPlugins::default()).await?;
    client.reload_skills().await?;
    client.reload_output_styles().await?;
    Ok(())
}

/// S0.33, S4.23: the methods and the table of requests agree.
#[tokio::test(start_paused = true)]
async fn s0_33_every_request_has_a_method() {
    let (client, mut cli) = session(Options::new()).await;
    let turn = client.send("go").await.unwrap();
    let uuid = cli.receives_prompt().await;
    cli.begins(&[&uuid]).await;
    let play = async {
        let mut heard = BTreeSet::new();
        while let Some(line) = cli.peer.line().await {
            let request: Value = serde_json::from_str(&line).unwrap();
            let subtype = request["request"]["subtype"].as_str().unwrap().to_owned();
            let reply = match subtype.as_str() {
                "get_binary_version" => json!({"version": "2.1.325"}),
                "get_session_cost" => json!({"text": "nothing"}),
                _ => json!({}),
            };
            cli.answers(&request, reply).await;
            heard.insert(subtype);
        }
        heard
    };
    let calls = async {
        call_everything(&client).await.unwrap();
        client.interrupt().await.unwrap();
        client.end_input();
    };
    let (heard, ()) = tokio::join!(play, calls);
    drop(turn);
    let known: BTreeSet<String> =
        Call::KNOWN.iter().filter(|name| !NOT_OURS.contains(name)).map(ToString::to_string).collect();
    assert_eq!(heard, known);
}

/// Messages without a reply are written all the same, and an interrupt can cancel the rest of the queue.
#[tokio::test(start_paused = true)]
async fn lines_without_an_answer_and_an_interrupt_of_all_that_waits() {
    let (client, mut cli) = session(Options::new()).await;
    client.keep_alive().await.unwrap();
    cli.receives("keep_alive").await;
    let variables = BTreeMap::from([("KEY".to_owned(), "value".to_owned())]);
    client.update_environment(variables).await.unwrap();
    assert_eq!(cli.receives("update_environment_variables").await["variables"], json!({"KEY": "value"}));

    let turn = client.send("go").await.unwrap();
    let uuid = cli.receives_prompt().await;
    cli.begins(&[&uuid]).await;
    let answer = async {
        let request = cli.receives_request("interrupt").await;
        assert_eq!(request["request"]["cancel_queued"], true);
        cli.answers(&request, json!({"still_queued": [], "cancelled": ["u"]})).await;
    };
    let (interrupted, ()) = tokio::join!(client.interrupt_and_cancel_queued(), answer);
    let tidings::Interrupted::Stopping(receipt) = interrupted.unwrap() else { panic!("no turn was running") };
    assert_eq!(receipt.cancelled, Some(vec!["u".to_owned()]));
    drop(turn);
}
