//! The folder of a session, as git sees it.

use std::process::Command;

use serde_json::json;

use crate::api::server::TestServer;

fn git(folder: &std::path::Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(args).current_dir(folder);
    assert!(command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap().status.success(), "git {args:?}");
}

#[tokio::test]
async fn f120_f124_the_folder_of_a_session_is_looked_at_without_running_anything_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let canary = root.join("canary");
    let plant = format!("touch {}; cat", canary.display());
    git(root, &["init", "-q"]);
    std::fs::create_dir(root.join("src")).unwrap();
    for (name, text) in [("src/main.rs", "fn main() {}\n"), ("notes.txt", "one\n"), (".gitignore", "*.log\n")]
    {
        std::fs::write(root.join(name), text).unwrap();
    }
    git(root, &["add", "."]);
    git(root, &["commit", "-qm", "first"]);
    for (setting, value) in [
        ("core.fsmonitor", plant.as_str()),
        ("diff.external", &plant),
        ("diff.planted.command", &plant),
        ("diff.planted.textconv", &plant),
        ("filter.planted.clean", &plant),
        ("filter.planted.process", &plant),
        ("core.pager", &plant),
    ] {
        git(root, &["config", setting, value]);
    }
    std::fs::write(root.join(".gitattributes"), "*.txt diff=planted filter=planted\n").unwrap();
    std::fs::write(root.join("notes.txt"), "two\n").unwrap();
    std::fs::write(root.join("made.log"), "ignored\n").unwrap();
    std::fs::write(root.join("git"), format!("#!/bin/sh\n{plant}\n")).unwrap();

    let server = TestServer::with_session(root.to_str().unwrap()).await;
    let (status, tree) = server.get("read", "/v1/sessions/1/diff").await;
    assert_eq!(status, 200, "{tree}");
    assert_eq!(tree["untracked"], json!([".gitattributes", "git"]));
    let diff = tree["diff"].as_str().unwrap();
    assert!(diff.contains("-one\n+two\n"), "{diff}");
    for (q, found) in [("main", json!(["src/main.rs"])), ("SRM", json!(["src/main.rs"])), ("log", json!([]))]
    {
        let (_, files) = server.get("read", &format!("/v1/sessions/1/files?q={q}")).await;
        assert_eq!(files["items"], found, "{q}");
    }
    assert!(!canary.exists(), "something of the folder was run");
}

/// The diff since the start has what was committed in the meantime, and the contents of new files.
#[tokio::test]
async fn the_diff_since_the_session_began_includes_commits_and_untracked_files() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let write = |name: &str, text: &str| std::fs::write(root.join(name), text).unwrap();
    git(&root, &["init", "-q"]);
    write("a.txt", "one\n");
    git(&root, &["add", "."]);
    git(&root, &["commit", "-qm", "first"]);
    let server = TestServer::with_session("/").await;
    let new = reqwest::Client::new().post(server.url("/v1/sessions")).bearer_auth("prompt");
    let (status, session) = server.send(new.json(&json!({"cwd": root}))).await;
    assert_eq!(status, 201, "{session}");
    let diff = async |query: &str| {
        let path = format!("/v1/sessions/{}/diff{query}", session["handle"]);
        let (status, tree) = server.get("read", &path).await;
        assert_eq!(status, 200, "{tree}");
        (tree["diff"].as_str().unwrap().to_owned(), tree)
    };
    assert_eq!(diff("?since=start").await.0, "");
    write("a.txt", "two\n");
    git(&root, &["commit", "-qam", "second"]);
    write("new.txt", "fresh\nlines");
    write(".env", "SECRET=1\n");
    std::fs::write(outside.path().join("mine"), "private\n").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path().join("mine"), root.join("link")).unwrap();
    let (since, tree) = diff("?since=start").await;
    assert!(since.contains("-one\n+two\n"), "{since}");
    let added =
        "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+fresh\n+lines\n\\ No newline at end of file\n";
    assert!(since.contains(added), "{since}");
    assert!(!since.contains("SECRET") && !since.contains("private"), "{since}");
    assert_eq!(tree["base"].as_str().unwrap().len(), 40);
    assert_eq!((&tree["diff_cut"], tree["untracked"].as_array().unwrap().len()), (&false.into(), 3));
    let (head, tree) = diff("").await;
    assert_eq!(head, "", "the last commit has it");
    assert_ne!(tree["base"], diff("?since=start").await.1["base"]);
    assert_eq!(server.get("read", "/v1/sessions/1/diff?since=yesterday").await.0, 400);
    let long = "x".repeat(3 << 20);
    write("long.txt", &long);
    let (cut, tree) = diff("?since=start").await;
    assert!(cut.len() < long.len() && tree["diff_cut"] == true, "{}", cut.len());
}

