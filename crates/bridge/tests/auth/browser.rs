//! Pages of other origins can neither call the server nor read its responses.

use crate::auth::test_router::{HOST, TestRouter, request};
use axum::http::{Method, StatusCode};
use serde_json::json;
use tidings_bridge::auth::{Names, Peer, Scheme};

const FOREIGN: &str = "https://evil.example";

/// Pairs a browser, and returns the cookie header that it sends.
async fn page(server: &TestRouter) -> String {
    let code = server.auth.pairing_code(tidings_api::NewDevice::default()).unwrap();
    let body = json!({"code": code.reveal()});
    let own = format!("http://{HOST}");
    let answer = server.send(request(Method::POST, "/v1/pair", &[("origin", &own)], Some(body))).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.body);
    let cookie = answer.headers["set-cookie"].to_str().unwrap().to_owned();
    for word in ["HttpOnly", "SameSite=Strict", "Path=/;"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(answer.json()["token"].is_null(), "a page has no use for the token itself");
    cookie.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn t1_a_page_from_elsewhere_is_refused_whatever_it_carries() {
    let server = TestRouter::new();
    let (bearer, cookie) = (server.device_bearer(), page(&server).await);
    let foreign = [
        // A WebSocket, which browsers let any page open (F115).
        ("GET", "/v1/ws", vec![("origin", FOREIGN), ("upgrade", "websocket"), ("connection", "upgrade")]),
        // A form, which is sent without a preflight request (F125).
        ("POST", "/v1/who", vec![("origin", FOREIGN), ("content-type", "text/plain")]),
        ("POST", "/v1/who", vec![("origin", "null"), ("content-type", "application/x-www-form-urlencoded")]),
        ("POST", "/v1/pair", vec![("origin", FOREIGN)]),
        // An image, a script or an event stream, which come without an origin.
        ("GET", "/v1/who", vec![("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")]),
        ("GET", "/app.js", vec![("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "script")]),
        ("GET", "/healthz", vec![("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")]),
        // A link to the API.
        (
            "GET",
            "/v1/who",
            vec![
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "document"),
            ],
        ),
        // A frame.
        (
            "GET",
            "/",
            vec![
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "iframe"),
            ],
        ),
        // Another port of this machine, another scheme, a longer name.
        ("POST", "/v1/who", vec![("origin", "http://127.0.0.1:3000")]),
        ("POST", "/v1/who", vec![("origin", "https://127.0.0.1:7717")]),
        ("POST", "/v1/who", vec![("origin", "http://127.0.0.1:7717.evil.example")]),
        ("POST", "/v1/who", vec![("origin", "http://localhost:7717")]),
        ("POST", "/v1/who", vec![("origin", "http://127.0.0.1:7717"), ("origin", FOREIGN)]),
        ("OPTIONS", "/v1/who", vec![("origin", FOREIGN), ("access-control-request-method", "POST")]),
    ];
    for (method, path, headers) in foreign {
        for credential in [("authorization", bearer.as_str()), ("cookie", cookie.as_str())] {
            let headers = [headers.as_slice(), &[credential]].concat();
            let answer = server.send(request(method.parse().unwrap(), path, &headers, None)).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method} {path} {headers:?}");
            let cors = answer.headers.keys().filter(|name| name.as_str().starts_with("access-control"));
            assert_eq!(cors.count(), 0, "no page may read the response");
        }
    }
}

#[tokio::test]
async fn t1_the_page_itself_gets_in_and_others_may_link_to_it() {
    let server = TestRouter::new();
    let cookie = page(&server).await;
    let own = format!("http://{HOST}");
    let fine = [
        ("GET", "/v1/who", vec![("sec-fetch-site", "same-origin")]),
        ("POST", "/v1/who", vec![("origin", own.as_str()), ("sec-fetch-site", "same-origin")]),
        ("GET", "/v1/ws", vec![("origin", own.as_str()), ("upgrade", "websocket")]),
        (
            "GET",
            "/",
            vec![
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "document"),
            ],
        ),
        (
            "GET",
            "/",
            vec![("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")],
        ),
    ];
    for (method, path, headers) in fine {
        let headers = [headers.as_slice(), &[("cookie", cookie.as_str())]].concat();
        let answer = server.send(request(method.parse().unwrap(), path, &headers, None)).await;
        assert_eq!(answer.status, StatusCode::OK, "{method} {path} {headers:?} {}", answer.body);
    }
    // A tunnel has another port.
    let tunnel =
        [("host", "localhost:9000"), ("origin", "http://localhost:9000"), ("cookie", cookie.as_str())];
    assert_eq!(server.send(request(Method::POST, "/v1/who", &tunnel, None)).await.status, StatusCode::OK);
}

