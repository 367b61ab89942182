//! Opening a project.

use serde::{Deserialize, Serialize};

/// Open a directory as a project, cloning it first when a repository is named.
///
/// An access token in the message is ignored: no secret is kept, and only public repositories can be cloned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ProjectInitMessage {
    /// The directory.
    pub project_path: String,
    /// What to clone into it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository_url: Option<String>,
}

/// How far cloning has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct CloneProgress {
    /// From 0 to 100.
    pub percentage: f64,
    /// What is being done, in a word.
    pub status: String,
    /// Why it failed, when it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The project is open, or is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ProjectInitComplete {
    /// Whether it is open.
    pub success: bool,
    /// The project's session.
    pub session_id: String,
    /// Why it is not open, when it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
