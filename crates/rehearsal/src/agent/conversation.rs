//! A conversation with the model: the main one, or that of a sub-agent.

use serde_json::Value;

use super::transcript::Transcript;

/// Participants, texts and session file of a conversation.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// The texts so far, oldest first.
    pub(super) texts: Vec<String>,
    /// The session file.
    pub(super) file: Transcript,
    /// Sub-agent of the conversation; `None` for the main one.
    pub(super) agent: Option<Agent>,
}

/// A running sub-agent.
#[derive(Debug, Clone, Default)]
pub(super) struct Agent {
    pub(super) id: String,
    pub(super) run_id: String,
    /// Call that started it.
    pub(super) call_id: String,
    pub(super) kind: String,
    pub(super) description: String,
    pub(super) prompt: String,
    pub(super) background: bool,
    pub(super) tools_used: Vec<String>,
    pub(super) started_ms: u64,
}

impl Conversation {
    pub(super) fn add(&mut self, text: impl Into<String>) {
        self.texts.push(text.into());
    }

    /// Call that frames of this conversation belong to.
    pub(super) fn parent(&self) -> Value {
        self.agent.as_ref().map_or(Value::Null, |agent| Value::from(agent.call_id.as_str()))
    }
}