/// A service worker passes navigations on without a destination.
#[tokio::test]
async fn k27_a_link_of_another_site_opens_the_page_and_nothing_else() {
    let server = TestRouter::new();
    let cookie = page(&server).await;
    let ok = StatusCode::OK;
    let refused = StatusCode::FORBIDDEN;
    for (method, path, mode, destination, expected) in [
        ("GET", "/", "navigate", Some("document"), ok),
        ("GET", "/", "navigate", Some("empty"), ok),
        ("GET", "/?from=chat", "navigate", Some("empty"), ok),
        ("GET", "/", "navigate", None, refused),
        ("GET", "/", "navigate", Some("iframe"), refused),
        ("GET", "/", "navigate", Some("frame"), refused),
        ("GET", "/", "navigate", Some("embed"), refused),
        ("GET", "/", "navigate", Some("object"), refused),
        ("GET", "/", "no-cors", Some("empty"), refused),
        ("GET", "/", "cors", Some("empty"), refused),
        ("GET", "/", "same-origin", Some("empty"), refused),
        ("POST", "/", "navigate", Some("document"), refused),
        ("POST", "/", "navigate", Some("empty"), refused),
        ("GET", "/v1/who", "navigate", Some("document"), refused),
        ("GET", "/v1/who", "navigate", Some("empty"), refused),
        ("GET", "//v1/who", "navigate", Some("empty"), refused),
        ("GET", "/v1/ws", "navigate", Some("empty"), refused),
        ("POST", "/v1/pair", "navigate", Some("empty"), refused),
        ("GET", "/metrics", "navigate", Some("empty"), refused),
    ] {
        for site in ["cross-site", "same-site"] {
            for credential in [Some(("cookie", cookie.as_str())), None] {
                let mut headers = vec![("sec-fetch-site", site), ("sec-fetch-mode", mode)];
                headers.extend(destination.map(|destination| ("sec-fetch-dest", destination)));
                headers.extend(credential);
                let answer = server.send(request(method.parse().unwrap(), path, &headers, None)).await;
                assert_eq!(answer.status, expected, "{method} {path} {headers:?} {}", answer.body);
            }
        }
    }
}

#[tokio::test]
async fn t1_a_cookie_without_a_page_changes_nothing() {
    let server = TestRouter::new();
    let cookie = page(&server).await;
    for (method, more) in [("POST", ("accept", "*/*")), ("GET", ("upgrade", "websocket"))] {
        let path = if method == "GET" { "/v1/ws" } else { "/v1/who" };
        let answer =
            server.send(request(method.parse().unwrap(), path, &[("cookie", &cookie), more], None)).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method}");
    }
}

#[tokio::test]
async fn t1_f116_no_origin_and_no_credential_is_nobody() {
    let server = TestRouter::new();
    for path in
        ["/v1/who", "/v1/devices", "/v1/nothing", "/metrics", "/readyz", "/v1", "//v1/who", "/v1/../v1/who"]
    {
        let answer = server.send(request(Method::GET, path, &[], None)).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(answer.code(), "unauthorized");
        assert!(!answer.json()["request_id"].as_str().unwrap().is_empty());
    }
    let wrong = [
        ("authorization", "Bearer tidings_0"),
        ("authorization", "Basic YTpi"),
        ("authorization", "Bearer"),
        ("authorization", ""),
        ("cookie", "tidings=a; tidings-00000000=b"),
    ];
    for header in wrong {
        let answer = server.send(request(Method::GET, "/v1/who", &[header], None)).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{header:?}");
    }
    for path in ["/", "/app.js", "/healthz"] {
        assert_eq!(server.send(request(Method::GET, path, &[], None)).await.status, StatusCode::OK, "{path}");
    }
    let in_query = format!("/v1/who?token={}&access_token={}", server.admin, server.admin);
    let answer = server.send(request(Method::GET, &in_query, &[], None)).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "no secret in an address counts");
}

#[tokio::test]
async fn t2_the_server_answers_to_its_own_names_only() {
    let server = TestRouter::with(|settings| {
        settings.names = Names::loopback().and_url("https://box.example").unwrap();
    });
    let good = [
        "localhost",
        "localhost:7717",
        "LOCALHOST:7717",
        "LocalHost.",
        "localhost.:7717",
        "127.0.0.1",
        "127.0.0.1:7717",
        "127.0.0.1:1",
        "[::1]",
        "[::1]:7717",
        "[0:0:0:0:0:0:0:1]:7717",
        "box.example",
        "Box.Example.:443",
    ];
    let bad = [
        "evil.example",
        "evil.example:7717",
        "localhost.evil.example",
        "evil.example.localhost",
        "127.0.0.1.evil.example",
        "127.0.0.1.nip.io:7717",
        "box.example.evil.example",
        "boxxexample",
        "localhost:7717:7717",
        "localhost:",
        "localhost:99999",
        "localhost:-1",
        "localhost:+80",
        "localhost:77x",
        "user@localhost",
        "localhost@evil.example",
        "localhost/",
        "localhost ",
        "localhost..",
        "",
        ".",
        ":7717",
        "0.0.0.0:7717",
        "[::]:7717",
        "127.1",
        "127.0.0.2",
        "2130706433",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "[::1",
        "::1",
        "[::ffff:10.0.0.1]",
        "[fe80::1%25eth0]",
        "192.168.1.5",
        "localhost,evil.example",
    ];
    assert!(good.len() + bad.len() >= 30);
    let bearer = server.device_bearer();
    for path in ["/", "/app.js", "/healthz", "/v1/who", "/nothing"] {
        for (hosts, refused) in [(good.as_slice(), false), (&bad, true)] {
            for host in hosts {
                let headers = [("host", *host), ("authorization", bearer.as_str())];
                let answer = server.send(request(Method::GET, path, &headers, None)).await;
                assert_eq!(answer.status == StatusCode::FORBIDDEN, refused, "`{host}` at {path}");
            }
        }
    }
    for host in [&b"loc\xe4lhost"[..], b"\xffevil"] {
        let mut odd = request(Method::GET, "/", &[], None);
        odd.headers_mut().insert("host", axum::http::HeaderValue::from_bytes(host).unwrap());
        assert_eq!(server.send(odd).await.status, StatusCode::FORBIDDEN);
    }
    let mut none = request(Method::GET, "/", &[], None);
    none.headers_mut().remove("host");
    assert_eq!(server.send(none).await.status, StatusCode::FORBIDDEN);
    let twice = [("host", "localhost"), ("host", "localhost")];
    assert_eq!(server.send(request(Method::GET, "/", &twice, None)).await.status, StatusCode::FORBIDDEN);
    let absolute = request(Method::GET, "http://evil.example/", &[("host", "localhost")], None);
    assert_eq!(server.send(absolute).await.status, StatusCode::FORBIDDEN, "the address itself names another");
}

