//! Snapshots of the events of recorded sessions.

use crate::support;

use support::{fixtures, live, readable};
use tidings_agent::fold::{Exit, Fold, FoldOptions, Input};
use tidings_protocol::FrameRef;
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

/// An agent that is killed reports nothing of its turn: the price of its responses is in the event of its
/// end.
#[test]
fn p7_an_agent_that_dies_in_a_turn_has_the_price_of_its_responses() {
    let usage = |output: u64| {
        format!(
            r#"{{"input_tokens":1000,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":{output}}}"#
        )
    };
    let answer = |id: &str, uuid: &str, output: u64| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{{"type":"text","text":"Hm."}}],"usage":{}}},"parent_tool_use_id":null,"session_id":"s","uuid":"{uuid}"}}"#,
            usage(output)
        )
    };
    let mut fold = Fold::new(1, FoldOptions::default());
    let mut events = Vec::new();
    let mut step = |line: &str| {
        let frame = FrameRef::decode(line.as_bytes()).unwrap();
        fold.step(Input::Frame(&frame), &mut events);
    };
    // Frames of one response repeat its usage.
    step(&answer("msg_1", "u1", 1));
    step(&answer("msg_1", "u2", 100));
    step(&answer("msg_2", "u3", 200));
    fold.step(Input::Exited(&Exit::default()), &mut events);
    let cost = events.iter().find_map(|event| match event {
        UiMessage::SessionStateChanged(changed) => changed.unreported_cost_usd,
        _ => None,
    });
    // $3 and $15 per million.
    let expected = (2_000.0 * 3.0 + 300.0 * 15.0) / 1e6;
    assert!((cost.unwrap() - expected).abs() < 1e-9, "{cost:?} instead of {expected}");
}
