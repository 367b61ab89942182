//! Secrets do not leak into logs, into the environment and arguments of other processes, or into addresses.

use std::fs;

use serde_json::json;

use crate::serve::machine::{Machine, until};

#[test]
fn t4_t13_t14_secrets_reach_neither_the_log_nor_the_agents() {
    let machine = Machine::new();
    let (seen, arguments) = (machine.path("environment"), machine.path("arguments"));
    let claude = machine.claude(&format!(
        "printf '%s\\n' \"$@\" > '{}'\nls -l /proc/self/fd > '{}'\nenv > '{}.new'\nmv '{}.new' '{}'\nexit 1",
        arguments.display(),
        machine.path("files").display(),
        seen.display(),
        seen.display(),
        seen.display(),
    ));
    let server = machine.serve_with(
        &["--claude-path", claude.to_str().unwrap(), "--log-level", "trace", "--log", "json"],
        |command| {
            command
                .env("ANTHROPIC_API_KEY", "sk-ant-api03-secret")
                .env("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI");
        },
    );
    let admin = server.token();
    let made = server.ask("POST", "/v1/devices", Some(&json!({"name": "ci"}))).json();
    let device = made["token"].as_str().unwrap().to_owned();
    let code =
        server.ask("POST", "/v1/pair/codes", Some(&json!({}))).json()["code"].as_str().unwrap().to_owned();
    server.ask_with(
        "GET",
        &format!("/v1/meta?token={device}"),
        &[("Authorization", "Bearer tidings_wrong")],
        None,
    );
    server.ask_with(
        "GET",
        "/v1/meta",
        &[("Authorization", &format!("Bearer {device}")), ("Cookie", "a=cookie-secret")],
        None,
    );
    let cookie = server.ask_with("POST", "/v1/pair", &[], Some(&json!({"code": code})));
    let cookie = cookie.head.split("tidings_").nth(1).unwrap().split(';').next().unwrap().to_owned();
    let body = json!({"cwd": machine.path("project"), "prompt": "a prompt that is private"});
    assert_eq!(server.ask("POST", "/v1/sessions", Some(&body)).status, 201);
    let environment = until("the agent has run", || fs::read_to_string(&seen).ok());

    let secrets = [
        admin.as_str(),
        &device,
        &code,
        &cookie,
        "tidings_wrong",
        "cookie-secret",
        "sk-ant-api03-secret",
        "wJalrXUtnFEMI",
    ];
    let command_line = fs::read(format!("/proc/{}/cmdline", server.child.id())).unwrap();
    let places = [
        ("the log", server.log()),
        ("the environment of an agent", environment.clone()),
        ("the arguments of an agent", fs::read_to_string(&arguments).unwrap()),
        ("the command line of the server", String::from_utf8_lossy(&command_line).into_owned()),
    ];
    for (place, text) in &places {
        for secret in secrets {
            assert!(!text.contains(secret), "`{secret}` is in {place}:\n{text}");
        }
    }
    assert!(!server.log().contains("a prompt that is private"), "prompts are not logged either");
    assert!(server.log().contains("\"code\":\"unauthorized\""), "refusals are logged: {}", server.log());

    let names: Vec<&str> = environment.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    let known = ["HOME", "PATH", "PWD", "TMPDIR", "SHLVL", "_", "OLDPWD"];
    let foreign: Vec<&&str> = names
        .iter()
        .filter(|name| !known.contains(name) && !name.starts_with("CLAUDE_") && !name.starts_with("TIDINGS_"))
        .collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    let files = fs::read_to_string(machine.path("files")).unwrap();
    for line in files.lines().filter(|line| !line.contains(" 0 -> ") && !line.contains(" 1 -> ")) {
        let theirs =
            ["journal.db", "token", "socket:", "devices.json"].iter().any(|name| line.contains(name));
        assert!(!theirs, "a file of the server is open in an agent: {line}");
    }
}

