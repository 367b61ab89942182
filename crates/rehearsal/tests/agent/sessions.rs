//! Session files: readable like those of the real CLI, and resumable.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use tidings_protocol::entry::{Entry, EntryKind};

use crate::agent::host::{Ended, Host, STREAMING};

const ID: &str = "11111111-2222-4333-8444-555555555555";

const SCRIPT: &str = r#"
[[turn]]
when = { lacks = "remember" }
optional = true
text = "I forgot."

[[turn]]
when = { last_contains = "what" }
optional = true
text = "You said seven."

[[turn]]
optional = true
[[turn.block]]
text = "Let me see."
[[turn.block]]
tool = "Read"
input = { file_path = "README.md" }
result = "A file"

[[turn]]
optional = true
text = "I remember."
"#;

/// Runs one prompt in a separate run.
fn run(dir: &Path, flags: &[&str], prompt: &str, seed: u64) -> (Vec<Value>, Ended) {
    let args: Vec<&str> = STREAMING.iter().chain(flags).copied().collect();
    let mut host = Host::start_in(dir, &args, SCRIPT, 10, seed);
    host.user(prompt);
    let mut ended = host.end();
    let frames = ended.rest.drain(..).map(|line| serde_json::from_str(&line).unwrap()).collect();
    (frames, ended)
}

fn lines(dir: &Path, id: &str) -> Vec<Value> {
    let path = dir.join("projects/-home-dev-demo").join(format!("{id}.jsonl"));
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_line_of_a_session_file_is_a_known_entry_in_one_chain() {
    let dir = TempDir::new().unwrap();
    let (_, ended) = run(dir.path(), &["--session-id", ID], "remember seven", 1);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let mut known = Vec::new();
    for line in lines(dir.path(), ID) {
        let entry = Entry::decode(line.to_string().as_bytes()).unwrap();
        assert_ne!(entry.kind(), EntryKind::Unknown, "{line}");
        assert_eq!(entry.typed().refused, [], "{line}");
        if let Some(uuid) = line.get("uuid") {
            let parent = &line["parentUuid"];
            assert!(
                parent.is_null() == known.is_empty() && (parent.is_null() || known.contains(parent)),
                "{line}"
            );
            known.push(uuid.clone());
        }
    }
    let kinds: Vec<String> =
        lines(dir.path(), ID).iter().map(|line| line["type"].as_str().unwrap().to_owned()).collect();
    let expected = "queue-operation queue-operation user attachment assistant assistant last-prompt user assistant \
                    last-prompt cost-state";
    assert_eq!(kinds.join(" "), expected);
}

#[test]
fn a_resumed_session_remembers_and_grows() {
    let dir = TempDir::new().unwrap();
    run(dir.path(), &["--session-id", ID], "remember seven", 1);
    let before = lines(dir.path(), ID).len();
    for (flags, seed) in [(vec!["--resume", ID], 2), (vec!["--continue"], 3)] {
        let (frames, ended) = run(dir.path(), &flags, "what did I say?", seed);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let result = frames.last().unwrap();
        assert_eq!((&result["result"], &result["session_id"]), (&"You said seven.".into(), &ID.into()));
        assert!(
            result["total_cost_usd"].as_f64()
                > result["model_usage_since_last_result"]["claude-opus-5-5"]["costUSD"].as_f64()
        );
    }
    assert!(lines(dir.path(), ID).len() > before);
}

/// The total continues, and the budget does not include what earlier processes used.
#[test]
fn p39_the_budget_of_a_resumed_session_is_for_its_own_process() {
    let dir = TempDir::new().unwrap();
    let (frames, _) = run(dir.path(), &["--session-id", ID], "remember seven", 1);
    let before = frames.last().unwrap()["total_cost_usd"].as_f64().unwrap();
    let spend = |budget: f64, seed: u64| {
        let budget = budget.to_string();
        let flags = ["--resume", ID, "--max-budget-usd", &budget];
        run(dir.path(), &flags, "what did I say?", seed).0.pop().unwrap()
    };
    let result = spend(before * 0.9, 2);
    assert_eq!(result["subtype"], "success", "{result}");
    let total = result["total_cost_usd"].as_f64().unwrap();
    assert!(total > before, "{result}");
    let result = spend((total - before) / 2.0, 3);
    assert_eq!(result["subtype"], "error_max_budget_usd", "{result}");
    assert!(result["total_cost_usd"].as_f64().unwrap() > total, "the response is paid for: {result}");
}

#[test]
fn a_fork_has_its_own_file_and_the_same_past() {
    let dir = TempDir::new().unwrap();
    run(dir.path(), &["--session-id", ID], "remember seven", 1);
    let before = lines(dir.path(), ID);
    let (frames, _) = run(dir.path(), &["--resume", ID, "--fork-session"], "what did I say?", 2);
    let result = frames.last().unwrap();
    assert_eq!(result["result"], "You said seven.");
    let fork = result["session_id"].as_str().unwrap();
    assert_ne!(fork, ID);
    assert_eq!(lines(dir.path(), ID), before);
    let copied = lines(dir.path(), fork);
    assert!(copied.iter().all(|line| line["sessionId"] == fork));
    assert_eq!(copied[2]["uuid"], before[2]["uuid"]);
}

#[test]
fn a_session_can_go_on_from_the_middle() {
    let dir = TempDir::new().unwrap();
    run(dir.path(), &["--session-id", ID], "remember seven", 1);
    let first =
        lines(dir.path(), ID).iter().find(|line| line["type"] == "assistant").unwrap()["uuid"].clone();
    let at = first.as_str().unwrap();
    run(dir.path(), &["--resume", ID, "--resume-session-at", at], "what did I say?", 2);
    let children = lines(dir.path(), ID).into_iter().filter(|line| line["parentUuid"] == first).count();
    assert_eq!(children, 2);
}

#[test]
fn sessions_that_cannot_be_are_refused_as_the_cli_refuses_them() {
    let dir = TempDir::new().unwrap();
    run(dir.path(), &["--session-id", ID], "remember seven", 1);
    let (frames, ended) = run(dir.path(), &["--resume", "aaaaaaaa-2222-4333-8444-555555555555"], "hi", 2);
    let text = "No conversation found with session ID: aaaaaaaa-2222-4333-8444-555555555555";
    assert_eq!((ended.code, ended.stderr.trim()), (1, text));
    assert_eq!(
        (&frames[0]["subtype"], &frames[0]["errors"][0]),
        (&"error_during_execution".into(), &text.into())
    );

    let (frames, ended) = run(dir.path(), &["--session-id", ID], "hi", 2);
    assert_eq!((frames.len(), ended.code), (0, 1));
    assert_eq!(ended.stderr.trim(), format!("Error: Session ID {ID} is already in use."));
}

#[test]
fn nothing_is_written_when_nothing_shall_be_kept() {
    let dir = TempDir::new().unwrap();
    let (_, ended) = run(dir.path(), &["--no-session-persistence"], "remember seven", 1);
    assert_eq!(ended.code, 0);
    assert!(!dir.path().join("projects").exists());
}

#[test]
fn the_same_seed_plays_the_same_bytes() {
    let play = |seed| {
        let dir = TempDir::new().unwrap();
        let mut host = Host::start_in(dir.path(), STREAMING, SCRIPT, 10, seed);
        host.user("remember seven");
        // The directory differs per host; everything else is determined by the seed.
        let place = dir.path().to_string_lossy().into_owned();
        host.end().rest.join("\n").replace(&place, "")
    };
    assert_eq!(play(7), play(7));
    assert_ne!(play(7), play(8));
}
