//! Lists, history and calls, in pages.

use serde_json::json;
use tidings_protocol::ui::{Lane, ToolDetails, UiMessage};

use crate::api::server::TestServer;

#[tokio::test]
async fn history_is_read_from_its_end_in_pages_without_a_seam() {
    let server = TestServer::with_session("/").await;
    server.publish(1..=25).await;
    let mut pages = Vec::new();
    let mut path = "/v1/sessions/session/history?limit=10".to_owned();
    loop {
        let (status, page) = server.get("read", &path).await;
        assert_eq!(status, 200);
        let seqs: Vec<u64> =
            page["items"].as_array().unwrap().iter().map(|item| item["seq"].as_u64().unwrap()).collect();
        pages.push(seqs);
        let Some(prev) = page["prev"].as_str() else { break };
        path = format!("/v1/sessions/session/history?limit=10&before={prev}");
    }
    let expected: Vec<Vec<u64>> = vec![(16..=25).collect(), (6..=15).collect(), (1..=5).collect()];
    assert_eq!(pages, expected);
    let (_, page) = server.get("read", "/v1/sessions/1/history?limit=2&before=3").await;
    let item = &page["items"][1];
    assert_eq!((&item["seq"], &item["at"]), (&json!(2), &json!("1970-01-01T00:00:00Z")));
    assert_eq!(item["event"]["TextChunk"]["text"], "2 ");
    // `next` leads to the page after this one.
    let next = page["next"].as_str().unwrap();
    let (_, page) = server.get("read", &format!("/v1/sessions/1/history?limit=1&after={next}")).await;
    assert_eq!(page["items"][0]["seq"], 3);
}

/// A snapshot cuts long inputs and results; this route returns them whole.
#[tokio::test]
async fn a_call_that_a_snapshot_cuts_is_given_in_full() {
    let server = TestServer::with_session("/").await;
    let output = "all is well\n".repeat(9000);
    let call = |id: &str, session_id| {
        let tool_use_id = id.to_owned();
        let mut details = ToolDetails::new(1, id, false);
        details.tool_use_result = Some(json!({"stdout": output.as_str(), "stderr": ""}));
        let began = UiMessage::ToolExecuting {
            tool_use_id: tool_use_id.clone(),
            tool_name: "Bash".to_owned(),
            input: json!({"command": "make"}),
            session_id,
        };
        let ended = UiMessage::ToolCompleted { tool_use_id, result: output.clone(), session_id };
        [began, details.into(), ended]
    };
    for event in call("toolu_main", 1) {
        server.publish_event(&event).await;
    }
    // More than one page of the journal is between the calls and the end.
    server.publish(1..=1500).await;
    for event in call("toolu_lane", 1) {
        server.publish_event(&Lane::new(1, "toolu_agent", Box::new(event)).into()).await;
    }
    server.publish(1501..=1510).await;

    let (_, snapshot) = server.get("read", "/v1/sessions/session/snapshot").await;
    assert!(snapshot.to_string().contains(" of 108000 bytes left out"));
    let (status, whole) = server.get("read", "/v1/sessions/session/calls/toolu_main").await;
    assert_eq!(status, 200, "{whole}");
    assert_eq!(whole, json!({"tool_use_id": "toolu_main", "events": call("toolu_main", 1)}));
    let (_, whole) = server.get("read", "/v1/sessions/1/calls/toolu_lane").await;
    assert_eq!(whole["events"].as_array().unwrap().len(), 3);
    assert_eq!(whole["events"][2]["Lane"]["event"]["ToolCompleted"]["result"], output);
    for unknown in ["toolu", "toolu_other", "%22", "all%20is%20well"] {
        let (status, problem) = server.get("read", &format!("/v1/sessions/1/calls/{unknown}")).await;
        assert_eq!((status, &problem["code"]), (404, &json!("not_found")), "{unknown}");
    }
}

/// A session can be very long, so one request searches only a part of it.
#[tokio::test]
async fn t12_a_call_is_not_looked_for_without_end() {
    let server = TestServer::with_session("/").await;
    server
        .publish_event(&UiMessage::ToolExecuting {
            tool_use_id: "toolu_old".to_owned(),
            tool_name: "Bash".to_owned(),
            input: json!({"command": "make"}),
            session_id: 1,
        })
        .await;
    let long = UiMessage::Display { content: "x".repeat(1 << 20), session_id: 1 };
    for _ in 0..70 {
        server.publish_event(&long).await;
    }
    let path = "/v1/sessions/1/calls/toolu_old";
    let (status, problem) = server.get("read", path).await;
    assert_eq!((status, &problem["code"]), (404, &json!("not_found")), "{problem}");
    let hint = problem["hint"].as_str().unwrap();
    let before = hint.split('`').nth(1).unwrap().strip_prefix("before=").unwrap();
    let (status, whole) = server.get("read", &format!("{path}?before={before}")).await;
    assert_eq!((status, whole["events"].as_array().map(Vec::len)), (200, Some(1)), "{whole}");
    let (status, problem) = server.get("read", "/v1/sessions/1/calls/toolu_none?before=5").await;
    assert_eq!((status, &problem["detail"]), (404, &json!("The session has no call `toolu_none`")));
    assert_eq!(server.get("read", &format!("{path}?before=soon")).await.0, 400);
}

#[tokio::test]
async fn sessions_are_listed_in_pages_in_both_directions() {
    let server = TestServer::with_session("/").await;
    for n in 2..=7 {
        let key = tidings_journal::Key::new(format!("s{n}")).unwrap();
        let new = tidings_journal::NewSession::new(key, "/", jiff::Timestamp::UNIX_EPOCH);
        server.journal().create(new).await.unwrap();
    }
    let cases = [
        ("", vec![1, 2, 3, 4, 5, 6, 7], None, None),
        ("?limit=3", vec![5, 6, 7], Some("5"), None),
        ("?limit=3&before=5", vec![2, 3, 4], Some("2"), Some("4")),
        ("?limit=3&before=2", vec![1], None, Some("1")),
        ("?limit=3&after=1", vec![2, 3, 4], Some("2"), Some("4")),
        ("?limit=3&after=4", vec![5, 6, 7], Some("5"), None),
        ("?after=7", vec![], None, None),
    ];
    for (query, handles, prev, next) in cases {
        let (_, list) = server.get("read", &format!("/v1/sessions{query}")).await;
        let found: Vec<i64> =
            list["items"].as_array().unwrap().iter().map(|view| view["handle"].as_i64().unwrap()).collect();
        assert_eq!(found, handles, "{query}");
        assert_eq!((list["prev"].as_str(), list["next"].as_str()), (prev, next), "{query}");
    }
}
