//! The content of a session, independent of its source.

use std::collections::BTreeMap;

use serde_json::Value;
use tidings_protocol::ui::UiMessage;

/// The content of a session, without the details of its source.
///
/// The same session live, from a recording of its frames and from its files gives the same conversation, with
/// these exceptions:
///
/// - Files have no result frames, so costs, durations and the agent's own stop reasons are left out here.
/// - Files contain the text of foreground sub-agents, which the agent forwards only if configured.
/// - Merged prompts are one text in a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// The turns of the agent.
    pub turns: Vec<Turn>,
    /// The content of the sub-agents, by the call that started them.
    pub agents: BTreeMap<String, AgentOutput>,
}

/// A turn of the agent, with its prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    /// The prompt; several prompts are joined by newlines.
    pub prompt: String,
    /// Text, reasoning and calls.
    pub output: AgentOutput,
    /// Texts that were shown and not written by the model.
    pub displayed: Vec<String>,
    /// Errors.
    pub errors: Vec<String>,
    /// True if the turn was completed.
    pub is_complete: bool,
}

/// Text, reasoning and calls of one agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentOutput {
    /// Its text.
    pub text: String,
    /// Its reasoning.
    pub thinking: String,
    /// Its calls, in the order in which they began.
    pub calls: Vec<ToolCall>,
}

/// A tool call and its result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCall {
    /// The id of the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Its input.
    pub input: Value,
    /// Its result, if there is one.
    pub result: Option<String>,
}

impl Conversation {
    /// Builds the conversation from events.
    pub fn of(events: &[UiMessage]) -> Self {
        let mut conversation = Conversation::default();
        let mut prompts: Vec<&str> = Vec::new();
        for event in events {
            match event {
                UiMessage::UserPrompt(prompt) if prompt.origin.is_none() => prompts.push(&prompt.text),
                UiMessage::TurnStarted(_) => {
                    let prompt = prompts.join("\n");
                    prompts.clear();
                    conversation.turns.push(Turn { prompt, ..Turn::default() });
                }
                UiMessage::Lane(lane) => {
                    let output = conversation.agents.entry(lane.agent_id.clone()).or_default();
                    output.apply(&lane.event);
                }
                event => {
                    if let Some(turn) = conversation.turns.last_mut() {
                        turn.apply(event);
                    }
                }
            }
        }
        conversation
    }
}

impl Turn {
    fn apply(&mut self, event: &UiMessage) {
        match event {
            UiMessage::Display { content, .. } => self.displayed.push(content.trim().to_owned()),
            UiMessage::Error { message, .. } => self.errors.push(message.clone()),
            UiMessage::Complete { .. } => self.is_complete = true,
            event => self.output.apply(event),
        }
    }
}

impl AgentOutput {
    fn apply(&mut self, event: &UiMessage) {
        match event {
            UiMessage::TextChunk { text, .. } => self.text.push_str(text),
            UiMessage::Thinking(thinking) => self.thinking.push_str(&thinking.text),
            UiMessage::Retracted(event) => {
                let text = self.text.len().saturating_sub(event.text.len());
                self.text.truncate(text);
                let thinking = self.thinking.len().saturating_sub(event.thinking.len());
                self.thinking.truncate(thinking);
                self.calls.retain(|call| !event.tool_use_ids.contains(&call.id));
            }
            UiMessage::ToolExecuting { tool_use_id, tool_name, input, .. } => self.calls.push(ToolCall {
                id: tool_use_id.clone(),
                name: tool_name.clone(),
                input: input.clone(),
                result: None,
            }),
            UiMessage::ToolCompleted { tool_use_id, result, .. } => {
                if let Some(call) = self.calls.iter_mut().find(|call| call.id == *tool_use_id) {
                    call.result = Some(result.clone());
                }
            }
            _ => {}
        }
    }
}
