//! Subscribers that read slowly, or not at all.

use std::time::Duration;

use serde_json::json;
use tidings::{AllowAll, Decision, Options, PermissionAsk};

use crate::session::cli::session;

/// F31: ten thousand unread frames do not delay a request.
#[tokio::test(start_paused = true)]
async fn f31_questions_do_not_wait_behind_frames_that_nobody_reads() {
    let (client, mut cli) = session(Options::new().on_permission(AllowAll)).await;
    let _paused = client.subscribe();
    let turn = client.send("go").await.unwrap();
    let uuid = cli.receives_prompt().await;
    cli.begins(&[&uuid]).await;
    for index in 0..10_000 {
        cli.writes(&index.to_string()).await;
    }
    let before = tokio::time::Instant::now();
    cli.requests("q", json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {}})).await;
    cli.receives("control_response").await;
    assert!(before.elapsed() < Duration::from_millis(50));
    cli.ends(&[&uuid], "done").await;
    assert!(turn.finish().await.unwrap().is_success());
}

/// F58: a session that is flooded and not read, and whose handler never answers, does not delay any other.
#[tokio::test(start_paused = true)]
async fn f58_a_session_that_stands_still_holds_up_no_other() {
    let stuck = Options::new().on_permission(|_: PermissionAsk| std::future::pending::<Decision>());
    let (slow, mut slow_cli) = session(stuck).await;
    let _unread = slow.subscribe();
    let _turn = slow.send("go").await.unwrap();
    let uuid = slow_cli.receives_prompt().await;
    slow_cli.begins(&[&uuid]).await;
    slow_cli.requests("q", json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {}})).await;
    let voice = slow_cli.voice();
    let flood = tokio::spawn(async move {
        loop {
            voice.say(r#"{"type":"system","subtype":"status","status":null}"#).await;
        }
    });

    let before = tokio::time::Instant::now();
    let (quick, mut quick_cli) = session(Options::new()).await;
    for _ in 0..100 {
        let turn = quick.send("go").await.unwrap();
        let uuid = quick_cli.receives_prompt().await;
        quick_cli.plays(&[&uuid], "done").await;
        assert!(turn.finish().await.unwrap().is_success());
    }
    assert!(before.elapsed() < Duration::from_millis(50));
    flood.abort();
}
