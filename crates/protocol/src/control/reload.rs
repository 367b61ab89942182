//! Reloading of plugins, skills and output styles in a running session.

use super::agents::AgentInfo;
use super::initialize::SlashCommand;
use super::mcp::McpServerStatus;
use crate::json::{Json, object};

object! {
    /// Reloads plugins.
    pub struct ReloadPlugins {
        /// True to hold back changes that would invalidate the prompt cache.
        opt hold_on_cache_impact: bool,
        opt add_plugins: Vec<Json>,
        /// True to fail instead of waiting while a turn runs.
        opt refuse_if_busy: bool,
    }

    /// State after [`ReloadPlugins`].
    pub struct ReloadPluginsReply {
        def commands: Vec<SlashCommand>,
        def agents: Vec<AgentInfo>,
        def plugins: Vec<ReloadedPlugin>,
        def mcp_servers: Vec<McpServerStatus> as "mcpServers",
        opt error_count: u64,
        /// True if the change was held back.
        opt held: bool,
        opt cache_impact: CacheImpact,
    }

    /// A loaded plugin.
    pub struct ReloadedPlugin {
        req name: String,
        opt path: String,
        opt source: String,
        opt version: String,
    }

    /// Effect of a change of plugins on the prompt cache.
    pub struct CacheImpact {
        def mcp_servers_added: Vec<String>,
        def mcp_servers_removed: Vec<String>,
        /// `adds`, `may-add`, `removes`, `may-remove`, or absent.
        opt lsp_tool_change: String,
    }

    /// Reloads skills.
    pub struct ReloadSkills {}

    /// State after [`ReloadSkills`].
    pub struct ReloadSkillsReply {
        def skills: Vec<SlashCommand>,
    }

    /// Reloads output styles.
    pub struct ReloadOutputStyles {}

    /// State after [`ReloadOutputStyles`].
    pub struct ReloadOutputStylesReply {
        def available_output_styles: Vec<String>,
    }
}
