//! Access by another user of the same machine. These tests need root.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::serve::machine::Machine;

/// Runs a script as another user, and returns its success and output; none without root.
fn as_nobody(script: &str) -> Option<(bool, String)> {
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    if !root {
        return None;
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", script]).env_clear();
    let output = command.env("PATH", "/usr/bin:/bin").output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

#[test]
fn t3_another_user_gets_neither_the_token_nor_the_socket_nor_an_answer() {
    let machine = Machine::new();
    let server = machine.serve(&[]);
    // Open the parent folders, so that the permissions of the data folder are tested.
    for folder in ["", "home", "home/.local", "home/.local/share"] {
        std::fs::set_permissions(machine.path(folder), Permissions::from_mode(0o755)).unwrap();
    }
    let data = server.data.display().to_string();
    for script in [
        format!("cat '{data}/token'"),
        format!("ls '{data}'"),
        format!("cat '{data}/journal.db'"),
        format!("curl -s -f --unix-socket '{data}/server.sock' http://localhost/healthz"),
        format!("echo x > '{data}/token'"),
        format!("curl -s -f http://{}/v1/sessions", server.address),
    ] {
        let Some((done, said)) = as_nobody(&script) else {
            println!("skipped: only root can be another user");
            return;
        };
        assert!(!done, "{script}: {said}");
        assert!(!said.contains("tidings_"), "{said}");
    }
    // Even if the file system allows it, the socket checks the user id.
    std::fs::set_permissions(&server.data, Permissions::from_mode(0o755)).unwrap();
    std::fs::set_permissions(server.data.join("server.sock"), Permissions::from_mode(0o777)).unwrap();
    let reach = format!("curl -s -f --unix-socket '{data}/server.sock' http://localhost/healthz");
    if let Some((done, said)) = as_nobody(&reach) {
        assert!(!done, "{said}");
        assert!(server.log().contains("another user"), "{}", server.log());
    }
    assert_eq!(machine.output(&["token", "admin"]).trim(), server.token(), "and we ourselves are served");
    assert_eq!(machine.output(&["token", "list"]), "");
}

/// Without a socket, whose path would be too long, the user of the client decides.
#[cfg(target_os = "linux")]
#[test]
fn k21_without_a_socket_another_user_cannot_use_the_admin_token() {
    let machine = Machine::new();
    let data = machine.path(&"d".repeat(120));
    let server = machine.serve(&["--data", data.to_str().unwrap()]);
    let list = format!(
        "curl -s -f -H 'Authorization: Bearer {}' http://{}/v1/devices",
        server.token(),
        server.address
    );
    let own = Command::new("sh").args(["-c", &list]).output().unwrap();
    assert!(own.status.success(), "{}", server.log());
    let Some((done, said)) = as_nobody(&list) else {
        println!("skipped: only root can be another user");
        return;
    };
    assert!(!done, "{said}");
}

#[test]
fn t3_a_data_folder_of_somebody_else_is_refused() {
    let machine = Machine::new();
    let data = machine.path("theirs");
    std::fs::create_dir(&data).unwrap();
    if std::os::unix::fs::chown(&data, Some(65534), Some(65534)).is_err() {
        println!("skipped: only root can give a folder away");
        return;
    }
    let (code, said) =
        machine.failure(&["serve", "--data", data.to_str().unwrap(), "--listen", "127.0.0.1:0"]);
    assert!(code == 3 && said.contains("another user"), "{said}");
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0, "nothing was put there");
}
