//! K21: the admin token of the data folder, which an agent can read, opens nothing on the address of devices.

use std::num::NonZeroU32;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tidings_bridge::auth::{Names, Rate, Settings};
use tokio::net::UnixStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use super::test_server::*;

const SENTENCE: &str = "The admin token is accepted on the local socket only";

/// Lets one client fail as often as it likes, since these tests fail on every route.
fn patient(settings: &mut Settings) {
    let any = Rate::new(NonZeroU32::new(100_000).unwrap(), Duration::from_secs(1));
    (settings.rates.failures, settings.rates.address, settings.rates.pairing) = (any, any, any);
}

fn on_socket(server: &TestServer) -> Client {
    Client::builder().unix_socket(server.socket_path()).build().unwrap()
}

/// Every method and path of the API, with a session in the place of each variable, and paths beside it.
async fn routes(server: &TestServer) -> Vec<(Method, String)> {
    let api = Client::new().get(format!("http://{}/v1/openapi.json", server.address));
    let api: Value = api.bearer_auth(&server.admin).send().await.unwrap().json().await.unwrap();
    let mut routes: Vec<(Method, String)> =
        ["/metrics", "/readyz", "/v1/nothing"].map(|path| (Method::GET, path.to_owned())).into();
    for (path, methods) in api["paths"].as_object().unwrap() {
        let path: Vec<&str> =
            path.split('/').map(|part| if part.starts_with('{') { "session" } else { part }).collect();
        for method in methods.as_object().unwrap().keys() {
            routes.push((method.to_uppercase().parse().unwrap(), path.join("/")));
        }
    }
    assert!(routes.len() > 50, "{routes:?}");
    routes
}

/// True for routes that take no credential.
fn is_open(method: &Method, path: &str) -> bool {
    path == "/healthz"
        || *method == Method::POST && (path == "/v1/pair" || path.starts_with("/v1/notify/act/"))
}

async fn assert_refused(response: Response, place: &str) {
    assert_eq!(response.status().as_u16(), 401, "{place}");
    let problem: Value = response.json().await.unwrap();
    assert_eq!((&problem["code"], &problem["detail"]), (&"unauthorized".into(), &SENTENCE.into()), "{place}");
    assert!(problem["hint"].as_str().unwrap().contains("tidings token create"), "{place}: {problem}");
}

fn as_socket(request: RequestBuilder) -> RequestBuilder {
    let request = request.header("connection", "upgrade").header("upgrade", "websocket");
    let request = request.header("sec-websocket-version", "13");
    request.header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
}

#[tokio::test]
async fn k21_the_admin_token_is_refused_on_every_route_of_the_address() {
    let server = TestServer::with_socket(patient).await;
    let (client, base) = (Client::new(), format!("http://{}", server.address));
    let code = json!({"code": code(&server).await});
    let paired =
        client.post(format!("{base}/v1/pair")).header("origin", &base).json(&code).send().await.unwrap();
    let cookie = paired.headers()["set-cookie"].to_str().unwrap().split('=').next().unwrap().to_owned();
    let cookie = format!("{cookie}={}", server.admin_token());
    for (method, path) in routes(&server).await {
        if is_open(&method, &path) {
            continue;
        }
        let request = || client.request(method.clone(), format!("{base}{path}"));
        let ways = [
            ("header", request().bearer_auth(server.admin_token())),
            (
                "header in lower case",
                request().header("authorization", format!("bearer  {}", server.admin_token())),
            ),
            ("cookie", request().header("cookie", &cookie).header("origin", &base)),
        ];
        for (way, request) in ways {
            assert_refused(request.send().await.unwrap(), &format!("{method} {path} by {way}")).await;
        }
    }
    for path in ["/v1/ws", "/v1/mobile", "/v1/acp", "/v1/sessions/session/terminal"] {
        let request = as_socket(client.get(format!("{base}{path}"))).bearer_auth(server.admin_token());
        assert_refused(request.send().await.unwrap(), &format!("a WebSocket at {path}")).await;
        let request = as_socket(client.get(format!("{base}{path}"))).header("cookie", &cookie);
        let request = request.header("origin", &base);
        assert_refused(request.send().await.unwrap(), &format!("a WebSocket of a page at {path}")).await;
    }
}

