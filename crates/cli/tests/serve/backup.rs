//! `tidings backup`, and a start from its copy.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::serve::machine::Machine;

#[test]
fn a_backup_is_a_data_folder_to_start_from() {
    let machine = Machine::new();
    let mut server = machine.serve(&[]);
    let body = json!({"cwd": machine.path("project"), "title": "kept"});
    let made = server.ask("POST", "/v1/sessions", Some(&body));
    assert_eq!(made.status, 201, "{made:?}");
    machine.output(&["token", "create", "--name", "ci", "--scope", "read"]);
    let (running, stopped) = (machine.path("running"), machine.path("stopped"));
    let said: Value =
        serde_json::from_str(&machine.output(&["backup", running.to_str().unwrap(), "--json"])).unwrap();
    let names: Vec<&str> =
        said["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    let expected = ["journal.db", "token", "devices.json", "journal.db-audit-key"];
    assert_eq!(names, expected, "there is no trust.json on a fresh server");
    let bytes: u64 = names.iter().map(|name| fs::metadata(running.join(name)).unwrap().len()).sum();
    assert_eq!((said["path"].as_str(), said["bytes"].as_u64()), (running.to_str(), Some(bytes)));
    let rights = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(rights(&running), 0o700);
    assert!(names.iter().all(|name| rights(&running.join(name)) == 0o600));

    let (code, said) = machine.failure(&["backup", running.to_str().unwrap()]);
    assert!(code == 3 && said.contains("already"), "{said}");
    server.signal("TERM");
    assert!(server.ended().success());
    assert_eq!(machine.output(&["backup", stopped.to_str().unwrap()]).trim(), stopped.to_str().unwrap());
    let (code, said) = machine.failure(&["backup", "x", "--data", machine.path("nothing").to_str().unwrap()]);
    assert!(code == 3 && said.contains("--data"), "{said}");

    let original = session(&machine, &server.data);
    for copy in [&running, &stopped] {
        let restored = session(&machine, copy);
        assert_eq!(restored["title"], "kept");
        assert_ne!(epoch(&restored), epoch(&original), "a copy has a new epoch");
        assert_eq!(epoch(&original), epoch(&made.json()), "the original has not");
    }
}

/// Starts a server on this folder, and returns its first session.
fn session(machine: &Machine, data: &Path) -> Value {
    let mut server = machine.serve(&["--data", data.to_str().unwrap()]);
    let session = server.ask("GET", "/v1/sessions/1", None).json();
    server.signal("TERM");
    assert!(server.ended().success());
    session
}

fn epoch(session: &Value) -> String {
    session["cursor"].as_str().unwrap().split_once(':').unwrap().0.to_owned()
}
