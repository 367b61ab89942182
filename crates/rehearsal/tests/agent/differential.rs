//! The same exchange with the real CLI and with the stand-in: same frames, same keys, same numbers.
//!
//! Each folder of `tests/fixtures/agent` holds a script and an exchange recorded from Claude Code 2.1.325
//! (long texts are cut). The host's side is replayed at the same points, and the output of the stand-in is
//! compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tidings_protocol::Frame;

use crate::agent::host::{Host, ReadOutcome};

/// Known differences of the stand-in: the recording (or `*`), the frame, the key with `-` if it is missing
/// and `+` if only the stand-in has it, and the reason.
const DIFFERENCES: &[(&str, &str, &str, &str)] = &[
    (
        "agent-background",
        "*",
        "order",
        "background work waits for the turn to end, so it plays the same every time",
    ),
    (
        "agent-background",
        "result/success",
        "total_cost_usd",
        "follows from the order: the agent is paid later",
    ),
    (
        "*",
        "control_response/success",
        "+.response.responsehooks_when_unanswered_kept",
        "new in 2.1.326; the recordings are of 2.1.325",
    ),
    (
        "interrupt-stream",
        "result/error_during_execution",
        "total_cost_usd",
        "2.1.327 counts an answer that was cut off; the recordings are of 2.1.325",
    ),
    ("interrupt-stream", "result/success", "total_cost_usd", "follows from the answer that was cut off"),
];

/// Members whose values are compared too; the others are ids, times and texts.
const VALUES: &[&str] = &[
    "subtype",
    "is_error",
    "num_turns",
    "stop_reason",
    "terminal_reason",
    "result_index",
    "queued_turn_count",
    "total_cost_usd",
    "state",
    "isReplay",
    "isSynthetic",
    "aborted",
    "error",
    "status",
    "permissionMode",
    "model",
];

/// Timeout: a stand-in that is silent for so long waits for input that the recording does not have.
const STALL: Duration = Duration::from_secs(5);

#[test]
fn the_stand_in_plays_what_was_recorded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agent");
    let only = std::env::var("REHEARSAL_ONLY").unwrap_or_default();
    let mut folders: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let mut found = Vec::new();
    let mut used = BTreeSet::new();
    let named = folders.iter().map(|folder| (folder.file_name().unwrap().to_string_lossy(), folder));
    let chosen: Vec<_> = named.filter(|(name, _)| name.contains(&only)).collect();
    thread::scope(|scope| {
        let runs: Vec<_> =
            chosen.iter().map(|(name, folder)| scope.spawn(move || compare(name, folder))).collect();
        for (run, (name, _)) in runs.into_iter().zip(&chosen) {
            let (differences, known) = run.join().unwrap();
            found.extend(differences.into_iter().map(|difference| format!("{name}: {difference}")));
            used.extend(known);
        }
    });
    if only.is_empty() {
        let unused = (0..DIFFERENCES.len()).filter(|at| !used.contains(at));
        found.extend(unused.map(|at| format!("no longer a difference: {:?}", DIFFERENCES[at])));
    }
    assert!(found.is_empty(), "{} differences\n{}", found.len(), found.join("\n"));
}

/// Differences of one recording, and the rows of the table that cover them.
fn compare(name: &str, folder: &Path) -> (Vec<String>, BTreeSet<usize>) {
    let script = fs::read_to_string(folder.join("script.toml")).unwrap();
    let exchange = fs::read_to_string(folder.join("exchange.ndjson")).unwrap();
    let rows: Vec<Value> = exchange.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (played, code) = play(&rows, &exchange, &script);
    let mut differences = Vec::new();
    let mut used = BTreeSet::new();
    if code != rows[0]["exit"] {
        differences.push(format!("exit code {code}, recorded {}", rows[0]["exit"]));
    }
    let whole = |frame: &&Value| !is_delta(frame);
    let mut recorded: Vec<&Value> = rows.iter().filter_map(|row| row.get("out")).filter(whole).collect();
    let mut played: Vec<&Value> = played.iter().filter(whole).collect();
    let reordered = |(recording, _, key, _): &(&str, &str, &str, &str)| *recording == name && *key == "order";
    if let Some(at) = DIFFERENCES.iter().position(reordered) {
        used.insert(at);
        let key = |frame: &&Value| (frame_name(frame), frame["parent_tool_use_id"].is_null());
        recorded.sort_by_cached_key(key);
        played.sort_by_cached_key(key);
    }
    let names = |frames: &[&Value]| frames.iter().map(|frame| frame_name(frame)).collect::<Vec<_>>();
    let (expected, actual) = (names(&recorded), names(&played));
    if expected != actual {
        differences.push(format!(
            "frames\n  recorded {}\n  played   {}",
            expected.join(" "),
            actual.join(" ")
        ));
        return (differences, used);
    }
    let mut seen = BTreeMap::new();
    for ((recorded, played), frame) in recorded.iter().zip(&played).zip(&expected) {
        let (there, here) = (keys(recorded), keys(played));
        let lacking = there.difference(&here).map(|key| format!("-{key}"));
        let extra = here.difference(&there).map(|key| format!("+{key}"));
        for key in lacking.chain(extra) {
            *seen.entry((frame.clone(), key)).or_insert(0) += 1;
        }
        for key in VALUES.iter().filter(|key| recorded[*key] != played[*key]) {
            if let Some(at) = table(name, frame, key) {
                used.insert(at);
            } else {
                let (here, there) = (&played[key], &recorded[key]);
                differences.push(format!("{frame}: {key} is {here}, recorded {there}"));
            }
        }
    }
    for ((frame, key), count) in seen {
        match table(name, &frame, &key) {
            Some(at) => drop(used.insert(at)),
            None => differences.push(format!("{frame}: {key} ({count} times)")),
        }
    }
    (differences, used)
}

