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

/// Every command below one, with its name as it is typed.
fn commands(home: &tempfile::TempDir) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut at = 0;
    while let Some(path) = all.get(at).cloned() {
        let args: Vec<&str> = path.iter().map(String::as_str).chain(["-h"]).collect();
        let help = String::from_utf8(tidings(home, &args).stdout).unwrap();
        // The commands of the program itself are in groups.
        let list = if path.is_empty() {
            help.split("\nOptions:\n").next().unwrap()
        } else {
            help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest.split("\n\n").next().unwrap())
        };
        let names = list.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        for name in names.filter(|name| !name.is_empty() && *name != "help") {
            all.push(path.iter().cloned().chain([name.to_owned()]).collect());
        }
        at += 1;
    }
    all
}

#[test]
fn c14_no_help_is_wrapped_by_hand() {
    let home = tempfile::tempdir().unwrap();
    let mut wrapped = Vec::new();
    let all = commands(&home);
    assert!(all.len() > 40, "{all:?}");
    for path in all {
        let mut command = Command::cargo_bin("tidings").unwrap();
        command.env_clear().env("HOME", home.path()).env("COLUMNS", "100000").args(&path).arg("--help");
        let help = String::from_utf8(command.output().unwrap().stdout).unwrap();
        // A paragraph is one line on a terminal that is wide enough; examples and lists are indented.
        let lines: Vec<&str> = help.lines().collect();
        for pair in lines.windows(2) {
            let is_text = |line: &str| line.starts_with(|c: char| c.is_alphanumeric()) && line.contains(' ');
            let goes_on = pair[1].starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
            if is_text(pair[0]) && is_text(pair[1]) && goes_on {
                wrapped.push(format!("{path:?}: {} / {}", pair[0], pair[1]));
            }
        }
    }
    assert!(wrapped.is_empty(), "{wrapped:#?}");
}

#[test]
fn c14_there_are_completions_and_manual_pages() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = tidings(&home, &["completions", shell]);
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && script.contains("sessions") && script.contains("resume"),
            "{shell}"
        );
    }
    let pages = home.path().join("man/man1");
    let output = tidings(&home, &["man", pages.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for page in ["tidings.1", "tidings-run.1", "tidings-sessions-list.1"] {
        let text = std::fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
}

#[test]
fn s4_files_that_are_no_sessions_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("passwd");
    std::fs::write(&file, "root:x:0:0:root:/root:/bin/sh\n").unwrap();
    let file = file.to_str().unwrap();
    let wrong: [&[&str]; 4] =
        [&["show", file], &["tree", file], &["export", "--to", "md", file], &["export", "--to", "ui", file]];
    for args in wrong {
        let args: Vec<&str> = ["sessions", "--root", file].iter().chain(args).copied().collect();
        let output = tidings(&home, &args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("Not a session file"), "{args:?}: {said}");
    }
}

#[test]
fn the_help_of_the_program_has_its_commands_in_groups_and_colour_at_the_end() {
    let home = tempfile::tempdir().unwrap();
    for columns in [60, 200] {
        let mut command = Command::cargo_bin("tidings").unwrap();
        let output =
            command.env_clear().env("HOME", home.path()).env("COLUMNS", columns.to_string()).arg("--help");
        let help = String::from_utf8(output.output().unwrap().stdout).unwrap();
        let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text}: {help}"));
        let order = [
            "Run Claude Code:\n  run  ",
            "Past sessions:\n  sessions  ",
            "Options:\n",
            "--version",
            "--color",
            "Examples:",
        ];
        let places: Vec<usize> = order.iter().map(|text| at(text)).collect();
        assert!(places.is_sorted(), "{places:?} {help}");
        let commands = help.split("Options:").next().unwrap();
        assert!(commands.lines().all(|line| line.chars().count() <= columns), "{columns}: {help}");
    }
}

#[test]
fn c31_set_names_everything_that_can_be_set() {
    let home = tempfile::tempdir().unwrap();
    let output = tidings(&home, &["set", "1"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--continue-after-limit") && said.contains("--title"), "{said}");
}
