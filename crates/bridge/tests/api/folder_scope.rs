//! A credential for one folder reaches nothing else.

use serde_json::{Value, json};
use tidings_journal::AuditDraft;

use crate::api::routes::{filled, operations};
use crate::api::server::{TestServer, send_request};

/// T12: for a credential that is limited to another folder, no route finds the session.
#[tokio::test]
async fn t12_no_operation_reaches_a_session_of_another_folder() {
    let server = TestServer::with_session("/home/ada/work").await;
    let body =
        |path: &str| match path.strip_prefix("/v1/sessions/{id}").and_then(|path| path.split('/').nth(1)) {
            None => json!({"title": "mine"}),
            Some("input") => json!({"content": "hello"}),
            Some("permissions") => json!({"decision": "deny"}),
            Some("permission-batches" | "questions") => json!({"answers": []}),
            Some("stage") => json!({"paths": ["README.md"], "staged": true}),
            Some("commit") => json!({"message": "mine"}),
            Some("worktree") => json!({"discard": true}),
            Some(_) => json!({"mode": "plan", "prompt": "x"}),
        };
    let mut count = 0;
    for (method, path, _) in operations() {
        if !path.starts_with("/v1/sessions/{id}") {
            continue;
        }
        count += 1;
        let body = body(&path);
        for name in ["1", "session"] {
            let path = filled(&path).replace("session/", &format!("{name}/"));
            let path = path.strip_suffix("/session").map_or(path.clone(), |path| format!("{path}/{name}"));
            let request = reqwest::Client::new().request(method.clone(), server.url(&path));
            let (status, problem) = server.send(request.bearer_auth("admin:/srv").json(&body)).await;
            let told = format!("There is no session `{name}`");
            assert_eq!((status, &problem["detail"]), (404, &json!(told)), "{method} {path}: {problem}");
        }
    }
    assert!(count > 20, "{count}");
    let mut socket = server.socket(Some("admin:/srv")).await;
    for request in [
        json!({"type": "subscribe"}),
        json!({"type": "unsubscribe"}),
        json!({"type": "input", "input": {"content": "hello"}}),
        json!({"type": "answer", "to": "t", "permission": {"decision": "deny"}}),
        json!({"type": "answer", "to": "t", "batch": {"answers": []}}),
        json!({"type": "answer", "to": "t", "question": {"answers": []}}),
        json!({"type": "command", "command": "stop"}),
        json!({"type": "command", "command": "mode", "with": {"mode": "plan"}}),
    ] {
        for name in ["1", "session"] {
            let mut request = request.clone();
            (request["id"], request["session"]) = (json!(1), json!(name));
            let answer = send_request(&mut socket, &request.to_string()).await;
            let told = format!("There is no session `{name}`");
            assert_eq!(answer["problem"]["detail"], json!(told), "{request}: {answer}");
        }
    }
    let view = server.get("admin", "/v1/sessions/1").await.1;
    assert_eq!((&view["head"], &view["title"]), (&json!(0), &json!(null)), "nothing came of it");
}

/// The audit log names sessions, so a credential that is limited to folders gets only its own lines.
#[tokio::test]
async fn t15_a_credential_for_a_folder_reads_the_decisions_of_its_sessions() {
    let server = TestServer::with_session("/home/ada/work").await;
    for session in [Some("session"), None, Some("deleted"), Some("session")] {
        let draft = AuditDraft {
            session: session.map(str::to_owned),
            ..AuditDraft::new(jiff::Timestamp::UNIX_EPOCH, "ada", "allowed")
        };
        server.journal().audit(draft).await.unwrap();
    }
    for (token, numbers) in [
        ("admin", vec![1, 2, 3, 4]),
        ("admin:/home/ada", vec![1, 4]),
        ("admin:/home/ada/work", vec![1, 4]),
        ("admin:/srv", vec![]),
    ] {
        let request = reqwest::Client::new().get(server.url("/v1/audit")).bearer_auth(token);
        let log = request.send().await.unwrap().text().await.unwrap();
        let number = |line: &str| serde_json::from_str::<Value>(line).unwrap()["number"].as_u64().unwrap();
        assert_eq!(log.lines().map(number).collect::<Vec<_>>(), numbers, "{token}");
    }
}

#[tokio::test]
async fn a_credential_for_a_folder_shows_nothing_else() {
    let server = TestServer::with_session("/home/ada/work").await;
    server.publish(1..=1).await;
    for (folder, status) in
        [("/home/ada", 200), ("/home/ada/work", 200), ("/home/ada/wo", 404), ("/srv", 404)]
    {
        let token = format!("admin:{folder}");
        for path in [
            "/v1/sessions/1",
            "/v1/sessions/session/history",
            "/v1/sessions/1/diff",
            "/v1/permissions?session=1",
            "/v1/questions?session=session",
        ] {
            assert_eq!(server.get(&token, path).await.0, status, "{folder} {path}");
        }
        let (_, list) = server.get(&token, "/v1/sessions").await;
        assert_eq!(list["items"].as_array().unwrap().len(), usize::from(status == 200), "{folder}");
        let delete = reqwest::Client::new().post(server.url("/v1/sessions/1/interrupt")).bearer_auth(&token);
        assert_eq!(server.send(delete).await.0 == 404, status == 404, "{folder}");
    }
}
