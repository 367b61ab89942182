//! The same events for any segmentation of the bytes, and after a restart at any point.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use crate::support;

use proptest::prelude::*;
use tidings_agent::UiMessage;
use tidings_agent::fold::{Fold, FoldOptions, Input, Snapshot};
use tidings_agent::history::Conversation;
use tidings_protocol::FrameRef;

use support::{frames, in_chunks, live};

/// Short sessions with streams, sub-agents, retractions, queues and commands in them.
const NAMES: &[&str] = &[
    "partial-stream",
    "agent-parallel",
    "agent-background",
    "err-stream-cut",
    "refusal-repeated",
    "queued-messages",
    "interrupt-stream",
    "compact-manual",
];

fn step(fold: &mut Fold, line: &str, events: &mut Vec<UiMessage>) {
    fold.step(Input::Frame(&FrameRef::decode(line.as_bytes()).unwrap()), events);
}

/// A streamed answer: text deltas, and then the complete block.
fn answer(lane: &str, id: &str, deltas: &[String]) -> Vec<String> {
    let parent = if lane.is_empty() { "null".to_owned() } else { format!("{lane:?}") };
    let frame =
        |event: &str| format!(r#"{{"type":"stream_event","parent_tool_use_id":{parent},"event":{event}}}"#);
    let mut lines = vec![
        frame(&format!(r#"{{"type":"message_start","message":{{"id":"{id}","content":[]}}}}"#)),
        frame(r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#),
    ];
    for text in deltas {
        let text = serde_json::to_string(text).unwrap();
        let delta = format!(r#"{{"type":"text_delta","text":{text}}}"#);
        lines.push(frame(&format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#)));
    }
    let whole = serde_json::to_string(&deltas.concat()).unwrap();
    lines.push(format!(
        r#"{{"type":"assistant","parent_tool_use_id":{parent},"message":{{"id":"{id}","content":[{{"type":"text","text":{whole}}}]}}}}"#
    ));
    lines.push(frame(
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
    ));
    lines.push(frame(r#"{"type":"message_stop"}"#));
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cut_of_the_bytes_gives_the_same_events(
        name in proptest::sample::select(NAMES),
        cuts in proptest::collection::vec(1_usize..5_000, 1..40),
    ) {
        let mut next = cuts.iter().cycle();
        let events = in_chunks(&frames(name), |_| *next.next().unwrap());
        prop_assert_eq!(events, live(name));
    }

    #[test]
    fn a_server_that_starts_again_anywhere_goes_on_with_the_same_events(
        name in proptest::sample::select(NAMES),
        at in 0.0_f64..1.0,
    ) {
        let text = String::from_utf8(frames(name)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a short list")]
        let cut = (lines.len() as f64 * at) as usize;
        let (mut whole, mut events) = (Fold::new(1, FoldOptions::default()), Vec::new());
        for line in &lines {
            step(&mut whole, line, &mut events);
        }

        let (mut first, mut seen) = (Fold::new(1, FoldOptions::default()), Vec::new());
        for line in &lines[..cut] {
            step(&mut first, line, &mut seen);
        }
        let saved = serde_json::to_string(&first.save()).unwrap();
        let snapshot: Snapshot = serde_json::from_str(&saved).unwrap();
        let mut second = Fold::restore(snapshot, FoldOptions::default()).unwrap();
        for line in &lines[cut..] {
            step(&mut second, line, &mut seen);
        }
        prop_assert_eq!(seen, events);
        prop_assert_eq!(second.save(), whole.save());
    }

    #[test]
    fn lanes_do_not_mix_however_their_chunks_are_interleaved(
        ours in proptest::collection::vec("[a-zä😀\"\\\\ ]{0,6}", 1..12),
        theirs in proptest::collection::vec("[a-zä😀\"\\\\ ]{0,6}", 1..12),
        order in proptest::collection::vec(any::<bool>(), 40),
    ) {
        let (mut main, mut agent) = (answer("", "m1", &ours).into_iter(), answer("t1", "m2", &theirs).into_iter());
        let mut fold = Fold::new(1, FoldOptions::default());
        let mut events = Vec::new();
        for first in order {
            let line = if first { main.next() } else { agent.next() };
            if let Some(line) = line {
                step(&mut fold, &line, &mut events);
            }
        }
        for line in main.chain(agent) {
            step(&mut fold, &line, &mut events);
        }
        let conversation = Conversation::of(&events);
        let turn = conversation.turns.first().map(|turn| turn.output.text.clone());
        prop_assert_eq!(turn.unwrap_or_default(), ours.concat());
        prop_assert_eq!(&conversation.agents["t1"].text, &theirs.concat());
        prop_assert!(!events.iter().any(|event| matches!(event, UiMessage::Retracted(_))));
    }

    #[test]
    fn a_fold_that_starts_in_the_middle_of_a_stream_shows_the_whole_text_once(
        deltas in proptest::collection::vec("[a-zä ]{1,6}", 1..10),
        missed in 0_usize..12,
    ) {
        let mut fold = Fold::new(1, FoldOptions::default());
        let mut events = Vec::new();
        for line in answer("", "m1", &deltas).iter().skip(missed.min(deltas.len() + 2)) {
            step(&mut fold, line, &mut events);
        }
        prop_assert_eq!(&Conversation::of(&events).turns[0].output.text, &deltas.concat());
    }

    #[test]
    fn a_stream_that_loses_chunks_ends_up_with_the_whole_text(
        deltas in proptest::collection::vec("[a-zä ]{1,6}", 1..10),
        lost in proptest::collection::vec(any::<bool>(), 10),
    ) {
        let mut fold = Fold::new(1, FoldOptions::default());
        let mut events = Vec::new();
        for (line, index) in answer("", "m1", &deltas).into_iter().zip(0_usize..) {
            let is_delta = (2..2 + deltas.len()).contains(&index);
            if !(is_delta && lost[index - 2]) {
                step(&mut fold, &line, &mut events);
            }
        }
        prop_assert_eq!(&Conversation::of(&events).turns[0].output.text, &deltas.concat());
    }

    #[test]
    fn no_frame_makes_the_fold_panic(
        kinds in proptest::collection::vec((0_usize..14, 0_usize..6, "[a-c]{0,2}"), 0..40),
    ) {
        const SUBTYPES: &[&str] = &["init", "status", "task_started", "task_updated", "task_notification", "model_refusal_fallback"];
        let mut fold = Fold::new(1, FoldOptions::default());
        let mut events = Vec::new();
        for (kind, subtype, text) in kinds {
            let subtype = SUBTYPES[subtype];
            let line = match kind {
                0 => format!(r#"{{"type":"assistant","uuid":"{text}","message":{{"id":"{text}","content":[{{"type":"text","text":"{text}"}}]}}}}"#),
                1 => format!(r#"{{"type":"assistant","supersedes":["{text}"],"message":{{"content":[{{"type":"tool_use","id":"{text}","name":"Task","input":3}}]}}}}"#),
                2 => format!(r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{text}","content":7}}]}}}}"#),
                3 => format!(r#"{{"type":"stream_event","event":{{"type":"content_block_delta","index":{},"delta":{{"type":"text_delta","text":"{text}"}}}}}}"#, text.len()),
                4 => r#"{"type":"stream_event","event":{"type":"message_stop"},"abandoned_blocks":{}}"#.to_owned(),
                5 => format!(r#"{{"type":"stream_event","event":{{"type":"message_start","message":{{"id":"{text}"}}}}}}"#),
                6 => r#"{"type":"result"}"#.to_owned(),
                7 => format!(r#"{{"type":"system","subtype":"{subtype}","task_id":"{text}","tool_use_id":"{text}","task_type":"local_agent","patch":{{"status":"{text}"}},"retracted_message_uuids":["{text}"]}}"#),
                8 => format!(r#"{{"type":"tool_progress","tool_use_id":"{text}","parent_tool_use_id":"{text}"}}"#),
                9 => format!(r#"{{"type":"command_lifecycle","command_uuid":"{text}","state":"started"}}"#),
                10 => format!(r#"{{"type":"user","uuid":"{text}","isReplay":true,"message":{{"content":"/{text}"}}}}"#),
                11 => format!(r#"{{"type":"assistant","parent_tool_use_id":"{text}","message":{{"content":"{text}"}}}}"#),
                12 => format!(r#"{{"type":"{text}","{subtype}":[[]]}}"#),
                _ => r#"{"type":"rate_limit_event","rate_limit_info":1e999}"#.to_owned(),
            };
            step(&mut fold, &line, &mut events);
        }
        // A retraction always removes the end of what was shown.
        let mut shown = String::new();
        for event in &events {
            match event {
                UiMessage::TurnStarted(_) => shown.clear(),
                UiMessage::TextChunk { text, .. } => shown.push_str(text),
                UiMessage::Retracted(event) => {
                    prop_assert!(shown.ends_with(&event.text));
                    shown.truncate(shown.len() - event.text.len());
                }
                _ => {}
            }
        }
    }
}
