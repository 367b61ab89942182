//! The quick way to read a delta gives the same as the general one.

use tidings_protocol::{Frame, FrameRef};

/// The same line in another spelling, so that it takes the general path.
fn respelt(line: &str) -> String {
    line.replacen('{', "{ ", 1)
}

#[test]
fn both_ways_read_the_same() {
    let inside = [
        r#""index":0,"delta":{"type":"text_delta","text":"a"}"#,
        r#""index":12,"delta":{"type":"text_delta","text":"\ud83d \n \"q\""}"#,
        r#""index":3,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}"#,
        r#""index":0,"delta":{"type":"thinking_delta","thinking":""}"#,
        r#""index":0,"delta":{"type":"signature_delta","signature":"x"}"#,
        r#""index":0,"delta":{"type":"text_delta","text":"a","more":1}"#,
        r#""index":0,"delta":{"type":"text_delta","text":"a"},"more":{"text":"b"}"#,
        r#""index":0,"delta":{"type":"text_delta","text":7}"#,
        r#""index":0,"delta":{"type":"text_delta","thinking":"a"}"#,
        r#""index":0,"delta":{"type":"citations_delta","citation":{}}"#,
        r#""index":1.0,"delta":{"type":"text_delta","text":"a"}"#,
    ];
    let after = [
        r#","uuid":"u","session_id":"s","parent_tool_use_id":null"#,
        r#","uuid":7,"api_message_id":"m","a":1,"b":2,"c":3,"d":4"#,
        r#","ttft_ms":5,"type":"stream_event""#,
        r#","event":{"type":"content_block_stop","index":1}"#,
        "",
    ];
    for inside in inside {
        for after in after {
            let line = format!(
                r#"{{"type":"stream_event","event":{{"type":"content_block_delta",{inside}}}{after}}}"#
            );
            let spelt = Frame::from_json(&line).unwrap();
            let other = respelt(&line);
            let general = FrameRef::from_json(&other).unwrap();
            assert_eq!(spelt.typed(), general.typed(), "{line}");
            assert_eq!(format!("{:?}", spelt.view()), format!("{:?}", general.view()), "{line}");
            assert_eq!((spelt.name(), spelt.uuid()), (general.name(), general.uuid()));
            assert_eq!(spelt.repaired(), general.repaired());
        }
    }
}

#[test]
fn a_line_cut_at_any_byte_is_an_error_either_way() {
    let line = r#"{"type":"stream_event","event":{"type":"content_block_delta","index":10,"delta":{"type":"text_delta","text":"a\nb"}},"uuid":"u"}"#;
    for cut in 0..line.len() {
        assert!(FrameRef::from_json(&line[..cut]).is_err());
        assert!(FrameRef::from_json(&respelt(&line[..cut])).is_err());
    }
    for index in ["01", "", "-1", "1e"] {
        let line = line.replace(":10,", &format!(":{index},"));
        assert_eq!(
            FrameRef::from_json(&line).is_ok(),
            FrameRef::from_json(&respelt(&line)).is_ok(),
            "{line}"
        );
    }
}
