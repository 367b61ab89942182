//! Requests in both directions: each completes exactly once.

use std::time::Duration;

use serde_json::json;
use tidings::control::{ErrorCode, GetBinaryVersion};
use tidings::permissions::PermissionMode;
use tidings::transport::Exit;
use tidings::{Client, ErrorKind, Options};

use crate::session::cli::{self, session};

/// Replies arrive in any order, and a reply to no pending request does no harm.
#[tokio::test(start_paused = true)]
async fn answers_find_their_requests_in_any_order() {
    let (client, mut cli) = session(Options::new()).await;
    let play = async {
        let first = cli.receives_request("list_models").await;
        let second = cli.receives_request("get_binary_version").await;
        cli.answers(&json!({"request_id": "unknown"}), json!({})).await;
        cli.answers(&second, json!({"version": "2.1.325"})).await;
        cli.answers(&second, json!({"version": "again"})).await;
        cli.answers(&first, json!({"models": [{"value": "haiku"}]})).await;
    };
    let (models, version, ()) = tokio::join!(client.list_models(), client.binary_version(), play);
    assert_eq!(models.unwrap()[0].value, "haiku");
    assert_eq!(version.unwrap().version, "2.1.325");
}

/// F12 of the SDKs' own lists: an error keeps the CLI's message and code.
#[tokio::test(start_paused = true)]
async fn a_refusal_keeps_the_words_and_the_code() {
    let (client, mut cli) = session(Options::new()).await;
    let play = async {
        let request = cli.receives_request("set_permission_mode").await;
        assert_eq!(request["request"]["mode"], "bypassPermissions");
        cli.refuses(&request, "not launched with the flag", "bypass_not_launched").await;
    };
    let (refused, ()) = tokio::join!(client.set_permission_mode(PermissionMode::BYPASS_PERMISSIONS), play);
    let error = refused.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Control, Some(&ErrorCode::BYPASS_NOT_LAUNCHED)));
    assert!(error.to_string().contains("not launched with the flag"), "{error}");
    assert!(error.hint().contains("allow_bypass_permissions"));
}

/// A request that times out fails, and is cancelled at the CLI.
#[tokio::test(start_paused = true)]
async fn a_request_that_times_out_is_cancelled() {
    let (client, mut cli) = session(Options::new()).await;
    let limit = Duration::from_secs(7);
    let play = async {
        let request = cli.receives_request("get_binary_version").await;
        let cancel = cli.receives("control_cancel_request").await;
        assert_eq!(cancel["request_id"], request["request_id"]);
        cli.answers(&request, json!({"version": "late"})).await;
    };
    let before = tokio::time::Instant::now();
    let (late, ()) = tokio::join!(client.request_within(GetBinaryVersion::default(), limit), play);
    assert_eq!(late.unwrap_err().kind(), ErrorKind::Timeout);
    assert_eq!(before.elapsed(), limit);
}

/// Dropping the future of a request cancels it too.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_is_taken_back() {
    let (client, mut cli) = session(Options::new()).await;
    let asking = tokio::spawn(async move {
        drop(client.list_models().await);
        client
    });
    let request = cli.receives_request("list_models").await;
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    let cancel = cli.receives("control_cancel_request").await;
    assert_eq!(cancel["request_id"], request["request_id"]);
}

/// F27: the CLI dies during the handshake, and the caller gets its message at once.
#[tokio::test(start_paused = true)]
async fn f27_death_during_the_handshake_is_told_at_once() {
    let (memory, mut cli) = cli::pair();
    let play = async {
        cli.receives_request("initialize").await;
        cli.voice().complain("error: unknown option '--frobnicate'").await;
        cli.exits(1).await;
    };
    let before = tokio::time::Instant::now();
    let (failed, ()) = tokio::join!(Client::connect_over(memory, Options::new()), play);
    let error = failed.unwrap_err();
    assert_eq!((error.kind(), error.exit()), (ErrorKind::Exit, Some(Exit::code(1))));
    assert!(error.to_string().contains("unknown option '--frobnicate'"), "{error}");
    assert!(error.stderr().contains("frobnicate") && !error.hint().is_empty());
    assert!(before.elapsed() < Duration::from_millis(200));
}

/// F39: a slow start does not fail, if the timeout is long enough.
#[tokio::test(start_paused = true)]
async fn f39_a_slow_start_is_waited_for() {
    let (memory, mut cli) = cli::pair();
    let play = async {
        let request = cli.receives_request("initialize").await;
        tokio::time::sleep(Duration::from_secs(90)).await;
        cli.answers(&request, json!({})).await;
    };
    let options = Options::new().initialize_timeout(Duration::from_secs(120));
    let (client, ()) = tokio::join!(Client::connect_over(memory, options), play);
    client.unwrap();
}

/// A CLI that is too old is refused with a hint.
#[tokio::test(start_paused = true)]
async fn f40_a_version_that_is_too_old_is_refused() {
    let (memory, mut cli) = cli::pair();
    let play = async {
        let request = cli.receives_request("initialize").await;
        cli.answers(&request, json!({"claude_code_version": "1.0.128"})).await;
    };
    let (refused, ()) = tokio::join!(Client::connect_over(memory, Options::new()), play);
    let error = refused.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::VersionTooOld);
    assert!(error.to_string().contains("1.0.128") && error.hint().contains("claude update"), "{error:?}");
}

