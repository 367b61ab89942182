//! Faults F3–F5, F8–F14, F17 and F18 on single frames.

use serde_json::json;
use tidings_protocol::json::{BODY_DEPTH_MAX, Raw, same_json};
use tidings_protocol::messages::{ContentBlock, Message, ResultMessage};
use tidings_protocol::{DecodeErrorKind, Frame, FrameRef};

use crate::robustness::{on_a_small_stack, text_frame, tool_frame};

fn recorded() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/corpus");
    let mut lines = Vec::new();
    for scenario in std::fs::read_dir(folder).unwrap() {
        let path = scenario.unwrap().path().join("stdout.ndjson");
        lines.extend(std::fs::read_to_string(path).unwrap().lines().map(str::to_owned));
    }
    lines
}

#[test]
fn f3_a_type_nobody_knows_is_kept_and_ends_nothing() {
    for line in recorded() {
        let frame = FrameRef::from_json(&line).unwrap();
        let kind = frame.type_name().unwrap();
        let renamed = line.replacen(&format!("\"type\":\"{kind}\""), "\"type\":\"brand_new\"", 1);
        // The first `"type"` of some frames is nested; those keep their kind.
        let Ok(frame) = Frame::from_json(&renamed) else { panic!("{renamed}") };
        assert_eq!(frame.raw(), renamed.as_bytes());
        if frame.type_name().as_deref() == Some("brand_new") {
            let Message::Unknown(unknown) = frame.message() else { panic!("{renamed}") };
            assert_eq!(unknown.kind.as_deref(), Some("brand_new"));
            assert_eq!(unknown.raw.raw().as_str(), renamed);
            assert_eq!(unknown.reason, None);
        }
    }
}

#[test]
fn f4_an_unknown_block_costs_neither_the_message_nor_its_neighbours() {
    let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"hologram","x":[1]},{"type":"text","text":"b"}]}}"#;
    let message = Frame::from_json(line).unwrap().message();
    let [ContentBlock::Text { text: a }, ContentBlock::Unknown(block), ContentBlock::Text { text: b }] =
        message.content_blocks()
    else {
        panic!("{message:?}")
    };
    assert_eq!((a.as_str(), block.kind.as_str(), b.as_str()), ("a", "hologram", "b"));
    assert_eq!(block.body.raw().as_str(), r#"{"type":"hologram","x":[1]}"#);
}

#[test]
fn f5_new_values_of_known_enums_are_kept() {
    let result = Frame::from_json(
        r#"{"type":"result","subtype":"error_solar_flare","is_error":true,"errors":["hot"]}"#,
    );
    let result = result.unwrap();
    assert!(result.is_final() && result.is_error());
    assert_eq!(result.error_text().as_deref(), Some("hot"));
    let Message::Result(ResultMessage::Failed(error)) = result.message() else { panic!("{result:?}") };
    assert_eq!(error.subtype.as_str(), "error_solar_flare");
    // Every short string of every recorded frame, replaced by an unknown one: still read, still kept.
    for line in recorded() {
        let typed = FrameRef::from_json(&line).unwrap().typed();
        if matches!(typed.message, Message::Unknown(_)) {
            continue;
        }
        for value in
            ["completed", "local_bash", "running", "end_turn", "default", "allowed", "overloaded", "manual"]
        {
            let changed = line.replace(&format!("\"{value}\""), "\"never_heard_of\"");
            let frame = FrameRef::from_json(&changed).unwrap();
            let again = frame.typed();
            assert!(!matches!(again.message, Message::Unknown(_)), "{changed}");
            assert!(again.refused.is_empty(), "{:?}", again.refused);
            assert!(same_json(frame.json(), Raw::parse(&again.message.to_line()).unwrap()));
        }
    }
}

#[test]
fn f8_a_line_cut_at_any_byte_is_an_error_with_place_and_excerpt() {
    let line = recorded().into_iter().find(|line| line.contains("\"type\":\"result\"")).unwrap();
    for cut in 0..line.len() {
        let error = FrameRef::decode(&line.as_bytes()[..cut]).unwrap_err();
        assert!(error.at <= cut, "{error}");
        assert!(!error.to_string().is_empty() && !error.hint().is_empty());
        // The tail of a line without its head is not a frame either.
        assert!(FrameRef::decode(&line.as_bytes()[cut + 1..]).is_err());
    }
}

