//! Prompts, answers and errors.

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
    /// True if the app means a shell command.
    ///
    /// Shell commands are not supported. The flag is still read, so that such a message can be refused
    /// instead of reaching the agent as a prompt.
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
    /// True if more of the same answer follows; omitted when false.
    #[serde(default, skip_serializing_if = "is_false")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub is_partial: bool,
    /// Conversation it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub conversation_id: Option<String>,
    /// Metadata of the answer as text, such as `turnNumber` and `model`; omitted when empty.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<BTreeMap<String, String>>"))]
    pub metadata: BTreeMap<String, String>,
}

/// An error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ErrorMessage {
    /// Error code for programs.
    pub code: String,
    /// Error message for the user.
    pub message: String,
    /// Details of the error.
    #[serde(default)]
    pub details: Map<String, Value>,
    /// True if the session can continue.
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
