//! How far the work has come.

use serde::{Deserialize, Serialize};

/// How far the work has come.
///
/// Apps exist for three shapes of this message. It is the union of them, so that one object can serve
/// all three: steps, a named operation, and whether anything is going on at all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ProgressUpdateMessage {
    /// What is being done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_step: Option<String>,
    /// Steps done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_steps: Option<u64>,
    /// Steps in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_steps: Option<u64>,
    /// From 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentage: Option<f64>,
    /// Name of the operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// From 0 to 100, whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<u8>,
    /// Parts of the operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_operations: Option<Vec<SubOperation>>,
    /// Names the operation across messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<String>,
    /// Whether anything is going on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_working: Option<bool>,
    /// A line to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
}

/// A part of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SubOperation {
    /// Its name.
    pub name: String,
    /// How it is, in a word, such as `running` or `completed`.
    pub status: String,
}

/// How far one sub-agent has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct SubAgentProgress {
    /// The sub-agent.
    pub agent_id: String,
    /// What it is for.
    pub agent_type: SubAgentType,
    /// The sub-agent that started it, unless the main agent did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_agent_id: Option<String>,
    /// The project it works in.
    pub project_id: String,
    /// How it is.
    pub status: SubAgentStatus,
    /// From 0 to 1.
    pub progress: f64,
    /// What it is doing.
    pub current_task: String,
    /// When it started, in milliseconds since the epoch.
    pub start_time: i64,
    /// When it ended, in milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_time: Option<i64>,
}

/// How a sub-agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum SubAgentStatus {
    /// Started, not yet heard of.
    Starting,
    /// At work.
    Running,
    /// Done.
    Completed,
    /// Given up.
    Failed,
}

/// What a sub-agent is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum SubAgentType {
    /// Runs tests.
    Testing,
    /// Ships.
    Deployment,
    /// Looks into something.
    Analysis,
    /// Reshapes code.
    Refactoring,
    /// Writes documentation.
    Documentation,
    /// Builds.
    Build,
    /// Looks for holes.
    Security,
    /// Makes things faster.
    Performance,
    /// None of these, or not known.
    #[default]
    Unknown,
}