async fn code(server: &TestServer) -> String {
    let (status, made) = server.call("POST", "/v1/pair/codes", Some(json!({}))).await;
    assert_eq!(status, 201, "{made}");
    made["code"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn k21_the_admin_token_is_refused_as_the_first_message_of_a_socket_and_later() {
    let server = TestServer::with_socket(patient).await;
    let auth = Message::text(json!({"id": 1, "type": "auth", "token": server.admin_token()}).to_string());
    for path in ["/v1/ws", "/v1/mobile"] {
        let mut socket = server.socket_at(path, None).await;
        socket.send(auth.clone()).await.unwrap();
        assert_eq!(close_code(&mut socket).await, Some(4401), "{path}");
    }
    let mut socket = subscribe(&server, &server.admin).await;
    socket.send(auth).await.unwrap();
    let answer = in_time(socket.next()).await.unwrap().unwrap();
    assert!(answer.to_text().unwrap().contains(SENTENCE), "{answer}");
}

#[tokio::test]
async fn k21_the_admin_token_is_accepted_on_the_socket() {
    let server = TestServer::with_socket(patient).await;
    let client = on_socket(&server);
    for path in ["/v1/sessions", "/v1/devices", "/v1/sessions/session/events", "/metrics", "/readyz"] {
        let request = client.get(format!("http://localhost{path}")).bearer_auth(server.admin_token());
        assert_eq!(request.send().await.unwrap().status().as_u16(), 200, "{path}");
    }
    let wrong = client.get("http://localhost/v1/devices").bearer_auth("tidings_wrong");
    assert_eq!(wrong.send().await.unwrap().status().as_u16(), 401, "the socket alone is no credential");
    for path in ["/v1/ws", "/v1/mobile", "/v1/acp"] {
        let mut request = format!("ws://localhost{path}").into_client_request().unwrap();
        let bearer = format!("Bearer {}", server.admin_token()).parse().unwrap();
        request.headers_mut().insert("authorization", bearer);
        let stream = UnixStream::connect(server.socket_path()).await.unwrap();
        assert!(tokio_tungstenite::client_async(request, stream).await.is_ok(), "{path}");
    }
    let stream = UnixStream::connect(server.socket_path()).await.unwrap();
    let mut socket = tokio_tungstenite::client_async("ws://localhost/v1/ws", stream).await.unwrap().0;
    let auth = json!({"id": 1, "type": "auth", "token": server.admin_token()}).to_string();
    socket.send(Message::text(auth)).await.unwrap();
    let answer = in_time(socket.next()).await.unwrap().unwrap();
    assert!(answer.to_text().unwrap().contains("ack"), "{answer}");
}

/// The user of a client over TCP is known on Linux only.
#[tokio::test]
async fn k21_without_a_socket_the_admin_token_is_accepted_from_loopback_of_the_same_user_only() {
    let list = async |server: &TestServer| {
        let url = format!("http://{}/v1/devices", server.address);
        Client::new().get(url).bearer_auth(server.admin_token()).send().await.unwrap()
    };
    let alone = served().auth(patient).start().await;
    let expected = if cfg!(target_os = "linux") { 200 } else { 401 };
    assert_eq!(list(&alone).await.status().as_u16(), expected);
    let behind_proxy = served().auth(|settings| {
        settings.names = Names::loopback().and_url("https://box.example").unwrap();
    });
    assert_refused(list(&behind_proxy.start().await).await, "a proxy passes on requests of devices").await;
}

#[tokio::test]
async fn k21_no_response_of_any_route_contains_the_admin_token() {
    let server = TestServer::with_socket(patient).await;
    let client = on_socket(&server);
    // The session of this server works in `/`, where its data folder is.
    let data = server.socket_path().parent().unwrap().canonicalize().unwrap();
    let data = data.strip_prefix("/").unwrap().display();
    let file = |path: String| (Method::GET, format!("/v1/sessions/session/file?path={path}"));
    let files =
        [file(format!("{data}/token")), file(format!("./{data}//token")), file(format!("{data}/./token"))];
    for (method, path) in routes(&server).await.into_iter().chain(files) {
        if method == Method::DELETE {
            continue;
        }
        let url = format!("http://localhost{path}");
        let request = client.request(method.clone(), url).bearer_auth(server.admin_token()).json(&json!({}));
        let response = request.send().await.unwrap();
        let head = format!("{:?}", response.headers());
        // A stream has no end.
        let is_stream = head.contains("event-stream");
        let body = if is_stream { String::new() } else { response.text().await.unwrap() };
        for text in [head, body] {
            assert!(!text.contains(&server.admin_token()[8..]), "{method} {path}: {text}");
        }
    }
}
