//! Fault F12, and the oddities of numbers.

use proptest::prelude::*;
use serde_json::json;
use tidings_protocol::Frame;
use tidings_protocol::json::{BodyError, Raw, same_json};
use tidings_protocol::messages::{Message, ResultMessage};

use crate::robustness::tool_frame;

fn success(cost: &str) -> String {
    format!(r#"{{"is_error":false,"type":"result","subtype":"success","result":"","total_cost_usd":{cost}}}"#)
}

#[test]
fn f12_numbers_out_of_range_are_kept_raw_and_cost_one_field_only() {
    let frame = Frame::from_json(&success("1e400")).unwrap();
    let typed = frame.typed();
    let Message::Result(ResultMessage::Success { total_cost_usd: None, .. }) = &typed.message else {
        panic!("{typed:?}")
    };
    assert_eq!(typed.refused.len(), 1);
    assert_eq!(
        typed.refused[0].to_string(),
        "`total_cost_usd` should be a number in the range of a double, found `1e400`"
    );
    assert!(typed.message.to_line().contains("\"total_cost_usd\":1e400"));
    assert_eq!(frame.cost_usd(), None);
}

#[test]
fn whole_numbers_may_be_written_as_floats() {
    for (text, expected) in
        [("1500", 1500), ("1500.0", 1500), ("1.5e3", 1500), ("0", 0), ("-0", 0), ("0e9", 0)]
    {
        assert_eq!(Raw::parse(text).unwrap().u64(), Some(expected), "{text}");
    }
    for text in ["1500.5", "-1", "1e400", "18446744073709551616", "\"5\"", "null", "9007199254740993.0"] {
        assert_ne!(Raw::parse(text).unwrap().u64(), Some(1500), "{text}");
    }
    assert_eq!(Raw::parse("18446744073709551615").unwrap().u64(), Some(u64::MAX));
    assert_eq!(Raw::parse("-9223372036854775808").unwrap().i64(), Some(i64::MIN));
    assert_eq!(Raw::parse("18446744073709551616").unwrap().u64(), None);
}

#[test]
fn integers_past_64_bits_are_never_rounded() {
    let body = Raw::parse("[18446744073709551616]").unwrap();
    assert_eq!(body.value(), Err(BodyError::Number("18446744073709551616".to_owned())));
    let frame = Frame::from_json(&tool_frame(r#"{"n":123456789012345678901234567890}"#)).unwrap();
    assert!(same_json(frame.json(), Raw::parse(&frame.message().to_line()).unwrap()));
    assert_eq!(Raw::parse("18446744073709551615").unwrap().value().unwrap(), json!(u64::MAX));
}

proptest! {
    #[test]
    fn f12_costs_are_the_nearest_double_and_never_change(cost in 0.0f64..10_000.0) {
        let text = format!("{cost:?}");
        let frame = Frame::from_json(&success(&text)).unwrap();
        prop_assert_eq!(frame.cost_usd(), Some(cost));
        let again = Frame::from_json(&frame.message().to_line()).unwrap();
        prop_assert_eq!(again.cost_usd().map(f64::to_bits), Some(cost.to_bits()));
    }

    #[test]
    fn f12_any_number_comes_back_as_written(text in "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,4})?") {
        let line = tool_frame(&format!("{{\"n\":{text}}}"));
        let frame = Frame::from_json(&line).unwrap();
        prop_assert_eq!(frame.raw(), line.as_bytes());
        let line = frame.message().to_line();
        prop_assert!(same_json(frame.json(), Raw::parse(&line).unwrap()), "{}", line);
    }
}
