//! Permission requests: every outcome but an allow is a deny.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tidings::{AllowAll, Decision, DenyAll, ErrorKind, Options, PermissionAsk};

use crate::session::cli::{ScriptedCli, session};

fn may_bash_run() -> Value {
    json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "toolu_1",
        "description": "List files", "decision_reason_type": "mode", "permission_suggestions": []})
}

async fn answer_to(options: Options) -> Value {
    let (_client, mut cli) = session(options).await;
    cli.requests("q", may_bash_run()).await;
    answer(&mut cli).await
}

async fn answer(cli: &mut ScriptedCli) -> Value {
    let answer = cli.receives("control_response").await;
    assert_eq!(answer["response"]["subtype"], "success", "{answer}");
    answer["response"]["response"].clone()
}

/// F60: an allow always includes the input, since some versions of the CLI refuse one without it.
#[tokio::test(start_paused = true)]
async fn f60_an_allow_always_carries_the_input() {
    let expected = json!({"behavior": "allow", "updatedInput": {"command": "ls"}, "toolUseID": "toolu_1"});
    assert_eq!(answer_to(Options::new().on_permission(AllowAll)).await, expected);
    let options = Options::new()
        .on_permission(|_: PermissionAsk| async { Decision::allow_with(json!({"command": "ls -l"})) });
    assert_eq!(answer_to(options).await["updatedInput"], json!({"command": "ls -l"}));
}

/// A deny has a reason for the model, and may end the turn; without a handler the answer is a deny.
#[tokio::test(start_paused = true)]
async fn a_deny_has_a_reason_and_no_handler_is_a_deny() {
    let no = answer_to(Options::new().on_permission(DenyAll)).await;
    assert_eq!((no["behavior"].as_str(), no.get("interrupt")), (Some("deny"), None));
    let stop = |_: PermissionAsk| async { Decision::deny_and_stop("Enough") };
    let stopped = answer_to(Options::new().on_permission(stop)).await;
    assert_eq!((&stopped["message"], &stopped["interrupt"]), (&json!("Enough"), &json!(true)));
    let unhandled = answer_to(Options::new()).await;
    assert_eq!(unhandled["behavior"], "deny");
}

/// F70: a handler that panics denies, and the session goes on.
#[tokio::test(start_paused = true)]
async fn f70_a_panic_is_a_refusal_and_not_the_end() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let options = Options::new().on_permission(move |_: PermissionAsk| {
        let first = counted.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            assert!(!first, "a bug in the handler");
            Decision::allow()
        }
    });
    let (client, mut cli) = session(options).await;
    cli.requests("q1", may_bash_run()).await;
    let refused = answer(&mut cli).await;
    assert_eq!(refused["behavior"], "deny");
    assert!(refused["message"].as_str().unwrap().contains("failed"), "{refused}");
    cli.requests("q2", may_bash_run()).await;
    assert_eq!(answer(&mut cli).await["behavior"], "allow");
    let turn = client.send("still there?").await.unwrap();
    let uuid = cli.receives_prompt().await;
    cli.plays(&[&uuid], "yes").await;
    assert!(turn.finish().await.unwrap().is_success());
}

/// F64: a request that is not answered in time is denied, with a message that does not blame the user.
#[tokio::test(start_paused = true)]
async fn f64_a_time_out_is_not_the_users_refusal() {
    let options = Options::new()
        .on_permission(|_: PermissionAsk| std::future::pending::<Decision>())
        .permission_timeout(Duration::from_secs(600));
    let answer = answer_to(options).await;
    assert_eq!(answer["behavior"], "deny");
    assert!(answer["message"].as_str().unwrap().contains("in time"), "{answer}");
}

/// F53: nothing is written once the CLI has cancelled its request, and the handler is dropped.
#[tokio::test(start_paused = true)]
async fn f53_no_answer_after_a_question_was_taken_back() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    for wait_ms in [0, 1, 99, 100, 101] {
        let dropped = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&dropped);
        let options = Options::new().on_permission(move |_: PermissionAsk| {
            let dropped = Dropped(Arc::clone(&count));
            async move {
                tokio::time::sleep(Duration::from_millis(100)).await;
                drop(dropped);
                Decision::allow()
            }
        });
        let (client, mut cli) = session(options).await;
        cli.requests("q", may_bash_run()).await;
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        cli.cancels("q").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        client.keep_alive().await.unwrap();
        let mut answers = 0;
        loop {
            let line: Value = serde_json::from_str(&cli.peer.line().await.unwrap()).unwrap();
            match line["type"].as_str() {
                Some("control_response") => answers += 1,
                _ => break,
            }
        }
        assert!(answers <= 1 && (wait_ms >= 100 || answers == 0), "{wait_ms} ms: {answers} answers");
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        assert!(client.open_permissions().is_empty());
    }
}

