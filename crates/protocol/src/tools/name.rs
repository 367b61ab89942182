//! Families of tools, and the parts of the name of an MCP tool.

use serde::{Deserialize, Serialize};

/// Kind of work that a tool does, for grouping and icons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolFamily {
    /// Reads and changes files.
    File,
    /// Runs commands, and monitors or stops background tasks.
    Command,
    /// Finds files, text, symbols or tools.
    Search,
    /// Accesses the web.
    Web,
    /// Maintains the list of tasks.
    Task,
    /// Runs a slash command or a skill.
    SlashCommand,
    /// Starts other agents and sends them messages.
    SubAgent,
    /// Belongs to an MCP server, or manages the servers.
    Mcp,
    /// Enters and leaves plan mode.
    Plan,
    /// Asks the user.
    Question,
    /// Anything else, and every tool unknown to this version.
    #[serde(other)]
    Other,
}

/// Server and tool in the name of an MCP tool, `mcp__server__tool`.
///
/// The first `__` after the prefix ends the server, as in the CLI: the tool's name may contain more of them.
pub fn mcp_parts(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}
