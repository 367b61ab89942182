//! The name of the agent in messages about it.

use std::fmt;
use std::sync::Arc;

/// The name of the agent in messages about it: Claude Code, or another program that speaks its protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AgentName(Option<Arc<str>>);

impl AgentName {
    pub(crate) fn new(name: &str) -> Self {
        AgentName(Some(name.into()))
    }

    /// True for Claude Code, whose flags and commands hints may name.
    pub(crate) fn is_claude(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("Claude Code"))
    }
}
