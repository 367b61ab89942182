//! What a tool asks to be allowed to do.

use serde::{Deserialize, Serialize};

/// One thing a tool wants to do and may not do unasked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PermissionRequest {
    /// What kind of thing `target` names.
    pub target_type: TargetType,
    /// The path, domain, command or tool.
    pub target: String,
    /// How much is asked for.
    pub level: PermissionLevel,
    /// The request in words.
    pub description: String,
    /// Why the tool needs it, where it said so.
    pub reason: Option<String>,
    /// Whether everything below a directory is meant as well.
    pub recursive: bool,
}

/// What a permission is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub enum TargetType {
    /// A file or directory.
    Path,
    /// A host on the network.
    Domain,
    /// A shell command.
    Command,
    /// A tool as a whole, where it reaches none of the other three.
    Tool,
}

// Closed on purpose: a policy has to decide about every level, and must not compile when it forgot one.
/// How much a permission allows; each level includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum PermissionLevel {
    /// Look.
    Read,
    /// Change.
    Write,
    /// Run.
    Execute,
    /// Anything, including what destroys.
    Admin,
}
