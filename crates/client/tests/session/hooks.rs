//! Hooks, elicitations and messages to servers in this process.

use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tidings::control::{DialogAnswer, DialogKind, ElicitationAnswer};
use tidings::handlers::{McpCallContext, McpHandler};
use tidings::hooks::{HookEvent, HookOutput, PostToolUse, PreToolUse};
use tidings::json::Json;
use tidings::{DialogAsk, ElicitationAsk, Hook, HookCall, Options};

use crate::session::cli::{ScriptedCli, session};

fn pre_tool_use(id: &str) -> Value {
    json!({"subtype": "hook_callback", "callback_id": id, "tool_use_id": "toolu_1",
        "input": {"session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": "rm -rf /"}}})
}

async fn answer(cli: &mut ScriptedCli) -> Value {
    cli.receives("control_response").await["response"].clone()
}

/// Hooks are registered in order, get typed input, and decide about a tool.
#[tokio::test(start_paused = true)]
async fn hooks_are_registered_and_called_and_decide() {
    let guard = Hook::on(|call: HookCall<PreToolUse>| async move {
        assert_eq!((call.base.cwd.as_deref(), call.tool_use_id.as_deref()), (Some("/"), Some("toolu_1")));
        HookOutput::deny(format!("not {}", call.event.tool_name))
    });
    let any = Hook::any(HookEvent::from("BrandNew"), |call| async move {
        HookOutput::block(format!("{:?}", call.base.hook_event_name.map(|name| name.as_str().to_owned())))
    });
    let options = Options::new().hook(guard.matching("Bash").timeout(Duration::from_secs(5))).hook(any);
    let registered = options.plan().unwrap().initialize.hooks.unwrap();
    assert_eq!(registered["PreToolUse"][0].matcher.as_deref(), Some("Bash"));
    assert_eq!(registered["PreToolUse"][0].timeout, Some(5.0));
    assert_eq!(registered["BrandNew"][0].hook_callback_ids, ["hook_1"]);

    let (_client, mut cli) = session(options).await;
    cli.requests("a", pre_tool_use("hook_0")).await;
    let specific = &answer(&mut cli).await["response"]["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "deny");
    assert_eq!(specific["permissionDecisionReason"], "not Bash");
    cli.requests(
        "b",
        json!({"subtype": "hook_callback", "callback_id": "hook_1",
        "input": {"hook_event_name": "BrandNew", "new_field": 1}}),
    )
    .await;
    assert_eq!(answer(&mut cli).await["response"]["reason"], "Some(\"BrandNew\")");
}

/// F65, F70: a hook that panics or sleeps denies the tool, before the CLI's timeout; other hooks report that
/// they failed.
#[tokio::test(start_paused = true)]
async fn f65_a_guard_that_fails_refuses() {
    async fn sleep(_: HookCall<PreToolUse>) -> HookOutput {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        HookOutput::allow()
    }
    async fn panic(call: HookCall<PreToolUse>) -> HookOutput {
        assert!(call.event.tool_name.is_empty(), "a bug in the hook");
        HookOutput::allow()
    }
    async fn other(_: HookCall<PostToolUse>) -> HookOutput {
        std::future::pending().await
    }
    let options = Options::new()
        .hook(Hook::on(sleep).timeout(Duration::from_secs(5)))
        .hook(Hook::on(panic))
        .hook(Hook::on(other));
    let (_client, mut cli) = session(options).await;
    for (id, within) in [("hook_0", Duration::from_secs(5)), ("hook_1", Duration::from_millis(1))] {
        let before = tokio::time::Instant::now();
        cli.requests(id, pre_tool_use(id)).await;
        let refused = answer(&mut cli).await;
        assert_eq!(refused["response"]["hookSpecificOutput"]["permissionDecision"], "deny", "{refused}");
        assert!(before.elapsed() < within, "{:?}", before.elapsed());
    }
    cli.requests(
        "c",
        json!({"subtype": "hook_callback", "callback_id": "hook_2",
        "input": {"hook_event_name": "PostToolUse", "tool_name": "Bash"}}),
    )
    .await;
    assert_eq!(answer(&mut cli).await["subtype"], "error");
}

/// The CLI drops an output for another event, so it is an error: a guard denies, any other hook fails.
#[tokio::test(start_paused = true)]
async fn d27_an_output_for_another_event_is_an_error() {
    async fn wrong(_: HookCall<PostToolUse>) -> HookOutput {
        HookOutput::additional_context(&HookEvent::STOP, "Use tabs")
    }
    async fn right(call: HookCall<PostToolUse>) -> HookOutput {
        call.additional_context("Use tabs")
    }
    async fn unknown(_: HookCall<PreToolUse>) -> HookOutput {
        HookOutput::additional_context(&HookEvent::from("BrandNew"), "Use tabs")
    }
    let options = Options::new().hook(Hook::on(wrong)).hook(Hook::on(right)).hook(Hook::on(unknown));
    let (_client, mut cli) = session(options).await;
    let after = |id: &str| {
        json!({"subtype": "hook_callback", "callback_id": id,
            "input": {"hook_event_name": "PostToolUse", "tool_name": "Bash"}})
    };
    cli.requests("a", after("hook_0")).await;
    let refused = answer(&mut cli).await;
    assert_eq!(refused["error"], "The hook of `PostToolUse` returned an output for `Stop`");
    cli.requests("b", after("hook_1")).await;
    let specific = &answer(&mut cli).await["response"]["hookSpecificOutput"];
    assert_eq!(
        (&specific["hookEventName"], &specific["additionalContext"]),
        (&json!("PostToolUse"), &json!("Use tabs"))
    );
    cli.requests("c", pre_tool_use("hook_2")).await;
    let specific = &answer(&mut cli).await["response"]["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "deny");
    assert_eq!(
        specific["permissionDecisionReason"],
        "The hook of `PreToolUse` returned an output for `BrandNew`"
    );
}

/// F53: a hook that the CLI cancels is notified, dropped, and answers nothing.
#[tokio::test(start_paused = true)]
async fn f53_a_hook_that_is_taken_back_is_dropped_unanswered() {
    let (learnt, mut lessons) = tokio::sync::mpsc::channel(4);
    let hook = Hook::on(move |call: HookCall<PreToolUse>| {
        let learnt = learnt.clone();
        // A separate task outlives the hook, and so can report what the hook would have seen.
        drop(tokio::spawn(async move {
            call.context.cancelled().await;
            learnt.send("cancelled").await
        }));
        std::future::pending::<HookOutput>()
    });
    let (client, mut cli) = session(Options::new().hook(hook)).await;
    cli.requests("a", pre_tool_use("hook_0")).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    cli.cancels("a").await;
    assert_eq!(lessons.recv().await, Some("cancelled"));
    // Had it not been dropped, its timeout would have answered for it.
    tokio::time::sleep(Duration::from_secs(120)).await;
    client.keep_alive().await.unwrap();
    let line: Value = serde_json::from_str(&cli.peer.line().await.unwrap()).unwrap();
    assert_eq!(line["type"], "keep_alive");
}

/// A hook whose input cannot be decoded denies the tool.
#[tokio::test(start_paused = true)]
async fn a_hook_that_cannot_decode_its_input_denies() {
    let allow = Hook::on(|_: HookCall<PreToolUse>| async { HookOutput::allow() });
    let (_client, mut cli) = session(Options::new().hook(allow)).await;
    cli.requests(
        "a",
        json!({"subtype": "hook_callback", "callback_id": "hook_0",
        "input": {"hook_event_name": "PreToolUse", "tool_name": 5}}),
    )
    .await;
    let refused = answer(&mut cli).await;
    assert_eq!(refused["response"]["hookSpecificOutput"]["permissionDecision"], "deny", "{refused}");
}

#[tokio::test(start_paused = true)]
async fn questions_of_servers_and_dialogs_are_answered() {
    let options = Options::new()
        .on_elicitation(|ask: ElicitationAsk| async move {
            ElicitationAnswer::accept(Json::from(json!({"asked": ask.call.message})))
        })
        .on_dialog([DialogKind::REFUSAL_FALLBACK_PROMPT], |_: DialogAsk| async {
            DialogAnswer::completed(Json::from(json!("retry")))
        });
    let (_client, mut cli) = session(options).await;
    cli.requests("a", json!({"subtype": "elicitation", "mcp_server_name": "m", "message": "Name?"})).await;
    assert_eq!(
        answer(&mut cli).await["response"],
        json!({"action": "accept", "content": {"asked": "Name?"}})
    );
    cli.requests(
        "b",
        json!({"subtype": "request_user_dialog", "dialog_kind": "refusal_fallback_prompt", "payload": {}}),
    )
    .await;
    assert_eq!(answer(&mut cli).await["response"], json!({"behavior": "completed", "result": "retry"}));
}

#[derive(Debug)]
struct Echo;

impl McpHandler for Echo {
    fn handle(
        &self,
        message: Json,
        call: McpCallContext,
    ) -> std::pin::Pin<Box<dyn Future<Output = Option<Json>> + Send + 'static>> {
        async move {
            let message: Value = message.raw().value().unwrap();
            let id = message.get("id")?;
            Some(Json::from(json!({"jsonrpc": "2.0", "id": id, "result": {"server": call.server}})))
        }
        .boxed()
    }
}

/// F68: a server in this process is declared in the handshake and answers; notifications are answered too.
#[tokio::test(start_paused = true)]
async fn f68_a_server_in_this_process_answers() {
    let options = Options::new().mcp_handler("echo", Echo);
    assert_eq!(options.plan().unwrap().initialize.sdk_mcp_servers.unwrap(), ["echo"]);
    let (_client, mut cli) = session(options).await;
    let message = json!({"method": "tools/list", "id": 7, "jsonrpc": "2.0"});
    cli.requests("a", json!({"subtype": "mcp_message", "server_name": "echo", "message": message})).await;
    let response = &answer(&mut cli).await["response"]["mcp_response"];
    assert_eq!((&response["id"], &response["result"]["server"]), (&json!(7), &json!("echo")));
    let message = json!({"method": "notifications/initialized", "jsonrpc": "2.0"});
    cli.requests("b", json!({"subtype": "mcp_message", "server_name": "echo", "message": message})).await;
    assert!(answer(&mut cli).await["response"]["mcp_response"].is_object());
}
