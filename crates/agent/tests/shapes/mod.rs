//! Policies allow commands that are fully known, and ask about everything else.

mod facts;
mod second_parser;
mod tables;

use std::path::PathBuf;
use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use tidings_agent::permissions::{Ask, CodeSources, SessionFacts, SessionFolder, SessionKind};
use tidings_agent::policy::{PermissionPolicy, PolicyDecision, RuleTable, Then, Unattended};
use tidings_protocol::control::CanUseTool;

use tables::{EVERYDAY, HOSTILE};

fn ask_in(folder: &str, tool: &str, input: Value) -> Ask {
    ask_with(&SessionFacts::in_folder(folder), tool, input)
}

fn ask_with(facts: &SessionFacts, tool: &str, input: Value) -> Ask {
    Ask::new(1, "r", &CanUseTool::new(tool, input.into(), "t"), facts).on_disk()
}

/// A project with a repository, whose remote is `origin` and whose branches are `main` and `feature/x`.
pub(crate) struct Project {
    _root: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) folder: String,
}

impl Project {
    pub(crate) fn new() -> Self {
        // A hidden folder alone would make the policy ask.
        let temporary = tempfile::Builder::new().prefix("project").tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        let git = root.join("demo/.git");
        for folder in ["refs/heads/feature", "refs/remotes/origin", "refs/tags"] {
            fs_err::create_dir_all(git.join(folder)).unwrap();
        }
        for folder in ["src", "tests"] {
            fs_err::create_dir_all(root.join("demo").join(folder)).unwrap();
        }
        fs_err::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs_err::write(git.join("config"), Self::CONFIG).unwrap();
        fs_err::write(git.join("packed-refs"), "# pack-refs\n1 refs/heads/main\n2 refs/tags/v1.0\n").unwrap();
        for name in ["heads/feature/x", "remotes/origin/main", "remotes/origin/only-at-origin"] {
            fs_err::write(git.join("refs").join(name), "1\n").unwrap();
        }
        let folder = root.join("demo").to_str().unwrap().to_owned();
        Project { _root: temporary, root, folder }
    }

    pub(crate) const CONFIG: &str = "[remote \"origin\"]\n\turl = https://github.com/ada/demo\n";

    /// The facts of a session that begins now.
    pub(crate) fn facts(&self) -> SessionFacts {
        let folder = SessionFolder::on_disk(&self.folder);
        SessionFacts::new(folder, SessionKind::Driven, CodeSources::read(&self.folder), Vec::new())
    }
}

/// The rule that allows a call without asking, by the policy `standard`, or by `unattended` while no user is
/// connected.
fn allowed_by(ask: &Ask) -> Option<String> {
    static POLICY: LazyLock<Then<RuleTable, Unattended>> =
        LazyLock::new(|| Then(RuleTable::standard(), Unattended::default()));
    let now = Timestamp::UNIX_EPOCH;
    let standard = POLICY.0.decide(ask, now);
    let unattended = POLICY.1.decide(ask, now);
    [standard, unattended].into_iter().find(|it| it.decision == PolicyDecision::Allow).map(|it| it.rule)
}

fn allowed(folder: &str, commands: &[&str]) -> Vec<String> {
    allowed_with(&SessionFacts::in_folder(folder), commands)
}

fn allowed_with(facts: &SessionFacts, commands: &[&str]) -> Vec<String> {
    let rule = |command: &&str| allowed_by(&ask_with(facts, "Bash", json!({ "command": command })));
    commands.iter().filter_map(|command| Some(format!("{command} by {}", rule(command)?))).collect()
}

#[test]
fn k3_hostile_commands_are_never_allowed_unasked() {
    let project = Project::new();
    for facts in [SessionFacts::in_folder("/home/ada/demo"), project.facts()] {
        let allowed = allowed_with(&facts, HOSTILE);
        assert!(allowed.is_empty(), "{} of {}: {allowed:#?}", allowed.len(), HOSTILE.len());
    }
    assert!(HOSTILE.len() > 500);
}

#[test]
fn k3_everyday_commands_are_still_allowed() {
    let table = RuleTable::standard();
    let project = Project::new();
    let facts = project.facts();
    let asked: Vec<String> = EVERYDAY
        .iter()
        .filter_map(|command| {
            let ask = ask_with(&facts, "Bash", json!({ "command": command }));
            let decided = table.decide(&ask, Timestamp::UNIX_EPOCH);
            (decided.decision != PolicyDecision::Allow).then(|| format!("{command} by {}", decided.rule))
        })
        .collect();
    assert!(asked.is_empty(), "{} of {}: {asked:#?}", asked.len(), EVERYDAY.len());
}

