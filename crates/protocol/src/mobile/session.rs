//! Control and resumption of sessions.

use serde::{Deserialize, Serialize};

/// Command of the phone for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SessionControlMessage {
    /// The command.
    pub action: SessionAction,
}

/// Commands for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum SessionAction {
    /// Pauses it.
    Pause,
    /// Resumes it.
    Resume,
    /// Stops it.
    Stop,
    /// Stops and starts it again.
    Restart,
}

/// Reconnect of a phone, with the last message it received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionResumeMessage {
    /// The session.
    pub session_id: String,
    /// Id of the last received message.
    pub last_message_id: String,
    /// Timestamp of the last received message, in milliseconds since the epoch.
    pub last_message_timestamp: i64,
}

/// Messages that a phone missed while it was disconnected, in parts: the messages of a part follow it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionSyncMessage {
    /// The session.
    pub session_id: String,
    /// The conversation; its id survives a fork or resumption of the session.
    pub conversation_id: String,
    /// The missed messages of this part, oldest first.
    pub message_history: Vec<MessageSummary>,
    /// Current turn of the session.
    pub current_turn_number: u64,
    /// Descriptions of running operations.
    pub pending_operations: Vec<String>,
    /// The number of this part, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub part: Option<u64>,
    /// Number of missed messages in later parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub remaining: Option<u64>,
}

/// Summary of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MessageSummary {
    /// Its id.
    pub id: String,
    /// Its time, in milliseconds since the epoch.
    pub timestamp: i64,
    /// Its `type`.
    #[serde(rename = "type")]
    pub kind: String,
    /// One-line summary.
    pub summary: String,
}

// The keys of the next three are in snake case: apps receive them as notifications, which use it.

/// A session accepts prompts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SessionReady {
    /// The session.
    pub session_id: String,
}

/// A session continues after its agent crashed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SessionRecovered {
    /// The session.
    pub session_id: String,
}

/// A session has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SessionComplete {
    /// The session.
    pub session_id: String,
    /// Summary of its result.
    pub summary: String,
    /// Number of modified files.
    pub files_modified: u64,
    /// End, as an RFC 3339 time.
    pub completion_time: String,
}
