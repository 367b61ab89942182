//! What was said and done, however it was told.

use std::collections::BTreeMap;

use serde_json::Value;
use tidings_protocol::ui::UiMessage;

/// A session as what was said and done in it, without how it came in.
///
/// The same session live, from a recording of its frames and from its files gives the same conversation, except that
///
/// - files have no results, so that money, durations and how a turn ended in the agent's words are not in here;
/// - files keep what sub-agents in the foreground say, which the agent does not forward unless it is told to;
/// - prompts that were merged stand as one text in a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// The turns of the agent.
    pub turns: Vec<Turn>,
    /// What the sub-agents said and did, by the call that started them.
    pub agents: BTreeMap<String, Words>,
}

/// A turn of the agent and what it answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    /// What was asked; several prompts stand on lines of their own.
    pub prompt: String,
    /// What was said and done.
    pub words: Words,
    /// What was shown that the model did not write.
    pub displayed: Vec<String>,
    /// What went wrong.
    pub errors: Vec<String>,
    /// Whether it came to its end.
    pub is_complete: bool,
}

/// What one agent said and did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Words {
    /// Its text.
    pub text: String,
    /// Its reasoning.
    pub thinking: String,
    /// Its calls, in the order they began.
    pub calls: Vec<ToolCall>,
}

/// A call and what came of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCall {
    /// Names the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// What it was called with.
    pub input: Value,
    /// What it gave back, once it did.
    pub result: Option<String>,
}

impl Conversation {
    /// The conversation that events tell of.
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
                    let words = conversation.agents.entry(lane.agent_id.clone()).or_default();
                    words.hear(&lane.event);
                }
                event => {
                    if let Some(turn) = conversation.turns.last_mut() {
                        turn.hear(event);
                    }
                }
            }
        }
        conversation
    }
}

impl Turn {
    fn hear(&mut self, event: &UiMessage) {
        match event {
            UiMessage::Display { content, .. } => self.displayed.push(content.trim().to_owned()),
            UiMessage::Error { message, .. } => self.errors.push(message.clone()),
            UiMessage::Complete { .. } => self.is_complete = true,
            event => self.words.hear(event),
        }
    }
}

impl Words {
    fn hear(&mut self, event: &UiMessage) {
        match event {
            UiMessage::TextChunk { text, .. } => self.text.push_str(text),
            UiMessage::Thinking(piece) => self.thinking.push_str(&piece.text),
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
