//! A grant covers its target and nothing else.

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use tidings_agent::permissions::{Ask, Grant, GrantTarget, SessionFacts, glob_matches, literal};
use tidings_protocol::control::CanUseTool;
use tidings_protocol::ui::PermissionLevel::{self, Admin, Execute, Read, Write};

fn ask(tool: &str, input: Value) -> Ask {
    Ask::new(1, "r", &CanUseTool::new(tool, input.into(), "t"), &SessionFacts::in_folder("/demo"))
}

fn path(path: &str, recursive: bool, level: PermissionLevel) -> Grant {
    Grant::new("g", GrantTarget::Path { path: path.into(), recursive }, level)
}

fn command(glob: &str, level: PermissionLevel) -> Grant {
    Grant::new("g", GrantTarget::Command { glob: glob.into() }, level)
}

fn domain(pattern: &str) -> Grant {
    Grant::new("g", GrantTarget::Domain { pattern: pattern.into() }, Read)
}

fn tool(name: &str) -> Grant {
    Grant::new("g", GrantTarget::Tool { name: name.into() }, Execute)
}

#[test]
fn s3_30_grants_cover_what_they_say() {
    let read = |path: &str| ask("Read", json!({ "file_path": path }));
    let write = |path: &str| ask("Write", json!({ "file_path": path, "content": "" }));
    let bash = |text: &str| ask("Bash", json!({ "command": text }));
    let fetch = |url: &str| ask("WebFetch", json!({ "url": url, "prompt": "" }));
    for (grant, ask, expected) in vec![
        (path("/a", true, Read), read("/a/b"), true),
        (path("/a", true, Read), read("/a"), true),
        (path("/a", true, Read), read("/ab"), false),
        (path("/a", true, Read), read("/a/../b"), false),
        (path("/a/./b/..", true, Read), read("/a/x"), true),
        (path("/a", false, Read), read("/a"), true),
        (path("/a", false, Read), read("/a/b"), false),
        (path("/demo", true, Read), read("x"), true),
        (path("/demo", true, Read), read("../x"), false),
        (path("/demo", false, Read), ask("Grep", json!({"pattern": "x"})), false),
        (path("/demo", true, Read), ask("Grep", json!({"pattern": "x"})), true),
        // A higher level includes the lower ones, but not the other way round.
        (path("/a", true, Write), read("/a/b"), true),
        (path("/a", true, Read), write("/a/b"), false),
        (path("/a", true, Admin), write("/a/b"), true),
        // Different kinds never cover each other.
        (tool("Read"), read("/a"), false),
        (path("/", true, Admin), bash("ls"), false),
        (command("*", Admin), read("/a"), false),
        (domain("*"), bash("ls"), false),
        (tool("mcp__a__b"), ask("mcp__a__b", json!({})), true),
        (tool("mcp__a__b"), ask("mcp__a__c", json!({})), false),
        (domain("example.com"), fetch("https://example.com/x"), true),
        (domain("EXAMPLE.com"), fetch("https://example.COM/x"), true),
        (domain("*.example.com"), fetch("https://docs.example.com/"), true),
        (domain("*.example.com"), fetch("https://example.com/"), false),
        (domain("*.example.com"), fetch("https://example.com.evil.org/"), false),
        (domain("*example.com*"), fetch("https://example.com@evil.org/"), false),
        (domain("*"), fetch("file:///etc/passwd"), false),
        (command("git *", Execute), bash("git status"), true),
        (command("git *", Execute), bash("git"), true),
        (command("git *", Execute), bash("git log --oneline -3"), true),
        (command("git *", Execute), bash("git status; rm x"), false),
        (command("git *", Admin), bash("git status; rm x"), false),
        (command("git *", Admin), bash("git status && git diff"), true),
        (command("git *", Execute), bash("git push --force"), false),
        (command("git *", Admin), bash("git push --force"), true),
        (command("git *", Admin), bash("git log > /etc/passwd"), false),
        (command("git *", Admin), bash("git log 2>/dev/null"), true),
        (command("git *", Admin), bash("git log $(rm x)"), false),
        (command("git *", Admin), bash("git $X"), false),
        (command("git *", Admin), bash("git pu*"), false),
        (command("git *", Admin), bash("GIT_PAGER=./x git log"), false),
        (command("git *", Admin), bash("sudo git status"), false),
        (command("git *", Admin), bash("/tmp/git status"), false),
        (command("git *", Admin), bash("gitx status"), false),
        (command("git status", Execute), bash("git status"), true),
        (command("git status", Execute), bash("git  status"), true),
        (command("git status", Execute), bash("git status -s"), false),
        (command("sudo *", Admin), bash("sudo rm x"), false),
        (command("cargo test *", Execute), bash("cargo test -q"), true),
        (command("cargo test *", Execute), bash("cargo run"), false),
        (command("rm \\*", Admin), bash("rm *"), true),
        (command("rm \\*", Admin), bash("rm -rf /"), false),
    ] {
        assert_eq!(grant.covers(&ask), expected, "{:?} / {}", grant.target, ask.request.target);
    }
}

