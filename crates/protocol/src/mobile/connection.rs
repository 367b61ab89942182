//! Coming in and staying connected.

use serde::{Deserialize, Serialize};

/// The phone is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AuthSuccess {
    /// The connection's session, to come back to.
    pub session_id: String,
    /// When it ends, in milliseconds since the epoch.
    pub expires_at: i64,
}

/// The phone is not let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuthError {
    /// Why, for a program.
    pub code: String,
    /// Why, for a person.
    pub message: String,
}

/// Who the phone talks to, and what it can ask for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct WrapperHandshakeMessage {
    /// Version of the server.
    pub wrapper_version: String,
    /// Version of this wire.
    pub protocol_version: String,
    /// Names of optional abilities.
    pub supported_features: Vec<String>,
    /// Port the phone connects to.
    pub websocket_port: u16,
    /// The connection's session.
    pub session_id: String,
}

/// Still here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HeartbeatMessage {}

/// Is everything well?
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HealthCheckMessage {}

/// Whether everything is well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct HealthCheckResponse {
    /// Id of the question.
    pub request_id: String,
    /// Whether the server can do its work.
    pub healthy: bool,
    /// Version of the server.
    pub wrapper_version: String,
    /// How the agent process is, in a word.
    pub claude_status: String,
}
