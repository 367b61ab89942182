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
use tidings_protocol::messages::Message;

use crate::lines::{frame, same, typed};

/// The message of a line, of any kind.
#[track_caller]
fn read(line: &str) -> Message {
    frame(line).message()
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