#[test]
fn t10_an_agent_in_a_folder_that_nobody_trusts_gets_none_of_its_settings() {
    let machine = Machine::new();
    fs::create_dir(machine.path("runs")).unwrap();
    let runs = machine.path("runs").display().to_string();
    let claude = machine
        .claude(&format!("printf '%s\\n' \"$@\" > '{runs}/'$$.new\nmv '{runs}/'$$.new '{runs}/'$$\nexit 1"));
    let server = machine.serve(&["--claude-path", claude.to_str().unwrap()]);
    let folder = machine.path("project");
    fs::create_dir(folder.join(".claude")).unwrap();
    fs::write(
        folder.join(".claude/settings.json"),
        r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch canary"}]}]}}"#,
    )
    .unwrap();
    let run = |name: &str| {
        let body = json!({"cwd": folder, "prompt": "hello", "model": name});
        assert_eq!(server.ask("POST", "/v1/sessions", Some(&body)).status, 201);
        until("the agent has run", || {
            let runs = fs::read_dir(machine.path("runs")).unwrap().flatten();
            let texts = runs.filter_map(|run| fs::read_to_string(run.path()).ok());
            texts.into_iter().find(|text| text.lines().any(|line| line == format!("--model={name}")))
        })
    };
    let untrusted = run("before");
    assert!(
        untrusted.contains("--setting-sources") && untrusted.contains("--strict-mcp-config"),
        "{untrusted}"
    );
    let sources = untrusted.lines().find(|line| line.contains("user")).unwrap_or_default();
    assert!(!sources.contains("project") && !sources.contains("local"), "{untrusted}");

    let shown = server.ask("GET", &format!("/v1/trust?folder={}", folder.display()), None).json();
    assert_eq!(shown["commands"][0]["place"], "hooks.SessionStart");
    let agreed = server.ask("POST", "/v1/trust", Some(&json!({"folder": folder, "digest": shown["digest"]})));
    assert_eq!(agreed.json()["trusted"], true);
    let trusted = run("trusted");
    assert!(!trusted.contains("--strict-mcp-config"), "{trusted}");

    fs::write(folder.join(".mcp.json"), r#"{"mcpServers":{"a":{"command":"b"}}}"#).unwrap();
    let changed = run("changed");
    assert!(changed.contains("--strict-mcp-config"), "a change needs approval again: {changed}");
}

#[test]
fn t10_f124_a_claude_in_the_project_is_not_run() {
    let machine = Machine::new();
    let (real, planted) = (machine.path("real"), machine.path("planted"));
    machine.claude(&format!("touch '{}'\nexit 1", real.display()));
    fs::copy(machine.path("bin/claude"), machine.path("project/claude")).unwrap();
    fs::write(machine.path("project/claude"), format!("#!/bin/sh\ntouch '{}'\nexit 1\n", planted.display()))
        .unwrap();
    let server = machine.serve_with(&[], |command| {
        command.env("PATH", format!(".:{}:/usr/bin:/bin", machine.path("bin").display()));
    });
    let body = json!({"cwd": machine.path("project"), "prompt": "hello"});
    assert_eq!(server.ask("POST", "/v1/sessions", Some(&body)).status, 201);
    until("the agent has run", || real.exists().then_some(()));
    assert!(!planted.exists());
}

#[test]
fn t16_no_request_names_a_process() {
    let machine = Machine::new();
    let server = machine.serve(&["--demo"]);
    let api = server.ask("GET", "/v1/openapi.json", None).json();
    let paths = api["paths"].as_object().unwrap();
    assert!(paths.len() > 20);
    for (path, item) in paths {
        let text = item.to_string();
        for word in ["\"pid\"", "\"signal\"", "process_id"] {
            assert!(!text.contains(word), "{path} takes {word}");
        }
    }
    for path in ["/v1/sessions/{id}/stop", "/v1/devices/{id}", "/v1/pair", "/v1/trust"] {
        assert!(paths.contains_key(path), "{path} is described");
    }
}
