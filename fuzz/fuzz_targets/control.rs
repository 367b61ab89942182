//! Control frames in both styles with any body: they are read, converted and written back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidings_protocol::FrameRef;
use tidings_protocol::control::ControlStyle;
use tidings_protocol::json::{Raw, same_json};
use tidings_protocol::messages::Message;

fuzz_target!(|data: &[u8]| {
    let Ok(body) = std::str::from_utf8(data) else { return };
    if Raw::parse(body).is_err() {
        return;
    }
    let lines = [
        format!(r#"{{"type":"control_request","request_id":"r","request":{body}}}"#),
        format!(r#"{{"type":"control_response","response":{body}}}"#),
        format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"r","response":{body}}}}}"#
        ),
    ];
    for line in lines {
        let frame = FrameRef::from_json(&line).expect("a frame");
        let message = frame.message();
        let again = message.to_line();
        assert!(same_json(frame.json(), Raw::parse(&again).expect("JSON")), "{line}\n{again}");
        match message {
            Message::ControlRequest { request, .. } => {
                let _ = request.in_style(ControlStyle::Flat);
            }
            Message::ControlResponse { response, .. } => {
                let _ = response.in_style(ControlStyle::Flat);
            }
            _ => {}
        }
    }
});
