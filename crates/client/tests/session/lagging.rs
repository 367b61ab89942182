//! Those who listen slowly, or not at all.

use std::time::Duration;

use serde_json::json;
use tidings::{AllowAll, Options};

use crate::cli::session;

/// F31: ten thousand frames that nobody reads do not keep a question waiting.
#[tokio::test(start_paused = true)]
async fn f31_questions_do_not_wait_behind_frames_that_nobody_reads() {
    let (client, mut cli) = session(Options::new().on_permission(AllowAll)).await;
    let _paused = client.subscribe();
    let turn = client.send("go").await.unwrap();
    let uuid = cli.hears_prompt().await;
    cli.begins(&[&uuid]).await;
    for index in 0..10_000 {
        cli.writes(&index.to_string()).await;
    }
    let before = tokio::time::Instant::now();
    cli.asks("q", json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {}})).await;
    cli.hears("control_response").await;
    assert!(before.elapsed() < Duration::from_millis(50));
    cli.ends(&[&uuid], "done").await;
    assert!(turn.finish().await.unwrap().is_success());
}
