//! Commands on all sessions when some of them cannot be read.

use std::fs;

use crate::test_root::TestRoot;

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

#[test]
fn commands_that_cannot_read_everything_say_so_with_exit_code_1() {
    let root = TestRoot::new();
    root.write("-home-dev-demo/11111111-2222-4333-8444-555555555555.jsonl", &format!("{LINE}\n"));
    for args in COMMANDS {
        root.command(args).assert().success();
    }
    // A folder cannot be read as a file by any user.
    fs::create_dir(root.file("-home-dev-demo/99999999-0000-4000-8000-000000000000.jsonl")).unwrap();
    for args in COMMANDS {
        let output = root.output(args);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {told}");
        assert!(told.contains("warning: ") && told.contains("99999999-0000"), "{args:?}: {told}");
        assert!(args[0] == "prune" || !output.stdout.is_empty(), "{args:?} still shows the rest");
    }
}

#[test]
fn the_help_lists_the_exit_codes() {
    let root = TestRoot::new();
    for args in COMMANDS {
        let help = root.stdout(&[args[0], "--help"]);
        assert!(help.contains("Exit codes: 0 ") && help.contains(", 1 some "), "{}: {help}", args[0]);
    }
}
