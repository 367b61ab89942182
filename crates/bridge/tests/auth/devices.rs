//! Credentials, codes and devices.

use std::num::NonZeroU32;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use futures_util::stream;
use serde_json::json;
use tidings_agent::Clock;
use tidings_api::{NewDevice, Scope};
use tidings_bridge::auth::{Auth, Peer, Rate, Settings};
use tidings_sessions::secret::Random;
use tokio::sync::oneshot;

use crate::auth::test_router::{TestRouter, request};

#[tokio::test]
async fn t5_a_code_lets_one_device_in_once() {
    let server = TestRouter::new();
    let wanted = json!({"name": "phone", "scopes": ["read", "decide"], "folders": ["/srv/a"]});
    let made = server.admin(Method::POST, "/v1/pair/codes", Some(wanted)).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
    let (code, link) = (made.json()["code"].clone(), made.json()["link"].clone());
    assert_eq!(
        link,
        format!("http://127.0.0.1:7717/#code={}", code.as_str().unwrap()),
        "the code is in the fragment"
    );
    assert_eq!(made.json()["expires_in_s"], 60);

    let body = json!({"code": code, "name": "my own name", "credential": "token"});
    let paired = server.send(request(Method::POST, "/v1/pair", &[], Some(body.clone()))).await;
    assert_eq!(paired.status, StatusCode::CREATED, "{}", paired.body);
    assert!(paired.headers.get("set-cookie").is_none());
    let paired = paired.json();
    assert_eq!(paired["device"]["name"], "phone", "the name from the code wins");
    assert_eq!(paired["device"]["scopes"], json!(["read", "decide"]));
    let caller = server.auth.caller(paired["token"].as_str().unwrap(), Peer::Unknown).unwrap();
    assert_eq!(caller.device.as_deref(), paired["device"]["id"].as_str());
    assert_eq!(caller.folders, ["/srv/a"]);
    assert!(caller.require(Scope::Prompt).is_err());

    let again = server.send(request(Method::POST, "/v1/pair", &[], Some(body))).await;
    assert_eq!(again.status, StatusCode::UNAUTHORIZED, "it was used");
}

/// Sessions have resolved paths, so the folders of a device are resolved too.
#[tokio::test]
async fn t12_the_folder_of_a_device_is_the_one_that_a_link_leads_to() {
    let server = TestRouter::new();
    let place = tempfile::tempdir().unwrap();
    let place = place.path().canonicalize().unwrap();
    let (real, link) = (place.join("real"), place.join("link"));
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let name = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let made = server.admin(Method::POST, "/v1/devices", Some(json!({"folders": [name(&link)]}))).await;
    assert_eq!(made.json()["device"]["folders"], json!([name(&real)]), "{}", made.body);
    let limited = json!({"scopes": ["admin"], "folders": [name(&real)]});
    let token = server.admin(Method::POST, "/v1/devices", Some(limited)).await.json()["token"].clone();
    let bearer = format!("Bearer {}", token.as_str().unwrap());
    let out = real.join("out");
    std::os::unix::fs::symlink(&place, &out).unwrap();
    for folder in [name(&out), format!("{}/../none", name(&real))] {
        let wanted = Some(json!({"folders": [folder]}));
        let answer =
            server.send(request(Method::POST, "/v1/devices", &[("authorization", &bearer)], wanted)).await;
        assert!(answer.status.is_client_error(), "{folder}: {}", answer.body);
    }
}

#[tokio::test]
async fn t6_a_credential_for_a_folder_makes_none_that_reaches_further() {
    let server = TestRouter::new();
    let limited = NewDevice {
        scopes: Some(vec!["admin".to_owned()]),
        folders: vec!["/srv/a".to_owned()],
        ..NewDevice::default()
    };
    let bearer = format!("Bearer {}", server.auth.add_device(limited).unwrap().1.reveal());
    for (folders, status) in [
        (json!([]), StatusCode::FORBIDDEN),
        (json!(["/srv"]), StatusCode::FORBIDDEN),
        (json!(["/srv/a", "/srv/b"]), StatusCode::FORBIDDEN),
        (json!(["/srv/a/b"]), StatusCode::CREATED),
    ] {
        for path in ["/v1/devices", "/v1/pair/codes"] {
            let wanted = Some(json!({"folders": folders}));
            let answer =
                server.send(request(Method::POST, path, &[("authorization", &bearer)], wanted)).await;
            assert_eq!(answer.status, status, "{path} {folders}: {}", answer.body);
        }
    }
}