/// F120, F124: settings that run programs in ways that are easy to miss. Each repository has one changed
/// file.
#[tokio::test]
async fn f120_f124_no_spelling_of_a_setting_makes_git_run_something() {
    type Plant = fn(&std::path::Path, &str);
    let plants: [(&str, Plant); 6] = [
        ("a filter with a `=` in its name", |root, plant| {
            git(root, &["config", "filter.a=b.clean", plant]);
            std::fs::write(root.join(".git/info/attributes"), "*.txt filter=a=b\n").unwrap();
        }),
        ("a filter whose name is not UTF-8", |root, plant| {
            let mut config = std::fs::read(root.join(".git/config")).unwrap();
            config.extend(b"[filter \"\xff\"]\nclean = \"");
            config.extend(plant.as_bytes());
            config.extend(b"\"\n");
            std::fs::write(root.join(".git/config"), config).unwrap();
            std::fs::write(root.join(".git/info/attributes"), b"*.txt filter=\xff\n").unwrap();
        }),
        ("settings in another file", |root, plant| {
            git(root, &["config", "include.path", "more"]);
            git(root, &["config", "-f", ".git/more", "Filter.X.Clean", plant]);
            git(root, &["config", "-f", ".git/more", "--add", "filter.X.clean", plant]);
            git(root, &["config", "-f", ".git/more", "core.fsmonitor", plant]);
            std::fs::write(root.join(".gitattributes"), "*.txt filter=X\n").unwrap();
        }),
        ("settings of one working tree", |root, plant| {
            git(root, &["config", "extensions.worktreeConfig", "true"]);
            git(root, &["config", "--worktree", "filter.x.process", plant]);
            git(root, &["config", "--worktree", "diff.x.textconv", plant]);
            std::fs::write(root.join(".gitattributes"), "*.txt filter=x diff=x\n").unwrap();
        }),
        ("a repository within it", |root, plant| {
            let inner = root.join("inner");
            std::fs::create_dir(&inner).unwrap();
            git(&inner, &["init", "-q"]);
            std::fs::write(inner.join("a.txt"), "a\n").unwrap();
            std::fs::write(inner.join(".gitattributes"), "*.txt diff=x filter=x\n").unwrap();
            git(&inner, &["add", "."]);
            git(&inner, &["commit", "-qm", "first"]);
            git(root, &["-c", "advice.addEmbeddedRepo=false", "add", "inner"]);
            git(root, &["commit", "-qm", "inner"]);
            std::fs::write(inner.join("a.txt"), "b\n").unwrap();
            git(&inner, &["commit", "-qam", "second"]);
            std::fs::write(inner.join("a.txt"), "c\n").unwrap();
            for setting in ["diff.x.command", "filter.x.clean", "core.fsmonitor"] {
                git(&inner, &["config", setting, plant]);
            }
            for (setting, value) in [
                ("diff.submodule", "diff"),
                ("diff.ignoreSubmodules", "none"),
                ("status.submoduleSummary", "true"),
                ("submodule.recurse", "true"),
            ] {
                git(root, &["config", setting, value]);
            }
        }),
        ("programs for transport, signatures and names", |root, plant| {
            for setting in [
                "alias.diff",
                "alias.ls-files",
                "core.sshCommand",
                "core.askPass",
                "core.editor",
                "core.alternateRefsCommand",
                "credential.helper",
                "gpg.program",
                "interactive.diffFilter",
                "pager.diff",
                "diff.guitool",
            ] {
                git(root, &["config", setting, plant]);
            }
            git(root, &["config", "diff.x.xfuncname", "^x"]);
            for hook in ["post-index-change", "fsmonitor-watchman", "pre-auto-gc"] {
                let path = root.join(".git/hooks").join(hook);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, format!("#!/bin/sh\n{plant}\n")).unwrap();
                std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            }
        }),
    ];
    for (what, plants) in plants {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("repository");
        let canary = folder.path().join("canary");
        std::fs::create_dir(&root).unwrap();
        git(&root, &["init", "-q"]);
        std::fs::write(root.join("notes.txt"), "one\n").unwrap();
        git(&root, &["add", "."]);
        git(&root, &["commit", "-qm", "first"]);
        std::fs::write(root.join("notes.txt"), "two\n").unwrap();
        plants(&root, &format!("touch {}; cat", canary.display()));
        drop(std::fs::remove_file(&canary));

        let server = TestServer::with_session(root.to_str().unwrap()).await;
        let (status, tree) = server.get("read", "/v1/sessions/1/diff").await;
        assert_eq!(status, 200, "{what}: {tree}");
        assert!(tree["diff"].as_str().unwrap().contains("-one\n+two\n"), "{what}: {tree}");
        let (_, files) = server.get("read", "/v1/sessions/1/files?q=notes").await;
        assert_eq!(files["items"], json!(["notes.txt"]), "{what}");
        assert!(!canary.exists(), "{what}");
    }
}

/// A repository can name a work tree elsewhere, which is not the folder of the session.
#[tokio::test]
async fn t12_a_repository_cannot_show_the_files_of_another_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (root, other) = (folder.path().join("repository"), folder.path().join("other"));
    for (path, text) in [(&root, "one\n"), (&other, "private\n")] {
        std::fs::create_dir(path).unwrap();
        std::fs::write(path.join("notes.txt"), text).unwrap();
    }
    std::fs::write(other.join("more.txt"), "").unwrap();
    git(&root, &["init", "-q"]);
    git(&root, &["add", "."]);
    git(&root, &["commit", "-qm", "first"]);
    git(&root, &["config", "core.worktree", other.to_str().unwrap()]);
    let server = TestServer::with_session(root.to_str().unwrap()).await;
    let (_, tree) = server.get("read", "/v1/sessions/1/diff").await;
    assert_eq!((&tree["repository"], &tree["diff"]), (&json!(false), &json!("")), "{tree}");
    let (_, files) = server.get("read", "/v1/sessions/1/files").await;
    assert_eq!(files["items"], json!(["notes.txt"]));
}

#[tokio::test]
async fn a_folder_without_version_control_is_looked_through() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
    std::fs::write(folder.path().join("a/b/c.txt"), "").unwrap();
    std::fs::write(folder.path().join(".hidden"), "").unwrap();
    let server = TestServer::with_session(folder.path().to_str().unwrap()).await;
    let (_, files) = server.get("read", "/v1/sessions/1/files").await;
    assert_eq!(files, json!({"items":["a/b/c.txt"],"more":false}));
    let (_, tree) = server.get("read", "/v1/sessions/1/diff").await;
    assert_eq!(tree["repository"], false);
}
