//! User frames: results of tools, echoes of prompts, and messages of the CLI to the model.

use tidings_protocol::FrameRef;
use tidings_protocol::json::Raw;
use tidings_protocol::tools::canonical_name;
use tidings_protocol::ui::{PlanProposed, UserPrompt};
use tidings_protocol::view::{Block, View};

use super::agents::SubAgentFacts;
use super::calls::{Call, CallResult, details, result_text};
use super::out::Out;
use super::read::Members;
use super::turns::command_of;
use super::{Fold, State};

impl Fold {
    pub(super) fn user(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        let View::User(message) = frame.view() else { return };
        if out.agent.is_some() {
            self.register_agent(frame, out);
        }
        let structured = frame.get("tool_use_result");
        let mut text = String::new();
        let mut attachments = Vec::new();
        for block in message.blocks() {
            match block {
                Block::ToolResult { tool_use_id, content, is_error } => {
                    self.tool_result(&tool_use_id.get(), content, is_error, structured, out);
                }
                Block::Text(block_text) => {
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    block_text.push_to(&mut text);
                }
                Block::Other(raw) => attachments.extend(raw.string("type")),
                _ => {}
            }
        }
        if !text.is_empty() || !attachments.is_empty() {
            self.handle_text(frame, text, attachments, out);
        }
    }

    fn tool_result(
        &mut self,
        tool_use_id: &str,
        content: Option<Raw<'_>>,
        is_error: bool,
        structured: Option<Raw<'_>>,
        out: &mut Out<'_>,
    ) {
        let structured = details(structured);
        let ended =
            CallResult { tool_use_id, is_error, result: result_text(content), details: structured.clone() };
        let agent_unheard_of = self.state.calls.get(tool_use_id).is_some_and(Call::starts_agent) && !is_error;
        if agent_unheard_of {
            let State { agents, turns, calls, .. } = &mut self.state;
            agents.register(tool_use_id, turns.current(), SubAgentFacts::default(), calls, out);
        }
        // The end of a sub-agent is reported before the end of its call, so that clients can close its lane.
        if self.state.agents.is_running(tool_use_id) {
            self.state.agents.report_ended_tasks(out);
            self.state.agents.returned(tool_use_id, is_error, structured.as_ref(), out);
        }
        let Some(call) = self.state.calls.end(ended, out) else { return };
        if !is_error {
            self.state.todos.update(&call, structured.as_ref(), out);
        }
    }

    /// Handles text of a user frame, whatever its origin.
    fn handle_text(
        &mut self,
        frame: &FrameRef<'_>,
        text: String,
        attachments: Vec<String>,
        out: &mut Out<'_>,
    ) {
        if out.agent.is_some() {
            let mut event = UserPrompt::new(self.handle, text);
            event.origin = Some("agent".to_owned());
            event.attachments = attachments;
            return out.push(event);
        }
        if let Some(output) = command_output(&text) {
            if let Some(turn) = &mut self.state.turns.open {
                turn.displayed = true;
            }
            return out.display(output);
        }
        if text.starts_with("[Request interrupted by user") {
            return out.system(text);
        }
        let uuid = frame.uuid();
        let kind = frame.member("origin").and_then(|origin| origin.string("kind"));
        let origin = kind
            .filter(|kind| kind != "human")
            .or_else(|| (frame.flag("isSynthetic") || frame.flag("is_meta")).then(|| "synthetic".to_owned()));
        let is_echo = frame.flag("isReplay");
        if uuid.as_deref().is_some_and(|uuid| self.state.turns.is_known(uuid))
            || (is_echo && self.state.turns.take_echo(&text))
        {
            return;
        }
        let mut event = UserPrompt::new(self.handle, text.as_str());
        event.uuid = uuid.as_deref().map(str::to_owned);
        event.attachments = attachments;
        if origin.is_none() {
            // A prompt that was not recorded: from a recording of both directions, or sent before this fold
            // existed.
            let turn_id = self.state.turns.assign(None);
            event.turn_id = Some(turn_id);
            self.state.turns.queue(uuid.as_deref(), &text, turn_id, command_of(&text));
            // The agent echoes a prompt when it starts it.
            if let (true, Some(uuid)) = (is_echo, uuid.as_deref()) {
                self.state.turns.start(uuid);
            }
        }
        event.origin = origin;
        out.push(event);
    }

    /// Shows a plan that waits for approval, if the call contains it.
    pub(super) fn plan(&mut self, name: &str, tool_use_id: &str, input: Raw<'_>, out: &mut Out<'_>) {
        if canonical_name(name) == "ExitPlanMode"
            && let Some(plan) = input.string("plan")
        {
            let mut event = PlanProposed::new(self.handle, tool_use_id, plan);
            event.turn_id = Some(self.state.turns.current());
            event.path = input.string("planFilePath");
            self.state.plan = Some(tool_use_id.to_owned());
            out.push(event);
        }
    }
}

/// The output of a slash command, without the tags around it.
pub(super) fn command_output(text: &str) -> Option<String> {
    let mut found = String::new();
    for tag in ["local-command-stdout", "local-command-stderr"] {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        if let Some((_, rest)) = text.trim_start().split_once(&open)
            && text.trim_start().starts_with("<local-command-std")
        {
            let inner = rest.split_once(&close).map_or(rest, |(inner, _)| inner);
            if !found.is_empty() && !inner.is_empty() {
                found.push('\n');
            }
            found.push_str(inner);
        }
    }
    text.trim_start().starts_with("<local-command-std").then_some(found)
}
