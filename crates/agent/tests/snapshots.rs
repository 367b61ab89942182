//! Snapshots of the events of recorded sessions.

use crate::support;

use support::{fixtures, live, readable};
use tidings_protocol::ui::UiMessage;

#[test]
fn recorded_sessions_give_the_same_events_as_when_they_were_last_read() {
    for (name, _) in fixtures() {
        insta::assert_snapshot!(name.as_str(), readable(&live(&name)));
    }
}

/// The agent's count omits a response that an interrupt cut off, but the session file has its tokens.
#[test]
fn p7_an_interrupted_turn_has_the_price_of_the_response_that_was_cut_off() {
    let cost = |name: &str| {
        live(name).into_iter().find_map(|event| match event {
            UiMessage::TurnResult(result) => Some(result.interrupted_cost_usd),
            _ => None,
        })
    };
    // 1,204 tokens at $4, 310 at $5, 8,120 at $0.20 and 3 at $20 per million.
    let expected = (1_204.0 * 4.0 + 310.0 * 5.0 + 8_120.0 * 0.2 + 3.0 * 20.0) / 1e6;
    let cut_off = cost("interrupt-stream").flatten().unwrap();
    assert!((cut_off - expected).abs() < 1e-9, "{cut_off} instead of {expected}");
    assert_eq!(cost("interrupt-tool"), Some(None), "the response was whole when the tool was interrupted");
    assert_eq!(cost("multi-turn"), Some(None));
}
