//! The audit log: export, check, pages and filters.

use jiff::Timestamp;
use serde_json::Value;
use tidings_bridge::journal::{AUDIT_START, AuditDraft, AuditEntry, verify_audit};

use crate::api::server::Server;

#[tokio::test]
async fn t15_the_audit_log_is_exported_whole_and_can_be_checked() {
    let server = Server::start().await;
    for n in 0..1500 {
        let draft = AuditDraft {
            session: Some("session".to_owned()),
            ask: Some(format!("toolu_{n}")),
            latency_ms: Some(n),
            ..AuditDraft::new(Timestamp::UNIX_EPOCH, "ada", "allowed")
        };
        server.journal().audit(draft).await.unwrap();
    }
    let response =
        reqwest::Client::new().get(server.url("/v1/audit")).bearer_auth("admin").send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/x-ndjson");
    let text = response.text().await.unwrap();
    let entries: Vec<AuditEntry> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let start = (0, AUDIT_START);
    assert_eq!(verify_audit(start, &entries).unwrap().0, 1500);
    let (_, rest) = server.get("admin", "/v1/audit?after=1499").await;
    assert_eq!(rest["number"], 1500);
}

#[tokio::test]
async fn the_audit_log_has_pages_and_filters() {
    let server = Server::start().await;
    for n in 1..=1200_u64 {
        let who = if n % 2 == 0 { "ada" } else { "bob" };
        let decision = if n % 10 == 0 { "denied" } else { "allowed" };
        let draft = AuditDraft {
            device: Some("Phone".to_owned()),
            session: Some(format!("session{}", n % 3)),
            ..AuditDraft::new(Timestamp::UNIX_EPOCH, who, decision)
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
