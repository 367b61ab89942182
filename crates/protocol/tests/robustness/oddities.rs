//! The remaining oddities: unusual content of frames, and how it is read.

use tidings_protocol::json::{Raw, same_json, write_string};
use tidings_protocol::messages::{Content, Message};
use tidings_protocol::{DecodeErrorKind, Frame, FrameRef};

use crate::robustness::{text_frame, tool_frame};

#[test]
fn raw_control_characters_in_strings_are_damage() {
    for byte in 0..0x20u8 {
        let mut line = text_frame("ab").into_bytes();
        let at = line.windows(2).position(|window| window == b"ab").unwrap() + 1;
        line.insert(at, byte);
        let error = FrameRef::decode(&line).unwrap_err();
        assert_eq!(error.at, at, "{byte}");
        assert!(!error.excerpt.contains(char::from(byte)), "an excerpt must not steer a terminal");
    }
}

#[test]
fn words_that_are_no_json_are_damage() {
    for body in [
        "NaN",
        "Infinity",
        "-Infinity",
        "undefined",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "0x1",
        "'a'",
        "tru",
        "[1,]",
    ] {
        let error =
            FrameRef::from_json(&tool_frame(body)).map(|frame| frame.name().into_owned()).unwrap_err();
        assert!(matches!(error.kind, DecodeErrorKind::Syntax(_)), "{body}: {error}");
    }
}

#[test]
fn a_missing_null_or_strange_type_is_unknown_and_kept() {
    for line in
        ["{}", r#"{"type":null}"#, r#"{"type":3,"x":1}"#, r#"{"type":{"a":"user"}}"#, r#"{"type":""}"#]
    {
        let frame = Frame::from_json(line).unwrap();
        let Message::Unknown(unknown) = frame.message() else { panic!("{line}") };
        assert_eq!(unknown.raw.raw().as_str(), line);
        assert_eq!(frame.message().to_line(), line);
        assert!(!frame.is_known() && !frame.name().is_empty() || line.contains("\"\""));
    }
}

#[test]
fn scalars_and_arrays_are_no_frames() {
    for line in ["", "  ", "null", "[{}]", "42", "\"{}\"", "true"] {
        assert_eq!(FrameRef::from_json(line).unwrap_err().kind, DecodeErrorKind::NotAnObject, "{line}");
    }
}

#[test]
fn glued_objects_are_told_apart_or_taken_one_by_one() {
    let line = br#"{"type":"user","n":1}{"type":"result"} {"type":"system","subtype":"x"}"#;
    let error = FrameRef::decode(line).unwrap_err();
    assert_eq!((error.kind, error.at), (DecodeErrorKind::Trailing, 21));
    let names: Vec<_> =
        FrameRef::decode_glued(line).unwrap().iter().map(|frame| frame.name().into_owned()).collect();
    assert_eq!(names, ["user", "result", "system/x"]);
    assert!(FrameRef::decode_glued(br#"{"a":1}{"b":"#).is_err());
}

#[test]
fn escaped_spellings_are_equal_in_value_and_kept_in_bytes() {
    let line = r#"{"\u0074ype":"\u0075ser","mess\u0061ge":{"content":"\/\u0041"},"session_id":"a\/b"}"#;
    let frame = Frame::from_json(line).unwrap();
    assert_eq!(frame.name(), "user");
    assert_eq!(frame.session_id().as_deref(), Some("a/b"));
    assert_eq!(frame.message().content_blocks()[0].as_text(), Some("/A"));
    assert_eq!(frame.raw(), line.as_bytes());
    assert!(same_json(frame.json(), Raw::parse(&frame.message().to_line()).unwrap()));
}

#[test]
fn content_is_a_string_or_a_list_and_keeps_its_form() {
    for (content, blocks) in [("\"\"", 1), ("\"hi\"", 1), ("[]", 0), (r#"[{"type":"text","text":""}]"#, 1)] {
        let line = format!(r#"{{"type":"user","message":{{"role":"user","content":{content}}}}}"#);
        let message = Frame::from_json(&line).unwrap().message();
        assert_eq!(message.content_blocks().len(), blocks);
        assert!(message.to_line().contains(&format!("\"content\":{content}")), "{}", message.to_line());
    }
    // Any other content makes the frame unknown, with the reason, and loses nothing.
    let line = r#"{"type":"user","message":{"role":"user","content":42}}"#;
    let Message::Unknown(unknown) = Frame::from_json(line).unwrap().message() else { panic!() };
    let reason = unknown.reason.unwrap().to_string();
    assert_eq!(reason, "`message.content` should be a string or a list of content blocks, found `42`");
}

#[test]
fn one_bad_optional_field_costs_that_field_only() {
    let line = r#"{"type":"assistant","message":{"content":"x","usage":{"input_tokens":"many","output_tokens":2}},"uuid":7}"#;
    let typed = Frame::from_json(line).unwrap().typed();
    let refused: Vec<_> = typed.refused.iter().map(|refused| refused.path.as_str()).collect();
    assert_eq!(refused, ["message.usage.input_tokens", "uuid"]);
    let Message::Assistant(assistant) = &typed.message else { panic!("{typed:?}") };
    assert_eq!(assistant.message.usage.as_ref().unwrap().output_tokens, 2);
    assert_eq!(assistant.extra.get("uuid").unwrap().as_str(), "7");
    assert!(same_json(Raw::parse(line).unwrap(), Raw::parse(&typed.message.to_line()).unwrap()));
}

#[test]
fn an_edited_message_keeps_what_it_does_not_know() {
    let line = r#"{"type":"user","message":{"role":"user","content":"a","novel":[1.50]},"future":{"x":null},"priority":null}"#;
    let Message::User(mut user) = Frame::from_json(line).unwrap().message() else { panic!() };
    user.message.content = Content::text("b");
    user.priority = Some(tidings_protocol::messages::Priority::NOW);
    let written = Message::User(user).to_line();
    let expected = r#"{"type":"user","message":{"role":"user","content":"b","novel":[1.50]},"future":{"x":null},"priority":"now"}"#;
    assert!(same_json(Raw::parse(expected).unwrap(), Raw::parse(&written).unwrap()), "{written}");
    assert!(written.contains("1.50"), "an unedited number keeps its spelling");
}

#[test]
fn what_we_write_never_breaks_a_line() {
    let mut out = String::new();
    write_string("a\nb\r\u{2028}\u{2029}\0\"\\\u{7f}é🚀", &mut out);
    assert_eq!(out, r#""a\nb\r\u2028\u2029\u0000\"\\"#.to_owned() + "\u{7f}é🚀\"");
    assert_eq!(serde_json::from_str::<String>(&out).unwrap(), "a\nb\r\u{2028}\u{2029}\0\"\\\u{7f}é🚀");
}
