//! Starting: what is printed, what is refused, and which setting counts.

use std::fs;

use serde_json::{Value, json};

use crate::house::House;

#[test]
fn the_first_start_prints_a_link_that_lets_one_device_in() {
    let house = House::new();
    let server = house.serve(&["--demo"]);
    let link = server.link.clone().unwrap();
    let (page, code) = link.split_once("/#code=").unwrap();
    assert_eq!(page, format!("http://{}", server.address));
    let pair =
        || server.ask_with("POST", "/v1/pair", &[], Some(&json!({"code": code, "credential": "token"})));
    let paired = pair();
    assert_eq!(paired.status, 201, "{paired:?}");
    let token = paired.json()["token"].as_str().unwrap().to_owned();
    let scopes = paired.json()["device"]["scopes"].as_array().unwrap().len();
    assert_eq!(scopes, 6, "whoever starts the server may do everything");
    let meta = server.ask_with("GET", "/v1/meta", &[("Authorization", &format!("Bearer {token}"))], None);
    assert_eq!((meta.status, meta.json()["demo"].as_bool()), (200, Some(true)));
    assert_eq!(pair().status, 401, "once");
    assert_eq!(server.ask_with("GET", "/healthz", &[], None).status, 200);
    assert_eq!(server.ask_with("GET", "/readyz", &[], None).status, 401);
    assert_eq!(server.ask("GET", "/readyz", None).status, 200);
}

#[test]
fn a_start_for_people_says_where_things_are() {
    let house = House::new();
    let mut child = house
        .tidings(&["serve", "--demo", "--listen", "127.0.0.1:0"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut link = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut link)
        .unwrap();
    assert!(link.starts_with("http://127.0.0.1:") && link.contains("/#code="), "{link}");
    let stop = std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(stop.success());
    let output = child.wait_with_output().unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert!(
        talk.contains("DEMO") && talk.contains("keeps its data in") && talk.contains("tidings pair"),
        "{talk}"
    );
    assert!(output.status.success());
    let left = fs::read_dir(house.path("")).unwrap().flatten();
    let left: Vec<_> =
        left.filter(|entry| entry.file_name().to_string_lossy().starts_with("tidings-demo")).collect();
    assert!(left.is_empty(), "a demonstration leaves nothing behind");
}

#[test]
fn t5_beyond_this_machine_only_with_tls_or_by_a_clear_word() {
    let house = House::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let (code, said) = house.failure(&["serve", "--demo", "--listen", address]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("--tls-cert") && said.contains("--insecure-listen"), "{said}");
    }
    let mut server =
        house.tidings(&["serve", "--demo", "--json", "--listen", "0.0.0.0:0", "--insecure-listen"]);
    let mut child = server.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line)
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(serde_json::from_str::<Value>(&line).unwrap()["address"].is_string());
}

#[test]
fn flags_environment_and_file_are_heard_in_that_order() {
    let house = House::new();
    let folder = house.path("home/.config/tidings");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("serve.toml"), "base_path = \"/file\"\n").unwrap();
    let base = |arguments: &[&str], variable: Option<&str>| {
        let server = house.serve_with(arguments, |command| {
            command.envs(variable.map(|value| ("TIDINGS_BASE_PATH", value)));
        });
        server
            .link
            .clone()
            .unwrap()
            .split_once("/#")
            .unwrap()
            .0
            .split_once("//")
            .unwrap()
            .1
            .split_once('/')
            .unwrap()
            .1
            .to_owned()
    };
    assert_eq!(base(&["--demo"], None), "file");
    assert_eq!(base(&["--demo"], Some("/environment")), "environment");
    assert_eq!(base(&["--demo", "--base-path", "/flag"], Some("/environment")), "flag");
    let other = house.path("other.toml");
    fs::write(&other, "base_path = \"/other\"\n").unwrap();
    assert_eq!(base(&["--demo", "--config", other.to_str().unwrap()], None), "other");
    fs::write(&other, "bas_path = \"/other\"\n").unwrap();
    let (code, said) = house.failure(&["serve", "--demo", "--config", other.to_str().unwrap()]);
    assert!(code == 2 && said.contains("bas_path"), "{said}");
}

#[test]
fn f111_a_second_server_on_the_same_data_is_refused() {
    let house = House::new();
    let first = house.serve(&[]);
    let (code, said) = house.failure(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(code, 3, "{said}");
    assert_eq!(first.ask("GET", "/v1/sessions", None).status, 200, "the first is not disturbed");
    assert!(first.data.starts_with(house.path("home/.local/share/tidings")));
}

#[test]
fn tls_is_spoken_where_there_is_a_certificate() {
    let house = House::new();
    let (certificate, key) = (house.path("cert.pem"), house.path("key.pem"));
    let made = std::process::Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
        ])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    let Ok(made) = made else {
        println!("skipped: there is no openssl to make a certificate with");
        return;
    };
    assert!(made.status.success());
    let files = ["--demo", "--tls-cert", certificate.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    let server = house.serve(&files);
    assert!(server.link.clone().unwrap().starts_with("https://127.0.0.1:"));
    let client = std::process::Command::new("curl")
        .args(["-s", "--cacert", certificate.to_str().unwrap(), "-w", "%{http_version}"])
        .arg(format!("https://localhost:{}/healthz", server.address.port()))
        .output();
    if let Ok(client) = client {
        assert_eq!(String::from_utf8_lossy(&client.stdout), "ok\n1.1");
    }
    // Commands come through the socket, whatever the port speaks.
    let data = server.data.to_str().unwrap();
    assert!(house.output(&["pair", "--data", data, "--json"]).contains("https://"));
    drop(server);
    let (code, said) = house.failure(&[
        "serve",
        "--demo",
        "--tls-cert",
        key.to_str().unwrap(),
        "--tls-key",
        key.to_str().unwrap(),
    ]);
    assert!(code == 2 && said.contains("PEM"), "{said}");
}
