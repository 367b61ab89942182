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

/// Version 2.1.325 of the CLI leaves a response that was cut off out of its totals, and 2.1.327 counts it:
/// either way it costs once.
#[test]
fn c24_an_interrupted_turn_costs_once_whether_the_agent_counts_it_or_not() {
    let usage = r#"{"input_tokens":1000,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":100}"#;
    // $3 and $15 per million.
    let response = 0.0045;
    let turn = |fold: &mut Fold, number: u64, cut_off: bool, counted: String| {
        let aborted = if cut_off { r#","aborted":true"# } else { "" };
        let lines = [
            format!(
                r#"{{"type":"assistant","message":{{"id":"msg_{number}","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{{"type":"text","text":"Hm."}}],"usage":{usage}}},"parent_tool_use_id":null,"session_id":"s","uuid":"u{number}"{aborted}}}"#
            ),
            format!(r#"{{"type":"result","subtype":"success","is_error":false,"session_id":"s",{counted}}}"#),
        ];
        let mut events = Vec::new();
        for line in lines {
            let frame = FrameRef::decode(line.as_bytes()).unwrap();
            fold.step(Input::Frame(&frame), &mut events);
        }
        let result = events.into_iter().find_map(|event| match event {
            UiMessage::TurnResult(result) => Some(result),
            _ => None,
        });
        result.unwrap().interrupted_cost_usd
    };
    let total = |cost: f64| format!(r#""total_cost_usd":{cost}"#);
    let of_turn = |all: f64, cost: f64| {
        format!(
            r#"{},"model_usage_since_last_result":{{"claude-sonnet-4-5":{{"costUSD":{cost}}}}}"#,
            total(all)
        )
    };
    let new = || Fold::new(1, FoldOptions::default());

    let mut counts = new();
    assert_eq!(turn(&mut counts, 1, true, of_turn(response, response)), None);
    assert_eq!(turn(&mut counts, 2, false, of_turn(response * 2.0, response)), None);
    assert_eq!(turn(&mut counts, 3, true, of_turn(response * 3.0, response)), None);

    let mut omits = new();
    assert_eq!(turn(&mut omits, 1, true, of_turn(0.0, 0.0)), Some(response));
    assert_eq!(turn(&mut omits, 2, false, of_turn(response, response)), None);
    assert_eq!(turn(&mut omits, 3, true, of_turn(response, 0.0)), Some(response));

    // A hidden request, such as for a title, is a fraction of a response.
    assert_eq!(turn(&mut new(), 1, true, of_turn(0.0002, 0.0002)), Some(response));
    assert_eq!(turn(&mut new(), 1, true, of_turn(response + 0.0002, response + 0.0002)), None);

    // An agent that gives its total only, which continues when the session is resumed.
    let mut resumed = new();
    assert_eq!(turn(&mut resumed, 1, true, total(3.2)), Some(response), "such versions omit it");
    assert_eq!(turn(&mut resumed, 2, true, total(3.2)), Some(response));
    assert_eq!(turn(&mut resumed, 3, true, total(3.2 + response)), None);
    assert_eq!(turn(&mut resumed, 4, true, total(0.0)), Some(response), "begun anew");
}

/// A resumed agent that gives its total only: the list price of the turn tells a total that begins at zero
/// from one that continues.
#[test]
fn p39_a_total_that_begins_at_zero_is_told_from_one_that_continues() {
    let usage = r#"{"input_tokens":1000,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1000}"#;
    let response = 1000.0 * (3.0 + 15.0) / 1e6;
    let turns = |before: f64, totals: &[f64]| {
        let mut options = FoldOptions::default();
        options.reported_usd = before;
        let mut fold = Fold::new(1, options);
        let mut events = Vec::new();
        for (number, total) in totals.iter().enumerate() {
            for line in [
                format!(
                    r#"{{"type":"assistant","message":{{"id":"msg_{number}","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{{"type":"text","text":"Hm."}}],"usage":{usage}}},"parent_tool_use_id":null,"session_id":"s","uuid":"u{number}"}}"#
                ),
                format!(
                    r#"{{"type":"result","subtype":"success","is_error":false,"session_id":"s","total_cost_usd":{total}}}"#
                ),
            ] {
                let frame = FrameRef::decode(line.as_bytes()).unwrap();
                fold.step(Input::Frame(&frame), &mut events);
            }
        }
        let costs = events.into_iter().filter_map(|event| match event {
            UiMessage::TurnResult(result) => Some(result.turn_cost_usd),
            _ => None,
        });
        costs.collect::<Vec<_>>()
    };
    for before in [response * 0.4, response, response * 20.0] {
        assert_eq!(turns(before, &[before + response, before + response * 2.0]), [None, None], "{before}");
        let begun = turns(before, &[response, response * 2.0]);
        assert_eq!(begun, [Some(response), None], "the difference of the totals says the rest: {before}");
    }
    assert_eq!(turns(0.0, &[response]), [None], "nothing was before");
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