/// An admin that is limited to folders neither sees nor revokes devices of other folders.
#[tokio::test]
async fn t6_a_credential_for_a_folder_is_no_admin_of_other_devices() {
    let server = TestRouter::new();
    let add = |name: &str, folders: &[&str]| {
        let wanted = NewDevice {
            name: Some(name.to_owned()),
            scopes: Some(vec!["admin".to_owned()]),
            folders: folders.iter().map(|folder| (*folder).to_owned()).collect(),
            ..NewDevice::default()
        };
        let (device, secret) = server.auth.add_device(wanted).unwrap();
        (device.id, format!("Bearer {}", secret.reveal()))
    };
    let (own, bearer) = add("own", &["/srv/a"]);
    let (inside, _) = add("inside", &["/srv/a/b"]);
    let outside = [add("all", &[]).0, add("both", &["/srv/a", "/srv/b"]).0, add("above", &["/srv"]).0];
    let headers = [("authorization", bearer.as_str())];
    let send = async |method: Method, path: &str| server.send(request(method, path, &headers, None)).await;
    let listed = send(Method::GET, "/v1/devices").await.json();
    let listed: Vec<&str> =
        listed["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!(listed, [&own, &inside]);
    for id in &outside {
        let refused = send(Method::DELETE, &format!("/v1/devices/{id}")).await;
        assert_eq!((refused.status, refused.code()), (StatusCode::NOT_FOUND, "not_found".to_owned()));
    }
    assert_eq!(server.auth.devices().len(), 5);
    for id in [&inside, &own] {
        let ended = send(Method::DELETE, &format!("/v1/devices/{id}")).await;
        assert_eq!(ended.status, StatusCode::NO_CONTENT, "{}", ended.body);
    }
    let all = server.admin(Method::GET, "/v1/devices", None).await.json();
    assert_eq!(all["items"].as_array().unwrap().len(), 3);
}

/// A slow request can outlast its credential.
#[tokio::test]
async fn t6_a_request_that_was_begun_before_the_credential_ended_has_no_effect() {
    let server = TestRouter::new();
    let (device, secret) = server.auth.add_device(NewDevice::default()).unwrap();
    let (other, _) = server.auth.add_device(NewDevice::default()).unwrap();
    let bearer = format!("Bearer {}", secret.reveal());
    for (ended, status) in [(&other.id, StatusCode::OK), (&device.id, StatusCode::UNAUTHORIZED)] {
        let (begun, is_begun) = oneshot::channel();
        let (rest, is_rest) = oneshot::channel();
        let body = stream::once(async move {
            begun.send(()).unwrap();
            is_rest.await
        });
        let mut slow = request(Method::POST, "/v1/say", &[("authorization", &bearer)], None);
        *slow.body_mut() = Body::from_stream(body);
        let revoke = async {
            is_begun.await.unwrap();
            server.auth.revoke(ended).unwrap();
            // The receiver may be closed.
            let _ = rest.send("said");
        };
        let (answer, ()) = tokio::join!(server.send(slow), revoke);
        assert_eq!(answer.status, status, "{}", answer.body);
    }
    assert_eq!(server.prompts.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn promise_3_a_code_that_is_asked_for_again_is_the_same_one() {
    let server = TestRouter::new();
    let make = async |bearer: &str, id: &str, name: &str| {
        let bearer = format!("Bearer {bearer}");
        let headers = [("authorization", bearer.as_str()), ("idempotency-key", id)];
        let wanted = request(Method::POST, "/v1/pair/codes", &headers, Some(json!({"name": name})));
        server.send_from(Peer::Unix, wanted).await
    };
    let first = make(&server.admin, "one", "phone").await;
    assert_eq!(first.status, StatusCode::CREATED, "{}", first.body);
    let again = make(&server.admin, "one", "phone").await;
    assert_eq!(again.status, StatusCode::CREATED);
    for field in ["code", "link"] {
        assert_eq!(again.json()[field], first.json()[field]);
    }
    let left = again.json()["expires_in_s"].as_u64().unwrap();
    assert!((1..=60).contains(&left), "{left}");
    let other = make(&server.admin, "one", "tablet").await;
    assert_eq!((other.status, other.code()), (StatusCode::CONFLICT, "conflict".to_owned()));
    let wanted = NewDevice { scopes: Some(vec!["admin".to_owned()]), ..NewDevice::default() };
    let admin = server.auth.add_device(wanted).unwrap().1;
    for (bearer, id) in [(server.admin.as_str(), "two"), (admin.reveal(), "one")] {
        assert_ne!(make(bearer, id, "phone").await.json()["code"], first.json()["code"], "another command");
    }
    // The code pairs one device, even if it was requested twice.
    let body = json!({"code": first.json()["code"], "credential": "token"});
    let pair = async || server.send(request(Method::POST, "/v1/pair", &[], Some(body.clone()))).await.status;
    assert_eq!((pair().await, pair().await), (StatusCode::CREATED, StatusCode::UNAUTHORIZED));
}

#[tokio::test]
async fn promise_3_a_device_that_is_asked_for_again_is_the_same_one() {
    let server = TestRouter::new();
    let bearer = format!("Bearer {}", server.admin);
    let add = async |id: &str, name: &str| {
        let headers = [("authorization", bearer.as_str()), ("idempotency-key", id)];
        let wanted = request(Method::POST, "/v1/devices", &headers, Some(json!({"name": name})));
        server.send_from(Peer::Unix, wanted).await
    };
    let first = add("one", "phone").await;
    assert_eq!(first.status, StatusCode::CREATED, "{}", first.body);
    let again = add("one", "phone").await;
    assert_eq!((again.status, again.json()), (first.status, first.json()));
    let other = add("one", "tablet").await;
    assert_eq!((other.status, other.code()), (StatusCode::CONFLICT, "conflict".to_owned()));
    assert_eq!(add("two", "tablet").await.status, StatusCode::CREATED);
    assert_eq!(server.auth.devices().len(), 2);
}

#[tokio::test]
async fn t5_f119_five_wrong_codes_end_those_that_wait() {
    let server = TestRouter::with(|settings| settings.rates.pairing.burst = NonZeroU32::new(100).unwrap());
    let code = server.auth.pairing_code(NewDevice::default()).unwrap();
    let pair = |code: &str| request(Method::POST, "/v1/pair", &[], Some(json!({"code": code})));
    for wrong in 0..5 {
        let answer = server.send(pair(&format!("AAAAA-AAAA{wrong}"))).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(server.send(pair(code.reveal())).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn t5_whoever_tries_too_often_has_to_wait() {
    let rate = |burst| Rate::new(NonZeroU32::new(burst).unwrap(), Duration::from_secs(3600));
    let server = TestRouter::with(move |settings| {
        settings.rates.pairing = rate(3);
        settings.rates.failures = rate(4);
        settings.rates.address = rate(60);
    });
    let peer =
        |last| Peer::Tcp { remote: ([10, 0, 0, last], 1).into(), local: ([127, 0, 0, 1], 7717).into() };
    let pair = || request(Method::POST, "/v1/pair", &[], Some(json!({"code": "AAAAA-AAAAA"})));
    for _ in 0..3 {
        assert_eq!(server.send_from(peer(1), pair()).await.status, StatusCode::UNAUTHORIZED);
    }
    let refused = server.send_from(peer(1), pair()).await;
    assert_eq!((refused.status, refused.code()), (StatusCode::TOO_MANY_REQUESTS, "too_many".to_owned()));
    assert!(refused.json()["retry_after_ms"].as_u64().unwrap() > 0);
    assert!(refused.headers.contains_key("retry-after"));
    assert_eq!(
        server.send_from(peer(2), pair()).await.status,
        StatusCode::UNAUTHORIZED,
        "another client may try"
    );

    let wrong = || request(Method::GET, "/v1/who", &[("authorization", "Bearer tidings_1")], None);
    for _ in 0..4 {
        assert_eq!(server.send_from(peer(3), wrong()).await.status, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(server.send_from(peer(3), wrong()).await.status, StatusCode::TOO_MANY_REQUESTS);
    let bearer = server.device_bearer();
    let right = || request(Method::GET, "/v1/who", &[("authorization", &bearer)], None);
    assert_eq!(
        server.send_from(peer(3), right()).await.status,
        StatusCode::OK,
        "the correct credential still works"
    );

    let many = |from| {
        let server = &server;
        async move {
            let mut last = StatusCode::OK;
            for _ in 0..70 {
                last = server.send_from(from, request(Method::GET, "/healthz", &[], None)).await.status;
            }
            last
        }
    };
    assert_eq!(many(peer(4)).await, StatusCode::TOO_MANY_REQUESTS);
    let network = |host| Peer::Tcp {
        remote: std::net::SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, host], 1)),
        local: ([127, 0, 0, 1], 7717).into(),
    };
    assert_eq!(many(network(1)).await, StatusCode::TOO_MANY_REQUESTS);
    let neighbour = server.send_from(network(2), request(Method::GET, "/healthz", &[], None)).await;
    assert_eq!(neighbour.status, StatusCode::TOO_MANY_REQUESTS, "an IPv6 network is one address");
}

#[tokio::test]
async fn t6_a_revoked_device_is_out_at_once_and_told_of() {
    let server = TestRouter::new();
    let made = server.admin(Method::POST, "/v1/devices", Some(json!({"name": "old phone"}))).await.json();
    let (id, token) = (made["device"]["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    let bearer = format!("Bearer {token}");
    let ask = || request(Method::GET, "/v1/who", &[("authorization", &bearer)], None);
    assert_eq!(server.send(ask()).await.body, "old phone");
    let listed = server.admin(Method::GET, "/v1/devices", None).await.json();
    assert_eq!(listed["items"][0]["id"], id);
    assert!(listed["items"][0]["last_seen"].is_string());

    let mut revoked = server.auth.revoked().subscribe();
    let gone = server.admin(Method::DELETE, &format!("/v1/devices/{id}"), None).await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    assert_eq!(revoked.try_recv().unwrap(), id, "streams of the device end");
    assert_eq!(server.send(ask()).await.status, StatusCode::UNAUTHORIZED);
    let again = server.admin(Method::DELETE, &format!("/v1/devices/{id}"), None).await;
    assert_eq!(again.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn t6_a_device_may_what_its_scopes_say() {
    let server = TestRouter::new();
    let made = server.admin(Method::POST, "/v1/devices", Some(json!({"scopes": ["read"]}))).await.json();
    let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
    let table = [
        (Method::POST, "/v1/sessions/1/input", StatusCode::FORBIDDEN),
        (Method::GET, "/v1/devices", StatusCode::FORBIDDEN),
        (Method::POST, "/v1/devices", StatusCode::FORBIDDEN),
        (Method::POST, "/v1/pair/codes", StatusCode::FORBIDDEN),
        (Method::GET, "/v1/trust?folder=/", StatusCode::FORBIDDEN),
        (Method::DELETE, "/v1/devices/other", StatusCode::FORBIDDEN),
        (Method::GET, "/v1/who", StatusCode::OK),
    ];
    for (method, path, status) in table {
        let body = (method == Method::POST).then(|| json!({}));
        let answer = server.send(request(method.clone(), path, &[("authorization", &bearer)], body)).await;
        assert_eq!(answer.status, status, "{method} {path}");
    }
    let own = format!("/v1/devices/{}", made["device"]["id"].as_str().unwrap());
    let answer = server.send(request(Method::DELETE, &own, &[("authorization", &bearer)], None)).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT, "a device may sign itself out");
}

#[tokio::test]
async fn t6_a_credential_ends_when_its_time_is_over() {
    let server = TestRouter::new();
    let made = server.admin(Method::POST, "/v1/devices", Some(json!({"expires_in_s": 3600}))).await.json();
    let (id, token) = (made["device"]["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    let mut revoked = server.auth.revoked().subscribe();
    server.auth.sweep().unwrap();
    assert!(server.auth.caller(token, Peer::Unknown).is_ok());
    server.clock.advance(Duration::from_secs(3601));
    assert!(server.auth.caller(token, Peer::Unknown).is_err(), "before a sweep");
    server.auth.sweep().unwrap();
    assert_eq!(revoked.try_recv().unwrap(), id);
    assert!(server.auth.devices().is_empty());
}

/// Streams of a credential that lives for seconds stayed open for half a minute.
#[tokio::test(start_paused = true)]
async fn k13_a_credential_is_removed_in_the_moment_it_expires() {
    let server = TestRouter::new();
    let hour = std::time::Duration::from_secs(3600);
    let began = tokio::time::Instant::now();
    server.auth.sweep_is_due(hour).await;
    assert_eq!(began.elapsed(), hour, "without credentials only the period counts");
    let began = tokio::time::Instant::now();
    let due = tokio::spawn({
        let auth = server.auth.clone();
        async move { auth.sweep_is_due(hour).await }
    });
    tokio::task::yield_now().await;
    server.admin(Method::POST, "/v1/devices", Some(json!({"expires_in_s": 7}))).await;
    due.await.unwrap();
    let waited = began.elapsed();
    assert!(waited <= std::time::Duration::from_secs(8), "{waited:?}");
}

/// Streams of an expired credential end even if the file cannot be written.
#[tokio::test]
async fn t6_a_credential_that_has_ended_is_told_of_when_the_disk_is_full() {
    let server = TestRouter::new();
    let made = server.admin(Method::POST, "/v1/devices", Some(json!({"expires_in_s": 3600}))).await.json();
    let mut revoked = server.auth.revoked().subscribe();
    // A file cannot replace a folder that is not empty.
    let file = server.folder.path().join("data/devices.json");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir_all(file.join("full")).unwrap();
    server.clock.advance(Duration::from_secs(3601));
    assert!(server.auth.sweep().is_err());
    assert_eq!(revoked.try_recv().unwrap(), made["device"]["id"].as_str().unwrap());
    std::fs::remove_dir_all(&file).unwrap();
}

#[tokio::test]
async fn devices_outlive_a_restart_and_their_secrets_are_not_on_disk() {
    let server = TestRouter::new();
    let (device, secret) =
        server.auth.add_device(NewDevice { name: Some("laptop".into()), ..NewDevice::default() }).unwrap();
    let data = server.folder.path().join("data");
    let file = std::fs::read_to_string(data.join("devices.json")).unwrap();
    assert!(
        !file.contains(secret.reveal()) && !file.contains(&secret.reveal()[8..]),
        "only a fingerprint is kept"
    );
    let again = Auth::open(Settings::new(&data, Random::system(), Clock::system())).unwrap();
    assert_eq!(again.caller(secret.reveal(), Peer::Unknown).unwrap().device, Some(device.id));
    assert_eq!(again.caller(&server.admin, Peer::Unix).unwrap().device, None, "the admin token stays");
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let server = TestRouter::new();
    let wrong = [
        json!({"scopes": []}),
        json!({"scopes": ["root"]}),
        json!({"name": ""}),
        json!({"name": "a\u{1b}[2Jb"}),
        json!({"name": "a\u{202e}b"}),
        json!({"name": "a\u{ad}b"}),
        json!({"name": "x".repeat(65)}),
        json!({"folders": ["relative"]}),
        json!({"expires_in_s": 0}),
        json!({"expires_in_s": u64::MAX}),
    ];
    for body in wrong {
        let answer = server.admin(Method::POST, "/v1/devices", Some(body.clone())).await;
        assert_eq!((answer.status, answer.code()), (StatusCode::BAD_REQUEST, "invalid".to_owned()), "{body}");
    }
}

#[tokio::test]
async fn t12_devices_and_codes_are_bounded() {
    let server = TestRouter::new();
    for _ in 0..16 {
        server.auth.pairing_code(NewDevice::default()).unwrap();
    }
    assert_eq!(server.auth.pairing_code(NewDevice::default()).unwrap_err().code().as_str(), "too_many");
}

/// An admin that is limited to a folder administers nothing outside of it.
#[tokio::test]
async fn k11_an_admin_of_a_folder_changes_no_trust_elsewhere() {
    let server = TestRouter::new();
    let place = tempfile::tempdir().unwrap();
    let place = place.path().canonicalize().unwrap();
    let name = |folder: &str| place.join(folder).to_str().unwrap().to_owned();
    for folder in ["own", "other"] {
        std::fs::create_dir_all(place.join(folder).join(".claude")).unwrap();
        let hooks = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}"#;
        std::fs::write(place.join(folder).join(".claude/settings.json"), hooks).unwrap();
    }
    std::os::unix::fs::symlink(place.join("other"), place.join("own/link")).unwrap();
    for folder in ["own", "other"] {
        let digest = tidings_sessions::trust::inspect(&place.join(folder)).digest;
        server.auth.trust().agree(&place.join(folder), &digest).unwrap();
    }
    let limited = json!({"scopes": ["admin"], "folders": [format!("{}/../own", name("other"))]});
    let made = server.admin(Method::POST, "/v1/devices", Some(limited)).await;
    assert_eq!(made.json()["device"]["folders"], json!([name("own")]), "{}", made.body);
    let bearer = format!("Bearer {}", made.json()["token"].as_str().unwrap());
    let headers = [("authorization", bearer.as_str())];
    for folder in [name("other"), name("own/link"), format!("{}/../other", name("own")), "/".to_owned()] {
        let withdraw = Some(json!({"folder": folder}));
        let answer = server.send(request(Method::POST, "/v1/trust", &headers, withdraw)).await;
        assert_eq!(answer.code(), "outside_roots", "{folder}: {}", answer.body);
    }
    let trusted = async |folder: &str| {
        let path = format!("/v1/trust?folder={}", name(folder));
        server.admin(Method::GET, &path, None).await.json()["trusted"].clone()
    };
    assert_eq!((trusted("other").await, trusted("own").await), (json!(true), json!(true)));
    let withdraw = Some(json!({"folder": name("own")}));
    let answer = server.send(request(Method::POST, "/v1/trust", &headers, withdraw)).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    assert_eq!((trusted("other").await, trusted("own").await), (json!(true), json!(false)));
}

/// Errors in a request are shown only to callers with the scope, and always with a hint.
#[tokio::test]
async fn k13_the_scope_is_checked_before_the_body_and_errors_have_hints() {
    let server = TestRouter::new();
    let reader = json!({"scopes": ["read"]});
    let made = server.admin(Method::POST, "/v1/devices", Some(reader)).await;
    let bearer = format!("Bearer {}", made.json()["token"].as_str().unwrap());
    let headers = [("authorization", bearer.as_str())];
    for path in ["/v1/trust", "/v1/devices", "/v1/pair/codes"] {
        let answer = server.send(request(Method::POST, path, &headers, Some(json!({"x": 1})))).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path}: {}", answer.body);
    }
    for wrong in [json!({"scopes": []}), json!({"folders": ["a"]}), json!({"expires_in_s": 0})] {
        let answer = server.admin(Method::POST, "/v1/devices", Some(wrong.clone())).await;
        assert!(answer.status.is_client_error(), "{wrong}");
        assert_ne!(answer.json()["hint"], "", "{wrong}: {}", answer.body);
    }
}

/// The audit log has entries for added, paired and revoked devices, and for trust.
#[tokio::test]
async fn k12_credentials_and_trust_are_in_the_audit_log() {
    let server = TestRouter::new();
    let lines = std::sync::Arc::<std::sync::Mutex<Vec<(String, String, String)>>>::default();
    let sink = std::sync::Arc::clone(&lines);
    server.auth.audit_to(std::sync::Arc::new(move |line| {
        sink.lock().unwrap().push((line.who, line.decision, line.rule.unwrap_or_default()));
    }));
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().canonicalize().unwrap().to_str().unwrap().to_owned();
    let code = server.admin(Method::POST, "/v1/pair/codes", Some(json!({}))).await.json()["code"].clone();
    let pair = Some(json!({"code": code, "name": "phone"}));
    let paired = server.send(request(Method::POST, "/v1/pair", &[], pair)).await;
    assert_eq!(paired.status, StatusCode::CREATED, "{}", paired.body);
    let made = server.admin(Method::POST, "/v1/devices", Some(json!({"name": "bot"}))).await.json();
    let id = made["device"]["id"].as_str().unwrap().to_owned();
    let peer = tidings_bridge::auth::Peer::Tcp {
        remote: ([127, 0, 0, 1], 50000).into(),
        local: ([127, 0, 0, 1], 7717).into(),
    };
    server.auth.sign_in(made["token"].as_str().unwrap(), peer).unwrap();
    server.admin(Method::DELETE, &format!("/v1/devices/{id}"), None).await;
    server.admin(Method::POST, "/v1/trust", Some(json!({"folder": folder}))).await;
    let lines = lines.lock().unwrap().clone();
    let done: Vec<(&str, &str)> = lines.iter().map(|(who, done, _)| (who.as_str(), done.as_str())).collect();
    let expected = [
        ("admin", "pairing code made"),
        ("phone", "device paired"),
        ("admin", "device added"),
        ("bot", "signed in"),
        ("admin", "device revoked"),
        ("admin", "trust withdrawn"),
    ];
    assert_eq!(done, expected);
    assert_eq!((&lines[4].2, &lines[5].2), (&id, &folder));
    let token = made["token"].as_str().unwrap();
    assert!(lines.iter().all(|(_, _, about)| !about.contains(token)), "no secret is in the log");
}

/// Wrong tokens and codes are in the audit log, a few per address, and requests without any are not.
#[tokio::test]
async fn k12_failed_sign_ins_are_in_the_audit_log() {
    let server = TestRouter::new();
    let lines = std::sync::Arc::<std::sync::Mutex<Vec<String>>>::default();
    let sink = std::sync::Arc::clone(&lines);
    server.auth.audit_to(std::sync::Arc::new(move |line| {
        sink.lock().unwrap().push(format!(
            "{} {} {}",
            line.who,
            line.decision,
            line.rule.unwrap_or_default()
        ));
    }));
    let get = |headers: &[(&str, &str)]| server.send(request(Method::GET, "/v1/sessions", headers, None));
    assert_eq!(get(&[]).await.status, StatusCode::UNAUTHORIZED);
    assert!(lines.lock().unwrap().is_empty(), "a page without a credential is no attack");
    assert_eq!(get(&[("authorization", "Bearer wrong")]).await.status, StatusCode::UNAUTHORIZED);
    let code = Some(json!({"code": "WRONG-CODE"}));
    let paired = server.send(request(Method::POST, "/v1/pair", &[], code)).await;
    assert_eq!(paired.status, StatusCode::UNAUTHORIZED, "{}", paired.body);
    let peer = tidings_bridge::auth::Peer::Tcp {
        remote: ([203, 0, 113, 5], 50000).into(),
        local: ([127, 0, 0, 1], 7717).into(),
    };
    for _ in 0..10 {
        server.auth.sign_in("wrong", peer).unwrap_err();
    }
    let lines = lines.lock().unwrap().clone();
    let expected = [
        "unknown sign-in failed 127.0.0.1",
        "unknown pairing failed 127.0.0.1",
        "unknown sign-in failed 203.0.113.5",
        "unknown sign-in failed 203.0.113.5",
        "unknown sign-in failed 203.0.113.5",
    ];
    assert_eq!(lines, expected);
}
