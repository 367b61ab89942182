//! REST routes: scopes, results and errors.

use std::process::Command;
use std::sync::Arc;

use crate::api::server::{Server, opening, send_request};
use reqwest::Method;
use serde_json::{Value, json};
use tidings_bridge::journal::AuditDraft;
use tidings_bridge::{Code, MemoryJournal, Scope};
use tidings_protocol::ui::{Lane, ToolDetails, UiMessage};

/// Every operation of the API with the scope that it needs. The routes of auth and health are tested with a
/// whole server.
fn operations() -> Vec<(Method, String, Scope)> {
    let api = serde_json::to_value(tidings_bridge::api::openapi()).unwrap();
    let mut found = Vec::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if ["devices", "trust", "health", "hooks"].iter().any(|tag| operation["tags"][0] == *tag) {
                continue;
            }
            // Its credential is the token in the path, not a scope.
            if path == "/v1/notify/act/{token}" {
                continue;
            }
            let scopes = operation["security"][0]["bearer"].as_array();
            let scopes = scopes.unwrap_or_else(|| panic!("{method} {path} says no scope"));
            let [scope] = scopes.as_slice() else { panic!("{method} {path} needs one scope") };
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            found.push((method, path.clone(), scope.as_str().unwrap().parse().unwrap()));
        }
    }
    found
}

