//! The files of a session's folder, commits, and git worktrees.

use std::path::{Path, PathBuf};
use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};

use crate::api::server::TestServer;

const HELLO: &str = "[[turn]]\ntext = \"Hello to you.\"\nrepeat = true\n";

/// Scopes of a device for daily use.
const DAILY: &str = "read,prompt,decide,edit,always";

struct Project {
    server: TestServer,
    folder: PathBuf,
    root: PathBuf,
}

/// Runs `git` as a person would, with everything that is configured.
fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(args).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Ada").env(format!("GIT_{who}_EMAIL"), "ada@example.org");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

impl Project {
    /// A server that may use the folder `allowed`, with a repository in it.
    async fn start() -> Project {
        let builder = TestServer::builder().script(HELLO).api().session("/");
        let root = builder.root();
        let folder = root.join("allowed/project");
        std::fs::create_dir_all(folder.join("src")).unwrap();
        std::fs::create_dir_all(root.join("home")).unwrap();
        std::fs::write(root.join("home/.gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n")
            .unwrap();
        std::fs::write(folder.join("src/main.rs"), "fn main() {}\n").unwrap();
        std::fs::write(folder.join(".env"), "KEY=before\n").unwrap();
        git(&folder, &["init", "-q", "-b", "main"]);
        git(&folder, &["add", "-A"]);
        git(&folder, &["commit", "-q", "-m", "one"]);
        let (allowed, home) = (root.join("allowed"), root.join("home"));
        let builder = builder.config(|config| {
            config.roots = vec![allowed];
            config.environment.push(("HOME".to_owned(), home.to_str().unwrap().to_owned()));
        });
        Project { server: builder.start().await, folder, root }
    }

    async fn send(&self, who: &str, method: Method, path: &str, body: Value) -> (u16, Value) {
        self.server.call_as(who, method.as_str(), path, Some(body).filter(|body| !body.is_null())).await
    }

    /// Creates a session in the project, and returns its path.
    async fn session(&self, more: Value) -> (u16, Value) {
        let mut new = json!({"cwd": self.folder});
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.send(DAILY, Method::POST, "/v1/sessions", new).await
    }

    async fn session_path(&self) -> String {
        let (status, session) = self.session(json!({})).await;
        assert_eq!(status, 201, "{session}");
        format!("/v1/sessions/{}", session["handle"])
    }
}

/// Hooks, filters and other programs that leave a trace if they run.
fn set_traps(folder: &Path, trace: &Path) {
    let trap = format!("#!/bin/sh\necho ran >> {}\ncat\n", trace.display());
    let program = folder.join(".git/trap");
    std::fs::write(&program, &trap).unwrap();
    for hook in [
        "pre-commit",
        "commit-msg",
        "post-commit",
        "post-checkout",
        "prepare-commit-msg",
        "post-index-change",
    ] {
        std::fs::copy(&program, folder.join(".git/hooks").join(hook)).unwrap();
    }
    for file in std::fs::read_dir(folder.join(".git/hooks")).unwrap().flatten() {
        let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(file.path(), everyone).unwrap();
    }
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    for (name, value) in [
        ("core.fsmonitor", program),
        ("core.editor", program),
        ("gpg.program", program),
        ("commit.gpgSign", "true"),
        ("diff.external", program),
        ("filter.trap.clean", program),
        ("filter.trap.smudge", program),
    ] {
        git(folder, &["config", name, value]);
    }
    let hooks = folder.join(".git/hooks");
    git(folder, &["config", "core.hooksPath", hooks.to_str().unwrap()]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_are_staged_and_committed_without_programs_of_the_repository() {
    let project = Project::start().await;
    let at = project.session_path().await;
    let trace = project.root.join("trace");
    set_traps(&project.folder, &trace);
    std::fs::write(project.folder.join("src/main.rs"), "fn main() { println!(); }\n").unwrap();
    std::fs::write(project.folder.join("new file.txt"), "new\n").unwrap();
    let stage = |paths: Value, staged: bool| {
        let (at, project) = (at.clone(), &project);
        async move {
            project
                .send(DAILY, Method::POST, &format!("{at}/stage"), json!({"paths":paths,"staged":staged}))
                .await
        }
    };
    let commit = |message: &'static str| {
        let (at, project) = (at.clone(), &project);
        async move { project.send(DAILY, Method::POST, &format!("{at}/commit"), json!({"message":message})).await }
    };
    let (status, refused) = commit("nothing is staged").await;
    assert_eq!((status, &refused["code"]), (409, &json!("conflict")));
    let (status, tree) = stage(json!(["src/main.rs", "new file.txt"]), true).await;
    assert_eq!((status, &tree["staged"]), (200, &json!(["new file.txt", "src/main.rs"])), "{tree}");
    assert_eq!(tree["branch"], "main");
    let (_, tree) = stage(json!(["new file.txt"]), false).await;
    assert_eq!((&tree["staged"], &tree["untracked"]), (&json!(["src/main.rs"]), &json!(["new file.txt"])));
    let (status, made) = commit("Print a line\n\nand say why").await;
    assert_eq!((status, &made["files"]), (201, &json!(1)), "{made}");
    assert_eq!(
        git(&project.folder, &["log", "-1", "--no-ext-diff", "--format=%an <%ae>%n%B"]),
        "Ada <ada@example.org>\nPrint a line\n\nand say why"
    );
    assert_eq!(git(&project.folder, &["rev-parse", "HEAD"]), made["commit"]);
    // A filter would change the contents, and does not run here.
    std::fs::write(project.folder.join(".gitattributes"), "*.bin filter=trap\n").unwrap();
    std::fs::write(project.folder.join("large.bin"), "x").unwrap();
    let (status, refused) = stage(json!(["."]), true).await;
    assert_eq!(status, 422, "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("large.bin"), "{refused}");
    for path in ["../../home/.gitconfig", "/etc/passwd", ""] {
        assert_eq!(stage(json!([path]), true).await.0, 400, "{path}");
    }
    let (status, _) = project
        .send("read,prompt,decide,edit", Method::POST, &format!("{at}/commit"), json!({"message":"x"}))
        .await;
    assert_eq!(status, 403);
    let audit = project.server.get("admin", "/v1/audit").await.1.to_string();
    assert!(audit.contains("committed"), "{audit}");
    assert!(!trace.exists(), "a program of the repository ran: {:?}", std::fs::read_to_string(&trace));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_in_a_diff_or_a_file_need_the_scope_admin() {
    let project = Project::start().await;
    let at = project.session_path().await;
    std::fs::write(project.folder.join(".env"), "KEY=after\n").unwrap();
    std::fs::write(project.folder.join("src/main.rs"), "fn main() { run(); }\n").unwrap();
    for since in ["head", "start"] {
        let (_, tree) =
            project.send(DAILY, Method::GET, &format!("{at}/diff?since={since}"), json!(null)).await;
        let diff = tree["diff"].as_str().unwrap();
        assert!(diff.contains("run()") && !diff.contains("KEY"), "{diff}");
        assert_eq!(tree["hidden"], json!([".env"]));
        let (_, tree) =
            project.send("admin", Method::GET, &format!("{at}/diff?since={since}"), json!(null)).await;
        assert!(tree["diff"].as_str().unwrap().contains("KEY=after"), "{tree}");
    }
    let (status, _) = project.send(DAILY, Method::GET, &format!("{at}/file?path=.env"), json!(null)).await;
    assert_eq!(status, 403);
    let (status, file) =
        project.send("admin", Method::GET, &format!("{at}/file?path=.env"), json!(null)).await;
    assert_eq!((status, &file["text"]), (200, &json!("KEY=after\n")));
    let (_, list) = project.send("read", Method::GET, &format!("{at}/tree"), json!(null)).await;
    assert_eq!(list["items"][0], json!({"name":"src","kind":"folder"}), "{list}");
    let (status, _) = project.send("read", Method::GET, &format!("{at}/tree?path=../"), json!(null)).await;
    assert_eq!(status, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_gets_a_worktree_that_is_removed_only_without_uncommitted_changes() {
    let project = Project::start().await;
    let trace = project.root.join("trace");
    set_traps(&project.folder, &trace);
    let (status, session) = project.session(json!({"worktree":"feature/one"})).await;
    assert_eq!(status, 201, "{session}");
    let folder = project.folder.join(".claude/worktrees/feature-one");
    assert_eq!(session["cwd"], json!(folder));
    assert_eq!(session["worktree"]["branch"], "feature/one");
    assert_eq!(session["worktree"]["project"], json!(project.folder));
    assert!(folder.join("src/main.rs").is_file());
    // Without locks it does not write the index, which would run a hook.
    let status = |folder: &Path| {
        git(folder, &["--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain"])
    };
    assert_eq!(status(&project.folder), "", "the project does not list its worktrees");
    // The same name is taken, also by another session.
    let (refused, problem) = project.session(json!({"worktree":"feature/one"})).await;
    assert_eq!(refused, 409, "{problem}");
    for name in ["-x", "a b", "../../x", "a..b", "x.lock"] {
        assert_eq!(project.session(json!({"worktree":name})).await.0, 400, "{name}");
    }
    let at = format!("/v1/sessions/{}", session["handle"]);
    std::fs::write(folder.join("notes.txt"), "mine\n").unwrap();
    let (_, state) = project.send(DAILY, Method::GET, &format!("{at}/worktree"), json!(null)).await;
    assert_eq!((&state["changes"], &state["commits"]), (&json!(1), &json!(0)), "{state}");
    let remove = format!("{at}/worktree/remove");
    let (refused, problem) = project.send(DAILY, Method::POST, &remove, json!({})).await;
    assert_eq!(refused, 409, "{problem}");
    assert!(folder.join("notes.txt").is_file());
    let (refused, _) =
        project.send("read,prompt,decide,edit", Method::POST, &remove, json!({"discard":true})).await;
    assert_eq!(refused, 403);
    // A commit is on the branch, which stays.
    let (staged, tree) =
        project.send(DAILY, Method::POST, &format!("{at}/stage"), json!({"paths":["."],"staged":true})).await;
    assert_eq!(staged, 200, "{tree}");
    let (made, commit) =
        project.send(DAILY, Method::POST, &format!("{at}/commit"), json!({"message":"Add notes"})).await;
    assert_eq!(made, 201, "{commit}");
    let (_, state) = project.send(DAILY, Method::GET, &format!("{at}/worktree"), json!(null)).await;
    assert_eq!((&state["changes"], &state["commits"]), (&json!(0), &json!(1)), "{state}");
    let (removed, view) = project.send(DAILY, Method::POST, &remove, json!({})).await;
    assert_eq!((removed, &view["worktree"]["removed"]), (200, &json!(true)), "{view}");
    assert!(!folder.exists());
    assert_eq!(git(&project.folder, &["rev-parse", "feature/one"]), commit["commit"]);
    assert_eq!(project.send(DAILY, Method::POST, &remove, json!({})).await.0, 200, "it is removed already");
    // Without a name the server chooses one, and with `discard` changes are lost on purpose.
    let (_, session) = project.session(json!({"worktree":""})).await;
    let folder = PathBuf::from(session["cwd"].as_str().unwrap());
    std::fs::write(folder.join("notes.txt"), "mine\n").unwrap();
    let remove = format!("/v1/sessions/{}/worktree/remove", session["handle"]);
    assert_eq!(project.send(DAILY, Method::POST, &remove, json!({"discard":true})).await.0, 200);
    assert!(!folder.exists());
    // Its folder was deleted by hand.
    let (_, session) = project.session(json!({"worktree":""})).await;
    std::fs::remove_dir_all(session["cwd"].as_str().unwrap()).unwrap();
    let remove = format!("/v1/sessions/{}/worktree/remove", session["handle"]);
    let (removed, view) = project.send(DAILY, Method::POST, &remove, json!({})).await;
    assert_eq!((removed, &view["worktree"]["removed"]), (200, &json!(true)), "{view}");
    assert!(!trace.exists(), "a program of the repository ran");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worktree_is_not_made_through_a_link_or_outside_of_a_repository() {
    let project = Project::start().await;
    std::os::unix::fs::symlink(project.root.join("home"), project.folder.join(".claude")).unwrap();
    let (status, problem) = project.session(json!({"worktree":"one"})).await;
    assert_eq!(status, 422, "{problem}");
    assert_eq!(std::fs::read_dir(project.root.join("home")).unwrap().count(), 1);
    let plain = project.root.join("allowed/plain");
    std::fs::create_dir(&plain).unwrap();
    let (status, _) = project.session(json!({"cwd":plain,"worktree":""})).await;
    assert_eq!(status, 400);
    // The repository of an allowed folder lies elsewhere.
    let elsewhere = project.root.join("home/elsewhere");
    git(
        &project.root,
        &["init", "-q", "--separate-git-dir", elsewhere.to_str().unwrap(), plain.to_str().unwrap()],
    );
    git(&plain, &["commit", "-q", "--allow-empty", "-m", "one"]);
    let (status, problem) = project.session(json!({"cwd":plain,"worktree":""})).await;
    assert_eq!((status, &problem["code"]), (403, &json!("outside_roots")), "{problem}");
    let (_, session) = project.session(json!({"cwd":plain})).await;
    std::fs::write(plain.join("new.txt"), "new").unwrap();
    let path = format!("/v1/sessions/{}/stage", session["handle"]);
    let (status, problem) =
        project.send(DAILY, Method::POST, &path, json!({"paths":["new.txt"],"staged":true})).await;
    assert_eq!((status, &problem["code"]), (403, &json!("outside_roots")), "{problem}");
}
