//! A snapshot shows the conversation that the whole stream shows.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::HashMap;

use conversation::{Conversation, Item};
use proptest::prelude::*;
use serde_json::json;
use tidings_journal::snapshot::{ConversationSnapshot, SnapshotBudget, take_snapshot};
use tidings_protocol::mobile::RiskLevel;
use tidings_protocol::ui::*;

use crate::conversation;

const ENOUGH: SnapshotBudget =
    SnapshotBudget { events_max: 100_000, bytes_max: 1 << 30, result_bytes_max: 1 << 20 };

/// One step; `lane` and `id` are small numbers, so that steps collide.
#[derive(Debug, Clone)]
struct Step {
    lane: usize,
    turn: u64,
    id: usize,
    word: String,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Text,
    Thinking,
    TextEnded,
    Retract(usize),
    RetractOther,
    RetractCall,
    Preparing,
    Executing,
    ToolProgress,
    Details,
    Completed,
    Permission,
    Batch,
    Allowed,
    Question,
    Answered,
    Queued,
    Prompt,
    Dropped,
    AgentStarted,
    AgentProgressed,
    AgentEnded,
    Task,
    Tokens,
    Progress,
    Todos,
    Retrying,
    Limit,
    State,
    Crash,
    Started,
    Settings,
    TurnStarted,
    TurnResult,
    Complete,
    Error,
    Suggestion,
    Raw,
}

