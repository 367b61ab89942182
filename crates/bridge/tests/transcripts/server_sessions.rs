//! Sessions on disk that the server has used itself.

use serde_json::{Value, json};
use tidings_journal::{Class, EventDraft, Key, Kind, NewSession, SessionChange};
use tidings_protocol::ui::{PermissionResolved, Resolution, UiMessage};
use tidings_sessions::Caller;

use super::{BLOG, NOW, SHOP, over, sessions_on_disk, start, write};
use crate::test_server::TestServer;

/// A session of the server that has used a session of the CLI, with these totals and events.
async fn server_session(cli_session: &str, cwd: &str, totals: Value, events: &[UiMessage]) -> TestServer {
    let server = TestServer::builder().start().await;
    let journal = server.journal();
    let key = Key::new("till").unwrap();
    let settings = json!({"totals": totals, "launch": {"model": "claude-sonnet-4-5"}}).to_string();
    let row = NewSession { settings, ..NewSession::new(key.clone(), cwd, NOW.parse().unwrap()) };
    journal.create(row).await.unwrap();
    let fence = journal.claim(&key).await.unwrap();
    let change = SessionChange { cli_session: Some(cli_session.to_owned()), ..SessionChange::default() };
    journal.update(&key, fence, change).await.unwrap();
    let draft = |event: &UiMessage| {
        let body = serde_json::to_vec(event).unwrap();
        EventDraft::new(Class::Durable, NOW.parse().unwrap(), Kind::new("PermissionResolved").unwrap(), body)
    };
    journal.append(&key, fence, events.iter().map(draft).collect()).await.unwrap();
    server
}

/// A compaction leaves no line in the file, and the agent has reported it.
#[tokio::test]
async fn p39_the_history_and_the_sums_show_the_cost_that_the_session_shows() {
    let root = sessions_on_disk();
    // Three responses of 1,000 tokens at $3 and 100 at $15 per million.
    let (listed, all) = (0.0135, 0.0835);
    let totals = json!({"turns": 3, "cost_usd": all, "input_tokens": 0, "output_tokens": 0});
    let used = server_session(SHOP, "/home/dev/shop", totals, &[]).await;
    let compacted = over(used.again(), root.path(), Caller::admin("me")).start().await;
    let plain = start(root.path(), Caller::admin("me")).await;
    let is = |value: &Value, expected: f64| {
        let found = value.as_f64().unwrap_or_else(|| panic!("{value}"));
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    };
    for (server, of_shop) in [(&plain, listed), (&compacted, all)] {
        let (_, list) = server.get("", "/v1/transcripts").await;
        let items = list["items"].as_array().unwrap();
        is(&items.iter().find(|item| item["id"] == SHOP).unwrap()["cost_usd"], of_shop);
        is(&items.iter().find(|item| item["id"] == BLOG).unwrap()["cost_usd"], 0.0045);
        let (_, cost) = server.get("", "/v1/transcripts/cost?by=session").await;
        let rows = cost["rows"].as_array().unwrap();
        is(&rows.iter().find(|row| row["key"] == SHOP).unwrap()["cost_usd"], of_shop);
        is(&cost["total"]["cost_usd"], of_shop + 0.0045);
        let (_, summary) = server.get("", "/v1/transcripts/summary").await;
        is(&summary["month_cost_usd"], of_shop + 0.0045);
    }
}

/// The file has the input that the model asked for.
#[tokio::test]
async fn p37_a_session_on_disk_shows_the_input_that_ran() {
    let root = tempfile::tempdir().unwrap();
    let entry = |kind: &str, uuid: &str, parent: Value, content: Value| {
        json!({"type":kind,"uuid":uuid,"parentUuid":parent,"sessionId":SHOP,"cwd":"/home/dev/shop","version":"2.1.0",
            "timestamp":"2026-11-14T09:00:00.000Z","isSidechain":false,"message":{"role":kind,"content":content}})
    };
    let call = json!([{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"rm -rf build"}}]);
    let result = json!([{"type":"tool_result","tool_use_id":"toolu_1","content":"would remove build"}]);
    let lines = [
        entry("user", "u1", Value::Null, json!("Clean up")),
        entry("assistant", "a1", json!("u1"), call),
        entry("user", "u2", json!("a1"), result),
    ];
    write(root.path(), "-home-dev-shop", SHOP, &lines);
    let mut answer = PermissionResolved::new(1, "toolu_1", Resolution::Allowed);
    answer.updated_input = Some(json!({"command": "echo would remove build"}));
    let totals = json!({"turns": 0, "cost_usd": 0.0, "input_tokens": 0, "output_tokens": 0});
    let used = server_session(SHOP, "/home/dev/shop", totals, &[answer.into()]).await;
    let server = over(used.again(), root.path(), Caller::admin("me")).start().await;
    for path in ["events", "calls/toolu_1"] {
        let (status, shown) = server.get("", &format!("/v1/transcripts/{SHOP}/{path}")).await;
        assert_eq!(status, 200, "{shown}");
        let events = shown["events"].as_array().unwrap();
        let resolved: Vec<&Value> =
            events.iter().filter_map(|event| event.get("PermissionResolved")).collect();
        assert_eq!(resolved.len(), 1, "{path}: {shown}");
        assert_eq!(resolved[0]["updated_input"]["command"], "echo would remove build", "{path}");
    }
}

#[tokio::test]
async fn p41_the_input_that_ran_is_found_at_its_call() {
    let root = sessions_on_disk();
    let call = json!({"type":"assistant","uuid":"c1","parentUuid":Value::Null,"sessionId":BLOG,"cwd":"/home/dev/blog",
        "message":{"role":"assistant","content":[
            {"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"rm -rf build"}}]}});
    write(root.path(), "-home-dev-blog", BLOG, &[call]);
    // A fork that the CLI made keeps the ids of its calls.
    let mut answer = PermissionResolved::new(1, "toolu_1", Resolution::Allowed);
    answer.updated_input = Some(json!({"command": "ls build"}));
    let totals = json!({"turns": 0, "cost_usd": 0.0, "input_tokens": 0, "output_tokens": 0});
    let used = server_session(SHOP, "/home/dev/shop", totals, &[answer.into()]).await;

    let server = over(used.again(), root.path(), Caller::admin("me")).start().await;
    let (status, hits) = server.get("", "/v1/transcripts/search?q=ls%20build").await;
    assert_eq!(status, 200, "{hits}");
    let hit = &hits["items"][0];
    assert_eq!(
        (&hit["text"], &hit["tool"], &hit["uuid"]),
        (&json!("ls build"), &json!("Bash"), &json!("c1")),
        "{hits}"
    );
    // A caller who may not see the session does not see its inputs.
    let other = Caller { folders: vec!["/home/dev/shop".to_owned()], ..Caller::admin("me") };
    let server = over(used.again(), root.path(), other).start().await;
    let (_, hits) = server.get("", "/v1/transcripts/search?q=ls%20build").await;
    assert_eq!(hits["items"], json!([]));
}
