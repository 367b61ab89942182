//! `tidings hook install` and `uninstall`, beside files of others.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use super::desk::Desk;

/// A desk with another plugin, a skill, hooks in the settings, and a settings file that is not valid JSON.
fn busy_desk() -> Desk {
    let desk = Desk::new();
    desk.write("home/.claude/skills/other/.claude-plugin/plugin.json", "{\"name\":\"other\"}");
    desk.write("home/.claude/skills/other/hooks/hooks.json", "{\"hooks\":{}}");
    desk.write("home/.claude/skills/notes/SKILL.md", "---\nname: notes\n---\n");
    desk.write("home/.claude/settings.json", "{ // a comment\n  \"hooks\": {\"Stop\": []} }");
    desk.write("home/.claude/.claude.json", "{\"projects\":{}}");
    desk.write("project/.claude/settings.local.json", "{\"hooks\":{}}");
    desk.write("project/.claude/skills/ours/SKILL.md", "ours\n");
    desk
}

fn hooks(desk: &Desk) -> Value {
    serde_json::from_slice(&fs::read(desk.plugin().join("hooks/hooks.json")).unwrap()).unwrap()
}

#[test]
fn install_upgrade_and_uninstall_leave_all_other_files_alone() {
    for (scope, plugin) in
        [("user", "home/.claude/skills/tidings"), ("project", "project/.claude/skills/tidings")]
    {
        let desk = busy_desk();
        let before = [desk.tree("home"), desk.tree("project")];
        let others = || {
            let trees = [desk.tree("home"), desk.tree("project")];
            trees.map(|mut tree| {
                tree.retain(|path, _| !path.starts_with(desk.path(plugin)));
                tree
            })
        };
        let printed = desk.fine(&["install", "--scope", scope]);
        assert_eq!(printed, format!("{}\n", desk.path(plugin).display()));
        let installed = desk.tree(plugin);
        assert_eq!(others(), before);

        // An older version wrote another program and version.
        let manifest = desk.path(plugin).join(".claude-plugin/plugin.json");
        let old = fs::read_to_string(&manifest).unwrap().replace("\"version\": \"", "\"version\": \"0.0.0-");
        fs::write(&manifest, old).unwrap();
        desk.write(&format!("{plugin}/hooks/hooks.json"), "{}");
        desk.fine(&["install", "--scope", scope]);
        assert_eq!(desk.tree(plugin), installed);
        assert_eq!(others(), before);

        desk.fine(&["uninstall", "--scope", scope]);
        assert_eq!([desk.tree("home"), desk.tree("project")], before);
        desk.fine(&["uninstall", "--scope", scope]);
        assert_eq!([desk.tree("home"), desk.tree("project")], before);
    }
}

#[test]
fn every_event_runs_this_program_in_exec_form() {
    let desk = Desk::new();
    desk.fine(&["install"]);
    let hooks = hooks(&desk);
    let program = desk.tidings(&[]).get_program().to_str().unwrap().to_owned();
    let data = desk.path("data").display().to_string();
    let events = hooks["hooks"].as_object().unwrap();
    let plugin = include_str!("../../../../plugin/hooks/hooks.json");
    let plugin: serde_json::Value = serde_json::from_str(plugin).unwrap();
    assert!(events.keys().eq(plugin["hooks"].as_object().unwrap().keys()), "the events of the plugin");
    for (event, groups) in events {
        let hook = &groups[0]["hooks"][0];
        assert_eq!(hook["type"], "command");
        assert_eq!(hook["command"], program.as_str());
        assert_eq!(hook["args"], serde_json::json!(["hook", "run", event, "--data", data]));
        let is_long = event == "PermissionRequest";
        assert_eq!(hook["timeout"], if is_long { 86400 } else { 5 }, "{event}");
    }
}

#[test]
fn the_usual_data_folder_is_not_written_into_the_hooks() {
    let desk = Desk::new();
    let mut command = desk.tidings(&["hook", "install"]);
    assert!(command.env_remove("TIDINGS_DATA_DIR").output().unwrap().status.success());
    assert_eq!(
        hooks(&desk)["hooks"]["Stop"][0]["hooks"][0]["args"],
        serde_json::json!(["hook", "run", "Stop"])
    );
    desk.fine(&["install", "--data", "relative"]);
    let args = hooks(&desk)["hooks"]["Stop"][0]["hooks"][0]["args"].clone();
    assert_eq!(args[4], desk.path("project/relative").to_str().unwrap());
}

#[test]
fn a_program_on_the_path_is_recorded_by_that_name() {
    let desk = Desk::new();
    let program = desk.tidings(&[]).get_program().to_owned();
    symlink(&program, desk.path("bin/tidings")).unwrap();
    desk.fine(&["install"]);
    let command = hooks(&desk)["hooks"]["Stop"][0]["hooks"][0]["command"].clone();
    assert_eq!(command, desk.path("bin/tidings").to_str().unwrap());
}

