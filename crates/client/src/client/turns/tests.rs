//! Tests of the turns against a model of the CLI, in random orders of prompts and frames.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// A model of the CLI: it takes prompts, merges queued ones, folds prompts into a running turn, and begins
/// turns by itself. It records which result answers which prompt.
#[derive(Default)]
struct Model {
    sent: u32,
    waiting: Vec<String>,
    running: Option<Vec<String>>,
    results: u32,
    frames: Vec<Value>,
    /// The result that each prompt must end with.
    truth: HashMap<String, String>,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Send,
    Begin,
    BeginByItself,
    Fold,
    Speak,
    End,
    Interrupt,
    TakeBack,
}

impl Model {
    fn step(&mut self, step: Step, turns: &mut Turns) {
        match step {
            Step::Send => {
                self.sent += 1;
                let uuid = format!("p{}", self.sent);
                assert!(turns.sent(&uuid));
                self.lifecycle(&uuid, "queued");
                self.waiting.push(uuid);
            }
            Step::Begin if self.running.is_none() && !self.waiting.is_empty() => {
                let merged = std::mem::take(&mut self.waiting);
                for uuid in &merged {
                    self.lifecycle(uuid, "started");
                }
                self.frames.push(json!({"type": "system", "subtype": "init", "user_message_uuids": merged}));
                self.running = Some(merged);
            }
            Step::BeginByItself if self.running.is_none() => {
                self.frames.push(json!({"type": "system", "subtype": "init"}));
                self.running = Some(Vec::new());
            }
            Step::Fold if self.running.is_some() && !self.waiting.is_empty() => {
                let uuid = self.waiting.remove(0);
                self.lifecycle(&uuid, "started");
                self.running.as_mut().unwrap().push(uuid);
            }
            Step::Speak if self.running.is_some() => {
                let message = json!({"role": "assistant", "content": [{"type": "text", "text": "…"}]});
                self.frames
                    .push(json!({"type": "assistant", "message": message, "parent_tool_use_id": null}));
            }
            Step::End => self.end("completed", json!({"subtype": "success", "is_error": false})),
            Step::Interrupt => {
                turns.interrupting();
                let result = json!({"subtype": "error_during_execution", "is_error": true, "errors": ["x"]});
                self.end("cancelled", result);
            }
            Step::TakeBack if !self.waiting.is_empty() => {
                let uuid = self.waiting.remove(0);
                self.lifecycle(&uuid, "cancelled");
                self.truth.insert(uuid, "dropped".to_owned());
            }
            _ => {}
        }
    }

    fn end(&mut self, state: &str, mut result: Value) {
        let Some(answered) = self.running.take() else { return };
        self.results += 1;
        let name = format!("r{}", self.results);
        result["type"] = json!("result");
        result["uuid"] = json!(name);
        match answered.first() {
            // Prompts that were folded in are named by their lifecycle only.
            Some(first) => result["user_message_uuid"] = json!(first),
            None => result["origin"] = json!({"kind": "task-notification"}),
        }
        self.frames.push(result);
        for uuid in answered {
            self.lifecycle(&uuid, state);
            self.truth.insert(uuid, name.clone());
        }
    }

    fn lifecycle(&mut self, uuid: &str, state: &str) {
        self.frames.push(json!({"type": "command_lifecycle", "command_uuid": uuid, "state": state}));
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Send),
        4 => Just(Step::Begin),
        1 => Just(Step::BeginByItself),
        2 => Just(Step::Fold),
        3 => Just(Step::Speak),
        4 => Just(Step::End),
        1 => Just(Step::Interrupt),
        1 => Just(Step::TakeBack),
    ]
}

proptest! {
    /// F47: in any order of prompts, merges, folds, interrupts and turns begun by the CLI, every prompt ends
    /// exactly once, with the result that answers it.
    #[test]
    fn f47_every_prompt_ends_once_with_its_own_result(steps in prop::collection::vec(step(), 0..60)) {
        let (mut model, mut turns) = (Model::default(), Turns::default());
        let mut ended: HashMap<String, String> = HashMap::new();
        for step in steps.into_iter().chain([Step::End, Step::Begin, Step::End]) {
            model.step(step, &mut turns);
            for frame in std::mem::take(&mut model.frames) {
                let frame = Frame::from_json(&frame.to_string()).unwrap();
                let update = turns.observe(&frame);
                for end in update.ended {
                    let name: String = end.result.as_ref().and_then(Frame::uuid).map_or("dropped".into(), Into::into);
                    for prompt in &end.prompts {
                        prop_assert!(ended.insert(prompt.clone(), name.clone()).is_none(), "{} ended twice", prompt);
                    }
                }
            }
            prop_assert_eq!(turns.is_running(), model.running.is_some());
        }
        prop_assert!(!turns.is_busy());
        prop_assert_eq!(ended, model.truth);
    }

    /// No order of frames makes the tracker panic or forget a prompt for ever.
    #[test]
    fn any_order_of_frames_is_handled(order in prop::collection::vec(0..8_usize, 0..200)) {
        let frames = [
            json!({"type": "system", "subtype": "init", "user_message_uuids": ["a"]}),
            json!({"type": "system", "subtype": "session_state_changed", "state": "idle"}),
            json!({"type": "result", "subtype": "success", "user_message_uuids": ["a", "b"]}),
            json!({"type": "command_lifecycle", "command_uuid": "a", "state": "started"}),
            json!({"type": "command_lifecycle", "command_uuid": "b", "state": "completed"}),
            json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t", "name": "X", "input": {}}]}}),
            json!({"type": "user", "message": {"content": []}, "parent_tool_use_id": "t"}),
            json!({"type": "result"}),
        ];
        let frames: Vec<Frame> = frames.iter().map(|frame| Frame::from_json(&frame.to_string()).unwrap()).collect();
        let mut turns = Turns::default();
        turns.sent("a");
        turns.sent("b");
        for index in order {
            drop(turns.observe(&frames[index]));
        }
        drop(turns.observe(&frames[2]));
        prop_assert!(turns.prompts.is_empty());
    }
}