/// F62: a deferred request is answered by the first decision; later ones fail.
#[tokio::test(start_paused = true)]
async fn f62_the_first_of_many_decisions_counts() {
    let (client, mut cli) =
        session(Options::new().on_permission(|_: PermissionAsk| async { Decision::Later })).await;
    cli.requests("q", may_bash_run()).await;
    while client.open_permissions().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(client.open_permissions()[0].1.tool_name, "Bash");
    let deciding: Vec<_> = (0..100)
        .map(|index| {
            let client = client.clone();
            let decision = if index % 2 == 0 { Decision::allow() } else { Decision::deny("no") };
            tokio::spawn(async move { client.decide("q", decision).await })
        })
        .collect();
    let mut won = 0;
    for decided in deciding {
        match decided.await.unwrap() {
            Ok(()) => won += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Settled),
        }
    }
    assert_eq!(won, 1);
    answer(&mut cli).await;
    client.keep_alive().await.unwrap();
    cli.receives("keep_alive").await;
    assert_eq!(client.decide("unknown", Decision::allow()).await.unwrap_err().kind(), ErrorKind::Settled);
}

/// F54, F63: a request waits as long as necessary, and is closed once it was cancelled.
#[tokio::test(start_paused = true)]
async fn f54_a_question_waits_for_a_day_and_not_for_longer_than_it_is_open() {
    let (client, mut cli) =
        session(Options::new().on_permission(|_: PermissionAsk| async { Decision::Later })).await;
    for id in ["q1", "q2"] {
        cli.requests(id, may_bash_run()).await;
    }
    tokio::time::sleep(Duration::from_secs(24 * 60 * 60)).await;
    assert_eq!(client.open_permissions().len(), 2);
    cli.cancels("q2").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(client.decide("q2", Decision::allow()).await.unwrap_err().kind(), ErrorKind::Settled);
    client.decide("q1", Decision::allow()).await.unwrap();
    assert_eq!(answer(&mut cli).await["behavior"], "allow");
}

/// A request that is delivered twice is handled and answered once.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_delivered_twice_is_answered_once() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let options = Options::new().on_permission(move |_: PermissionAsk| {
        counted.fetch_add(1, Ordering::SeqCst);
        async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Decision::allow()
        }
    });
    let (client, mut cli) = session(options).await;
    cli.requests("q", may_bash_run()).await;
    cli.requests("q", may_bash_run()).await;
    answer(&mut cli).await;
    client.keep_alive().await.unwrap();
    cli.receives("keep_alive").await;
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

/// A handler may use the session of the request, and several run at once: a slow one does not delay the
/// others.
#[tokio::test(start_paused = true)]
async fn handlers_run_side_by_side_and_may_call_back() {
    let options = Options::new().on_permission(|ask: PermissionAsk| async move {
        if ask.call.tool_use_id.as_deref() == Some("slow") {
            tokio::time::sleep(Duration::from_secs(3600)).await;
        }
        match ask.client().binary_version().await {
            Ok(version) => Decision::deny(version.version),
            Err(error) => Decision::deny(error.to_string()),
        }
    });
    let (_client, mut cli) = session(options).await;
    let mut slow = may_bash_run();
    slow["tool_use_id"] = json!("slow");
    cli.requests("slow", slow).await;
    cli.requests("quick", may_bash_run()).await;
    let request = cli.receives_request("get_binary_version").await;
    cli.answers(&request, json!({"version": "2.1.325"})).await;
    let answer = cli.receives("control_response").await;
    assert_eq!(answer["response"]["request_id"], "quick");
    assert_eq!(answer["response"]["response"]["message"], "2.1.325");
}

/// A handle that a handler keeps does not keep the session open.
#[tokio::test(start_paused = true)]
async fn a_waiting_handler_does_not_keep_the_session_open() {
    let options = Options::new().on_permission(|ask: PermissionAsk| async move {
        ask.context.cancelled().await;
        Decision::deny(ask.client().is_closed().to_string())
    });
    let (client, mut cli) = session(options).await;
    cli.requests("q", may_bash_run()).await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    drop(client);
    cli.receives_end().await;
}

/// A handler reads the input by name, or by the type of the tool.
#[tokio::test(start_paused = true)]
async fn a_handler_reads_the_input_of_the_tool() {
    let options = Options::new().on_permission(|ask: PermissionAsk| async move {
        assert_eq!(ask.input_str("command").as_deref(), Some("ls \"a\""));
        assert_eq!(ask.input_str("nothing"), None);
        match ask.tool_input() {
            Ok(tidings::tools::ToolInput::Bash(bash)) => Decision::deny(bash.command),
            other => Decision::deny(format!("{other:?}")),
        }
    });
    let (_client, mut cli) = session(options).await;
    let input = json!({"command": "ls \"a\""});
    cli.requests("a", json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": input})).await;
    assert_eq!(cli.receives("control_response").await["response"]["response"]["message"], "ls \"a\"");
}