/// One hostile command makes the policy ask about the whole line, at any position.
#[test]
fn k3_a_hostile_command_is_not_hidden_by_everyday_ones() {
    let project = Project::new();
    let facts = project.facts();
    for hostile in HOSTILE.iter().filter(|command| !command.contains(['\n', '<'])) {
        for line in [format!("cd src && {hostile}"), format!("{hostile} ; ls")] {
            let ask = ask_with(&facts, "Bash", json!({ "command": line }));
            assert_eq!(allowed_by(&ask), None, "{line}");
        }
    }
}

/// A fully known command becomes unknown with one more option, or with a path outside of the project.
#[test]
fn k3_one_more_option_or_path_is_asked_about() {
    let project = Project::new();
    let facts = project.facts();
    let plain = |command: &&&str| {
        !command.contains(['|', ';', '&', '\'', '"', '<', '>'])
            && !command.contains(" -- ")
            && !command.starts_with("bash")
    };
    let builds = [
        "cargo", "npm", "yarn", "pnpm", "pytest", "go", "make", "jest", "mvn", "gradle", "cmake", "gcc",
        "pip",
    ];
    for command in EVERYDAY.iter().filter(plain) {
        let program = command.split(' ').next().unwrap();
        let mut lines = Vec::new();
        if !["echo", "sleep"].contains(&program) {
            let options = ["--zzz", "--zzz=./x", "--exec=./x", "--config ./x", "--output=x", "-\u{e9}", "-%"];
            lines.extend(options.map(|option| format!("{command} {option}")));
        }
        if builds.contains(&program) {
            lines.extend(
                ["/elsewhere/x", "../x", "~/x", "https://evil.org/x"].map(|path| format!("{command} {path}")),
            );
        }
        for line in lines {
            let ask = ask_with(&facts, "Bash", json!({ "command": line }));
            assert_eq!(allowed_by(&ask), None, "{line}");
        }
    }
}

#[test]
fn k3_files_that_run_are_not_written_unasked() {
    for path in [
        ".github/workflows/ci.test.yml",
        ".github/workflows/tests/ci.yml",
        "tests/.github/workflows/x.test.yml",
        ".git/hooks/pre-commit",
        ".husky/pre-commit",
        "tests/hooks/pre-push",
        "tests/Makefile",
        "tests/GNUmakefile",
        "tests/justfile",
        "tests/conftest.py",
        "tests/setup.py",
        "tests/pyproject.toml",
        "tests/requirements.txt",
        "tests/package.json",
        "tests/Cargo.toml",
        "tests/build.rs",
        "tests/CMakeLists.txt",
        "tests/jest.config.js",
        "vitest.config.test.ts",
        "tests/Dockerfile",
        "tests/Jenkinsfile",
        "tests/docker-compose.yml",
        "spec/Rakefile",
        "azure-pipelines.test.yml",
        "tests/CLAUDE.md",
        ".claude/settings.test.json",
        ".vscode/tasks.test.json",
        "README.sh",
        "README.py",
        "Makefile",
        "../tests/a.rs",
        "/home/ada/.config/a.test.sh",
    ] {
        for (tool, input) in [
            ("Write", json!({"file_path": path, "content": ""})),
            ("Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"})),
            ("Bash", json!({ "command": format!("echo x > {path}") })),
            ("Bash", json!({ "command": format!("echo x >> ./{path}") })),
        ] {
            let ask = ask_in("/home/ada/demo", tool, input);
            assert_eq!(allowed_by(&ask), None, "{tool} {}", ask.request.target);
        }
    }
    for path in ["tests/a.rs", "src/x.test.ts", "README.md", "spec/a_spec.rb", ".gitignore"] {
        let ask = ask_in("/home/ada/demo", "Write", json!({"file_path": path, "content": ""}));
        assert_eq!(allowed_by(&ask).as_deref(), Some("write-tests"), "{path}");
    }
}

