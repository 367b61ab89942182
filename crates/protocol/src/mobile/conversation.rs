//! What is said: prompts, answers, errors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A prompt for the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CommandMessage {
    /// The prompt.
    pub command: String,
    /// The app means a shell command.
    ///
    /// Shell commands are not offered. The mark is read all the same, so that such a message can be
    /// refused instead of reaching the agent as a prompt.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub is_shell_command: bool,
}

/// Text of the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ClaudeResponse {
    /// The text.
    pub content: String,
    /// More of the same answer follows; left out when it does not.
    #[serde(default, skip_serializing_if = "is_false")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub is_partial: bool,
    /// The conversation it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub conversation_id: Option<String>,
    /// Facts about the answer as text, such as `turnNumber` and `model`; left out when there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<BTreeMap<String, String>>"))]
    pub metadata: BTreeMap<String, String>,
}

/// Something went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ErrorMessage {
    /// What, for a program.
    pub code: String,
    /// What, for a person.
    pub message: String,
    /// Facts about it.
    #[serde(default)]
    pub details: Map<String, Value>,
    /// Whether the session can go on.
    #[serde(default = "yes")]
    pub recoverable: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_false(value: &bool) -> bool {
    !value
}

fn yes() -> bool {
    true
}
