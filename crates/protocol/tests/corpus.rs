//! Recorded frames of the real CLI, in both directions: every line round-trips, every public kind is typed.
//!
//! The shipped recordings are always read; `TIDINGS_CORPUS` names a folder with more.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tidings_protocol::json::{Raw, same_json};
use tidings_protocol::messages::Message;
use tidings_protocol::ndjson::{Line, Splitter};
use tidings_protocol::{Frame, FrameRef};

/// Kinds that the CLI's vendor does not publish. They stay `Unknown`, with their raw text.
const INTERNAL: &[&str] = &[
    "command_lifecycle",
    "transcript_mirror",
    "autocompact_state",
    "bash_command",
    "queued_notification",
    "session_notice",
];

/// Subtypes that the CLI's vendor does not publish.
const INTERNAL_SYSTEM: &[&str] = &[
    "post_turn_summary",
    "task_summary",
    "session_metadata",
    "session_title_changed",
    "vcs_state_changed",
    "code_change_published",
    "peer_message_hold",
    "turn_preempted",
    "turn_handoff_available",
    "inherited_asks_settled",
    "permission_check_status",
    "per_turn_effort_changed",
    "instruction_size_warning",
    "file_attachments_missing",
    "feedback_draft_queued",
    "dev_intent",
    "cloud_session_delta",
];

/// Control requests that have no SDK method and no published schema.
const INTERNAL_CONTROL: &[&str] = &[
    "set_cwd",
    "claim_session",
    "start_shell_task",
    "list_directory",
    "get_workspace_diff",
    "get_plan",
    "get_status",
    "export_conversation",
    "get_memory_dialog",
    "get_skills_dialog",
    "get_sandbox_dialog",
    "message_rated",
    "generate_session_title",
    "side_question",
    "channel_enable",
    "end_session",
    "rewind_conversation",
    "fork_conversation",
    "add_directory",
    "send_task_message",
    "set_proactivity_level",
];

/// Scenarios whose host sends invalid data on purpose.
const NONSENSE: &[&str] = &["120", "121", "168"];

/// Scenarios whose output is not a stream of frames.
const OTHER_FORMATS: &[&str] = &["163", "164", "165", "166"];

#[test]
fn every_line_of_the_corpus_comes_back_byte_for_byte() {
    for file in files() {
        let bytes = fs::read(&file).unwrap();
        let mut echoed = Vec::new();
        each_line(&bytes, |line| {
            let bytes = match line {
                Line::Json(bytes) | Line::Noise(bytes) | Line::Blank(bytes) => bytes,
                other => panic!("{}: {other:?}", file.display()),
            };
            match FrameRef::decode(bytes) {
                // The bytes of the frame are in the line unchanged.
                Ok(frame) => {
                    let at = find(bytes, frame.raw());
                    echoed.extend_from_slice(&bytes[..at]);
                    echoed.extend_from_slice(frame.to_frame().raw());
                    echoed.extend_from_slice(&bytes[at + frame.raw().len()..]);
                }
                Err(_) => echoed.extend_from_slice(bytes),
            }
        });
        assert!(echoed == bytes, "{} does not come back", file.display());
    }
}

#[test]
fn every_public_frame_of_the_corpus_is_typed_and_nothing_is_lost() {
    let mut problems = Vec::new();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for file in files() {
        let nonsense =
            is_stdin(&file) && scenario_of(&file).is_some_and(|number| NONSENSE.contains(&&*number));
        let bytes = fs::read(&file).unwrap();
        let mut number = 0;
        each_line(&bytes, |line| {
            number += 1;
            let Line::Json(bytes) = line else { return };
            let place = format!("{}:{number}", file.display());
            let frame = match FrameRef::decode(bytes) {
                Ok(frame) => frame,
                Err(_) if nonsense => return,
                Err(error) => return problems.push(format!("{place}: {error}")),
            };
            *kinds.entry(frame.name().into_owned()).or_default() += 1;
            let typed = frame.typed();
            let line = typed.message.to_line();
            if !same_json(frame.json(), Raw::parse(&line).unwrap()) {
                problems.push(format!("{place}: lossy {}", frame.name()));
            }
            if nonsense {
                return;
            }
            for refused in &typed.refused {
                problems.push(format!("{place}: {}: refused {refused}", frame.name()));
            }
            let unread = matches!(typed.message, Message::Unknown(_)) || !frame.is_known();
            if unread && !is_internal(&frame) {
                problems.push(format!("{place}: {} is unknown: {:?}", frame.name(), typed.message));
            }
        });
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(kinds.len() > 20, "the shipped recordings show only {kinds:?}");
}

#[test]
fn the_owned_frame_equals_the_borrowed_one() {
    for file in files() {
        let bytes = fs::read(&file).unwrap();
        each_line(&bytes, |line| {
            let Line::Json(bytes) = line else { return };
            let (Ok(borrowed), Ok(owned)) = (FrameRef::decode(bytes), Frame::decode(bytes)) else {
                return;
            };
            assert_eq!(borrowed.raw(), owned.raw());
            assert_eq!(borrowed.kind(), owned.kind());
            assert_eq!(borrowed.session_id(), owned.session_id());
            assert_eq!(borrowed.message(), owned.message());
            // The message round-trips through its line.
            let line = owned.message().to_line();
            assert_eq!(Frame::from_json(&line).unwrap().message(), owned.message());
        });
    }
}

fn is_internal(frame: &FrameRef<'_>) -> bool {
    let name = frame.name();
    let subtype = frame.subtype().unwrap_or_default();
    INTERNAL.contains(&&*name)
        || name.starts_with("system/ui_")
        || (name.starts_with("system/") && INTERNAL_SYSTEM.contains(&&*subtype))
        || (name.starts_with("control_request/") && INTERNAL_CONTROL.contains(&&*subtype))
}

fn each_line(bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
    let mut splitter = Splitter::default();
    splitter.push(bytes);
    while let Some(line) = splitter.next() {
        each(line);
    }
    if let Some(line) = splitter.finish() {
        each(line);
    }
}

fn find(line: &[u8], frame: &[u8]) -> usize {
    line.windows(frame.len()).position(|window| window == frame).unwrap()
}

/// The shipped recordings and those of `TIDINGS_CORPUS`.
fn files() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/corpus")];
    folders.extend(std::env::var_os("TIDINGS_CORPUS").map(PathBuf::from));
    let mut files = Vec::new();
    for folder in folders {
        for scenario in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        {
            let Ok(inside) = fs::read_dir(scenario.unwrap().path()) else {
                continue;
            };
            files.extend(inside.map(|file| file.unwrap().path()).filter(|file| {
                let name = file.file_name().unwrap().to_string_lossy();
                let frames = name.starts_with("stdin") || name.starts_with("stdout");
                frames
                    && name.ends_with(".ndjson")
                    && !scenario_of(file).is_some_and(|number| OTHER_FORMATS.contains(&&*number))
            }));
        }
    }
    files.sort();
    assert!(!files.is_empty());
    files
}

fn is_stdin(file: &Path) -> bool {
    file.file_name().unwrap().to_string_lossy().starts_with("stdin")
}

fn scenario_of(file: &Path) -> Option<String> {
    Some(file.parent()?.file_name()?.to_string_lossy().chars().take(3).collect())
}
