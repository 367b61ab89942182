//! Steering a session and coming back to it.

use serde::{Deserialize, Serialize};

/// What the phone wants a session to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SessionControlMessage {
    /// The wish.
    pub action: SessionAction,
}

/// What a session can be told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum SessionAction {
    /// Wait.
    Pause,
    /// Go on.
    Resume,
    /// End.
    Stop,
    /// End and begin again.
    Restart,
}

/// The phone is back, and this is the last it saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionResumeMessage {
    /// The session.
    pub session_id: String,
    /// Id of the last message it has.
    pub last_message_id: String,
    /// Time of the last message it has, in milliseconds since the epoch.
    pub last_message_timestamp: i64,
}

/// The messages that a phone missed while it was away, in parts: the messages of a part follow it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionSyncMessage {
    /// The session.
    pub session_id: String,
    /// The conversation, which outlives a session that is forked or resumed.
    pub conversation_id: String,
    /// The missed messages of this part, oldest first.
    pub message_history: Vec<MessageSummary>,
    /// The turn the session is in.
    pub current_turn_number: u64,
    /// What is going on, in words.
    pub pending_operations: Vec<String>,
    /// The number of this part, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub part: Option<u64>,
    /// The number of missed messages that come in later parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub remaining: Option<u64>,
}

/// A message in short.
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
    /// What it said, in a line.
    pub summary: String,
}

// The keys of the next three are in snake case: apps know them as notifications, which are spelled so.

/// A session takes prompts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SessionReady {
    /// The session.
    pub session_id: String,
}

/// A session goes on after its agent crashed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SessionRecovered {
    /// The session.
    pub session_id: String,
}

/// A session is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SessionComplete {
    /// The session.
    pub session_id: String,
    /// What came of it, in words.
    pub summary: String,
    /// Number of files that were changed.
    pub files_modified: u64,
    /// When it ended, as an RFC 3339 time.
    pub completion_time: String,
}
