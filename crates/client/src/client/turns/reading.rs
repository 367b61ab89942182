//! Extracts from frames what concerns turns.

use std::collections::HashSet;

use tidings_protocol::json::{Raw, Text};
use tidings_protocol::{Frame, Outcome};

use crate::client::event::TurnOutcome;

/// The outcome of a turn according to its result.
pub(crate) fn outcome(frame: &Frame) -> TurnOutcome {
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

/// The tasks that a frame lists, at most `max`.
pub(super) fn tasks(frame: &Frame, max: usize) -> HashSet<String> {
    let tasks = frame.get("tasks").into_iter().flat_map(Raw::items);
    let ids = tasks.filter_map(|task| Some(task.get("task_id")?.text()?.get().into_owned()));
    ids.take(max).collect()
}

pub(super) fn text(frame: &Frame, key: &str) -> Option<String> {
    frame.get(key).and_then(Raw::text).map(Text::get).map(Into::into)
}

/// A string member of a truncated object, if it lies within the given beginning.
pub(super) fn member(head: &str, key: &str) -> Option<String> {
    let bytes = head.as_bytes();
    let (mut depth, mut at) = (0_usize, 0_usize);
    let mut last: Option<&str> = None;
    let mut is_value = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' if depth == 1 => is_value = true,
            b',' if depth == 1 => is_value = false,
            b'"' => {
                let end = string_end(bytes, at)?;
                let text = Raw::parse(head.get(at..end)?).ok().and_then(Raw::text)?;
                if depth == 1 && is_value && last == Some(key) {
                    return Some(text.get().into_owned());
                }
                if depth == 1 && !is_value {
                    last = head.get(at + 1..end - 1);
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The index after the closing quote of the string that begins at `start`; `None` if the text ends before.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_found_in_the_beginning_of_an_object() {
        let cases = [
            (r#"{"type":"result","result":"xxxx"#, Some("result")),
            (r#"{ "a" : {"type":"x"} , "b":["type",{"type":"y"}], "type" : "result", "r"#, Some("result")),
            (r#"{"a":"\"type\":\"x\"","type":"user""#, Some("user")),
            (r#"{"result":"type","x":"result: type"#, None),
            (r#"{"result":"xxxxxxxx"#, None),
            (r#"{"type":1,"other":"result"}"#, None),
            (r#"{"a":"\"#, None),
            ("", None),
        ];
        for (head, expected) in cases {
            assert_eq!(member(head, "type").as_deref(), expected, "{head}");
        }
    }
}
