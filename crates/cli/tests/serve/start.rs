//! Start of a server: its output, refused settings, and their precedence.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::serve::machine::{Machine, until};

#[test]
fn the_first_start_prints_a_link_that_lets_one_device_in() {
    let machine = Machine::new();
    let server = machine.serve(&["--demo"]);
    let link = server.link.clone().unwrap();
    let (page, code) = link.split_once("/#code=").unwrap();
    assert_eq!(page, format!("http://{}", server.address));
    let pair =
        || server.ask_with("POST", "/v1/pair", &[], Some(&json!({"code": code, "credential": "token"})));
    let paired = pair();
    assert_eq!(paired.status, 201, "{paired:?}");
    let token = paired.json()["token"].as_str().unwrap().to_owned();
    let scopes = paired.json()["device"]["scopes"].as_array().unwrap().len();
    assert_eq!(scopes, 6, "the user who starts the server has every scope");
    let meta = server.ask_with("GET", "/v1/meta", &[("Authorization", &format!("Bearer {token}"))], None);
    assert_eq!((meta.status, meta.json()["demo"].as_bool()), (200, Some(true)));
    assert_eq!(pair().status, 401, "once");
    assert_eq!(server.ask_with("GET", "/healthz", &[], None).status, 200);
    assert_eq!(server.ask_with("GET", "/readyz", &[], None).status, 401);
    assert_eq!(server.ask("GET", "/readyz", None).status, 200);
}

#[test]
fn a_start_for_people_says_where_things_are() {
    let machine = Machine::new();
    let server = StartedServer::of(&machine, &["--demo", "--listen", "127.0.0.1:0"]);
    let link = &server.line;
    assert!(link.starts_with("http://127.0.0.1:") && link.contains("/#code="), "{link}");
    let talk = server.end();
    assert!(
        talk.contains("DEMO") && talk.contains("temporary data folder") && talk.contains("tidings pair"),
        "{talk}"
    );
    let left = fs::read_dir(machine.path("")).unwrap().flatten();
    let left: Vec<_> =
        left.filter(|entry| entry.file_name().to_string_lossy().starts_with("tidings-demo")).collect();
    assert!(left.is_empty(), "a demo leaves nothing behind");
}

/// A demo on the data of a server would let that server's devices in, and store a log that its key does not
/// seal.
#[test]
fn k2_a_demo_does_not_use_the_data_folder_of_a_server() {
    let machine = Machine::new();
    let data = machine.path("data");
    for name in ["journal.db", "journal.db-audit-key"] {
        fs::create_dir(&data).unwrap();
        fs::write(data.join(name), "mine").unwrap();
        let (code, said) = machine.failure(&["serve", "--demo", "--data", data.to_str().unwrap()]);
        assert_eq!(code, 3, "{said}");
        assert!(said.contains(name) && said.contains("leave --data out"), "{said}");
        let files: Vec<_> = fs::read_dir(&data).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(files, [name], "nothing was written there");
        fs::remove_dir_all(&data).unwrap();
    }
}

#[test]
fn t5_beyond_this_machine_only_with_tls_or_by_a_clear_word() {
    let machine = Machine::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let (code, said) = machine.failure(&["serve", "--demo", "--listen", address]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("--tls-cert") && said.contains("--insecure-listen"), "{said}");
    }
    let server =
        StartedServer::of(&machine, &["--demo", "--json", "--listen", "0.0.0.0:0", "--insecure-listen"]);
    assert!(serde_json::from_str::<Value>(&server.line).unwrap()["address"].is_string());
    server.end();
    let server = StartedServer::of(&machine, &["--demo", "--listen", "0.0.0.0:0", "--insecure-listen"]);
    assert!(server.line.starts_with("http://127.0.0.1:"), "what can be opened here: {}", server.line);
    assert!(server.end().contains("Listening on all addresses of this machine, locally http://127.0.0.1:"));
}

/// A server, and the first line of its output.
struct StartedServer {
    child: std::process::Child,
    line: String,
}

impl StartedServer {
    fn of(machine: &Machine, arguments: &[&str]) -> Self {
        let mut command = machine.tidings(&["serve"]);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        StartedServer { child, line }
    }