fn what() -> impl Strategy<Value = What> {
    use What::{
        AgentEnded, AgentProgressed, AgentStarted, Allowed, Answered, Batch, Complete, Completed, Crash,
        Details, Dropped, Error, Executing, Limit, Permission, Preparing, Progress, Prompt, Question, Queued,
        Raw, Retract, RetractCall, RetractOther, Retrying, Settings, Started, State, Suggestion, Task, Text,
        TextEnded, Thinking, Todos, Tokens, ToolProgress, TurnResult, TurnStarted,
    };
    let rest = prop::sample::select(vec![
        RetractOther,
        RetractCall,
        Preparing,
        Executing,
        ToolProgress,
        Details,
        Completed,
        Permission,
        Batch,
        Allowed,
        Question,
        Answered,
        Queued,
        Prompt,
        Dropped,
        AgentStarted,
        AgentProgressed,
        AgentEnded,
        Task,
        Tokens,
        Progress,
        Todos,
        Retrying,
        Limit,
        State,
        Crash,
        Started,
        Settings,
        TurnStarted,
        TurnResult,
        Complete,
        Error,
        Suggestion,
        Raw,
    ]);
    prop_oneof![
        6 => Just(Text),
        3 => Just(Thinking),
        3 => Just(TextEnded),
        2 => (1usize..8).prop_map(Retract),
        12 => rest,
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let advance = prop_oneof![9 => Just(0), 1 => Just(1)];
    let step = (0usize..3, advance, 0usize..3, "[ab]{1,3}", what());
    prop::collection::vec(step, 0..60).prop_map(|steps| {
        let mut turn = 1;
        let step = |(lane, advance, id, word, what)| {
            turn += advance;
            Step { lane, turn, id, word, what }
        };
        steps.into_iter().map(step).collect()
    })
}

/// The events of some steps. Only text that was said is retracted, as with a real fold.
fn events(steps: &[Step]) -> Vec<UiMessage> {
    let mut said: HashMap<(usize, u64), String> = HashMap::new();
    let mut events = Vec::new();
    for step in steps {
        let said = said.entry((step.lane, step.turn)).or_default();
        let event = event(step, said);
        events.push(match step.lane {
            0 => event,
            lane => Lane::new(1, format!("agent{lane}"), Box::new(event)).into(),
        });
    }
    events
}

fn event(step: &Step, said: &mut String) -> UiMessage {
    let turn = TurnId::new_assistant_turn(step.turn);
    let id = format!("toolu_{}", step.id);
    let word = step.word.clone();
    let batch = format!("batch_{}", step.id % 2);
    match step.what {
        What::Text => {
            said.push_str(&word);
            UiMessage::TextChunk { text: word, session_id: 1, turn_id: turn }
        }
        What::Thinking => Thinking::new(1, turn, word).into(),
        What::TextEnded => TextEnded::new(1, turn).into(),
        What::Retract(count) => {
            let mut event = Retracted::new(1, turn, RetractReason::Retry);
            event.text = said.split_off(said.len().saturating_sub(count));
            event.into()
        }
        What::RetractOther => {
            let mut event = Retracted::new(1, turn, RetractReason::Corrected);
            event.thinking = word;
            event.into()
        }
        What::RetractCall => {
            let mut event = Retracted::new(1, turn, RetractReason::Refusal);
            event.tool_use_ids = vec![id];
            event.into()
        }
        What::Preparing => ToolPreparing::new(1, id, "Bash").into(),
        What::Executing => UiMessage::ToolExecuting {
            tool_use_id: id,
            tool_name: "Bash".to_owned(),
            input: json!({ "command": word }),
            session_id: 1,
        },
        What::ToolProgress => {
            ToolProgress::new(1, id, "Bash", f64::from(u32::try_from(word.len()).unwrap())).into()
        }
        What::Details => ToolDetails::new(1, id, false).into(),
        What::Completed => UiMessage::ToolCompleted { tool_use_id: id, result: word, session_id: 1 },
        What::Permission => {
            let mut event = PermissionDetails::new(1, id, "Bash", json!({ "command": word }), RiskLevel::Low);
            event.batch_id = (step.id > 0).then_some(batch);
            event.into()
        }
        What::Batch => {
            UiMessage::BatchPermissionRequired { batch_id: batch, requests: Vec::new(), session_id: 1 }
        }
        What::Allowed => {
            let mut event = PermissionResolved::new(1, id, Resolution::Allowed);
            event.batch_id = (step.id > 0).then_some(batch);
            event.into()
        }
        What::Question => UiMessage::UserInteractionRequired {
            tool_use_id: id,
            request: AskUserQuestionsRequest { questions: Vec::new() },
            session_id: 1,
        },
        What::Answered => InteractionResolved::new(1, id, Resolution::Answered).into(),
        What::Queued => {
            let is_known = word.len() == 1;
            let mut event = PromptQueued::new(1, id, word, TurnId::new_user_turn(step.turn));
            event.by = is_known.then(|| "Ada".to_owned());
            event.into()
        }
        What::Prompt => {
            let mut event = UserPrompt::new(1, word);
            event.uuid = Some(id);
            event.into()
        }
        What::Dropped => PromptDropped::new(1, id).into(),
        What::AgentStarted => SubAgentStarted::new(1, id).into(),
        What::AgentProgressed => {
            let mut event = SubAgentProgressed::new(1, id);
            event.last_tool = (step.word.len() == 1).then_some(word);
            event.tokens = (step.word.len() == 2).then_some(7);
            event.into()
        }
        What::AgentEnded => SubAgentEnded::new(1, id, SubAgentOutcome::Completed).into(),
        What::Task => {
            let mut event = TaskChanged::new(1, id, "running");
            event.description = (step.word.len() == 1).then(|| word.clone());
            event.summary = (step.word.len() == 2).then_some(word);
            event.into()
        }
        What::Tokens => UiMessage::TokenUpdate { input_tokens: 1, output_tokens: 2, session_id: 1 },
        What::Progress => {
            let mut event = Progress::new(1, ProgressSource::Text);
            event.step = Some(word);
            event.into()
        }
        What::Todos => TodoList::new(1).into(),
        What::Retrying => Retrying::new(1, step.turn).into(),
        What::Limit => RateLimit::new(1, word).into(),
        What::State => SessionStateChanged::new(1, SessionPhase::Running).into(),
        What::Crash => {
            let mut event = SessionStateChanged::new(1, SessionPhase::Ended);
            event.error = Some(word);
            event.into()
        }
        What::Started => {
            let mut event = SessionStarted::new(1, id);
            event.tools = vec![word.clone()];
            event.slash_commands = vec![word];
            event.into()
        }
        What::Settings => {
            let mut event = SettingsChanged::new(1);
            event.model = (step.word.len() == 1).then(|| word.clone());
            event.slash_commands = (step.word.len() == 2).then(|| vec![word]);
            event.into()
        }
        What::TurnStarted => TurnStarted::new(1, turn).into(),
        What::TurnResult => {
            let mut event = TurnResult::new(1, turn, "success", false);
            event.model_usage = (step.id > 0).then(|| json!({ "model": word }));
            event.into()
        }
        What::Complete => {
            UiMessage::Complete { session_id: 1, turn_id: turn, stop_reason: StopReason::EndTurn }
        }
        What::Error => UiMessage::Error { message: word, session_id: Some(1) },
        What::Suggestion => Suggestion::new(1, word).into(),
        What::Raw => RawFrame::new(1, "system/other", "{}").into(),
    }
}

fn numbered(events: &[UiMessage]) -> impl Iterator<Item = (u64, UiMessage)> {
    (1..).zip(events.iter().cloned())
}

fn only(snapshot: &ConversationSnapshot) -> Vec<UiMessage> {
    snapshot.events.iter().map(|(_, event)| event.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_snapshot_and_the_live_stream_after_it_show_what_the_whole_stream_shows(
        steps in steps(),
        border in any::<prop::sample::Index>(),
    ) {
        let events = events(&steps);
        let border = border.index(events.len() + 1);
        let (before, live) = events.split_at(border);
        let taken = take_snapshot(numbered(before), ENOUGH);
        prop_assert!(!taken.more);
        prop_assert!(taken.events.len() <= before.len());
        prop_assert!(taken.events.is_sorted_by_key(|(seq, _)| *seq));
        let snapshot = only(&taken);
        prop_assert_eq!(Conversation::of(snapshot.iter().chain(live)), Conversation::of(&events));
        let again = only(&take_snapshot(taken.events.iter().cloned(), ENOUGH));
        prop_assert_eq!(Conversation::of(&again), Conversation::of(&snapshot));
    }

    #[test]
    fn whatever_has_no_room_is_cut_off_in_front(
        steps in steps(),
        events_max in 4usize..40,
        bytes_max in 300usize..6000,
    ) {
        let events = events(&steps);
        let all = take_snapshot(numbered(&events), ENOUGH);
        let budget = SnapshotBudget { events_max, bytes_max, ..ENOUGH };
        let some = take_snapshot(numbered(&events), budget);
        let bytes: usize = only(&some).iter().map(|event| serde_json::to_vec(event).unwrap().len() + 1).sum();
        prop_assert!(some.events.len() <= events_max);
        prop_assert!(bytes <= bytes_max);
        prop_assert_eq!(some.more, some.events != all.events);
        // From its first event on nothing is missing or out of order.
        let tail: Vec<_> = all.events.iter().filter(|(seq, _)| *seq >= some.from).collect();
        prop_assert!(some.events.iter().filter(|(seq, _)| *seq >= some.from).eq(tail));
        prop_assert!(some.events.is_sorted_by_key(|(seq, _)| *seq));
    }
}

/// A retracted call belongs to no turn any more: a sub-agent's call with the same id continues when the turn
/// ends.
#[test]
fn a_call_that_was_taken_back_does_not_end_another_one_with_its_id() {
    use What::{Complete, Preparing, RetractCall, ToolProgress};
    let step = |lane, what| Step { lane, turn: 1, id: 0, word: "a".to_owned(), what };
    let steps = [
        step(0, Preparing),
        step(0, RetractCall),
        step(1, Preparing),
        step(0, Complete),
        step(1, ToolProgress),
    ];
    let events = events(&steps);
    let whole = Conversation::of(&events);
    for border in 0..=events.len() {
        let (before, live) = events.split_at(border);
        let snapshot = only(&take_snapshot(numbered(before), ENOUGH));
        assert_eq!(Conversation::of(snapshot.iter().chain(live)), whole, "{border}");
    }
}

/// A session of many turns, each with a streamed text, reasoning and a tool that needs permission.
fn chunk(text: &str) -> UiMessage {
    UiMessage::TextChunk { text: text.to_owned(), session_id: 1, turn_id: TurnId::new_assistant_turn(1) }
}

/// A prompt that is steered into a turn comes in the middle of a block, and the block continues.
#[test]
fn p3_a_steered_prompt_does_not_split_the_block_that_is_being_written() {
    let steered = |text: &str| UiMessage::from(UserPrompt::new(1, text));
    let ended = || UiMessage::from(TextEnded::new(1, TurnId::new_assistant_turn(1)));
    let events = [
        chunk("```rust\nfn "),
        steered("Shorter"),
        chunk("main()"),
        steered("Faster"),
        chunk(" {}\n```"),
        ended(),
    ];
    let snapshot = take_snapshot(numbered(&events), ENOUGH);
    let texts = only(&snapshot).into_iter().filter_map(|event| match event {
        UiMessage::TextChunk { text, .. } => Some(text),
        UiMessage::UserPrompt(prompt) => Some(prompt.text),
        _ => None,
    });
    assert_eq!(texts.collect::<Vec<_>>(), ["```rust\nfn main() {}\n```", "Shorter", "Faster"]);
    // Text after the end of a block comes after the prompt.
    let after: Vec<UiMessage> =
        vec![chunk("One."), ended(), steered("And?"), chunk("Two."), steered("Then?"), chunk(" Three.")];
    let snapshot = take_snapshot(numbered(&after), ENOUGH);
    let shown = Conversation::of(only(&snapshot).iter());
    assert_eq!(shown, Conversation::of(after.iter()));
    assert_eq!(
        snapshot.events.iter().filter(|(_, event)| matches!(event, UiMessage::TextChunk { .. })).count(),
        2
    );
}

/// An answer can change the input of a tool; a snapshot contains the changed input, cut like every other one.
#[test]
fn p1_an_input_that_the_answer_changed_is_in_the_snapshot() {
    let mut resolved = PermissionResolved::new(1, "t1", Resolution::Allowed);
    resolved.updated_input = Some(json!({"command": "echo ".repeat(2_000)}));
    let executing = UiMessage::ToolExecuting {
        tool_use_id: "t1".to_owned(),
        tool_name: "Bash".to_owned(),
        input: json!({"command": "rm -rf build"}),
        session_id: 1,
    };
    let completed =
        UiMessage::ToolCompleted { tool_use_id: "t1".to_owned(), result: String::new(), session_id: 1 };
    let changed = |events: &[UiMessage]| {
        let budget = SnapshotBudget { result_bytes_max: 1_000, ..ENOUGH };
        only(&take_snapshot(numbered(events), budget)).into_iter().find_map(|event| match event {
            UiMessage::PermissionResolved(resolved) => resolved.updated_input,
            _ => None,
        })
    };
    let begun = [executing, resolved.clone().into()];
    assert_eq!(changed(&begun), resolved.updated_input, "whole while the call runs");
    let [executing, resolved] = begun;
    let cut = changed(&[executing, resolved, completed]).unwrap();
    let command = cut["command"].as_str().unwrap();
    assert!(command.starts_with("echo ") && command.len() < 1_000, "{command}");
}

fn long_session(turns: u64) -> Vec<UiMessage> {
    let mut events = vec![SessionStarted::new(1, "0b9c").into()];
    for turn in 1..=turns {
        let turn_id = TurnId::new_assistant_turn(turn);
        let id = format!("toolu_{turn}");
        let mut prompt = UserPrompt::new(1, format!("Please look into case {turn}"));
        prompt.turn_id = Some(TurnId::new_user_turn(turn));
        events.push(prompt.into());
        events.push(TurnStarted::new(1, turn_id).into());
        events.extend((0..20).map(|_| Thinking::new(1, turn_id, "It may be so. ").into()));
        events.extend((0..30).map(|_| UiMessage::TextChunk {
            text: "A word or two. ".to_owned(),
            session_id: 1,
            turn_id,
        }));
        events.push(TextEnded::new(1, turn_id).into());
        events.push(ToolPreparing::new(1, id.as_str(), "Bash").into());
        events.push(UiMessage::ToolExecuting {
            tool_use_id: id.clone(),
            tool_name: "Bash".to_owned(),
            input: json!({ "command": "cargo test" }),
            session_id: 1,
        });
        let input = json!({ "command": "cargo test" });
        events.push(PermissionDetails::new(1, id.as_str(), "Bash", input, RiskLevel::Medium).into());
        events.push(PermissionResolved::new(1, id.as_str(), Resolution::Allowed).into());
        events.extend((0..30).map(|n| ToolProgress::new(1, id.as_str(), "Bash", f64::from(n)).into()));
        let mut details = ToolDetails::new(1, id.as_str(), false);
        details.tool_use_result = Some(json!({ "stdout": "test … ok\n".repeat(2000), "stderr": "" }));
        events.push(details.into());
        let result = "test … ok\n".repeat(2000);
        events.push(UiMessage::ToolCompleted { tool_use_id: id, result, session_id: 1 });
        events.extend((0..10).map(|n| UiMessage::TokenUpdate {
            input_tokens: n,
            output_tokens: n,
            session_id: 1,
        }));
        events.push(TurnResult::new(1, turn_id, "success", false).into());
        events.push(UiMessage::Complete { session_id: 1, turn_id, stop_reason: StopReason::EndTurn });
    }
    events
}

#[test]
fn a_session_of_ten_thousand_events_opens_with_two_hundred_kilobytes() {
    let events = long_session(100);
    assert!(events.len() >= 10_000, "{}", events.len());
    let budget = SnapshotBudget { events_max: 2000, bytes_max: 200_000, result_bytes_max: 4 << 10 };
    let snapshot = take_snapshot(numbered(&events), budget);
    let bytes = serde_json::to_vec(&only(&snapshot)).unwrap().len();
    assert!(bytes <= 200_000, "{bytes}");
    assert!(snapshot.more);
    // It begins with a prompt, after the facts of the session; and it ends as the session does.
    let mut shown = snapshot.events.iter();
    assert!(matches!(shown.next(), Some((1, UiMessage::SessionStarted(_)))));
    assert!(matches!(shown.next(), Some((seq, UiMessage::UserPrompt(_))) if *seq == snapshot.from));
    assert_eq!(snapshot.events.last().unwrap().1, *events.last().unwrap());
    let shown = Conversation::of(&only(&snapshot));
    let prompts = shown.lanes[&None].iter().filter(|item| matches!(item, Item::Prompt { .. })).count();
    assert!(prompts >= 20, "{prompts} turns fit");
}

#[test]
fn a_long_result_is_cut_and_says_how_long_it_was() {
    let events = long_session(1);
    let budget = SnapshotBudget { result_bytes_max: 1 << 10, ..ENOUGH };
    let events = only(&take_snapshot(numbered(&events), budget));
    let result = events.iter().find_map(|event| match event {
        UiMessage::ToolCompleted { result, .. } => Some(result),
        _ => None,
    });
    let result = result.unwrap();
    assert!(result.len() <= 1 << 10, "{}", result.len());
    let is_line = |line: &str| line == "test … ok" || line.ends_with(" of 24000 bytes left out");
    assert!(result.lines().all(is_line), "lines are whole: {result}");
    let details = events.iter().find_map(|event| match event {
        UiMessage::ToolDetails(details) => details.tool_use_result.as_ref(),
        _ => None,
    });
    let stdout = details.unwrap()["stdout"].as_str().unwrap();
    assert!(stdout.contains(" of 24000 bytes left out"), "{stdout}");
    assert!(stdout.len() > 600, "most of the room is used: {}", stdout.len());
}

/// The end of a long output matters most, and the page shows it first.
#[test]
fn a_long_result_keeps_its_beginning_and_its_end() {
    let numbered_lines = (1..=3000).fold(String::new(), |text, n| text + &format!("line {n}\n"));
    let wide = "ß".repeat(5000);
    let long_last_line = format!("{}{}", "short\n".repeat(10), "€".repeat(5000));
    let cases = [
        (numbered_lines.as_str(), "line 1\nline 2\n", "\nline 2999\nline 3000\n"),
        (numbered_lines.trim_end(), "line 1\n", "\nline 3000"),
        (wide.as_str(), "ßßß", "ßßß"),
        (long_last_line.as_str(), "short\nshort\n", "€€€"),
    ];
    for (whole, begins, ends) in cases {
        for max in [200, 201, 202, 203, 1 << 10, 8 << 10] {
            let event = UiMessage::ToolCompleted {
                tool_use_id: "toolu_1".to_owned(),
                result: whole.to_owned(),
                session_id: 1,
            };
            let events =
                only(&take_snapshot(numbered(&[event]), SnapshotBudget { result_bytes_max: max, ..ENOUGH }));
            let [UiMessage::ToolCompleted { result, .. }] = events.as_slice() else { panic!("{events:?}") };
            assert!(result.len() <= max, "{} of {max}", result.len());
            assert!(result.starts_with(begins) && result.ends_with(ends), "{result}");
            let (head, rest) = result.split_once("… ").unwrap();
            let (mark, tail) = rest.split_once(&format!(" of {} bytes left out\n", whole.len())).unwrap();
            assert!(head.is_empty() || head.ends_with('\n'), "the mark has a line of its own: {result}");
            let head = if whole.starts_with(head) { head } else { head.trim_end_matches('\n') };
            assert!(whole.starts_with(head) && whole.ends_with(tail), "{result}");
            assert_eq!(mark.parse(), Ok(whole.len() - head.len() - tail.len()), "{result}");
        }
    }
}

#[test]
fn an_open_request_is_in_the_snapshot_however_old_it_is() {
    let input = json!({ "content": "x".repeat(5000) });
    let mut events: Vec<UiMessage> = vec![
        UiMessage::ToolExecuting {
            tool_use_id: "toolu_asked".to_owned(),
            tool_name: "Write".to_owned(),
            input: input.clone(),
            session_id: 1,
        },
        PermissionDetails::new(1, "toolu_asked", "Write", input, RiskLevel::Medium).into(),
        PromptQueued::new(1, "u-2", "And then?", TurnId::new_user_turn(2)).into(),
        TaskChanged::new(1, "task-1", "running").into(),
    ];
    let asked = events.clone();
    events.extend((0..5000).map(|n| UiMessage::System { message: format!("Note {n}"), session_id: Some(1) }));
    let budget = SnapshotBudget { events_max: 1000, bytes_max: 100_000, result_bytes_max: 1 << 10 };
    let snapshot = take_snapshot(numbered(&events), budget);
    assert_eq!(only(&snapshot)[..4], asked[..], "in full, since a user decides about it");
    let shown = Conversation::of(&only(&snapshot));
    assert!(shown.pending.contains_key("toolu_asked"));
    assert!(shown.queue.contains_key("u-2"));
}

/// Samples of all events.
const SAMPLES: &str = include_str!("../../protocol/tests/fixtures/ui/events.ndjson");

#[test]
fn a_snapshot_does_with_each_event_what_the_table_of_events_says() {
    for sample in SAMPLES.lines() {
        let event: UiMessage = serde_json::from_str(sample).unwrap();
        let text = UiMessage::TextChunk {
            text: "Hello".to_owned(),
            session_id: 1,
            turn_id: TurnId::new_assistant_turn(2),
        };
        let take = |events: &[UiMessage]| {
            let snapshot = take_snapshot((1..).zip(events.iter().cloned()), ENOUGH);
            let count = |name| snapshot.events.iter().filter(|(_, event)| event.name() == name).count();
            (count(event.name()), count("TextChunk"))
        };
        let twice = [text.clone(), event.clone(), event.clone()];
        let between = [text.clone(), event.clone(), text];
        match event.facts().snapshot {
            SnapshotRole::Omitted => assert_eq!(take(&twice), (0, 1), "{sample}"),
            SnapshotRole::Kept => {
                assert_eq!(take(&twice), (2, 1), "{sample}");
                assert_eq!(take(&between), (1, 1), "the text is one block: {sample}");
            }
            SnapshotRole::Item => {
                assert_eq!(take(&twice), (2, 1), "{sample}");
                assert_eq!(take(&between), (1, 2), "it ends the text: {sample}");
            }
            SnapshotRole::Latest => assert_eq!(take(&twice), (1, 1), "{sample}"),
            // It removes content, and is removed itself.
            SnapshotRole::Retraction => {}
            _ => assert!(take(&twice).0 > 0, "the event is lost: {sample}"),
        }
    }
}