#[test]
fn f9_a_lone_surrogate_is_read_shown_and_kept() {
    let cases = [text_frame(r"x\ud83cy"), text_frame(r"\udc00"), text_frame(r"\ud83d\ud83d\ude80")];
    let shown = ["x\u{fffd}y", "\u{fffd}", "\u{fffd}🚀"];
    for (line, shown) in cases.iter().zip(shown) {
        let frame = Frame::from_json(line).unwrap();
        assert!(frame.repaired());
        assert_eq!(frame.raw(), line.as_bytes());
        assert_eq!(frame.message().content_blocks()[0].as_text(), Some(shown));
        // Lines written by this crate have no lone surrogates.
        assert!(!frame.message().to_line().contains("\\ud8"));
    }
    let in_input = Frame::from_json(&tool_frame(r#"{"k\ud800":"\udfff"}"#)).unwrap();
    assert_eq!(in_input.message().tool_calls()[0].2, &json!({"k\u{fffd}": "\u{fffd}"}));
    assert!(!Frame::from_json(&text_frame(r"\ud83d\ude80")).unwrap().repaired());
}

#[test]
fn f10_nul_and_escape_characters_survive() {
    let frame = Frame::from_json(&text_frame(r"a\u0000b\u001b[31m")).unwrap();
    let message = frame.message();
    assert_eq!(message.content_blocks()[0].as_text(), Some("a\0b\u{1b}[31m"));
    assert_eq!(Frame::from_json(&message.to_line()).unwrap().message(), message);
}

#[test]
fn f11_depth_neither_aborts_nor_costs_the_frame() {
    on_a_small_stack(|| {
        for depth in [10, BODY_DEPTH_MAX, BODY_DEPTH_MAX + 1, 1_000, 100_000, 1_000_000] {
            for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
                let middle = if open == "[" { "" } else { "1" };
                let body = format!("{}{middle}{}", open.repeat(depth), close.repeat(depth));
                let line = tool_frame(&body);
                let frame = Frame::from_json(&line).unwrap();
                let message = frame.message();
                match &message.content_blocks()[0] {
                    ContentBlock::ToolUse { .. } => assert!(depth <= BODY_DEPTH_MAX),
                    ContentBlock::Unknown(block) => {
                        assert!(depth > BODY_DEPTH_MAX && block.kind == "tool_use");
                    }
                    other => panic!("{other:?}"),
                }
                assert_eq!(frame.tool_calls()[0].input.as_str().len(), body.len());
                assert!(same_json(frame.json(), Raw::parse(&message.to_line()).unwrap()));
            }
        }
        // Mismatched brackets are found at any depth.
        let crooked = tool_frame(&format!("{}{}", "[".repeat(200), "}".repeat(200)));
        assert!(matches!(Frame::from_json(&crooked).unwrap_err().kind, DecodeErrorKind::Syntax(_)));
    });
}

#[test]
fn f13_the_lossless_types_do_not_pass_through_serde_buffers() {
    // An internally tagged or flattened serde type would refuse these or change them.
    let line = r#"{"type":"system","subtype":"status","status":null,"odd":{"n":1e400,"s":"\ud800"},"big":123456789012345678901234567890}"#;
    let message: Message = serde_json::from_str(line).unwrap();
    let Message::System(_) = &message else { panic!("{message:?}") };
    let again = serde_json::to_string(&message).unwrap();
    assert!(again.contains("1e400") && again.contains("123456789012345678901234567890"), "{again}");
}

#[test]
fn f14_of_duplicate_keys_the_last_counts_everywhere() {
    let line = tool_frame(r#"{"command":"ls","command":"rm -rf /"}"#);
    let frame = Frame::from_json(&line).unwrap();
    let message = frame.message();
    assert_eq!(message.tool_calls()[0].2, &json!({"command": "rm -rf /"}));
    let input = frame.tool_calls()[0].input;
    assert_eq!(input.get("command").unwrap().text().unwrap().get(), "rm -rf /");
    assert_eq!(input.duplicate_keys(), ["command"]);
    // The line written anew has only one, so that the user decides about exactly the call that will run.
    assert_eq!(message.to_line().matches("command").count(), 1);
    let block = |members: &str| format!(r#"{{"type":"assistant","message":{{"content":[{{{members}}}]}}}}"#);
    for members in [
        r#""type":"text","text":"a","type":"thinking","thinking":"b""#,
        r#""type":"hologram","type":"thinking","thinking":"b""#,
        r#""thinking":"b","type":"text","type":"thinking""#,
    ] {
        let frame = Frame::from_json(&block(members)).unwrap();
        let message = frame.message();
        assert!(
            matches!(&message.content_blocks()[0], ContentBlock::Thinking { thinking } if thinking == "b")
        );
        assert!(same_json(frame.json(), Raw::parse(&message.to_line()).unwrap()), "{members}");
    }
    let twice =
        Frame::from_json(r#"{"type":"user","type":"result","subtype":"success","result":"x"}"#).unwrap();
    assert_eq!(twice.name(), "result/success");
}

#[test]
fn f17_an_untouched_frame_goes_out_as_it_came() {
    for line in recorded() {
        assert_eq!(Frame::from_json(&line).unwrap().raw(), line.as_bytes());
    }
}

/// D9: an owned message is written with every member and value of its frame, and whole numbers stay whole.
#[test]
fn d9_an_owned_message_keeps_every_member_and_value() {
    for line in recorded() {
        let frame = Frame::from_json(&line).unwrap();
        let written = frame.message().to_line();
        assert!(same_json(frame.json(), Raw::parse(&written).unwrap()), "{line}\n{written}");
        let fractions = |text: &str| text.matches(".0,").count() + text.matches(".0}").count();
        assert!(fractions(&written) <= fractions(&line), "{line}\n{written}");
    }
    let line = r#"{"type":"result","subtype":"success","duration_ms":137,"total_cost_usd":0.25}"#;
    let written = Frame::from_json(line).unwrap().message().to_line();
    assert!(written.contains(r#""duration_ms":137,"#) && written.contains("0.25"), "{written}");
}

#[test]
fn f18_invalid_utf8_is_named_and_can_still_be_read() {
    let line = text_frame("hello").into_bytes();
    for at in 0..line.len() {
        let mut damaged = line.clone();
        damaged[at] = 0xff;
        // Before the object the line is not a frame; inside, the error has the offset of the bad byte.
        let error = FrameRef::decode(&damaged).unwrap_err();
        assert_eq!((error.kind, error.at), (DecodeErrorKind::Utf8, at));
        if let Ok(frame) = Frame::decode_lossy(&damaged) {
            assert!(frame.is_damaged());
            assert_eq!(frame.raw(), damaged);
        }
    }
    let mut damaged = line.clone();
    let at = line.windows(5).position(|window| window == b"hello").unwrap();
    damaged[at + 2] = 0xff;
    let frame = Frame::decode_lossy(&damaged).unwrap();
    assert_eq!(frame.message().content_blocks()[0].as_text(), Some("he\u{fffd}lo"));
}