#[tokio::test]
async fn t2_a_server_on_every_address_is_called_by_the_one_that_was_reached() {
    let server = TestRouter::with(|settings| {
        settings.names = Names::loopback().and_address([0, 0, 0, 0].into());
    });
    let peer = Peer::Tcp { remote: ([192, 168, 1, 9], 1).into(), local: ([192, 168, 1, 5], 7717).into() };
    for (host, status) in [
        ("192.168.1.5:7717", StatusCode::OK),
        ("192.168.1.6:7717", StatusCode::FORBIDDEN),
        ("0.0.0.0:7717", StatusCode::FORBIDDEN),
        ("evil.example", StatusCode::FORBIDDEN),
    ] {
        let answer = server.send_from(peer, request(Method::GET, "/healthz", &[("host", host)], None)).await;
        assert_eq!(answer.status, status, "{host}");
    }
}

#[tokio::test]
async fn t7_every_answer_tells_browsers_what_to_refuse() {
    let server = TestRouter::new();
    for (path, kept) in
        [("/", true), ("/app.js", true), ("/v1/who", false), ("/v1/nothing", false), ("/metrics", false)]
    {
        let headers = server.send(request(Method::GET, path, &[], None)).await.headers;
        let policy = headers["content-security-policy"].to_str().unwrap();
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ] {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["referrer-policy"], "no-referrer");
        assert_eq!(headers["cross-origin-opener-policy"], "same-origin");
        assert_eq!(headers["cross-origin-resource-policy"], "same-origin");
        let cache = headers.get("cache-control").map(|value| value.to_str().unwrap());
        assert_eq!(cache == Some("no-store"), !kept, "{path}");
    }
}

#[tokio::test]
async fn t17_nothing_comes_from_elsewhere() {
    let headers = TestRouter::new().send(request(Method::GET, "/", &[], None)).await.headers;
    let policy = headers["content-security-policy"].to_str().unwrap();
    for rule in policy.split(';') {
        let sources = rule.split_whitespace().skip(1);
        for source in sources {
            assert!(matches!(source, "'self'" | "'none'" | "blob:"), "{rule}");
        }
    }
}

#[tokio::test]
async fn a_base_path_is_taken_off_and_everything_else_is_not_there() {
    let server = TestRouter::with(|settings| {
        settings.base_path = "/tidings".to_owned();
        settings.scheme = Scheme::Https;
    });
    let bearer = server.device_bearer();
    let table = [
        ("/tidings/", StatusCode::OK),
        ("/tidings/healthz", StatusCode::OK),
        ("/healthz", StatusCode::OK),
        ("/healthz/", StatusCode::NOT_FOUND),
        ("/tidings/v1/who?a=b", StatusCode::OK),
        ("/tidings", StatusCode::PERMANENT_REDIRECT),
        ("/v1/who", StatusCode::NOT_FOUND),
        ("/tidingsx/", StatusCode::NOT_FOUND),
        ("/", StatusCode::NOT_FOUND),
    ];
    for (path, status) in table {
        let answer = server.send(request(Method::GET, path, &[("authorization", &bearer)], None)).await;
        assert_eq!(answer.status, status, "{path}");
    }
    let code = server.auth.pairing_code(tidings_api::NewDevice::default()).unwrap();
    assert!(server.auth.link(&code).starts_with("http://127.0.0.1:7717/tidings/#code="));
    let body = json!({"code": code.reveal()});
    let answer = server.send(request(Method::POST, "/tidings/v1/pair", &[], Some(body))).await;
    let cookie = answer.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("Path=/tidings;") && cookie.contains("; Secure"), "{cookie}");
}
