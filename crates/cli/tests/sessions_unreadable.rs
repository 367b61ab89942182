//! Commands on all sessions when some of them cannot be read.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;

const LINE: &str = r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"find me"},"uuid":"00000001-0000-4000-8000-000000000000","timestamp":"2026-11-15T00:00:00.000Z","sessionId":"11111111-2222-4333-8444-555555555555"}"#;

/// Commands that read all sessions.
const COMMANDS: [&[&str]; 11] = [
    &["list"],
    &["list", "--json"],
    &["stats"],
    &["search", "find me"],
    &["search", "--no-index", "-l", "find me"],
    &["cost"],
    &["du"],
    &["index"],
    &["index", "--status"],
    &["prune", "--older-than", "1d", "--dry-run"],
    &["archive", "--all"],
];

fn sessions(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("tidings").unwrap();
    command.env_clear().env("HOME", root).env("TIDINGS_CACHE_DIR", root.join("cache"));
    command.env("TIDINGS_DATA_DIR", root.join("data")).args(["sessions", "--root"]).arg(root).args(args);
    command
}

#[test]
fn commands_that_cannot_read_everything_say_so_with_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("projects/-home-dev-demo");
    fs::create_dir_all(&project).unwrap();
    fs::write(project.join("11111111-2222-4333-8444-555555555555.jsonl"), format!("{LINE}\n")).unwrap();
    for args in COMMANDS {
        sessions(folder.path(), args).assert().success();
    }
    // A folder cannot be read as a file by any user.
    fs::create_dir(project.join("99999999-0000-4000-8000-000000000000.jsonl")).unwrap();
    for args in COMMANDS {
        let output = sessions(folder.path(), args).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {told}");
        assert!(told.contains("warning: ") && told.contains("99999999-0000"), "{args:?}: {told}");
        assert!(args[0] == "prune" || !output.stdout.is_empty(), "{args:?} still shows the rest");
    }
}

#[test]
fn the_help_lists_the_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    for args in COMMANDS {
        let output = sessions(folder.path(), &[args[0], "--help"]).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(help.contains("Exit codes: 0 ") && help.contains(", 1 some "), "{}: {help}", args[0]);
    }
}
