//! The audit log: export, check, pages and filters.

use crate::api::server::Server;
use serde_json::Value;

#[tokio::test]
async fn t15_the_audit_log_is_exported_whole_and_can_be_checked() {
    let server = Server::start().await;
    for n in 0..1500 {
        let draft = tidings_bridge::journal::AuditDraft {
            at: jiff::Timestamp::UNIX_EPOCH,
            who: "ada".to_owned(),
            device: None,
            session: Some("session".to_owned()),
            ask: Some(format!("toolu_{n}")),
            decision: "allowed".to_owned(),
            rule: None,
            scope: None,
            changed: None,
            digest: None,
            latency_ms: Some(n),
        };
        server.journal().audit(draft).await.unwrap();
    }
    let response =
        reqwest::Client::new().get(server.url("/v1/audit")).bearer_auth("admin").send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/x-ndjson");
    let text = response.text().await.unwrap();
    let entries: Vec<tidings_bridge::journal::AuditEntry> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let start = (0, tidings_bridge::journal::AUDIT_START);
    assert_eq!(tidings_bridge::journal::verify_audit(start, &entries).unwrap().0, 1500);
    let (_, rest) = server.get("admin", "/v1/audit?after=1499").await;
    assert_eq!(rest["number"], 1500);
}

#[tokio::test]
async fn the_audit_log_has_pages_and_filters() {
    let server = Server::start().await;
    for n in 1..=1200_u64 {
        let draft = tidings_bridge::journal::AuditDraft {
            at: jiff::Timestamp::UNIX_EPOCH,
            who: if n % 2 == 0 { "ada" } else { "bob" }.to_owned(),
            device: Some("Phone".to_owned()),
            session: Some(format!("session{}", n % 3)),
            ask: None,
            decision: if n % 10 == 0 { "denied" } else { "allowed" }.to_owned(),
            rule: None,
            scope: None,
            changed: None,
            digest: None,
            latency_ms: None,
        };
        server.journal().audit(draft).await.unwrap();
    }
    for (query, wanted) in [
        ("limit=3", vec![1198, 1199, 1200]),
        ("limit=2&before=10", vec![8, 9]),
        ("limit=2&decision=denied", vec![1190, 1200]),
        ("limit=2&q=BOB%20phone&before=1190", vec![1187, 1189]),
        ("limit=2&session=session2&before=12", vec![8, 11]),
        ("limit=2&q=nobody", vec![]),
        ("q=ada&decision=denied&after=1150&before=1180", vec![1160, 1170]),
    ] {
        let url = server.url(&format!("/v1/audit?{query}"));
        let text = reqwest::Client::new().get(url).bearer_auth("admin").send().await.unwrap();
        let text = text.text().await.unwrap();
        let numbers =
            text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["number"].as_u64());
        assert_eq!(numbers.collect::<Option<Vec<_>>>().unwrap(), wanted, "{query}");
    }
}
