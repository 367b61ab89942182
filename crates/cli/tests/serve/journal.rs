//! A journal that is gone or damaged, and the audit log that is in it.

use std::fs;

use serde_json::{Value, json};

use crate::house::House;

fn stopped(mut server: crate::house::Running) {
    server.signal("TERM");
    assert!(server.ended().success());
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap()
}

/// A server without its journal would look as if nothing had ever happened.
#[test]
fn k9_a_missing_journal_stops_the_start_until_a_new_one_is_wanted() {
    let house = House::new();
    let data = house.path("data");
    let data = data.to_str().unwrap();
    let server = house.serve(&["--data", data]);
    let made = server.ask("POST", "/v1/sessions", Some(&json!({"cwd": house.path("project")})));
    assert_eq!(made.status, 201, "{made:?}");
    stopped(server);
    let doctor = || {
        let output = house.tidings(&["doctor", "--json"]).env("TIDINGS_DATA_DIR", data).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(check(&doctor(), "journal")["ok"], true);
    for suffix in ["", "-wal", "-shm"] {
        drop(fs::remove_file(format!("{data}/journal.db{suffix}")));
    }
    assert_eq!(check(&doctor(), "journal")["ok"], false);
    let (code, said) = house.failure(&["serve", "--listen", "127.0.0.1:0", "--data", data]);
    assert!(code != 0 && said.contains("missing") && said.contains("--new-journal"), "{said}");
    let server = house.serve(&["--data", data, "--new-journal"]);
    assert_eq!(server.ask("GET", "/v1/sessions", None).json()["items"], json!([]));
    stopped(server);
    stopped(house.serve(&["--data", data]));
}

/// `verify` says what it proves: with the key that no one without it has rewritten the log, without it only that it is a chain.
#[test]
fn k12_audit_verify_says_what_it_can_and_cannot_prove() {
    let house = House::new();
    let data = house.path("data");
    let data = data.to_str().unwrap();
    let server = house.serve(&["--data", data]);
    let new = json!({"cwd": house.path("project"), "policy": "standard"});
    assert_eq!(server.ask("POST", "/v1/sessions", Some(&new)).status, 201);
    let export = house.output(&["audit", "export", "--data", data]);
    assert!(export.contains("set policy"), "{export}");
    let verify = |arguments: &[&str]| {
        let arguments = [&["audit", "verify"], arguments].concat();
        let output = house.tidings(&arguments).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = verify(&["--data", data]);
    assert!(code == 0 && said.contains("sealed with the key") && said.contains("at the end"), "{said}");
    let file = house.path("export.ndjson");
    fs::write(&file, &export).unwrap();
    let (code, said) = verify(&[file.to_str().unwrap()]);
    assert!(code == 0 && said.contains("--key"), "{said}");
    let key = format!("{data}/journal.db-audit-key");
    assert_eq!(verify(&[file.to_str().unwrap(), "--key", &key]).0, 0);
    // The seals are taken off, which leaves a chain that does not fit, or seals of another key.
    let mut line: Value = serde_json::from_str(export.lines().next().unwrap()).unwrap();
    let hash = line["hash"].as_str().unwrap().split_once('.').unwrap().0.to_owned();
    line["hash"] = hash.into();
    fs::write(&file, format!("{line}\n")).unwrap();
    assert_eq!(verify(&[file.to_str().unwrap()]).0, 0, "without the key it is a good log");
    assert_eq!(verify(&[file.to_str().unwrap(), "--key", &key]).0, 1);
}
