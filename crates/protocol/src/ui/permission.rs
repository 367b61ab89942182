//! Permission requests of tools.

use serde::{Deserialize, Serialize};

/// One action of a tool that needs permission.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PermissionRequest {
    /// Kind of thing that `target` names.
    pub target_type: TargetType,
    /// The path, domain, command or tool.
    pub target: String,
    /// Level of access requested.
    pub level: PermissionLevel,
    /// The request as text.
    pub description: String,
    /// Reason given by the tool, if any.
    pub reason: Option<String>,
    /// True if everything below a directory is included.
    pub recursive: bool,
}

/// Kind of target of a permission.
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
    /// A tool as a whole, when none of the other three applies.
    Tool,
}

// Closed on purpose: a policy has to decide about every level, and must not compile if it omits one.
/// Level of access that a permission grants; each level includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum PermissionLevel {
    /// Read only.
    Read,
    /// Change.
    Write,
    /// Run.
    Execute,
    /// Anything, destructive actions included.
    Admin,
}
