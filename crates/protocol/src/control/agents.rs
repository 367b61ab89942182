//! Agents: their definitions by a host, and their listing by the CLI.

use std::collections::BTreeMap;

use super::mcp_config::McpServerConfig;
use super::models::EffortLevel;
use crate::json::{Cursor, Json, Misfit, Reading, Wire, object, open_string};
use crate::permissions::PermissionMode;

open_string! {
    /// Location of an agent's memory.
    pub struct AgentMemory {
        PROJECT = "project",
        USER = "user",
        LOCAL = "local",
    }
}

object! {
    /// Definition of an agent by a host.
    pub struct AgentDefinition {
        /// Description for the model of when to use the agent.
        def description: String,
        /// The agent's system prompt.
        def prompt: String,
        /// Tools available to the agent; all of them when absent.
        opt tools: Vec<String>,
        opt disallowed_tools: Vec<String> as "disallowedTools",
        opt model: String,
        opt mcp_servers: Vec<AgentMcpServer> as "mcpServers",
        opt skills: Vec<String>,
        opt initial_prompt: String as "initialPrompt",
        opt max_turns: u64 as "maxTurns",
        opt background: bool,
        opt memory: AgentMemory,
        opt effort: AgentEffort,
        opt permission_mode: PermissionMode as "permissionMode",
        opt critical_system_reminder: String as "criticalSystemReminder_EXPERIMENTAL",
        opt auto_compact_window: u64 as "autoCompactWindow",
        opt omit_claude_md: bool as "omitClaudeMd",
        /// Agent that observes this one.
        opt observer: String,
        opt observer_message: String as "observerMessage",
    }

    /// An available agent.
    pub struct AgentInfo {
        req name: String,
        def description: String,
        opt model: String,
    }
}

/// An MCP server of an agent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AgentMcpServer {
    /// A server of the session, by name.
    Named(String),
    /// Servers of this agent only, by name.
    Inline(BTreeMap<String, McpServerConfig>),
    /// Any other value, unchanged.
    Unknown(Json),
}

/// Effort level of an agent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AgentEffort {
    /// By name.
    Level(EffortLevel),
    /// By number.
    Number(i64),
    /// Any other value, unchanged.
    Unknown(Json),
}

impl AgentDefinition {
    /// An agent with a description for the model and its own system prompt.
    pub fn new(description: impl Into<String>, prompt: impl Into<String>) -> Self {
        AgentDefinition {
            description: description.into(),
            prompt: prompt.into(),
            ..AgentDefinition::default()
        }
    }
}

impl Wire for AgentMcpServer {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        match cursor.peek() {
            b'"' => String::read(cursor, reading).map(AgentMcpServer::Named),
            b'{' => BTreeMap::read(cursor, reading).map(AgentMcpServer::Inline),
            _ => Json::read(cursor, reading).map(AgentMcpServer::Unknown),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            AgentMcpServer::Named(name) => name.write(out),
            AgentMcpServer::Inline(servers) => servers.write(out),
            AgentMcpServer::Unknown(raw) => raw.write(out),
        }
    }
}

impl Wire for AgentEffort {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        if cursor.peek() == b'"' {
            return EffortLevel::read(cursor, reading).map(AgentEffort::Level);
        }
        let raw = cursor.raw();
        Ok(raw.i64().map_or_else(|| AgentEffort::Unknown(raw.to_json()), AgentEffort::Number))
    }

    fn write(&self, out: &mut String) {
        match self {
            AgentEffort::Level(level) => level.write(out),
            AgentEffort::Number(number) => number.write(out),
            AgentEffort::Unknown(raw) => raw.write(out),
        }
    }
}

object!(@through_wire AgentMcpServer);
object!(@through_wire AgentEffort);
