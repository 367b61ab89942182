use schemars::JsonSchema;
use serde::Deserialize;

use super::Table;

/// What the stand-in agent is and has.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentSetup {
    /// The version it claims; the one it was checked against unless written.
    #[serde(default)]
    pub version: Option<String>,
    /// Tools of `system/init`; the CLI's usual ones unless written.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// Members to set in `system/init`.
    #[serde(default)]
    pub init: Table,
    /// Members to set in the answer to `initialize`.
    #[serde(default)]
    pub initialize: Table,
}

/// A frame that the stand-in agent writes by itself.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Emit {
    /// The frame; `uuid` and `session_id` are added unless written.
    pub frame: Table,
    /// Wait before it.
    #[serde(default)]
    pub delay_ms: u64,
}
