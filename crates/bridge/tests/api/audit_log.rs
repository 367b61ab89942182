//! The audit log: export, check, pages and filters.

use jiff::Timestamp;
use serde_json::{Value, json};
use tidings_journal::{
    AUDIT_START, AskId, AuditDraft, AuditEntry, Class, EventDraft, Kind, NewRequest, Settle, verify_audit,
};
use tidings_protocol::mobile::RiskLevel;
use tidings_protocol::ui::{PermissionDetails, RequestOutcome};

use crate::api::server::{TestServer, key};

#[tokio::test]
async fn t15_the_audit_log_is_exported_whole_and_can_be_checked() {
    let server = TestServer::with_session("/").await;
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
    let server = TestServer::with_session("/").await;
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

/// The log has the digest of a request; the session has the request.
#[tokio::test]
async fn p40_the_newest_lines_show_the_commands_that_they_are_about() {
    let server = TestServer::with_session("/").await;
    let key = key();
    let fence = server.journal().claim(&key).await.unwrap();
    let at = Timestamp::UNIX_EPOCH;
    let event = |n: u64| {
        EventDraft::new(
            Class::Durable,
            at,
            Kind::new("System").unwrap(),
            format!("{{\"n\":{n}}}").into_bytes(),
        )
    };
    for (n, updated) in [(1, None), (2, Some("make check"))] {
        let id = AskId::new(format!("toolu_{n}")).unwrap();
        let details =
            PermissionDetails::new(1, id.as_str(), "Bash", json!({"command": "make all"}), RiskLevel::Low);
        let body = json!({"ask": "permission", "request": null, "details": details});
        let ask = NewRequest {
            id: id.clone(),
            kind: "permission".to_owned(),
            digest: Some("d".to_owned()),
            body: serde_json::to_vec(&body).unwrap().into(),
            deadline: None,
            event: event(n),
        };
        server.journal().ask(&key, fence, ask).await.unwrap();
        let answer = match updated {
            Some(command) => json!({"decision": "allow", "updated_input": {"command": command}}),
            None => json!({"decision": "allow"}),
        };
        let audit = AuditDraft {
            session: Some(key.to_string()),
            ask: Some(id.to_string()),
            changed: updated.map(|_| "e".to_owned()),
            ..AuditDraft::new(at, "ada", "allowed")
        };
        let settle = Settle {
            outcome: RequestOutcome::by_person(answer.to_string(), "ada"),
            event: event(n + 10),
            audit: Some(audit),
        };
        server.journal().settle(&key, &id, settle).await.unwrap();
    }
    let lines = async |query: &str| -> Vec<Value> {
        let url = server.url(&format!("/v1/audit?{query}"));
        let text = reqwest::Client::new().get(url).bearer_auth("admin").send().await.unwrap();
        text.text().await.unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let shown = lines("limit=2&requests=true").await;
    assert_eq!(shown[0]["request"], json!({"tool": "Bash", "target": "make all"}));
    assert_eq!(shown[1]["request"], json!({"tool": "Bash", "target": "make all", "ran": "make check"}));
    // The export is what was hashed.
    for query in ["limit=2", "requests=true"] {
        let lines = lines(query).await;
        assert!(lines.iter().all(|line| line.get("request").is_none()), "{query}");
        let entries: Vec<AuditEntry> =
            lines.into_iter().map(|line| serde_json::from_value(line).unwrap()).collect();
        assert_eq!(verify_audit((0, AUDIT_START), &entries).unwrap().0, 2);
    }
}