/// F57: all callers that wait when the CLI dies get the reason, at each step of a turn.
#[tokio::test(start_paused = true)]
async fn f57_death_ends_everything_that_waits() {
    for step in 0..5 {
        let (client, mut cli) = session(Options::new()).await;
        let turn = client.send("hello").await.unwrap();
        let uuid = cli.receives_prompt().await;
        let mut events = client.subscribe();
        let other = client.clone();
        let asking = tokio::spawn(async move { other.binary_version().await });
        cli.receives_request("get_binary_version").await;
        if step > 0 {
            cli.reports(&uuid, "queued").await;
        }
        if step > 1 {
            cli.begins(&[&uuid]).await;
        }
        if step > 2 {
            cli.writes("half an answ").await;
        }
        if step > 3 {
            cli.requests("q", json!({"subtype": "elicitation", "mcp_server_name": "m", "message": "?"}))
                .await;
            cli.receives("control_response").await;
        }
        cli.voice().complain("out of memory").await;
        cli.peer.exit(Exit::signal(9)).await;
        let error = turn.finish().await.unwrap_err();
        assert_eq!((error.kind(), error.exit()), (ErrorKind::Exit, Some(Exit::signal(9))), "step {step}");
        assert!(error.to_string().contains("out of memory"), "{error}");
        assert_eq!(asking.await.unwrap().unwrap_err().kind(), ErrorKind::Exit);
        while events.next().await.is_some() {}
        assert_eq!(client.send("more").await.unwrap_err().kind(), ErrorKind::Exit);
        assert_eq!(client.list_models().await.unwrap_err().kind(), ErrorKind::Exit);
        assert_eq!(client.close().await.unwrap_err().kind(), ErrorKind::Exit);
    }
}

/// F55: an unknown request is answered with an error, as is one that cannot be decoded.
#[tokio::test(start_paused = true)]
async fn f55_unknown_questions_are_answered() {
    let (_client, mut cli) = session(Options::new()).await;
    let questions = [
        json!({"subtype": "ui_copy", "text": "x"}),
        json!({"subtype": "oauth_token_refresh"}),
        json!({"subtype": "can_use_tool"}),
        json!({"subtype": "request_user_dialog", "dialog_kind": "k", "payload": {}}),
        json!({"subtype": "hook_callback", "callback_id": "hook_9", "input": {}}),
        json!({"subtype": "mcp_message", "server_name": "nowhere", "message": {}}),
        json!({"subtype": "list_models"}),
    ];
    for (index, question) in questions.into_iter().enumerate() {
        let id = format!("q{index}");
        cli.requests(&id, question).await;
        let answer = cli.receives("control_response").await;
        assert_eq!(answer["response"]["request_id"], id);
        assert_eq!(answer["response"]["subtype"], "error", "{answer}");
    }
}

/// F39, F68: requests that arrive before the handshake is complete are answered.
#[tokio::test(start_paused = true)]
async fn f68_questions_are_answered_during_the_handshake() {
    let (memory, mut cli) = cli::pair();
    let play = async {
        let request = cli.receives_request("initialize").await;
        cli.requests("early", json!({"subtype": "elicitation", "mcp_server_name": "m", "message": "?"}))
            .await;
        let answer = cli.receives("control_response").await;
        assert_eq!(answer["response"]["response"]["action"], "decline");
        cli.answers(&request, json!({})).await;
    };
    let (client, ()) = tokio::join!(Client::connect_over(memory, Options::new()), play);
    client.unwrap();
}

/// Requests that were open when another client left are repeated with the handshake, and answered once.
#[tokio::test(start_paused = true)]
async fn f61_open_questions_come_with_the_handshake() {
    let (memory, mut cli) = cli::pair();
    let play = async {
        let request = cli.receives_request("initialize").await;
        let question = json!({"type": "control_request", "request_id": "open",
            "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}});
        let id = &request["request_id"];
        cli.sends(json!({"type": "control_response", "response": {"subtype": "success", "request_id": id,
            "response": {}, "pending_permission_requests": [question, question]}}))
            .await;
        let answer = cli.receives("control_response").await;
        assert_eq!(answer["response"]["request_id"], "open");
        assert_eq!(answer["response"]["response"]["behavior"], "allow");
        cli
    };
    let options = Options::new().on_permission(tidings::AllowAll);
    let (client, mut cli) = tokio::join!(Client::connect_over(memory, options), play);
    let client = client.unwrap();
    client.keep_alive().await.unwrap();
    cli.receives("keep_alive").await;
}

/// A hook that must block needs a CLI that supports it.
#[tokio::test(start_paused = true)]
async fn a_hook_that_must_block_needs_a_cli_that_can() {
    use tidings::hooks::{HookOutput, PreToolUse};
    let options = || {
        let hook = tidings::Hook::on(|_: tidings::HookCall<PreToolUse>| async { HookOutput::default() });
        Options::new().hook(hook.block_on_failure())
    };
    for (reply, fine) in [
        (json!({"hook_on_failure_supported": true, "hooks_applied": true}), true),
        (json!({"hook_on_failure_supported": true, "hooks_applied": false}), false),
        (json!({"hooks_applied": true}), false),
    ] {
        let (memory, mut cli) = cli::pair();
        let play = async {
            let request = cli.receives_request("initialize").await;
            assert_eq!(request["request"]["hooks"]["PreToolUse"][0]["onFailure"], "block");
            cli.answers(&request, reply).await;
        };
        let (client, ()) = tokio::join!(Client::connect_over(memory, options()), play);
        assert_eq!(client.is_ok(), fine);
    }
}
