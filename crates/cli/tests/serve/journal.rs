//! A missing journal, and the audit log.

use std::fs;

use serde_json::{Value, json};

use crate::serve::machine::Machine;

fn stopped(mut server: crate::serve::machine::Running) {
    server.signal("TERM");
    assert!(server.ended().success());
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap()
}

/// A server without its journal would look like a new one.
#[test]
fn k9_a_missing_journal_stops_the_start_until_a_new_one_is_wanted() {
    let machine = Machine::new();
    let data = machine.path("data");
    let data = data.to_str().unwrap();
    let server = machine.serve(&["--data", data]);
    let made = server.ask("POST", "/v1/sessions", Some(&json!({"cwd": machine.path("project")})));
    assert_eq!(made.status, 201, "{made:?}");
    stopped(server);
    let doctor = || {
        let output = machine.tidings(&["doctor", "--json"]).env("TIDINGS_DATA_DIR", data).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(check(&doctor(), "journal")["ok"], true);
    for suffix in ["", "-wal", "-shm"] {
        drop(fs::remove_file(format!("{data}/journal.db{suffix}")));
    }
    assert_eq!(check(&doctor(), "journal")["ok"], false);
    let (code, said) = machine.failure(&["serve", "--listen", "127.0.0.1:0", "--data", data]);
    assert!(code != 0 && said.contains("missing") && said.contains("--new-journal"), "{said}");
    let server = machine.serve(&["--data", data, "--new-journal"]);
    assert_eq!(server.ask("GET", "/v1/sessions", None).json()["items"], json!([]));
    stopped(server);
    stopped(machine.serve(&["--data", data]));
}

/// `verify` states what it proves: with the key, that only an owner of the key can have written the log;
/// without the key, only that its hashes form a chain.
#[test]
fn k12_audit_verify_says_what_it_can_and_cannot_prove() {
    let machine = Machine::new();
    let data = machine.path("data");
    let data = data.to_str().unwrap();
    let server = machine.serve(&["--data", data]);
    let new = json!({"cwd": machine.path("project"), "policy": "standard"});
    assert_eq!(server.ask("POST", "/v1/sessions", Some(&new)).status, 201);
    let export = machine.output(&["audit", "export", "--data", data]);
    assert!(export.contains("set policy"), "{export}");
    let verify = |arguments: &[&str]| {
        let arguments = [&["audit", "verify"], arguments].concat();
        let output = machine.tidings(&arguments).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = verify(&["--data", data]);
    assert!(code == 0 && said.contains("sealed with the key") && said.contains("at the end"), "{said}");
    let file = machine.path("export.ndjson");
    fs::write(&file, &export).unwrap();
    let (code, said) = verify(&[file.to_str().unwrap()]);
    assert!(code == 0 && said.contains("--key"), "{said}");
    let key = format!("{data}/journal.db-audit-key");
    assert_eq!(verify(&[file.to_str().unwrap(), "--key", &key]).0, 0);
    // Without its seal, the chain is still valid, but not with the key.
    let mut line: Value = serde_json::from_str(export.lines().next().unwrap()).unwrap();
    let hash = line["hash"].as_str().unwrap().split_once('.').unwrap().0.to_owned();
    line["hash"] = hash.into();
    fs::write(&file, format!("{line}\n")).unwrap();
    assert_eq!(verify(&[file.to_str().unwrap()]).0, 0, "without the key it is a good log");
    assert_eq!(verify(&[file.to_str().unwrap(), "--key", &key]).0, 1);
}
