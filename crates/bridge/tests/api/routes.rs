//! Every route: scopes, refusals and descriptions.

use reqwest::Method;
use serde_json::{Value, json};
use tidings_api::{Code, Scope};

use crate::api::server::TestServer;

/// Every operation of the API with the scope that it needs. The routes of auth and health are tested with a
/// whole server.
pub(super) fn operations() -> Vec<(Method, String, Scope)> {
    let api: Value = serde_json::from_str(&tidings_bridge::api::openapi().unwrap()).unwrap();
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
pub(super) fn filled(path: &str) -> String {
    let parts = path.split('/').map(|part| match part {
        "{id}" => "session",
        part if part.starts_with('{') => "something",
        part => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn t5_every_route_refuses_those_who_have_no_credential_or_not_the_scope() {
    let server = TestServer::with_session("/").await;
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
    let server = TestServer::with_session("/").await;
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
    let server = TestServer::with_session("/").await;
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
    let server = TestServer::with_session("/").await;
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
async fn the_server_says_what_it_is() {
    let server = TestServer::with_session("/").await;
    let (_, meta) = server.get("read,decide", "/v1/meta").await;
    assert_eq!((&meta["name"], &meta["websocket_protocol"]), (&json!("tidings"), &json!("tidings.v1")));
    assert_eq!(meta["you"]["scopes"], json!(["read", "decide"]));
    let (_, api) = server.get("read", "/v1/openapi.json").await;
    assert_eq!(api["servers"], json!([{"url":"/"}]), "its paths begin there");
    assert!(api["paths"]["/v1/sessions/{id}/input"]["post"].is_object());
}

/// Each response has a description, as `OpenAPI` requires, and each operation has the error response.
#[test]
fn every_operation_describes_its_answers_and_how_it_refuses() {
    let api: Value = serde_json::from_str(&tidings_bridge::api::openapi().unwrap()).unwrap();
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
