//! The typed value writes back the input, and reads back as itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidings_protocol::json::{Raw, same_json};
use tidings_protocol::{Frame, FrameRef};

fuzz_target!(|data: &[u8]| {
    let Ok(frame) = FrameRef::decode(data) else { return };
    let message = frame.message();
    let line = message.to_line();
    let again = Raw::parse(&line).expect("what we write is JSON");
    assert!(same_json(frame.json(), again), "{}\n{line}", frame.json());
    assert_eq!(Frame::from_json(&line).expect("and a frame").message(), message);
    let _ = tidings_protocol::seed::to_seed(&message);
});
