//! Status of sessions, of the agent process and of the machine.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Status of a session.
///
/// Apps exist for two shapes of this message, and it is the union of them.
/// Only `status` differs between the two; see `StatusReport`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct SessionStatus {
    /// The status.
    pub status: StatusReport,
    /// Progress in steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<StepProgress>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Number of turns so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_turns: Option<u64>,
    /// Elapsed time in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_time: Option<f64>,
    /// Error message, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Status of a session: an object for one kind of app, a word for the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(untagged)]
pub enum StatusReport {
    /// `{"state":"IDLE"}`
    State(StateReport),
    /// `"running"`
    Word(RunStatus),
}

/// State and status line of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct StateReport {
    /// The state.
    pub state: SessionState,
    /// Status line to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// State of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum SessionState {
    /// It waits for a prompt.
    Idle,
    /// It works on a turn.
    Processing,
    /// It waits for an answer to a permission request.
    WaitingForPermission,
    /// It has finished.
    Completed,
    /// It failed.
    Error,
}

/// Status of a session as one of three words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStatus {
    /// It is open.
    Running,
    /// It has finished.
    Completed,
    /// It failed.
    Error,
}

/// Progress of a session, in steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct StepProgress {
    /// Current step, as text.
    pub current_step: String,
    /// Number of completed steps.
    pub completed_steps: u64,
    /// Total number of steps, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_steps: Option<u64>,
    /// Percentage from 0 to 100, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentage: Option<f64>,
}

/// Status of the agent process and of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct WrapperStatus {
    /// Version of the server.
    pub version: String,
    /// The agent process.
    pub claude_code_status: ClaudeCodeStatus,
    /// The machine.
    pub resource_usage: ResourceUsage,
}

/// Status of the agent process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct ClaudeCodeStatus {
    /// True if it is running.
    pub running: bool,
    /// Its process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Seconds since it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uptime: Option<u64>,
}

/// Resource usage of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ResourceUsage {
    /// Processor usage in percent, from 0 to 100.
    pub cpu_percent: f64,
    /// Memory in megabytes.
    #[serde(rename = "memoryMB")]
    pub memory_mb: u64,
    /// Disk space in megabytes.
    #[serde(rename = "diskUsageMB")]
    pub disk_usage_mb: u64,
}

impl<'de> Deserialize<'de> for StatusReport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StatusReportVisitor)
    }
}

struct StatusReportVisitor;

impl<'de> Visitor<'de> for StatusReportVisitor {
    type Value = StatusReport;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a status: an object with `state`, or `running`, `completed` or `error`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<StatusReport, E> {
        RunStatus::deserialize(de::value::StrDeserializer::new(text)).map(StatusReport::Word)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StatusReport, A::Error> {
        StateReport::deserialize(MapAccessDeserializer::new(map)).map(StatusReport::State)
    }
}
