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

    /// Sets the tools available to the agent; all of them by default.
    #[must_use]
    pub fn tools<S: Into<String>>(mut self, tools: impl IntoIterator<Item = S>) -> Self {
        self.tools = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the tools that the agent may not use.
    #[must_use]
    pub fn disallowed_tools<S: Into<String>>(mut self, tools: impl IntoIterator<Item = S>) -> Self {
        self.disallowed_tools = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the model, by name or alias; that of the session by default.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Adds a server of the session, by name, or servers of this agent only.
    #[must_use]
    pub fn mcp_server(mut self, server: impl Into<AgentMcpServer>) -> Self {
        self.mcp_servers.get_or_insert_default().push(server.into());
        self
    }

    /// Sets the skills that are loaded for the agent.
    #[must_use]
    pub fn skills<S: Into<String>>(mut self, skills: impl IntoIterator<Item = S>) -> Self {
        self.skills = Some(skills.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the first prompt of the agent when it is the main one of a session.
    #[must_use]
    pub fn initial_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.initial_prompt = Some(prompt.into());
        self
    }

    /// Limits the rounds of model and tool calls.
    #[must_use]
    pub fn max_turns(mut self, turns: u64) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Lets the agent work in the background: the turn that starts it goes on.
    #[must_use]
    pub fn in_background(mut self) -> Self {
        self.background = Some(true);
        self
    }

    /// Sets the location of the agent's memory.
    #[must_use]
    pub fn memory(mut self, memory: AgentMemory) -> Self {
        self.memory = Some(memory);
        self
    }

    /// Sets the effort of the model.
    #[must_use]
    pub fn effort(mut self, effort: impl Into<AgentEffort>) -> Self {
        self.effort = Some(effort.into());
        self
    }

    /// Sets the permission mode of the agent.
    #[must_use]
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission_mode = Some(mode);
        self
    }
}

impl From<&str> for AgentMcpServer {
    fn from(name: &str) -> Self {
        AgentMcpServer::Named(name.to_owned())
    }
}

impl From<BTreeMap<String, McpServerConfig>> for AgentMcpServer {
    fn from(servers: BTreeMap<String, McpServerConfig>) -> Self {
        AgentMcpServer::Inline(servers)
    }
}

impl From<EffortLevel> for AgentEffort {
    fn from(level: EffortLevel) -> Self {
        AgentEffort::Level(level)
    }
}

impl From<i64> for AgentEffort {
    fn from(number: i64) -> Self {
        AgentEffort::Number(number)
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
