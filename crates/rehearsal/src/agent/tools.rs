//! Tool calls: permission, results, and the order of their frames.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::frames::{Frame, text};
use super::permission::Permit;
use super::prompt::content_text;
use super::session::Session;
use super::stop::{Flow, Stop};
use super::turn::TurnPhase;
use crate::script::Block;

/// A tool call of the model.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Value,
    /// The script's block for it.
    pub(super) block: Block,
    /// Id of the frame that showed the call.
    pub(super) assistant_uuid: String,
}

/// A call without a result yet.
#[derive(Debug, Clone)]
pub(super) struct OpenCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Value,
    pub(super) assistant_uuid: String,
    /// True if a request about it is pending at the host.
    pub(super) asked: bool,
}

/// Result of a tool.
#[derive(Debug, Clone, Default)]
pub(super) struct Outcome {
    /// For the model: a text, or blocks.
    pub(super) content: Value,
    pub(super) is_error: Option<bool>,
    /// For the host.
    pub(super) output: Value,
    /// Decision that allowed or denied it.
    pub(super) meta: Option<Value>,
    pub(super) structured: Option<Value>,
}

/// Continuation after the tools.
#[derive(Debug)]
pub(super) enum AfterTools {
    /// There were no tool calls.
    Nothing,
    Continue,
    /// A hook deferred a call.
    Deferred(Value),
    /// A hook ended the turn.
    Stopped,
    /// Structured output that matches the schema.
    Structured(Value),
}

impl Call {
    pub(super) fn new(content: &Value, block: &Block, assistant_uuid: String) -> Self {
        Call {
            id: text(content, "id").to_owned(),
            name: text(content, "name").to_owned(),
            input: content["input"].clone(),
            block: block.clone(),
            assistant_uuid,
        }
    }

    /// True if it only starts a command that runs in the background.
    fn is_shell_task(&self) -> bool {
        self.name == "Bash" && self.input.get("run_in_background") == Some(&json!(true))
    }

    /// Time in milliseconds until the result is available; background tasks take their time later.
    fn takes_ms(&self) -> u64 {
        if self.is_shell_task() { 0 } else { self.block.takes_ms }
    }
}

impl Outcome {
    pub(super) fn error(message: &str) -> Self {
        Outcome {
            content: json!(message),
            is_error: Some(true),
            output: json!(format!("Error: {message}")),
            ..Outcome::default()
        }
    }

    pub(super) fn with_meta(self, meta: Value) -> Self {
        Outcome { meta: Some(meta), ..self }
    }

    pub(super) fn failed(&self) -> bool {
        self.is_error == Some(true)
    }
}

/// A call that may run, and the time of its end.
struct Running {
    call: Call,
    meta: Value,
    done: Instant,
}

impl Session {
    /// Runs the calls of one answer: in parallel, except those that need permission.
    pub(super) fn run_calls(
        &mut self,
        conversation: &mut Conversation,
        calls: Vec<Call>,
    ) -> Flow<AfterTools> {
        if calls.is_empty() {
            return Ok(AfterTools::Nothing);
        }
        if conversation.agent.is_none() {
            let open = calls.iter().map(OpenCall::from).collect();
            self.with_turn(|turn| (turn.calls, turn.phase) = (open, TurnPhase::Tools));
        }
        let mut batch = Vec::new();
        let mut running: Vec<Running> = Vec::new();
        let mut after = AfterTools::Continue;
        for mut call in calls {
            if let Some(outcome) = self.unknown_tool(&call) {
                self.finish(conversation, &call, &outcome, &mut batch)?;
                continue;
            }
            if self.needs_asking(&call) {
                self.finish_all(conversation, &mut running, &mut batch, &mut after)?;
            }
            match self.permit(conversation, &mut call)? {
                Permit::Allow(meta) => {
                    let done = Instant::now() + Duration::from_millis(call.takes_ms());
                    running.push(Running { call, meta, done });
                }
                Permit::Deny(outcome) => self.finish(conversation, &call, &outcome, &mut batch)?,
                Permit::DenyAndStop(outcome) => {
                    self.finish(conversation, &call, &outcome, &mut batch)?;
                    return Err(Stop::Interrupted);
                }
                Permit::Defer => {
                    self.with_turn(|turn| turn.calls.clear());
                    return Ok(AfterTools::Deferred(
                        json!({"id": call.id, "name": call.name, "input": call.input}),
                    ));
                }
                Permit::Stop => {
                    self.with_turn(|turn| turn.calls.clear());
                    return Ok(AfterTools::Stopped);
                }
            }
        }
        self.finish_all(conversation, &mut running, &mut batch, &mut after)?;
        let verdict = self.run_hooks(
            "PostToolBatch",
            None,
            None,
            conversation.agent.as_ref(),
            &json!({"tool_calls": batch}),
        )?;
        conversation.texts.extend(verdict.context);
        if conversation.agent.is_none() {
            self.with_turn(|turn| turn.phase = TurnPhase::Model);
        }
        if verdict.stop.is_some() {
            return Ok(AfterTools::Stopped);
        }
        Ok(after)
    }

    fn finish_all(
        &mut self,
        conversation: &mut Conversation,
        running: &mut Vec<Running>,
        batch: &mut Vec<Value>,
        after: &mut AfterTools,
    ) -> Flow {
        running.sort_by_key(|running| running.call.takes_ms());
        for Running { call, meta, done } in running.drain(..) {
            let left = done.saturating_duration_since(Instant::now());
            self.pause(u64::try_from(left.as_millis()).unwrap_or(u64::MAX))?;
            let mut outcome = self.run_tool(conversation, &call)?;
            // A call that failed before it ran has no permission decision either.
            let refused = outcome.failed() && content_text(&outcome.content).starts_with("<tool_use_error>");
            outcome.meta = (!refused).then_some(meta);
            if let Some(value) = outcome.structured.clone() {
                *after = AfterTools::Structured(value);
            }
            if self.after_tool(conversation, &call, &outcome)? {
                *after = AfterTools::Stopped;
            }
            self.finish(conversation, &call, &outcome, batch)?;
        }
        Ok(())
    }

