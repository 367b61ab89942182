//! `tidings pair` and `tidings token`, with a running server.

use serde_json::{Value, json};

use crate::serve::machine::Machine;

#[test]
fn a_device_is_paired_listed_and_revoked() {
    let machine = Machine::new();
    let server = machine.serve(&[]);
    let made: Value =
        serde_json::from_str(&machine.output(&["pair", "--name", "phone", "--scope", "read", "--json"]))
            .unwrap();
    assert_eq!(made["expires_in_s"], 60);
    let body = json!({"code": made["code"], "credential": "token"});
    let paired = server.ask_with("POST", "/v1/pair", &[], Some(&body)).json();
    let bearer = format!("Bearer {}", paired["token"].as_str().unwrap());
    let ask = || server.ask_with("GET", "/v1/sessions", &[("Authorization", &bearer)], None).status;
    assert_eq!(ask(), 200);
    let list = machine.output(&["token", "list"]);
    assert!(list.contains("phone") && list.contains("read"), "{list}");
    machine.output(&["token", "revoke", "phone"]);
    assert_eq!(ask(), 401);
    assert_eq!(machine.output(&["token", "list", "--json"]), "");
}

#[test]
fn a_program_gets_a_credential_that_is_shown_once() {
    let machine = Machine::new();
    let server = machine.serve(&[]);
    let token =
        machine.output(&["token", "create", "--name", "ci", "--scope", "read,prompt", "--folder", "/srv"]);
    let bearer = format!("Bearer {}", token.trim());
    assert_eq!(server.ask_with("GET", "/v1/meta", &[("Authorization", &bearer)], None).status, 200);
    assert_eq!(server.ask_with("GET", "/v1/devices", &[("Authorization", &bearer)], None).status, 403);
    assert_eq!(machine.output(&["token", "admin"]).trim(), server.token());
    let list = |token: &str| {
        let server = format!("http://{}", server.address);
        let mut list = machine.tidings(&["token", "list", "--server", &server]);
        list.env("TIDINGS_TOKEN", token).output().unwrap()
    };
    assert!(String::from_utf8(list(&server.credential()).stdout).unwrap().contains("ci"));
    let refused = list(&server.token());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success(), "{said}");
    for words in
        ["The admin token is accepted on the local socket only", "`tidings token create`", "TIDINGS_TOKEN"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// The table of commands that a person types without a flag; they use the socket and the admin token.
#[test]
fn k21_local_commands_need_no_token_and_those_with_an_address_do() {
    let machine = Machine::new();
    let server = machine.serve(&[]);
    let commands: [&[&str]; 7] = [
        &["ps"],
        &["pair", "--no-qr"],
        &["token", "create", "--name", "ci"],
        &["token", "list"],
        &["token", "revoke", "ci"],
        &["inbox"],
        &["audit", "verify"],
    ];
    for command in commands {
        machine.output(command);
    }
    let address = format!("http://{}", server.address);
    for command in commands.into_iter().take(5) {
        let (code, said) = machine.failure(&[command, &["--server", &address]].concat());
        assert!(code != 0 && said.contains("TIDINGS_TOKEN"), "{command:?}: {said}");
    }
}

#[test]
fn the_qr_code_is_printed_with_the_link() {
    let machine = Machine::new();
    let _server = machine.serve(&["--base-path", "/tidings"]);
    let output = machine.tidings(&["pair"]).output().unwrap();
    let (link, talk) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(link.contains("/tidings/#code="), "{link}");
    assert!(talk.contains('█') && talk.contains("60 seconds"), "{talk}");
}

#[test]
fn commands_find_a_server_whose_socket_lies_elsewhere() {
    let machine = Machine::new();
    let socket = machine.path("elsewhere.sock");
    let server = machine.serve(&["--unix", socket.to_str().unwrap()]);
    assert!(machine.output(&["token", "create", "--name", "ci"]).starts_with("tidings_"));
    drop(server);
    let _server = machine.serve(&[]);
    assert!(machine.output(&["token", "list"]).contains("ci"), "it is where it usually is again");
}

#[test]
fn commands_read_the_settings_of_the_server() {
    let machine = Machine::new();
    let folder = machine.path("home/.config/tidings");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("serve.toml"), "data = \"~/kept\"\n").unwrap();
    let server = machine.serve(&[]);
    assert_eq!(server.data, machine.path("home/kept"), "no folder is called ~");
    assert!(machine.output(&["token", "create", "--name", "ci"]).starts_with("tidings_"));
    assert!(machine.output(&["token", "list"]).contains("ci"));
    assert_eq!(machine.output(&["token", "admin"]).trim(), server.token());
    machine.output(&["ps"]);
    machine.output(&["audit", "verify"]);
    machine.output(&["backup", machine.path("copy").to_str().unwrap()]);
    // The environment precedes the file, and the command line precedes the environment.
    let elsewhere = |variable: &str, args: &[&str]| {
        let mut command = machine.tidings(&["ps"]);
        command.args(args).env("TIDINGS_DATA_DIR", variable).output().unwrap().status.code()
    };
    assert_eq!(elsewhere("/nowhere", &[]), Some(3));
    assert_eq!(elsewhere("/nowhere", &["--data", server.data.to_str().unwrap()]), Some(0));
    assert_eq!(elsewhere("", &[]), Some(0), "an empty variable is ignored");
}

