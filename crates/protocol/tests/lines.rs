//! Lines of the specifications, as frames and messages.

use tidings_protocol::Frame;
use tidings_protocol::json::{Raw, same_json};
use tidings_protocol::messages::Message;

/// The frame of a line.
#[track_caller]
pub(crate) fn frame(line: &str) -> Frame {
    Frame::from_json(line).unwrap_or_else(|error| panic!("{error} in {line}"))
}

/// The message of a line, which must be typed completely and round-trip.
#[track_caller]
pub(crate) fn typed(line: &str) -> Message {
    let typed = frame(line).typed();
    assert!(!matches!(typed.message, Message::Unknown(_)), "{:?}", typed.message);
    assert_eq!(typed.refused, [], "{line}");
    let again = typed.message.to_line();
    assert!(same(line, &again), "read {line}\nwrote {again}");
    typed.message
}

/// True if two texts are the same JSON.
#[track_caller]
pub(crate) fn same(left: &str, right: &str) -> bool {
    let raw = |text| Raw::parse(text).unwrap_or_else(|error| panic!("{error} in {text}"));
    same_json(raw(left), raw(right))
}
