//! The command line as a whole.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use assert_cmd::Command;
use serde_json::Value;

fn tidings(home: &tempfile::TempDir, args: &[&str]) -> std::process::Output {
    let mut command = Command::cargo_bin("tidings").unwrap();
    command.env_clear().env("HOME", home.path()).env("PATH", "/usr/bin:/bin").args(args).output().unwrap()
}

#[test]
fn mistakes_are_json_where_json_is_wanted() {
    let home = tempfile::tempdir().unwrap();
    let wrong: &[&[&str]] = &[
        &["sessions", "list", "--json", "--limit", "many"],
        &["sessions", "search", "--json"],
        &["token", "create", "--json", "--scope", "bogus"],
        &["ps", "--json", "--no-such-flag"],
        &["sessions", "--json"],
    ];
    for args in wrong {
        let output = tidings(&home, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let error: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(error["error"]["code"], "usage", "{args:?}: {error}");
        let message = error["error"]["message"].as_str().unwrap();
        assert!(!message.is_empty() && !message.contains('\n') && !message.starts_with("error"), "{message}");
        assert!(error["error"]["hint"].as_str().unwrap().contains("--help"), "{error}");
        assert!(output.stderr.is_empty(), "{args:?}: nothing is said twice");
    }
    let output = tidings(&home, &["sessions", "list", "--limit", "many"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "people read it on standard error");
}

#[test]
fn colours_of_help_and_mistakes_are_those_that_were_asked_for() {
    let home = tempfile::tempdir().unwrap();
    for (color, is_painted) in [("never", false), ("always", true)] {
        for args in [&["--color", color, "--help"][..], &["ps", "--nonsense", "--color", color]] {
            let output = tidings(&home, args);
            let said = [output.stdout, output.stderr].concat();
            assert_eq!(said.contains(&0x1b), is_painted, "{args:?}");
        }
    }
}

#[test]
fn without_a_command_it_says_what_is_here() {
    let home = tempfile::tempdir().unwrap();
    let output = tidings(&home, &[]);
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    for words in ["Claude Code  not found", "sessions", "none; `tidings serve` starts one", "tidings --help"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(said.lines().count() < 24, "it fits on a screen: {said}");
}
