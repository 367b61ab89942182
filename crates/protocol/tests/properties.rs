//! Properties over arbitrary JSON and arbitrary bytes.

use proptest::prelude::*;
use serde_json::{Map, Value};
use tidings_protocol::json::{Raw, check, same_json};
use tidings_protocol::ndjson::{Line, Splitter};
use tidings_protocol::{Frame, FrameRef};

/// Any JSON value of moderate size.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Known and unknown keys, equally often.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "type",
            "subtype",
            "message",
            "content",
            "role",
            "usage",
            "event",
            "delta",
            "text",
            "uuid",
            "request",
            "response",
            "request_id",
            "session_id",
            "tool_use_id",
            "id",
            "name",
            "input",
            "is_error",
            "result",
            "errors",
            "tools",
            "mcp_servers",
            "index",
            "content_block",
        ])
        .prop_map(str::to_owned),
        ".{0,8}",
    ]
}

/// An object that is often nearly a frame.
fn any_frame() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        "system",
        "assistant",
        "user",
        "result",
        "stream_event",
        "control_request",
        "control_response",
        "control_cancel_request",
        "rate_limit_event",
        "mcp_message",
        "tool_progress",
        "keep_alive",
        "unheard_of",
    ]);
    let subtype = prop::sample::select(vec![
        "init",
        "status",
        "task_started",
        "compact_boundary",
        "success",
        "error",
        "error_max_turns",
        "input_required",
        "initialize",
        "can_use_tool",
        "hook_callback",
        "mcp_message",
        "new",
    ]);
    (kind, subtype, prop::collection::vec((key(), any_json()), 0..8)).prop_map(|(kind, subtype, members)| {
        let mut frame: Map<String, Value> = members.into_iter().collect();
        frame.entry("subtype").or_insert_with(|| subtype.into());
        frame.insert("type".to_owned(), kind.into());
        Value::Object(frame)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn echo_gives_back_the_bytes_however_they_are_cut(values in prop::collection::vec(any_json(), 1..6), step in 1usize..40) {
        let mut stream = values.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        stream.push('\n');
        let mut splitter = Splitter::default();
        let mut echoed = Vec::new();
        for piece in stream.as_bytes().chunks(step) {
            splitter.push(piece);
            while let Some(Line::Json(line) | Line::Noise(line) | Line::Blank(line)) = splitter.next() {
                match Frame::decode(line) {
                    Ok(frame) => {
                        echoed.extend_from_slice(frame.raw());
                        echoed.push(b'\n');
                    }
                    Err(_) => echoed.extend_from_slice(line),
                }
            }
        }
        prop_assert_eq!(echoed, stream.as_bytes());
    }

    #[test]
    fn the_typed_value_of_anything_writes_back_the_same_json(value in any_frame()) {
        let line = value.to_string();
        let frame = FrameRef::from_json(&line).unwrap();
        let again = frame.message().to_line();
        prop_assert!(same_json(frame.json(), Raw::parse(&again).unwrap()), "{}\n{}", line, again);
        prop_assert_eq!(Frame::from_json(&again).unwrap().message(), frame.message());
        // The borrowed view and the summary accessors work for any frame too.
        drop((format!("{:?}", frame.view()), frame.outcome(), frame.error_text(), frame.tool_calls().len()));
    }

    #[test]
    fn our_check_agrees_with_serde_json(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        agree(&bytes)?;
    }

    #[test]
    fn our_check_agrees_with_serde_json_on_damaged_json(value in any_json(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = value.to_string().into_bytes();
        agree(&bytes)?;
        let at = at.index(bytes.len());
        bytes[at] = byte;
        agree(&bytes)?;
    }

    #[test]
    fn trees_are_the_ones_serde_json_builds(value in any_json()) {
        let text = value.to_string();
        prop_assert_eq!(Raw::parse(&text).unwrap().value().unwrap(), value);
    }
}

/// `RawValue` of `serde_json` checks the same grammar.
fn agree(bytes: &[u8]) -> Result<(), TestCaseError> {
    let theirs = serde_json::from_slice::<&serde_json::value::RawValue>(bytes).is_ok();
    let ours = std::str::from_utf8(bytes).is_ok_and(|text| check(text).is_ok());
    prop_assert_eq!(ours, theirs, "{:?}", String::from_utf8_lossy(bytes));
    Ok(())
}
