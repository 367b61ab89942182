//! `tidings hook status`, on machines with and without what hooks need.

use std::fs;

use serde_json::Value;

use super::desk::Desk;
use super::listener::Listener;

/// Messages of the problems that are found, joined.
fn problems(status: &Value) -> String {
    let all = status["problems"].as_array().unwrap();
    let lines = all.iter().map(|problem| format!("{} | {}", problem["message"], problem["hint"]));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn installed_hooks_with_a_server_are_fine() {
    let desk = Desk::new();
    desk.claude("2.1.325");
    let (code, status) = desk.status();
    assert_eq!((code, &status["ok"]), (1, &Value::Bool(false)));
    assert_eq!(status["scopes"][0]["state"], "absent");
    assert_eq!(status["server"]["state"], "absent");

    desk.fine(&["install"]);
    let listener = Listener::new(&desk.path("data"));
    let server = std::thread::spawn(move || {
        for _ in 0..2 {
            listener.accept().reply("HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}");
        }
    });
    let (code, status) = desk.status();
    assert_eq!((code, &status["ok"]), (0, &Value::Bool(true)), "{status:#}");
    assert_eq!(status["scopes"][0]["state"], "installed");
    assert_eq!(status["scopes"][0]["data"], desk.path("data").to_str().unwrap());
    assert_eq!(status["scopes"][1]["state"], "absent");
    assert_eq!(status["server"]["state"], "running");
    assert_eq!(status["claude"]["version"], "2.1.325");
    assert_eq!(problems(&status), "");
    let text = desk.fine(&["status"]);
    for words in
        ["✓ user     installed", "- project  not installed", "✓ claude   2.1.325", "✓ server   running"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    server.join().unwrap();
}

#[test]
fn a_program_that_is_gone_or_another_is_reported() {
    let desk = Desk::new();
    desk.claude("2.1.325");
    desk.fine(&["install"]);
    let hooks = desk.plugin().join("hooks/hooks.json");
    let text = fs::read_to_string(&hooks).unwrap();
    let program = desk.tidings(&[]).get_program().to_str().unwrap().to_owned();
    for (other, is_fine, words) in [
        ("/nonexistent/tidings", false, "does not exist"),
        (desk.path("bin/claude").to_str().unwrap(), true, "another program"),
    ] {
        fs::write(&hooks, text.replace(&program, other)).unwrap();
        let (_, status) = desk.status();
        assert_eq!(status["ok"], is_fine);
        assert!(problems(&status).contains(words), "{status:#}");
    }
    fs::write(&hooks, "{").unwrap();
    let (code, status) = desk.status();
    assert!(code == 1 && problems(&status).contains("damaged"), "{status:#}");
}

#[test]
fn settings_that_stop_hooks_are_named_and_left_alone() {
    let desk = Desk::new();
    desk.claude("2.1.325");
    desk.fine(&["install"]);
    let off = "{\"disableAllHooks\":true}";
    for file in
        ["home/.claude/settings.json", "project/.claude/settings.json", "project/.claude/settings.local.json"]
    {
        desk.write(file, off);
        let (code, status) = desk.status();
        assert_eq!(code, 1);
        let problems = problems(&status);
        assert!(problems.contains("disableAllHooks") && problems.contains(file), "{problems}");
        fs::remove_file(desk.path(file)).unwrap();
    }
    let broken = "{ // a comment\n}";
    desk.write("home/.claude/settings.json", broken);
    let (code, status) = desk.status();
    assert_eq!(code, 0, "the plugin loads without that file");
    assert!(problems(&status).contains("home/.claude/settings.json"), "{status:#}");
    assert_eq!(fs::read_to_string(desk.path("home/.claude/settings.json")).unwrap(), broken);
}

#[test]
fn a_claude_that_is_missing_or_old_is_reported() {
    let desk = Desk::new();
    desk.fine(&["install"]);
    let mut command = desk.tidings(&["hook", "status", "--json"]);
    // Installed copies of the machine must not be found.
    let output = command.env("CLAUDE_CLI_PATH", desk.path("bin/claude")).output().unwrap();
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(status["claude"]["program"].is_null() && problems(&status).contains("install Claude Code"));
    desk.claude("2.0.30");
    let (_, status) = desk.status();
    assert!(problems(&status).contains("2.0.30 may not load plugin folders"), "{status:#}");
}

#[test]
fn a_server_that_does_not_reply_is_told_from_one_that_is_absent() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    assert_eq!(desk.status().1["server"]["state"], "no_reply");
    drop(listener);
    assert_eq!(desk.status().1["server"]["state"], "absent");
}

#[test]
fn a_plugin_from_a_marketplace_counts_as_installed() {
    let desk = Desk::new();
    desk.claude("2.1.325");
    let enabled = "{\"enabledPlugins\":{\"tidings@skills-dir\":false,\"tidings@shop\":true,\"a@shop\":true}}";
    desk.write("home/.claude/settings.json", enabled);
    let (code, status) = desk.status();
    assert_eq!((code, &status["marketplace"]), (0, &Value::from("tidings@shop")), "{status:#}");
    assert!(desk.fine(&["status"]).contains("✓ plugin   tidings@shop"));
    let output = desk.hook(&["install"]);
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && notes.contains("tidings@shop"), "{notes}");
    let (code, status) = desk.status();
    assert!(code == 0 && problems(&status).contains("takes the place of this folder"), "{status:#}");
    // A project can turn the user's plugin off.
    desk.write("project/.claude/settings.json", "{\"enabledPlugins\":{\"tidings@shop\":false}}");
    let (code, status) = desk.status();
    assert_eq!((code, &status["marketplace"]), (1, &Value::Null), "{status:#}");
}