#[test]
fn folders_that_install_made_are_removed_again_if_they_are_empty() {
    let desk = Desk::new();
    fs::remove_dir(desk.path("home/.claude")).unwrap();
    for scope in ["user", "project"] {
        let before = [desk.tree("home"), desk.tree("project")];
        desk.fine(&["install", "--scope", scope]);
        desk.fine(&["install", "--scope", scope]);
        desk.fine(&["uninstall", "--scope", scope]);
        assert_eq!([desk.tree("home"), desk.tree("project")], before);
    }
    // A folder that was there stays, although it is empty.
    fs::create_dir_all(desk.path("home/.claude/skills")).unwrap();
    desk.fine(&["install"]);
    desk.fine(&["uninstall"]);
    assert!(desk.path("home/.claude/skills").is_dir());
}

#[test]
fn files_that_users_added_to_the_plugin_folder_stay() {
    let desk = Desk::new();
    desk.fine(&["install"]);
    desk.write("home/.claude/skills/tidings/SKILL.md", "mine");
    desk.fine(&["install"]);
    desk.fine(&["uninstall"]);
    let left: Vec<_> = desk.tree("home/.claude/skills").into_keys().collect();
    assert_eq!(left, [desk.plugin(), desk.plugin().join("SKILL.md")]);
}

#[test]
fn folders_of_others_are_refused() {
    for (file, text) in [
        ("SKILL.md", "mine"),
        (".claude-plugin/plugin.json", "{\"name\":\"tidings\"}"),
        (".claude-plugin/plugin.json", "{\"name\":\"tidings\",\"author\":{\"name\":\"Ada\"}}"),
        (".claude-plugin/plugin.json/file", ""),
    ] {
        let desk = Desk::new();
        desk.write(&format!("home/.claude/skills/tidings/{file}"), text);
        let before = desk.tree("home");
        for command in ["install", "uninstall"] {
            assert!(desk.refused(&[command]).contains("not from Tidings"), "{file}");
        }
        assert_eq!(desk.tree("home"), before);
        assert_eq!(desk.status().1["scopes"][0]["state"], "foreign");
    }
    let desk = Desk::new();
    desk.write("home/.claude/skills/tidings", "a file");
    assert!(desk.refused(&["install"]).contains("not from Tidings"));
}

#[test]
fn symbolic_links_are_refused() {
    for (scope, link) in [
        ("user", "home/.claude/skills"),
        ("user", "home/.claude/skills/tidings"),
        ("user", "home/.claude/skills/tidings/hooks"),
        ("user", "home/.claude/skills/tidings/.claude-plugin"),
        ("user", "home/.claude/skills/tidings/hooks/hooks.json"),
        ("project", "project/.claude"),
        ("project", "project/.claude/skills"),
        ("project", "project/.claude/skills/tidings"),
    ] {
        let desk = Desk::new();
        desk.fine(&["install", "--scope", scope]);
        // What the link leads to is our own, so only the link is a reason to refuse.
        fs::rename(desk.path(link), desk.path("elsewhere")).unwrap();
        symlink(desk.path("elsewhere"), desk.path(link)).unwrap();
        let before = desk.tree("");
        for command in ["install", "uninstall"] {
            let message = desk.refused(&[command, "--scope", scope]);
            assert!(message.contains(desk.path(link).to_str().unwrap()), "{message}");
        }
        assert_eq!(desk.tree(""), before);
    }
}

#[test]
fn a_configuration_folder_that_is_a_link_is_the_users_choice() {
    let desk = Desk::new();
    fs::rename(desk.path("home/.claude"), desk.path("dotfiles")).unwrap();
    symlink(desk.path("dotfiles"), desk.path("home/.claude")).unwrap();
    desk.fine(&["install"]);
    assert!(desk.path("dotfiles/skills/tidings/hooks/hooks.json").is_file());
}

#[test]
fn a_dry_run_writes_and_removes_nothing() {
    let desk = busy_desk();
    let before = desk.tree("");
    let printed = desk.fine(&["install", "--dry-run"]);
    assert!(printed.contains("hooks/hooks.json") && printed.contains("PermissionRequest"), "{printed}");
    assert_eq!(desk.tree(""), before);
    desk.fine(&["install"]);
    let before = desk.tree("");
    assert_eq!(desk.fine(&["uninstall", "--dry-run"]), format!("{}\n", desk.plugin().display()));
    assert_eq!(desk.tree(""), before);
}

#[test]
fn the_project_needs_no_hooks_beside_those_of_the_user() {
    let desk = Desk::new();
    desk.fine(&["install"]);
    assert!(desk.refused(&["install", "--scope", "project"]).contains("already installed for the user"));
    desk.fine(&["uninstall"]);
    desk.fine(&["install", "--scope", "project"]);
    desk.fine(&["install"]);
    let (_, status) = desk.status();
    let problems = status["problems"].to_string();
    assert!(problems.contains("skips those of this project"), "{problems}");
}
