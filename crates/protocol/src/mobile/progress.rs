//! Progress of the work.

use serde::{Deserialize, Serialize};

/// Progress of the work.
///
/// Apps exist for three shapes of this message. It is the union of them, so that one object serves all three:
/// steps, a named operation, and an activity flag.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ProgressUpdateMessage {
    /// Current step, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_step: Option<String>,
    /// Number of completed steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_steps: Option<u64>,
    /// Total number of steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_steps: Option<u64>,
    /// Percentage, from 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentage: Option<f64>,
    /// Name of the operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Percentage, as a whole number from 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<u8>,
    /// Parts of the operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_operations: Option<Vec<SubOperation>>,
    /// Id of the operation across messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<String>,
    /// True if the agent is working.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_working: Option<bool>,
    /// Status line to show.
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
    /// One-word status, such as `running` or `completed`.
    pub status: String,
}

/// Progress of one sub-agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct SubAgentProgress {
    /// Id of the sub-agent.
    pub agent_id: String,
    /// Type of the sub-agent.
    pub agent_type: SubAgentType,
    /// Parent sub-agent, unless the main agent started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_agent_id: Option<String>,
    /// The project it works in.
    pub project_id: String,
    /// Status of the sub-agent.
    pub status: SubAgentStatus,
    /// Progress, from 0 to 1.
    pub progress: f64,
    /// Current task, as text.
    pub current_task: String,
    /// Start, in milliseconds since the epoch.
    pub start_time: i64,
    /// End, in milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_time: Option<i64>,
}

/// Status of a sub-agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum SubAgentStatus {
    /// Started, without any progress yet.
    Starting,
    /// At work.
    Running,
    /// Done.
    Completed,
    /// Given up.
    Failed,
}

/// Type of a sub-agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum SubAgentType {
    /// Runs tests.
    Testing,
    /// Deploys.
    Deployment,
    /// Analyses code.
    Analysis,
    /// Refactors code.
    Refactoring,
    /// Writes documentation.
    Documentation,
    /// Builds.
    Build,
    /// Looks for vulnerabilities.
    Security,
    /// Improves performance.
    Performance,
    /// None of these, or unknown.
    #[default]
    Unknown,
}
