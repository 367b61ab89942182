//! The message types of `rusty_claw`, statement by statement of their specification.
//!
//! Its examples are files in `fixtures/seed/`; its prose is asserted on variations of them.

/// An example of the specification, by file name.
macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("../fixtures/seed/000-", $name))
    };
}

mod accents;
mod api;
mod blocks;
mod framing;
mod page;
mod results;
mod speech;
mod support;
mod system;
mod writing;

use serde_json::Value;
use tidings_protocol::Frame;
use tidings_protocol::json::{Raw, same_json};
use tidings_protocol::messages::Message;

/// The message of a line, of any kind.
#[track_caller]
fn read(line: &str) -> Message {
    frame(line).message()
}

#[track_caller]
fn frame(line: &str) -> Frame {
    Frame::from_json(line).unwrap_or_else(|error| panic!("{error} in {line}"))
}

/// The message of a line, which must be typed completely and round-trip.
#[track_caller]
fn typed(line: &str) -> Message {
    let typed = frame(line).typed();
    assert!(!matches!(typed.message, Message::Unknown(_)), "{:?}", typed.message);
    assert_eq!(typed.refused, [], "{line}");
    let again = typed.message.to_line();
    assert!(same(line, &again), "read {line}\nwrote {again}");
    typed.message
}

#[track_caller]
fn same(left: &str, right: &str) -> bool {
    let raw = |text| Raw::parse(text).unwrap_or_else(|error| panic!("{error} in {text}"));
    same_json(raw(left), raw(right))
}

#[track_caller]
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// Path of the required field that a frame lacks, which makes it unknown.
#[track_caller]
fn lacks(line: &str) -> String {
    match read(line) {
        Message::Unknown(unknown) => {
            assert!(same(line, &Message::Unknown(unknown.clone()).to_line()));
            unknown.reason.expect("says why").path
        }
        other => panic!("{other:?}"),
    }
}
