//! Hooks as entries of a settings file, for versions of Claude Code that do not load plugin folders.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};

use super::desk::Desk;

/// A version that loads no plugin folders, and runs hooks of settings.
const EARLIER: &str = "2.1.112";

const SETTINGS: &str = "home/.claude/settings.json";

/// Settings as a person wrote them, with hooks of their own.
const OWN: &str = "{\"model\":\"opus\",\n\t\"hooks\": {\"Stop\":[ {\"hooks\":[{\"type\":\"command\",\"command\":\"true\"}]} ]} }";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.claude(EARLIER);
    desk.write("home/.claude/skills/other/.claude-plugin/plugin.json", "{\"name\":\"other\"}");
    desk.write(SETTINGS, OWN);
    desk
}

fn settings(desk: &Desk) -> Value {
    serde_json::from_slice(&fs::read(desk.path(SETTINGS)).unwrap()).unwrap()
}

#[test]
fn an_earlier_version_gets_entries_and_every_file_is_byte_equal_after_uninstall() {
    for (scope, file, text) in [
        ("user", SETTINGS, Some(OWN)),
        ("user", SETTINGS, None),
        ("project", "project/.claude/settings.local.json", Some("{}\n\n")),
        ("project", "project/.claude/settings.local.json", None),
    ] {
        let desk = desk();
        fs::remove_file(desk.path(SETTINGS)).unwrap();
        if let Some(text) = text {
            desk.write(file, text);
            fs::set_permissions(desk.path(file), fs::Permissions::from_mode(0o600)).unwrap();
        }
        let before = [desk.tree("home"), desk.tree("project")];
        let printed = desk.fine(&["install", "--scope", scope]);
        assert_eq!(printed, format!("{}\n", desk.path(file).display()));
        let installed = desk.tree("home");
        let (code, status) = desk.status();
        assert_eq!(code, 0, "{status:#}");
        let at = usize::from(scope == "project");
        assert_eq!(status["scopes"][at]["form"], "settings", "{status:#}");
        assert!(!desk.plugin().exists());
        desk.fine(&["install", "--scope", scope]);
        assert_eq!(desk.tree("home"), installed, "a second installation adds nothing");
        if text.is_some() {
            let mode = fs::metadata(desk.path(file)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "settings may contain secrets");
        }
        desk.fine(&["uninstall", "--scope", scope]);
        assert_eq!([desk.tree("home"), desk.tree("project")], before, "{scope} {text:?}");
    }
}

#[test]
fn entries_are_added_behind_other_hooks_and_run_this_program() {
    let desk = desk();
    desk.fine(&["install"]);
    let settings = settings(&desk);
    assert_eq!(settings["model"], "opus");
    let program = desk.tidings(&[]).get_program().to_str().unwrap().to_owned();
    let data = desk.path("data").display().to_string();
    let groups = settings["hooks"]["Stop"].as_array().unwrap();
    assert_eq!(groups[0]["hooks"][0]["command"], "true");
    let command = format!("exec '{program}' hook run Stop --data '{data}'");
    assert_eq!(groups[1]["hooks"], json!([{"type": "command", "command": command, "timeout": 5}]));
    assert_eq!(settings["hooks"]["PermissionRequest"][0]["hooks"][0]["timeout"], 86400);
}

#[test]
fn settings_that_were_edited_since_are_left_alone() {
    let desk = desk();
    desk.fine(&["install"]);
    let mut edited = settings(&desk);
    edited["model"] = json!("sonnet");
    desk.write(SETTINGS, &edited.to_string());
    let before = desk.tree("home");
    for command in ["install", "uninstall"] {
        let message = desk.refused(&[command]);
        assert!(message.contains("edited") && message.contains("settings.json"), "{message}");
        assert_eq!(desk.tree("home"), before);
    }
    let (code, status) = desk.status();
    assert_eq!(
        (code, &status["scopes"][0]["state"]),
        (0, &json!("edited")),
        "the hooks still run: {status:#}"
    );
}

#[test]
fn settings_that_claude_code_rejects_and_links_are_left_alone_and_named() {
    for text in ["{ // a comment\n}", "[]", "{\"hooks\": []}", "{\"a\":1,\"a\":2}"] {
        let desk = desk();
        desk.write(SETTINGS, text);
        let before = desk.tree("home");
        let message = desk.refused(&["install"]);
        assert!(message.contains("settings.json"), "{message}");
        assert_eq!(desk.tree("home"), before);
    }
    let desk = desk();
    fs::rename(desk.path(SETTINGS), desk.path("home/dotfiles.json")).unwrap();
    symlink(desk.path("home/dotfiles.json"), desk.path(SETTINGS)).unwrap();
    let before = desk.tree("home");
    let message = desk.refused(&["install"]);
    assert!(message.contains("Symbolic links"), "{message}");
    assert_eq!(desk.tree("home"), before);
}

#[test]
fn an_update_of_claude_code_replaces_entries_by_a_plugin_folder_and_back() {
    let desk = desk();
    let before = desk.tree("home");
    desk.fine(&["install"]);
    desk.claude("2.1.325");
    desk.fine(&["install"]);
    assert_eq!(fs::read_to_string(desk.path(SETTINGS)).unwrap(), OWN);
    assert!(desk.plugin().is_dir());
    desk.claude(EARLIER);
    desk.fine(&["install"]);
    assert!(!desk.plugin().exists());
    desk.fine(&["uninstall"]);
    assert_eq!(desk.tree("home"), before);
}

#[test]
fn a_dry_run_changes_nothing_and_a_version_without_these_hooks_is_refused() {
    let desk = desk();
    let before = desk.tree("home");
    let printed = desk.fine(&["install", "--dry-run"]);
    assert!(printed.contains("hook run PermissionRequest") && printed.contains("\"opus\""), "{printed}");
    assert_eq!(desk.tree("home"), before);
    desk.claude("2.0.60");
    for args in [&["install"][..], &["install", "--as", "settings"]] {
        let message = desk.refused(args);
        assert!(message.contains("2.0.60") && message.contains("claude update"), "{message}");
        assert_eq!(desk.tree("home"), before);
    }
}

/// The installation was killed after the copy was saved, and before the settings were changed.
#[test]
fn an_interrupted_installation_can_be_repeated_or_removed() {
    for command in ["install", "uninstall"] {
        let desk = desk();
        let before = desk.tree("home");
        desk.fine(&["install"]);
        desk.write(SETTINGS, OWN);
        desk.fine(&[command]);
        if command == "install" {
            assert_eq!(settings(&desk)["hooks"]["Stop"].as_array().unwrap().len(), 2);
            desk.fine(&["uninstall"]);
        }
        assert_eq!(desk.tree("home"), before);
    }
}
