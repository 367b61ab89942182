//! The parts of a script for the stand-in agent: its setup, and frames of its own.

use serde::Deserialize;

use super::Table;

/// Setup of the stand-in agent.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AgentSetup {
    /// Version that it reports; defaults to the version it was checked against.
    #[serde(default)]
    pub version: Option<String>,
    /// Tools of `system/init`; defaults to the CLI's usual ones.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// Members to set in `system/init`.
    #[serde(default)]
    pub init: Table,
    /// Members to set in the reply to `initialize`.
    #[serde(default)]
    pub initialize: Table,
}

/// A frame that the stand-in agent writes on its own.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Emit {
    /// The frame; `uuid` and `session_id` are added if absent.
    pub frame: Table,
    /// Delay before it, in milliseconds.
    #[serde(default)]
    pub delay_ms: u64,
}
