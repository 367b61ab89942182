//! The inbox: its order, what was read, the folders that a client sees, and restarts.

use serde_json::json;

use super::test_server::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_has_what_waits_and_then_what_happened_until_it_is_read() {
    let server = TestServer::pushing(ASKS).await;
    let item = server.ask().await;
    let (_, page) = server.call("GET", "/v1/inbox", None).await;
    assert_eq!((&page["waiting"], &page["unread"], &page["badge"]), (&1.into(), &0.into(), &1.into()));
    assert_eq!(
        (&item["kind"], &item["project"], &item["tool"]),
        (&"permission".into(), &"shop".into(), &"Write".into())
    );
    let link =
        format!("#/s/{}?ask={}", item["session"].as_str().unwrap(), item["tool_use_id"].as_str().unwrap());
    assert_eq!(item["link"], link);

    // Reading does not answer.
    let up_to = page["position"].clone();
    let (_, counts) = server.call("POST", "/v1/inbox/read", Some(json!({"up_to": up_to}))).await;
    assert_eq!((&counts["waiting"], &counts["badge"]), (&1.into(), &1.into()));

    assert_eq!(server.answer(&item, "allow").await.0, 200);
    let page = server.until_inbox("state=all", |page| page["unread"] == 1).await;
    assert_eq!(page["waiting"], 0);
    let finished = &page["items"][0];
    assert_eq!(
        (&finished["kind"], &finished["line"]),
        (&"finished".into(), &"The secret thing is made.".into())
    );
    assert_eq!(page["items"][1]["outcome"], "allowed");
    let (_, counts) = server.call("POST", "/v1/inbox/read", Some(json!({"ids": [finished["id"]]}))).await;
    assert_eq!(counts["badge"], 0);
    let (_, unread) = server.call("GET", "/v1/inbox?state=unread", None).await;
    assert_eq!(unread["items"], json!([]));

    // Pages, filters and mistakes.
    let (_, first) = server.call("GET", "/v1/inbox?limit=1", None).await;
    let next = first["next"].as_u64().unwrap();
    let (_, second) = server.call("GET", &format!("/v1/inbox?limit=1&before={next}"), None).await;
    assert_eq!((&second["items"][0]["id"], second.get("next")), (&item["id"], None));
    let (_, only) = server.call("GET", "/v1/inbox?kind=finished,failed", None).await;
    assert_eq!(only["items"].as_array().unwrap().len(), 1);
    for wrong in ["kind=banana", "state=banana"] {
        assert_eq!(server.call("GET", &format!("/v1/inbox?{wrong}"), None).await.0, 400, "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_told_that_the_inbox_has_changed_and_see_only_their_folders() {
    let server = TestServer::pushing(ASKS).await;
    let url = format!("http://{}/v1/events", server.address);
    let mut stream = reqwest::Client::new().get(url).bearer_auth(&server.admin).send().await.unwrap();
    let item = server.ask().await;
    let told = async {
        loop {
            let chunk = stream.chunk().await.unwrap().unwrap();
            if String::from_utf8_lossy(&chunk).contains("event: inbox") {
                return;
            }
        }
    };
    in_time(told).await;

    let wanted = json!({"name": "other", "scopes": ["read", "decide"], "folders": ["/elsewhere"]});
    let (_, made) = server.call("POST", "/v1/devices", Some(wanted)).await;
    let other = made["token"].as_str().unwrap();
    let (_, page) = server.call_as(other, "GET", "/v1/inbox", None).await;
    assert_eq!((&page["items"], &page["badge"]), (&json!([]), &0.into()));
    let seen = json!({"ids": [item["id"]]});
    let (_, accepted) = server.call_as(other, "POST", "/v1/inbox/visible", Some(seen.clone())).await;
    assert_eq!(accepted["accepted"], 0, "nor can it hold back what it does not see");
    let (_, reader) = server.add_device("tv", &["read"]).await;
    let (_, accepted) = server.call_as(&reader, "POST", "/v1/inbox/visible", Some(seen.clone())).await;
    assert_eq!(accepted["accepted"], 0, "who cannot answer holds nothing back");
    let (_, accepted) = server.call("POST", "/v1/inbox/visible", Some(seen)).await;
    assert_eq!(accepted["accepted"], 1);
    // Settings are for those who manage the whole server.
    for (method, route) in [("GET", "/v1/notify/targets"), ("PUT", "/v1/notify/settings")] {
        let body = (method == "PUT").then(|| json!({}));
        assert_eq!(server.call_as(&reader, method, route, body).await.0, 403, "{route}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn items_and_what_was_read_survive_a_kill_and_a_deleted_session_leaves_none() {
    let server = TestServer::pushing(ASKS).await;
    let item = server.ask().await;
    server.answer(&item, "allow").await;
    server.until_inbox("state=all", |page| page["unread"] == 1).await;
    server.call("POST", "/v1/inbox/read", Some(json!({"up_to": 999}))).await;
    let again = server.again().start().await;
    let (_, page) = again.call("GET", "/v1/inbox", None).await;
    assert_eq!((page["items"].as_array().unwrap().len(), &page["badge"]), (2, &0.into()), "{page}");
    let key = item["session"].as_str().unwrap();
    assert!(again.call("DELETE", &format!("/v1/sessions/{key}"), None).await.0 < 300);
    again.until_inbox("state=all", |page| page["items"] == json!([])).await;
}