    fn end(self) -> String {
        assert!(Command::new("kill").arg(self.child.id().to_string()).status().unwrap().success());
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn a_server_on_a_socket_alone_says_which_one() {
    let machine = Machine::new();
    let server = StartedServer::of(&machine, &["--listen", "none", "--json"]);
    let said: Value = serde_json::from_str(&server.line).unwrap();
    server.end();
    let socket = machine.path("home/.local/share/tidings/server.sock");
    assert_eq!((&said["address"], &said["socket"]), (&Value::Null, &json!(socket)), "{said}");
}

/// A reader of a JSON log fails at any other line. The link is not logged, since it grants access.
#[test]
fn a_log_as_json_is_json_from_its_first_line_on() {
    let machine = Machine::new();
    let server = StartedServer::of(&machine, &["--listen", "127.0.0.1:0", "--log", "json"]);
    let link = server.line.clone();
    assert!(link.contains("/#code="), "{link}");
    let log = server.end();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let says = |level: &str, words: &str| {
        lines.iter().any(|line| line["level"] == level && line["message"].as_str().unwrap().contains(words))
    };
    assert!(
        says("INFO", "Listening on http://127.0.0.1:") && says("WARN", "Claude Code was not found"),
        "{log}"
    );
    assert!(!log.contains("#code="), "{log}");
}

#[test]
fn a_demo_says_what_it_stores() {
    let machine = Machine::new();
    let data = machine.path("data");
    let server =
        StartedServer::of(&machine, &["--demo", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()]);
    let said = server.end();
    assert!(said.contains("no session is stored") && !said.contains("temporary"), "{said}");
    assert!(said.contains(&format!("data folder {}", data.display())), "{said}");
}

#[test]
fn an_invalid_setting_is_an_error_with_its_name_and_a_hint() {
    let machine = Machine::new();
    let file = machine.path("serve.toml");
    let path = file.to_str().unwrap();
    for (text, words) in [
        ("live_max = \"x\"\n", "line 1, `live_max`"),
        ("\ndata = \"relative\"\n", "`data` must be an absolute path"),
        ("unix = \"a.sock\"\n", "`unix` must be an absolute path"),
    ] {
        fs::write(&file, text).unwrap();
        let (code, said) = machine.failure(&["serve", "--demo", "--config", path]);
        assert!(code == 2 && said.contains(words) && said.contains("serve --help"), "{said}");
    }
    let wrong = machine.tidings(&["serve", "--demo"]).env("TIDINGS_LIVE_MAX", "abc").output().unwrap();
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(said.contains("`TIDINGS_LIVE_MAX`") && said.matches("error:").count() == 1, "{said}");
    for (certificate, words) in [("nope.crt", "--tls-cert"), (path, "No certificate in")] {
        let (code, said) =
            machine.failure(&["serve", "--demo", "--tls-cert", certificate, "--tls-key", path]);
        assert!(code == 2 && said.contains(words) && said.contains("PEM"), "{said}");
    }
}

#[test]
fn flags_precede_the_environment_which_precedes_the_file() {
    let machine = Machine::new();
    let folder = machine.path("home/.config/tidings");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("serve.toml"), "base_path = \"/file\"\n").unwrap();
    let base = |arguments: &[&str], variable: Option<&str>| {
        let server = machine.serve_with(arguments, |command| {
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
    let other = machine.path("other.toml");
    fs::write(&other, "base_path = \"/other\"\n").unwrap();
    assert_eq!(base(&["--demo", "--config", other.to_str().unwrap()], None), "other");
    fs::write(&other, "bas_path = \"/other\"\n").unwrap();
    let (code, said) = machine.failure(&["serve", "--demo", "--config", other.to_str().unwrap()]);
    assert!(code == 2 && said.contains("bas_path"), "{said}");
}

#[test]
fn f111_a_second_server_on_the_same_data_is_refused() {
    let machine = Machine::new();
    let first = machine.serve(&[]);
    let (code, said) = machine.failure(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(code, 3, "{said}");
    assert_eq!(first.ask("GET", "/v1/sessions", None).status, 200, "the first is not disturbed");
    assert!(first.data.starts_with(machine.path("home/.local/share/tidings")));
}

#[test]
fn a_certificate_enables_tls() {
    let machine = Machine::new();
    let (certificate, key) = (machine.path("cert.pem"), machine.path("key.pem"));
    make_certificate(&certificate, &key, &[]);
    let files = ["--demo", "--tls-cert", certificate.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    let server = machine.serve(&files);
    assert!(server.link.clone().unwrap().starts_with("https://127.0.0.1:"));
    let client = std::process::Command::new("curl")
        .args(["-s", "--cacert", certificate.to_str().unwrap(), "-w", "%{http_version}"])
        .arg(format!("https://localhost:{}/healthz", server.address.port()))
        .output();
    if let Ok(client) = client {
        assert_eq!(String::from_utf8_lossy(&client.stdout), "ok\n1.1");
    }
    // Commands use the socket, independent of TLS on the port.
    let data = server.data.to_str().unwrap();
    assert!(machine.output(&["pair", "--data", data, "--json"]).contains("https://"));
    drop(server);
    let (code, said) = machine.failure(&[
        "serve",
        "--demo",
        "--tls-cert",
        key.to_str().unwrap(),
        "--tls-key",
        key.to_str().unwrap(),
    ]);
    assert!(code == 2 && said.contains("PEM"), "{said}");
}

/// Creates a certificate for this machine with openssl; self-signed unless `more` names an authority.
fn make_certificate(certificate: &Path, key: &Path, more: &[&str]) {
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
    openssl.args(["-days", "2", "-subj", "/CN=localhost"]).args(more);
    openssl.args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]);
    let made = openssl.arg("-keyout").arg(key).arg("-out").arg(certificate).output();
    let made = made.expect("openssl is installed");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

#[test]
fn a_certificate_is_accepted_if_a_trusted_authority_signed_it() {
    let machine = Machine::new();
    let [authority, authority_key, certificate, key] =
        ["ca.pem", "ca-key.pem", "cert.pem", "key.pem"].map(|name| machine.path(name));
    make_certificate(&authority, &authority_key, &[]);
    let signed = ["-CA", authority.to_str().unwrap(), "-CAkey", authority_key.to_str().unwrap()];
    make_certificate(
        &certificate,
        &key,
        &[&signed[..], &["-addext", "basicConstraints=critical,CA:FALSE"]].concat(),
    );
    let files = ["--tls-cert", certificate.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    let server = machine.serve(&files);
    let credential = server.credential();
    let list = |address: &str, trusted: Option<&Path>| {
        let mut command = machine.tidings(&["ps", "--server", address]);
        command.env("TIDINGS_TOKEN", &credential);
        command.envs(trusted.map(|path| ("SSL_CERT_FILE", path))).output().unwrap()
    };
    let address = format!("https://{}", server.address);
    let refused = list(&address, None);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(
        said.contains("certificate") && said.contains("not trusted") && said.contains("SSL_CERT_FILE"),
        "{said}"
    );
    let trusted = list(&address, Some(&authority));
    assert!(trusted.status.success(), "{}", String::from_utf8_lossy(&trusted.stderr));
}

/// The session picker of Claude Code hides sessions of the SDKs.
#[test]
fn c13_the_server_starts_agents_under_our_own_entrypoint() {
    let machine = Machine::new();
    let said = machine.path("entrypoint");
    let claude = machine.claude(&format!(
        "echo \"$CLAUDE_CODE_ENTRYPOINT\" > '{0}.new'\nmv '{0}.new' '{0}'\nexit 1",
        said.display()
    ));
    let server = machine.serve(&["--claude-path", claude.to_str().unwrap()]);
    let body = json!({"cwd": machine.path("project"), "prompt": "hi"});
    assert_eq!(server.ask("POST", "/v1/sessions", Some(&body)).status, 201);
    assert_eq!(until("the agent has run", || fs::read_to_string(&said).ok()), "tidings\n");
}

#[test]
fn c10_a_server_without_sessions_says_how_to_start_one() {
    let machine = Machine::new();
    let server = machine.serve(&[]);
    let list = machine.output(&["ps", "--data", server.data.to_str().unwrap()]);
    assert!(list.contains("tidings start"), "{list}");
}

/// R7: a Claude Code that starts no session is reported before the first one fails.
#[test]
fn r7_a_claude_that_is_too_old_is_a_warning_with_a_hint() {
    let machine = Machine::new();
    let claude = machine.path("claude");
    std::fs::write(&claude, "#!/bin/sh\necho '2.1.196 (Claude Code)'\n").unwrap();
    std::fs::set_permissions(&claude, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let arguments = ["--listen", "127.0.0.1:0", "--claude-path", claude.to_str().unwrap()];
    let said = StartedServer::of(&machine, &arguments).end();
    let warned =
        "2.1.196 is too old, at least 2.1.197 is needed, so sessions cannot start: run `claude update`";
    assert!(said.contains(warned), "{said}");
}