#[test]
fn invalid_rights_of_a_device_are_refused_with_a_hint() {
    let machine = Machine::new();
    for (args, words) in [
        (["--scope", "bogus"], "read, prompt, decide, edit, always or admin"),
        (["--folder", "relative"], "an absolute path"),
        (["--folder", "/srv/../etc"], "an absolute path"),
        (["--expires-in", "0"], "1.."),
    ] {
        let (code, said) = machine.failure(&["token", "create", args[0], args[1]]);
        assert!(code == 2 && said.contains(words), "{args:?}: {said}");
    }
}

#[test]
fn without_a_server_the_commands_say_what_to_do() {
    let machine = Machine::new();
    for command in [&["pair"][..], &["token", "list"]] {
        let (code, said) = machine.failure(command);
        assert!(code == 3 && said.contains("tidings serve"), "{said}");
    }
    let mut server = machine.serve(&[]);
    server.child.kill().unwrap();
    server.ended();
    let (code, said) = machine.failure(&["pair"]);
    assert!(code == 3 && said.contains("tidings serve"), "a socket without a server: {said}");
}

#[test]
fn t15_the_log_of_decisions_can_be_exported_and_verified() {
    let machine = Machine::new();
    let data = machine.path("data");
    let server = machine.serve(&["--demo", "--data", data.to_str().unwrap()]);
    let open = crate::serve::machine::until("a request is pending", || {
        let list = server.ask("GET", "/v1/permissions", None).json();
        list["items"].as_array().and_then(|items| items.first().cloned())
    });
    let (session, id) = (open["session"].as_str().unwrap(), open["tool_use_id"].as_str().unwrap());
    let path = format!("/v1/sessions/{session}/permissions/{id}");
    assert_eq!(server.ask("POST", &path, Some(&json!({"decision": "deny"}))).status, 200);
    let export = machine.output(&["audit", "export", "--data", data.to_str().unwrap()]);
    assert!(export.contains("denied") && export.contains("admin"), "{export}");
    let verified = machine.output(&["audit", "verify", "--data", data.to_str().unwrap()]);
    assert!(verified.starts_with(&export.lines().count().to_string()), "{verified}");

    let changed = machine.path("changed.ndjson");
    std::fs::write(&changed, export.replace("denied", "allowed")).unwrap();
    let (code, said) = machine.failure(&["audit", "verify", changed.to_str().unwrap()]);
    assert!(code == 1 && said.contains("does not follow"), "{said}");
}
