//! Opening of projects.

use serde::{Deserialize, Serialize};

/// Opens a directory as a project, and clones into it first when a repository is named.
///
/// An access token in the message is ignored: the server stores no secrets and clones public repositories
/// only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ProjectInitMessage {
    /// The directory.
    pub project_path: String,
    /// Repository to clone into it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository_url: Option<String>,
}

/// Progress of cloning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct CloneProgress {
    /// Percentage, from 0 to 100.
    pub percentage: f64,
    /// One-word status.
    pub status: String,
    /// Reason of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The project is open, or failed to open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ProjectInitComplete {
    /// True if it is open.
    pub success: bool,
    /// The project's session.
    pub session_id: String,
    /// Reason of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
