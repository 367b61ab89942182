//! Any bytes decode to a frame or to an error, and all accessors of a frame work.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidings_protocol::view::View;
use tidings_protocol::{Frame, FrameRef};

fuzz_target!(|data: &[u8]| {
    let _ = FrameRef::decode_glued(data);
    if let Ok(frame) = Frame::decode_lossy(data) {
        let _ = format!("{frame:?}");
    }
    let Ok(frame) = FrameRef::decode(data) else { return };
    assert!(data.windows(frame.raw().len()).any(|window| window == frame.raw()));
    let _ = (frame.name(), frame.is_known(), frame.session_id(), frame.uuid(), frame.request_id());
    let _ = (frame.is_error(), frame.outcome(), frame.error_text(), frame.usage(), frame.cost_usd());
    let _ = (frame.rate_limit(), frame.user_uuid(), frame.tool_calls().len(), frame.data().is_ok());
    for block in frame.content_blocks() {
        let _ = format!("{block:?}");
    }
    if let View::Assistant(message) | View::User(message) = frame.view() {
        let _ = message.blocks().count();
    }
});
