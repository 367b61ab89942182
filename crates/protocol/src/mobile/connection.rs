//! Authentication, handshake and health of a connection.

use serde::{Deserialize, Serialize};

/// Authentication succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AuthSuccess {
    /// Session of the connection, for reconnecting.
    pub session_id: String,
    /// Expiry, in milliseconds since the epoch.
    pub expires_at: i64,
}

/// Authentication failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuthError {
    /// Reason, as a code for programs.
    pub code: String,
    /// Reason, as text for the user.
    pub message: String,
}

/// Handshake: version and features of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct WrapperHandshakeMessage {
    /// Version of the server.
    pub wrapper_version: String,
    /// Version of this wire.
    pub protocol_version: String,
    /// Names of optional features.
    pub supported_features: Vec<String>,
    /// Port the phone connects to.
    pub websocket_port: u16,
    /// Session of the connection.
    pub session_id: String,
}

/// Heartbeat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HeartbeatMessage {}

/// Health check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HealthCheckMessage {}

/// Answer to a health check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct HealthCheckResponse {
    /// Id of the health check.
    pub request_id: String,
    /// True if the server works.
    pub healthy: bool,
    /// Version of the server.
    pub wrapper_version: String,
    /// One-word status of the agent process.
    pub claude_status: String,
}