    /// Runs the hooks after a tool; true when one of them ends the turn.
    fn after_tool(&mut self, conversation: &mut Conversation, call: &Call, outcome: &Outcome) -> Flow<bool> {
        let mut input = json!({"tool_name": call.name, "tool_input": call.input});
        let event = if outcome.failed() {
            input["tool_use_id"] = json!(call.id);
            input["error"] = json!(content_text(&outcome.content));
            input["is_interrupt"] = json!(false);
            "PostToolUseFailure"
        } else {
            input["tool_response"] = outcome.output.clone();
            input["tool_use_id"] = json!(call.id);
            "PostToolUse"
        };
        input["duration_ms"] = json!(call.takes_ms());
        let verdict =
            self.run_hooks(event, Some(&call.name), Some(&call.id), conversation.agent.as_ref(), &input)?;
        conversation.texts.extend(verdict.context);
        conversation.texts.extend(verdict.block);
        Ok(verdict.stop.is_some())
    }

    /// Sends a result and records it for the batch.
    fn finish(
        &mut self,
        conversation: &mut Conversation,
        call: &Call,
        outcome: &Outcome,
        batch: &mut Vec<Value>,
    ) -> Flow {
        batch.push(json!({
            "tool_name": call.name, "tool_input": call.input, "tool_use_id": call.id, "tool_response": outcome.content,
        }));
        self.tool_result(conversation, &call.id, &call.assistant_uuid, outcome)
    }

    /// Sends a `user` frame with the result of one call.
    pub(super) fn tool_result(
        &mut self,
        conversation: &mut Conversation,
        id: &str,
        assistant: &str,
        outcome: &Outcome,
    ) -> Flow {
        let mut block = json!({"tool_use_id": id, "type": "tool_result", "content": outcome.content});
        if let Some(is_error) = outcome.is_error {
            block["is_error"] = json!(is_error);
        }
        let message = json!({"role": "user", "content": [block]});
        let stamp = self.stamp();
        let mut frame = Frame::new("user")
            .with("message", message.clone())
            .with("parent_tool_use_id", conversation.parent());
        if let Some(agent) = &conversation.agent {
            frame = frame.with("agent_id", agent.id.as_str());
        }
        frame =
            frame.with("session_id", self.id.as_str()).with("uuid", self.ids.uuid()).with("timestamp", stamp);
        if conversation.agent.is_none() {
            frame = frame.with("tool_use_result", outcome.output.clone());
        }
        frame = frame.maybe("tool_result_meta", outcome.meta.clone().map(|meta| Value::Array(vec![meta])));
        if let Some(agent) = &conversation.agent {
            frame = frame
                .with("subagent_type", agent.kind.as_str())
                .with("task_description", agent.description.as_str());
        }
        let uuid = self.emit(frame)?;
        self.note_result(conversation, &message, outcome, assistant, &uuid)?;
        conversation.add(content_text(&outcome.content));
        if conversation.agent.is_none() {
            self.count_round();
            self.with_turn(|turn| turn.calls.retain(|call| call.id != id));
        }
        Ok(())
    }

    fn unknown_tool(&self, call: &Call) -> Option<Outcome> {
        let known = self.offered_tools().contains(&call.name)
            || call.block.result.is_some()
            || call.block.output.is_some()
            || (call.name == "StructuredOutput" && self.schema.is_some());
        (!known).then(|| {
            let message = format!("Error: No such tool available: {}", call.name);
            let content = json!(format!("<tool_use_error>{message}</tool_use_error>"));
            Outcome { content, is_error: Some(true), output: json!(message), ..Outcome::default() }
        })
    }

    fn structured_output(&mut self, call: &Call) -> Outcome {
        let misfit = self.schema.as_ref().and_then(|schema| super::schema::mismatch(schema, &call.input));
        match misfit {
            Some(words) => {
                self.with_turn(|turn| turn.misfits.push(words.clone()));
                let output = json!(format!("Error: {words}"));
                Outcome { content: json!(words), is_error: Some(true), output, ..Outcome::default() }
            }
            None => Outcome {
                content: json!("Structured output provided successfully"),
                output: json!("Structured output provided successfully"),
                structured: Some(call.input.clone()),
                ..Outcome::default()
            },
        }
    }

    fn run_tool(&mut self, conversation: &mut Conversation, call: &Call) -> Flow<Outcome> {
        let scripted = call.block.result.is_some() || call.block.output.is_some();
        match call.name.as_str() {
            "StructuredOutput" if self.schema.is_some() => Ok(self.structured_output(call)),
            "Agent" if !scripted => self.run_agent(conversation, call),
            "Bash" if call.is_shell_task() => self.run_shell_task(call),
            name if !scripted && self.server_of(name).is_some() => self.call_server(call),
            _ => Ok(super::outcomes::scripted(call)),
        }
    }
}

impl From<&Call> for OpenCall {
    fn from(call: &Call) -> Self {
        OpenCall {
            id: call.id.clone(),
            name: call.name.clone(),
            input: call.input.clone(),
            assistant_uuid: call.assistant_uuid.clone(),
            asked: false,
        }
    }
}