#[test]
fn k3_nothing_is_sent_with_a_query_and_no_credentials_are_read() {
    for (tool, input) in [
        ("WebFetch", json!({"url": "https://github.com/search?q=secret", "prompt": ""})),
        ("WebFetch", json!({"url": "https://github.com/a/b#secret", "prompt": ""})),
        ("WebFetch", json!({"url": "http://localhost:3000/?x=1", "prompt": ""})),
        ("WebFetch", json!({"url": "https://evil.org/", "prompt": ""})),
        ("WebFetch", json!({"url": "https://evil.org/secret", "prompt": ""})),
        ("WebSearch", json!({"query": "secret"})),
        ("Read", json!({"file_path": "~/.docker/config.json"})),
        ("Read", json!({"file_path": "/home/ada/.docker/config.json"})),
        ("Read", json!({"file_path": "../.docker/config.json"})),
        ("Read", json!({"file_path": "/home/ada/.config/gh/hosts.yml"})),
        ("Read", json!({"file_path": "/home/ada/.kube/config"})),
    ] {
        let ask = ask_in("/home/ada/demo", tool, input);
        assert_eq!(allowed_by(&ask), None, "{tool} {}", ask.request.target);
    }
    let plain = ask_in("/home/ada/demo", "WebFetch", json!({"url": "https://github.com/a/b", "prompt": ""}));
    assert_eq!(allowed_by(&plain).as_deref(), Some("network-known"));
}

/// A project may contain symbolic links that lead out of it.
#[cfg(unix)]
#[test]
fn k3_links_in_the_project_do_not_lead_out_of_it() {
    use std::os::unix::fs::symlink;

    // A hidden folder alone would make the policy ask.
    let root = tempfile::Builder::new().prefix("links").tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let project = root.join("project");
    for folder in ["project/src", "project/tests", "project/docs", "home/.ssh", "other"] {
        fs_err::create_dir_all(root.join(folder)).unwrap();
    }
    fs_err::write(root.join("home/.ssh/id_rsa"), "key").unwrap();
    fs_err::write(root.join("home/notes.txt"), "x").unwrap();
    fs_err::write(project.join("src/a.rs"), "x").unwrap();
    symlink(root.join("home/.ssh/id_rsa"), project.join("key")).unwrap();
    symlink(root.join("home"), project.join("out")).unwrap();
    symlink(root.join("home/notes.txt"), project.join("docs/readme.rs")).unwrap();
    symlink(root.join("other"), project.join("tests/out")).unwrap();
    symlink(root.join("other/new.rs"), project.join("tests/dangling.rs")).unwrap();
    symlink("src", project.join("alias")).unwrap();
    let folder = project.to_str().unwrap();
    let unasked = allowed(
        folder,
        &[
            "cat key",
            "cat ./key",
            "cat src/../key",
            "cat k*",
            "cat ke?",
            "cat docs/*.rs",
            "cat docs/readme.rs",
            "cat */readme.rs",
            "cat out/notes.txt",
            "cat out/../other/x",
            "grep -r foo out",
            "grep -r foo out/",
            "rg foo out",
            "ls out",
            "cd out && ls",
            "cd out && cat notes.txt",
            "cd tests && cat out/x",
            "head < key",
            "cat < docs/readme.rs",
            "cd docs && cat < readme.rs",
            "cargo test --manifest-path out/Cargo.toml",
            "pytest out",
            "make -C out",
            "git add out/notes.txt",
            "echo x > tests/out/a.rs",
            "echo x > tests/dangling.rs",
            "cd tests && echo x > dangling.rs",
            "gcc -o out/x src/a.c",
        ],
    );
    assert!(unasked.is_empty(), "{unasked:#?}");
    for (tool, input) in [
        ("Read", json!({"file_path": "key"})),
        ("Read", json!({"file_path": "out/notes.txt"})),
        ("Grep", json!({"pattern": "x", "path": "out"})),
        ("LS", json!({"path": "out"})),
        ("Write", json!({"file_path": "tests/out/a.rs", "content": ""})),
        ("Write", json!({"file_path": "tests/dangling.rs", "content": ""})),
    ] {
        let ask = ask_in(folder, tool, input);
        assert_eq!(allowed_by(&ask), None, "{tool} {}", ask.request.target);
    }
    let inside = ["cat alias/a.rs", "cat src/*.rs", "cd alias && cat a.rs", "rg foo alias", "ls"];
    assert_eq!(allowed(folder, &inside).len(), inside.len());
    let ask = ask_in(folder, "Write", json!({"file_path": "tests/new.rs", "content": ""}));
    assert_eq!(allowed_by(&ask).as_deref(), Some("write-tests"));
}