/// The path with a value for each parameter.
fn filled(path: &str) -> String {
    let parts = path.split('/').map(|part| match part {
        "{id}" => "session",
        part if part.starts_with('{') => "something",
        part => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn t5_every_route_refuses_those_who_have_no_credential_or_not_the_scope() {
    let server = Server::start().await;
    let http = reqwest::Client::new();
    let operations = operations();
    assert!(operations.len() > 25, "{}", operations.len());
    for (method, path, scope) in operations {
        let url = server.url(&filled(&path));
        let others = Scope::ALL.into_iter().filter(|other| *other != scope && *other != Scope::Admin);
        let others: Vec<&str> = others.map(Scope::as_str).collect();
        let answer = server.send(http.request(method.clone(), &url).bearer_auth(others.join(","))).await;
        assert_eq!((answer.0, &answer.1["code"]), (403, &json!("forbidden")), "{method} {path}");
        // A WebSocket may send its credential in the first message.
        if !["/v1/ws", "/v1/mobile"].contains(&path.as_str()) {
            let answer = server.send(http.request(method.clone(), &url)).await;
            assert_eq!((answer.0, &answer.1["code"]), (401, &json!("unauthorized")), "{method} {path}");
        }
        // With the scope, it may only be refused for other reasons.
        if path != "/v1/events" && !path.ends_with("/events") {
            let answer = server.send(http.request(method.clone(), &url).bearer_auth(scope.as_str())).await;
            assert!(!matches!(answer.0, 401 | 403), "{method} {path}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn what_is_refused_is_a_problem_with_a_name() {
    let server = Server::start().await;
    let http = reqwest::Client::new();
    let (get, post, put) = (Method::GET, Method::POST, Method::PUT);
    let json_type = Some("application/json");
    let long = format!(r#"{{"title":"{}"}}"#, "x".repeat(2 << 20));
    let cases = [
        (&get, "/v1/nothing", None, "", 404, "not_found"),
        (&get, "/", None, "", 404, "not_found"),
        (&put, "/v1/sessions", None, "", 405, "method_not_allowed"),
        (&post, "/v1/meta", json_type, "{}", 405, "method_not_allowed"),
        (&get, "/v1/sessions/unknown", None, "", 404, "not_found"),
        (&get, "/v1/sessions/99", None, "", 404, "not_found"),
        (&get, "/v1/sessions/%00", None, "", 400, "invalid"),
        (&get, "/v1/sessions/%ff", None, "", 400, "invalid"),
        (&get, "/v1/sessions?limit=many", None, "", 400, "invalid"),
        (&get, "/v1/sessions?before=2&after=1", None, "", 400, "invalid"),
        (&get, "/v1/sessions/1/history?after=nonsense", None, "", 400, "invalid"),
        (&get, "/v1/sessions/1/history?after=00c0ffee00c0ffee:1", None, "", 410, "gone"),
        (&get, "/v1/sessions/1/events?dialect=latin", None, "", 400, "invalid"),
        (&get, "/v1/sessions/1/events?after=nonsense", None, "", 400, "invalid"),
        (&get, "/v1/ws", None, "", 400, "invalid"),
        (&post, "/v1/sessions", None, r#"{"cwd":"/"}"#, 415, "not_json"),
        (&post, "/v1/sessions", Some("text/plain"), r#"{"cwd":"/"}"#, 415, "not_json"),
        (&post, "/v1/sessions", Some("application/x-www-form-urlencoded"), "cwd=/", 415, "not_json"),
        (&post, "/v1/sessions", json_type, "{", 400, "invalid"),
        (&post, "/v1/sessions", json_type, "{}", 400, "invalid"),
        (&post, "/v1/sessions", json_type, r#"{"cwd":7}"#, 400, "invalid"),
        (&post, "/v1/sessions/1/input", json_type, "", 400, "invalid"),
        (&post, "/v1/sessions/1/permissions/t", json_type, r#"{"decision":"maybe"}"#, 400, "invalid"),
        (&Method::PATCH, "/v1/sessions/1", json_type, long.as_str(), 413, "too_large"),
    ];
    for (method, path, kind, body, status, code) in cases {
        let mut request =
            http.request(method.clone(), server.url(path)).bearer_auth("admin").body(body.to_owned());
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        let response = request.send().await.unwrap();
        let case = format!("{method} {path} {body:.40}");
        assert_eq!(response.status().as_u16(), status, "{case}");
        assert_eq!(response.headers()["content-type"], "application/problem+json", "{case}");
        let name = response.headers()["x-request-id"].to_str().unwrap().to_owned();
        let problem: Value = response.json().await.unwrap();
        assert_eq!((&problem["code"], &problem["status"]), (&json!(code), &json!(status)), "{case}");
        assert_eq!((&problem["request_id"], name.is_empty()), (&json!(name), false), "{case}");
        assert!(!problem["detail"].as_str().unwrap().is_empty(), "{case}");
    }
}

#[tokio::test]
async fn the_id_of_a_command_is_the_same_in_the_header_and_the_body() {
    let server = Server::start().await;
    let http = reqwest::Client::new();
    let patch = |body: &str| {
        let request = http.patch(server.url("/v1/sessions/1")).bearer_auth("admin").body(body.to_owned());
        request.header("content-type", "application/json").header("idempotency-key", "one")
    };
    let (status, problem) = server.send(patch(r#"{"title":"a","client_id":"two"}"#)).await;
    assert_eq!((status, &problem["code"]), (400, &json!("invalid")));
    let (status, view) = server.send(patch(r#"{"title":"a","client_id":"one"}"#)).await;
    assert_eq!((status, &view["title"]), (200, &json!("a")), "{view}");
}

#[tokio::test]
async fn promise_3_a_session_that_is_asked_for_again_is_answered_the_same() {
    let server = Server::start().await;
    let http = reqwest::Client::new();
    let create = |body: Value| http.post(server.url("/v1/sessions")).bearer_auth("admin").json(&body);
    let body = json!({"cwd":"/","title":"a","client_id":"one"});
    let (status, first) = server.send(create(body.clone())).await;
    assert_eq!((status, &first["title"]), (201, &json!("a")), "{first}");
    let (status, again) = server.send(create(body)).await;
    assert_eq!((status, &again["key"]), (201, &first["key"]));
    let (status, other) = server.send(create(json!({"cwd":"/","title":"b","client_id":"one"}))).await;
    assert_eq!((status, &other["code"]), (409, &json!("conflict")));
}

#[tokio::test]
async fn history_is_read_from_its_end_in_pages_without_a_seam() {
    let server = Server::start().await;
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
    let server = Server::start().await;
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
    let server = Server::start().await;
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

/// T12: for a credential that is limited to another folder, no route finds the session.
#[tokio::test]
async fn t12_no_operation_reaches_a_session_of_another_folder() {
    let server = Server::on(Arc::new(MemoryJournal::new(&opening())), "/home/ada/work").await;
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
    let server = Server::on(Arc::new(MemoryJournal::new(&opening())), "/home/ada/work").await;
    for session in [Some("session"), None, Some("deleted"), Some("session")] {
        let draft = AuditDraft {
            at: jiff::Timestamp::UNIX_EPOCH,
            who: "ada".to_owned(),
            device: None,
            session: session.map(str::to_owned),
            ask: None,
            decision: "allowed".to_owned(),
            rule: None,
            scope: None,
            digest: None,
            changed: None,
            latency_ms: None,
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
    let server = Server::on(Arc::new(MemoryJournal::new(&opening())), "/home/ada/work").await;
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

#[tokio::test]
async fn sessions_are_listed_in_pages_in_both_directions() {
    let server = Server::start().await;
    for n in 2..=7 {
        let key = tidings_bridge::journal::Key::new(format!("s{n}")).unwrap();
        let new = tidings_bridge::journal::NewSession::new(key, "/", jiff::Timestamp::UNIX_EPOCH);
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

fn git(folder: &std::path::Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(args).current_dir(folder);
    assert!(command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap().status.success(), "git {args:?}");
}

#[tokio::test]
async fn f120_f124_the_folder_of_a_session_is_looked_at_without_running_anything_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let canary = root.join("canary");
    let plant = format!("touch {}; cat", canary.display());
    git(root, &["init", "-q"]);
    std::fs::create_dir(root.join("src")).unwrap();
    for (name, text) in [("src/main.rs", "fn main() {}\n"), ("notes.txt", "one\n"), (".gitignore", "*.log\n")]
    {
        std::fs::write(root.join(name), text).unwrap();
    }
    git(root, &["add", "."]);
    git(root, &["commit", "-qm", "first"]);
    for (setting, value) in [
        ("core.fsmonitor", plant.as_str()),
        ("diff.external", &plant),
        ("diff.planted.command", &plant),
        ("diff.planted.textconv", &plant),
        ("filter.planted.clean", &plant),
        ("filter.planted.process", &plant),
        ("core.pager", &plant),
    ] {
        git(root, &["config", setting, value]);
    }
    std::fs::write(root.join(".gitattributes"), "*.txt diff=planted filter=planted\n").unwrap();
    std::fs::write(root.join("notes.txt"), "two\n").unwrap();
    std::fs::write(root.join("made.log"), "ignored\n").unwrap();
    std::fs::write(root.join("git"), format!("#!/bin/sh\n{plant}\n")).unwrap();

    let server = Server::on(Arc::new(MemoryJournal::new(&opening())), root.to_str().unwrap()).await;
    let (status, tree) = server.get("read", "/v1/sessions/1/diff").await;
    assert_eq!(status, 200, "{tree}");
    assert_eq!(tree["untracked"], json!([".gitattributes", "git"]));
    let diff = tree["diff"].as_str().unwrap();
    assert!(diff.contains("-one\n+two\n"), "{diff}");
    for (q, found) in [("main", json!(["src/main.rs"])), ("SRM", json!(["src/main.rs"])), ("log", json!([]))]
    {
        let (_, files) = server.get("read", &format!("/v1/sessions/1/files?q={q}")).await;
        assert_eq!(files["items"], found, "{q}");
    }
    assert!(!canary.exists(), "something of the folder was run");
}

/// The diff since the start has what was committed in the meantime, and the contents of new files.
#[tokio::test]
async fn the_diff_since_the_session_began_includes_commits_and_untracked_files() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let write = |name: &str, text: &str| std::fs::write(root.join(name), text).unwrap();
    git(&root, &["init", "-q"]);
    write("a.txt", "one\n");
    git(&root, &["add", "."]);
    git(&root, &["commit", "-qm", "first"]);
    let server = Server::on(Arc::new(MemoryJournal::new(&opening())), "/").await;
    let new = reqwest::Client::new().post(server.url("/v1/sessions")).bearer_auth("prompt");
    let (status, session) = server.send(new.json(&json!({"cwd": root}))).await;
    assert_eq!(status, 201, "{session}");
    let diff = async |query: &str| {
        let path = format!("/v1/sessions/{}/diff{query}", session["handle"]);
        let (status, tree) = server.get("read", &path).await;
        assert_eq!(status, 200, "{tree}");
        (tree["diff"].as_str().unwrap().to_owned(), tree)
    };
    assert_eq!(diff("?since=start").await.0, "");
    write("a.txt", "two\n");
    git(&root, &["commit", "-qam", "second"]);
    write("new.txt", "fresh\nlines");
    write(".env", "SECRET=1\n");
    std::fs::write(outside.path().join("mine"), "private\n").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path().join("mine"), root.join("link")).unwrap();
    let (since, tree) = diff("?since=start").await;
    assert!(since.contains("-one\n+two\n"), "{since}");
    let added =
        "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+fresh\n+lines\n\\ No newline at end of file\n";
    assert!(since.contains(added), "{since}");
    assert!(!since.contains("SECRET") && !since.contains("private"), "{since}");
    assert_eq!(tree["base"].as_str().unwrap().len(), 40);
    assert_eq!((&tree["diff_cut"], tree["untracked"].as_array().unwrap().len()), (&false.into(), 3));
    let (head, tree) = diff("").await;
    assert_eq!(head, "", "the last commit has it");
    assert_ne!(tree["base"], diff("?since=start").await.1["base"]);
    assert_eq!(server.get("read", "/v1/sessions/1/diff?since=yesterday").await.0, 400);
    let long = "x".repeat(3 << 20);
    write("long.txt", &long);
    let (cut, tree) = diff("?since=start").await;
    assert!(cut.len() < long.len() && tree["diff_cut"] == true, "{}", cut.len());
}

/// F120, F124: settings that run programs in ways that are easy to miss. Each repository has one changed
/// file.
#[tokio::test]
async fn f120_f124_no_spelling_of_a_setting_makes_git_run_something() {
    type Plant = fn(&std::path::Path, &str);
    let plants: [(&str, Plant); 6] = [
        ("a filter with a `=` in its name", |root, plant| {
            git(root, &["config", "filter.a=b.clean", plant]);
            std::fs::write(root.join(".git/info/attributes"), "*.txt filter=a=b\n").unwrap();
        }),
        ("a filter whose name is not UTF-8", |root, plant| {
            let mut config = std::fs::read(root.join(".git/config")).unwrap();
            config.extend(b"[filter \"\xff\"]\nclean = \"");
            config.extend(plant.as_bytes());
            config.extend(b"\"\n");
            std::fs::write(root.join(".git/config"), config).unwrap();
            std::fs::write(root.join(".git/info/attributes"), b"*.txt filter=\xff\n").unwrap();
        }),
        ("settings in another file", |root, plant| {
            git(root, &["config", "include.path", "more"]);
            git(root, &["config", "-f", ".git/more", "Filter.X.Clean", plant]);
            git(root, &["config", "-f", ".git/more", "--add", "filter.X.clean", plant]);
            git(root, &["config", "-f", ".git/more", "core.fsmonitor", plant]);
            std::fs::write(root.join(".gitattributes"), "*.txt filter=X\n").unwrap();
        }),
        ("settings of one working tree", |root, plant| {
            git(root, &["config", "extensions.worktreeConfig", "true"]);
            git(root, &["config", "--worktree", "filter.x.process", plant]);
            git(root, &["config", "--worktree", "diff.x.textconv", plant]);
            std::fs::write(root.join(".gitattributes"), "*.txt filter=x diff=x\n").unwrap();
        }),
        ("a repository within it", |root, plant| {
            let inner = root.join("inner");
            std::fs::create_dir(&inner).unwrap();
            git(&inner, &["init", "-q"]);
            std::fs::write(inner.join("a.txt"), "a\n").unwrap();
            std::fs::write(inner.join(".gitattributes"), "*.txt diff=x filter=x\n").unwrap();
            git(&inner, &["add", "."]);
            git(&inner, &["commit", "-qm", "first"]);
            git(root, &["-c", "advice.addEmbeddedRepo=false", "add", "inner"]);
            git(root, &["commit", "-qm", "inner"]);
            std::fs::write(inner.join("a.txt"), "b\n").unwrap();
            git(&inner, &["commit", "-qam", "second"]);
            std::fs::write(inner.join("a.txt"), "c\n").unwrap();
            for setting in ["diff.x.command", "filter.x.clean", "core.fsmonitor"] {
                git(&inner, &["config", setting, plant]);
            }
            for (setting, value) in [
                ("diff.submodule", "diff"),
                ("diff.ignoreSubmodules", "none"),
                ("status.submoduleSummary", "true"),
                ("submodule.recurse", "true"),
            ] {
                git(root, &["config", setting, value]);
            }
        }),
        ("programs for transport, signatures and names", |root, plant| {
            for setting in [
                "alias.diff",
                "alias.ls-files",
                "core.sshCommand",
                "core.askPass",
                "core.editor",
                "core.alternateRefsCommand",
                "credential.helper",
                "gpg.program",
                "interactive.diffFilter",
                "pager.diff",
                "diff.guitool",
            ] {
                git(root, &["config", setting, plant]);
            }
            git(root, &["config", "diff.x.xfuncname", "^x"]);
            for hook in ["post-index-change", "fsmonitor-watchman", "pre-auto-gc"] {
                let path = root.join(".git/hooks").join(hook);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, format!("#!/bin/sh\n{plant}\n")).unwrap();
                std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            }
        }),
    ];
    for (what, plants) in plants {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("repository");
        let canary = folder.path().join("canary");
        std::fs::create_dir(&root).unwrap();
        git(&root, &["init", "-q"]);
        std::fs::write(root.join("notes.txt"), "one\n").unwrap();
        git(&root, &["add", "."]);
        git(&root, &["commit", "-qm", "first"]);
        std::fs::write(root.join("notes.txt"), "two\n").unwrap();
        plants(&root, &format!("touch {}; cat", canary.display()));
        drop(std::fs::remove_file(&canary));

        let server = Server::on(Arc::new(MemoryJournal::new(&opening())), root.to_str().unwrap()).await;
        let (status, tree) = server.get("read", "/v1/sessions/1/diff").await;
        assert_eq!(status, 200, "{what}: {tree}");
        assert!(tree["diff"].as_str().unwrap().contains("-one\n+two\n"), "{what}: {tree}");
        let (_, files) = server.get("read", "/v1/sessions/1/files?q=notes").await;
        assert_eq!(files["items"], json!(["notes.txt"]), "{what}");
        assert!(!canary.exists(), "{what}");
    }
}

/// A repository can name a work tree elsewhere, which is not the folder of the session.
#[tokio::test]
async fn t12_a_repository_cannot_show_the_files_of_another_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (root, other) = (folder.path().join("repository"), folder.path().join("other"));
    for (path, text) in [(&root, "one\n"), (&other, "private\n")] {
        std::fs::create_dir(path).unwrap();
        std::fs::write(path.join("notes.txt"), text).unwrap();
    }
    std::fs::write(other.join("more.txt"), "").unwrap();
    git(&root, &["init", "-q"]);
    git(&root, &["add", "."]);
    git(&root, &["commit", "-qm", "first"]);
    git(&root, &["config", "core.worktree", other.to_str().unwrap()]);
    let server = Server::on(Arc::new(MemoryJournal::new(&opening())), root.to_str().unwrap()).await;
    let (_, tree) = server.get("read", "/v1/sessions/1/diff").await;
    assert_eq!((&tree["repository"], &tree["diff"]), (&json!(false), &json!("")), "{tree}");
    let (_, files) = server.get("read", "/v1/sessions/1/files").await;
    assert_eq!(files["items"], json!(["notes.txt"]));
}

#[tokio::test]
async fn a_folder_without_version_control_is_looked_through() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
    std::fs::write(folder.path().join("a/b/c.txt"), "").unwrap();
    std::fs::write(folder.path().join(".hidden"), "").unwrap();
    let server = Server::on(Arc::new(MemoryJournal::new(&opening())), folder.path().to_str().unwrap()).await;
    let (_, files) = server.get("read", "/v1/sessions/1/files").await;
    assert_eq!(files, json!({"items":["a/b/c.txt"],"more":false}));
    let (_, tree) = server.get("read", "/v1/sessions/1/diff").await;
    assert_eq!(tree["repository"], false);
}

#[tokio::test]
async fn the_server_says_what_it_is() {
    let server = Server::start().await;
    let (_, meta) = server.get("read,decide", "/v1/meta").await;
    assert_eq!((&meta["name"], &meta["websocket_protocol"]), (&json!("tidings"), &json!("tidings.v1")));
    assert_eq!(meta["you"]["scopes"], json!(["read", "decide"]));
    let (_, api) = server.get("read", "/v1/openapi.json").await;
    assert_eq!(api["servers"], json!([{"url":"/"}]), "its paths begin there");
    assert!(api["paths"]["/v1/sessions/{id}/input"]["post"].is_object());
}

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

/// Each response has a description, as `OpenAPI` requires, and each operation has the error response.
#[test]
fn every_operation_describes_its_answers_and_how_it_refuses() {
    let api = serde_json::to_value(tidings_bridge::api::openapi()).unwrap();
    let paths = api["paths"].as_object().unwrap();
    let (mut names, schemas) = (std::collections::BTreeSet::new(), &api["components"]["schemas"]);
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            let name =
                operation["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path} has no name"));
            assert!(names.insert(name), "two operations are called `{name}`");
            for (status, response) in operation["responses"].as_object().unwrap() {
                let said = response["description"].as_str().unwrap_or_default();
                assert!(!said.is_empty(), "{method} {path} does not say what {status} is");
            }
            let refused = &operation["responses"]["default"]["content"]["application/problem+json"];
            assert_eq!(refused["schema"]["$ref"], "#/components/schemas/Problem", "{method} {path}");
            for parameter in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
                let all = operation["parameters"].as_array().into_iter().flatten();
                let found = all.filter(|it| it["name"] == parameter && it["in"] == "path").count();
                assert_eq!(found, 1, "{method} {path} describes `{parameter}`");
            }
        }
    }
    let text = api.to_string();
    for mention in text.split("#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(schemas[mention].is_object(), "there is no schema `{mention}`");
    }
    for path in ["/healthz", "/readyz", "/metrics", "/v1/audit", "/v1/openapi.json", "/v1/ws", "/v1/mobile"] {
        assert!(paths.contains_key(path), "{path} is not described");
    }
}

#[test]
fn every_code_of_a_problem_is_explained() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/server.md")).unwrap();
    for code in Code::ALL {
        let row = format!("| `{}` | {} | ", code.as_str(), code.status());
        assert!(page.contains(&row), "docs/server.md has no row for `{}`", code.as_str());
    }
}