/// Row of the table that covers a difference.
fn table(name: &str, frame: &str, key: &str) -> Option<usize> {
    DIFFERENCES.iter().position(|(recording, at, which, _)| {
        (*recording == "*" || *recording == name) && (*at == "*" || *at == frame) && *which == key
    })
}

/// Replays the host's side: each line is sent after as many frames as in the recording.
fn play(rows: &[Value], exchange: &str, script: &str) -> (Vec<Value>, i32) {
    let args: Vec<&str> =
        rows[0]["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
    let retries = rows[0]["env"]["CLAUDE_CODE_MAX_RETRIES"].as_str().map_or(10, |max| max.parse().unwrap());
    let dir = TempDir::new().unwrap();
    let mut host = Host::start_in(dir.path(), &args, script, retries, 1);
    let mut played: Vec<Value> = Vec::new();
    let (mut due, mut closed) = (0, false);
    for (row, line) in rows.iter().zip(exchange.lines()).skip(1) {
        if row.get("out").is_some() {
            due += usize::from(!is_delta(&row["out"]));
            continue;
        }
        while played.iter().filter(|frame| !is_delta(frame)).count() < due {
            match host.line_within(STALL) {
                ReadOutcome::Line(line) => played.push(serde_json::from_str(&line).unwrap()),
                // A missing frame shows in the comparison.
                ReadOutcome::End | ReadOutcome::Nothing => break,
            }
        }
        if row.get("eof").is_some() {
            host.close();
            closed = true;
        } else {
            let raw = line.strip_prefix("{\"in\":").and_then(|line| line.strip_suffix('}')).unwrap();
            host.raw(&with_our_id(raw, rows, &played));
        }
    }
    if !closed {
        host.close();
    }
    loop {
        match host.line_within(STALL) {
            ReadOutcome::Line(line) => played.push(serde_json::from_str(&line).unwrap()),
            ReadOutcome::End => return (played, host.wait().code),
            ReadOutcome::Nothing => return (played, -1),
        }
    }
}

/// Replaces the request id in a response: the nth request of the recording is our nth.
fn with_our_id(raw: &str, rows: &[Value], played: &[Value]) -> String {
    let is_request = |frame: &&Value| frame["type"] == "control_request";
    let theirs = rows.iter().filter_map(|row| row.get("out")).filter(is_request);
    let ours = played.iter().filter(is_request);
    let mut line = raw.to_owned();
    for (their, our) in theirs.zip(ours) {
        line = line.replace(their["request_id"].as_str().unwrap(), our["request_id"].as_str().unwrap());
    }
    line
}

/// Name of the frame, and of the event in it.
fn frame_name(frame: &Value) -> String {
    let event = frame["event"]["type"].as_str().map(|event| format!("/{event}")).unwrap_or_default();
    format!("{}{event}", Frame::from_json(&frame.to_string()).unwrap().name())
}

/// True for a delta: the API determines how text and thoughts are split.
fn is_delta(frame: &Value) -> bool {
    frame["event"]["type"] == "content_block_delta" || frame["subtype"] == "thinking_tokens"
}

/// Keys of a frame and of its payload.
fn keys(frame: &Value) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let parts =
        ["", "/message", "/request", "/request/input", "/response", "/response/response", "/event", "/patch"];
    for part in parts {
        // A tool's input comes from the model, not from the CLI.
        if part == "/request/input" && frame["request"]["subtype"] != "hook_callback" {
            continue;
        }
        let members = frame.pointer(part).and_then(Value::as_object);
        keys.extend(members.into_iter().flatten().map(|(key, _)| format!("{}{key}", part.replace('/', "."))));
    }
    keys
}
