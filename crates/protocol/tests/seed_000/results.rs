//! S0.20 to S0.22: results of a session.

use serde_json::json;
use tidings_protocol::Outcome;
use tidings_protocol::messages::{Message, ResultMessage, UsageInfo};

use super::{frame, lacks, typed, value};

#[test]
fn s0_20_success_has_its_text_and_five_optional_figures() {
    let Message::Result(ResultMessage::Success {
        result,
        duration_ms,
        num_turns,
        session_id,
        total_cost_usd,
        usage,
        ..
    }) = typed(example!("result-success.json"))
    else {
        panic!("no success");
    };
    assert_eq!(result, "Task completed successfully");
    assert_eq!(duration_ms, Some(1500_u64));
    assert_eq!(num_turns, Some(3_u32));
    assert_eq!(session_id.as_deref(), Some("sess_abc123"));
    assert_eq!(total_cost_usd, Some(0.025_f64));
    let usage = usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (1200, 350));
}

#[test]
fn s0_20_every_figure_of_a_success_may_be_missing() {
    let line = r#"{"type":"result","subtype":"success","result":"done"}"#;
    assert_eq!(typed(line), Message::Result(ResultMessage::success("done")));
    assert_eq!(value(&typed(line).to_line()), value(line));

    let figures = json!({
        "duration_ms": 1, "num_turns": 2, "session_id": "s", "total_cost_usd": 0.5,
        "usage": {"input_tokens": 3, "output_tokens": 4}
    });
    for missing in ["duration_ms", "num_turns", "session_id", "total_cost_usd", "usage"] {
        let mut frame = figures.clone();
        let members = frame.as_object_mut().unwrap();
        members.remove(missing);
        members.extend(
            [("type", "result"), ("subtype", "success"), ("result", "r")]
                .map(|(key, text)| (key.to_owned(), json!(text))),
        );
        let Message::Result(ResultMessage::Success {
            duration_ms,
            num_turns,
            session_id,
            total_cost_usd,
            usage,
            ..
        }) = typed(&frame.to_string())
        else {
            panic!("no success");
        };
        let there = [
            duration_ms.is_some(),
            num_turns.is_some(),
            session_id.is_some(),
            total_cost_usd.is_some(),
            usage.is_some(),
        ];
        assert_eq!(there.iter().filter(|there| **there).count(), 4, "without {missing}");
    }
}

#[test]
fn s0_20_an_empty_text_is_not_a_missing_one() {
    let empty = ResultMessage::success("");
    let line = Message::Result(empty.clone()).to_line();
    assert_eq!(value(&line)["result"], "");
    assert_eq!(typed(&line), Message::Result(empty));
    assert_eq!(lacks(r#"{"type":"result","result":"no subtype"}"#), "subtype");
}

#[test]
fn s0_20_a_text_set_later_replaces_the_empty_one() {
    let Message::Result(mut message) = typed(r#"{"type":"result","subtype":"success","result":""}"#) else {
        panic!("no result");
    };
    let ResultMessage::Success { result, usage, .. } = &mut message else { panic!("no success") };
    result.push_str("late");
    *usage = Some(UsageInfo::default());
    let line = Message::Result(message).to_line();
    assert_eq!(line.matches("\"result\":").count(), 1, "{line}");
    assert_eq!(value(&line)["result"], "late");
}

#[test]
fn s0_21_error_has_its_text_and_every_other_key_in_extra() {
    for example in [example!("result-error.json"), example!("error-result.ndjson")] {
        let Message::Result(ResultMessage::Error { error, extra }) = typed(example) else {
            panic!("no error");
        };
        assert_eq!(error, "Failed to execute command: permission denied");
        assert_eq!(extra, json!({"error_code": "EACCES", "exit_code": 126}));
        assert!(frame(example).is_error());
        assert_eq!(frame(example).error_text(), Some(error));
    }
    assert_eq!(lacks(r#"{"type":"result","subtype":"error","error_code":"E"}"#), "error");
}

#[test]
fn s0_22_input_required_is_a_pause_and_no_failure() {
    for example in [example!("result-input-required.json"), example!("input-required.ndjson")] {
        assert_eq!(typed(example), Message::Result(ResultMessage::InputRequired));
        let frame = frame(example);
        assert_eq!(frame.outcome(), Some(Outcome::InputRequired));
        assert!(!frame.is_error());
        assert_eq!(frame.error_text(), None);
    }
    let written = Message::Result(ResultMessage::InputRequired).to_line();
    assert_eq!(written, r#"{"type":"result","subtype":"input_required"}"#);
}