#[test]
fn s3_30_a_grant_ends_when_it_expires() {
    let end = Timestamp::from_second(100).unwrap();
    let grant = tool("mcp__a__b").until(end);
    let ask = ask("mcp__a__b", json!({}));
    assert!(grant.satisfies(&ask, Timestamp::from_second(99).unwrap()));
    assert!(!grant.satisfies(&ask, end));
}

#[test]
fn s3_30_a_grant_of_no_level_allows_nothing() {
    let mut grant = tool("mcp__a__b");
    grant.level = None;
    assert!(!grant.covers(&ask("mcp__a__b", json!({}))));
}

/// A question to the user cannot be answered by a grant.
#[test]
fn s3_20_no_grant_answers_for_a_person() {
    let mut call = CanUseTool::new("ExitPlanMode", json!({}).into(), "t");
    call.requires_user_interaction = Some(true);
    let ask = Ask::new(1, "r", &call, &SessionFacts::in_folder("/demo"));
    assert!(!Grant::new("g", GrantTarget::Tool { name: "ExitPlanMode".into() }, Admin).covers(&ask));
    assert_eq!(ask.suggested_grant(), None);
}

#[test]
fn grants_are_written_and_read() {
    let grant = path("/a", true, Write).until(Timestamp::UNIX_EPOCH);
    let text = serde_json::to_string(&grant).unwrap();
    assert_eq!(
        text,
        r#"{"id":"g","target":{"type":"path","path":"/a","recursive":true},"level":"Write","expires":"1970-01-01T00:00:00Z"}"#
    );
    assert_eq!(serde_json::from_str::<Grant>(&text).unwrap(), grant);
}

proptest! {
    #[test]
    fn the_pattern_of_a_text_matches_that_text_alone(text in "[ab*?\\\\]{0,8}", other in "[ab*?\\\\]{0,8}") {
        prop_assert_eq!(glob_matches(&literal(&text), &other), text == other);
    }

    #[test]
    fn a_folder_covers_no_path_that_leaves_it(parts in proptest::collection::vec(
        prop_oneof![Just(".."), Just("."), Just("a"), Just("b"), Just("")], 0..8)) {
        let target = format!("/srv/a/{}", parts.join("/"));
        let ask = ask("Read", json!({ "file_path": target }));
        let covered = path("/srv/a", true, Read).covers(&ask);
        // The depth below the folder, counted by hand.
        let mut stack = vec!["srv", "a"];
        for part in &parts {
            match *part {
                ".." => { stack.pop(); }
                "." | "" => {}
                part => stack.push(part),
            }
        }
        prop_assert_eq!(covered, stack.starts_with(&["srv", "a"]), "{}", target);
    }
}
