//! Plugins, skills and output styles, loaded again while the session runs.

use super::agents::AgentInfo;
use super::initialize::SlashCommand;
use super::mcp::McpServerStatus;
use crate::json::{Json, object};

object! {
    /// Loads plugins again.
    pub struct ReloadPlugins {
        /// Whether to hold back what would cost the prompt cache.
        opt hold_on_cache_impact: bool,
        opt add_plugins: Vec<Json>,
        /// Whether to fail rather than to wait while a turn runs.
        opt refuse_if_busy: bool,
    }

    /// What there is after [`ReloadPlugins`].
    pub struct ReloadPluginsReply {
        def commands: Vec<SlashCommand>,
        def agents: Vec<AgentInfo>,
        def plugins: Vec<PluginInfo>,
        def mcp_servers: Vec<McpServerStatus> as "mcpServers",
        opt error_count: u64,
        /// Whether the change was held back.
        opt held: bool,
        opt cache_impact: CacheImpact,
    }

    /// A plugin that was loaded.
    pub struct PluginInfo {
        req name: String,
        opt path: String,
        opt source: String,
        opt version: String,
    }

    /// What a change of plugins would do to the prompt cache.
    pub struct CacheImpact {
        def mcp_servers_added: Vec<String>,
        def mcp_servers_removed: Vec<String>,
        /// `adds`, `may-add`, `removes`, `may-remove`, or nothing.
        opt lsp_tool_change: String,
    }

    /// Loads skills again.
    pub struct ReloadSkills {}

    /// What there is after [`ReloadSkills`].
    pub struct ReloadSkillsReply {
        def skills: Vec<SlashCommand>,
    }

    /// Loads output styles again.
    pub struct ReloadOutputStyles {}

    /// What there is after [`ReloadOutputStyles`].
    pub struct ReloadOutputStylesReply {
        def available_output_styles: Vec<String>,
    }
}
