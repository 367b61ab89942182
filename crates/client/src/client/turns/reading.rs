//! What frames say of turns.

use std::collections::HashSet;

use tidings_protocol::json::{Raw, Text};
use tidings_protocol::{Frame, Outcome};

use crate::client::event::TurnOutcome;

/// How a turn ended, as far as its result tells.
pub(super) fn outcome(frame: &Frame) -> TurnOutcome {
    match frame.outcome() {
        Some(Outcome::Interrupted) => TurnOutcome::Cancelled,
        Some(Outcome::Completed | Outcome::Deferred | Outcome::InputRequired) | None => {
            TurnOutcome::Completed
        }
        Some(failure) => TurnOutcome::Failed(failure),
    }
}

/// The prompts that a frame names.
pub(super) fn uuids(frame: &Frame) -> Vec<String> {
    let many = frame.get("user_message_uuids").into_iter().flat_map(Raw::items).filter_map(Raw::text);
    let mut uuids: Vec<String> = many.map(|uuid| uuid.get().into_owned()).collect();
    if uuids.is_empty() {
        uuids.extend(text(frame, "user_message_uuid"));
    }
    uuids
}

/// The tasks that a frame lists, at most so many.
pub(super) fn tasks(frame: &Frame, max: usize) -> HashSet<String> {
    let tasks = frame.get("tasks").into_iter().flat_map(Raw::items);
    let ids = tasks.filter_map(|task| Some(task.get("task_id")?.text()?.get().into_owned()));
    ids.take(max).collect()
}

pub(super) fn text(frame: &Frame, key: &str) -> Option<String> {
    frame.get(key).and_then(Raw::text).map(Text::get).map(Into::into)
}
