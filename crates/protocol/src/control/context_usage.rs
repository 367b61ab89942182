//! `get_context_usage`: usage of the context window.

use crate::json::{object, open_string};

open_string! {
    /// Level of detail of the report.
    pub struct ContextDetail {
        FULL = "full",
        SUMMARY = "summary",
    }

    /// Category of content in the context window.
    pub struct ContextCategoryId {
        MESSAGES = "messages",
        SYSTEM_PROMPT = "system_prompt",
        SYSTEM_TOOLS = "system_tools",
        MCP_TOOLS = "mcp_tools",
        MCP_INSTRUCTIONS = "mcp_instructions",
        MCP_TOOLS_DEFERRED = "mcp_tools_deferred",
        SYSTEM_TOOLS_DEFERRED = "system_tools_deferred",
        CUSTOM_AGENTS = "custom_agents",
        MEMORY_FILES = "memory_files",
        SKILLS = "skills",
        AUTOCOMPACT_BUFFER = "autocompact_buffer",
        COMPACT_BUFFER = "compact_buffer",
        FREE_SPACE = "free_space",
    }

    /// State of a part of the context window.
    pub struct ContextCategoryKind {
        USED = "used",
        FREE = "free",
        BUFFER = "buffer",
        DEFERRED = "deferred",
    }
}

object! {
    /// Request for the usage of the context window.
    pub struct GetContextUsage {
        opt detail: ContextDetail,
    }

    /// Usage of the context window.
    pub struct ContextUsage {
        def categories: Vec<ContextCategory>,
        opt total_tokens: u64 as "totalTokens",
        opt max_tokens: u64 as "maxTokens",
        opt raw_max_tokens: u64 as "rawMaxTokens",
        opt percentage: f64,
        /// Picture of the window, as rows of squares.
        def grid_rows: Vec<Vec<ContextSquare>> as "gridRows",
        opt model: String,
        def memory_files: Vec<MemoryFileTokens> as "memoryFiles",
        def mcp_tools: Vec<McpToolTokens> as "mcpTools",
        opt mcp_instructions: Vec<McpInstructionsTokens> as "mcpInstructions",
        opt deferred_builtin_tools: Vec<DeferredToolTokens> as "deferredBuiltinTools",
        opt system_tools: Vec<NamedTokens> as "systemTools",
        opt system_prompt_sections: Vec<NamedTokens> as "systemPromptSections",
        def agents: Vec<AgentTokens>,
        opt slash_commands: SlashCommandsTokens as "slashCommands",
        opt skills: SkillsTokens,
        /// Number of tokens that triggers a compaction.
        opt auto_compact_threshold: u64 as "autoCompactThreshold",
        opt is_auto_compact_enabled: bool as "isAutoCompactEnabled",
        opt message_breakdown: MessageBreakdown as "messageBreakdown",
        /// Last token counts of the API; absent before the first turn.
        opt api_usage: ApiUsage as "apiUsage",
    }

    /// A part of the context window.
    pub struct ContextCategory {
        opt id: ContextCategoryId,
        def name: String,
        opt tokens: u64,
        opt color: String,
        opt is_deferred: bool as "isDeferred",
        opt kind: ContextCategoryKind,
    }

    /// A square of the picture of the context window.
    pub struct ContextSquare {
        opt color: String,
        opt is_filled: bool as "isFilled",
        opt category_name: String as "categoryName",
        opt tokens: u64,
        opt percentage: f64,
        /// Filled share, from 0 to 1.
        opt square_fullness: f64 as "squareFullness",
    }

    /// Tokens of a memory file.
    pub struct MemoryFileTokens {
        req path: String,
        opt kind: String as "type",
        opt tokens: u64,
    }

    /// Tokens of a tool of an MCP server.
    pub struct McpToolTokens {
        req name: String,
        opt server_name: String as "serverName",
        opt tokens: u64,
        opt is_loaded: bool as "isLoaded",
    }

    /// Tokens of the instructions of an MCP server.
    pub struct McpInstructionsTokens {
        req server_name: String as "serverName",
        opt tokens: u64,
    }

    /// Tokens of a tool that is loaded on search.
    pub struct DeferredToolTokens {
        req name: String,
        opt tokens: u64,
        opt is_loaded: bool as "isLoaded",
    }

    /// Tokens of a named item.
    pub struct NamedTokens {
        req name: String,
        opt tokens: u64,
    }

    /// Tokens of the description of an agent.
    pub struct AgentTokens {
        req agent_type: String as "agentType",
        opt source: String,
        opt plugin_id: String as "pluginId",
        opt path: String,
        opt tokens: u64,
    }

    /// Tokens of the list of slash commands.
    pub struct SlashCommandsTokens {
        opt total_commands: u64 as "totalCommands",
        opt included_commands: u64 as "includedCommands",
        opt tokens: u64,
    }

    /// Tokens of the list of skills.
    pub struct SkillsTokens {
        opt total_skills: u64 as "totalSkills",
        opt included_skills: u64 as "includedSkills",
        opt tokens: u64,
        def skill_frontmatter: Vec<SkillTokens> as "skillFrontmatter",
    }

    /// Tokens of the description of a skill.
    pub struct SkillTokens {
        req name: String,
        opt source: String,
        opt plugin_name: String as "pluginName",
        opt plugin_id: String as "pluginId",
        opt path: String,
        opt tokens: u64,
    }

    /// Tokens of the conversation, by kind of content.
    pub struct MessageBreakdown {
        opt tool_call_tokens: u64 as "toolCallTokens",
        opt tool_result_tokens: u64 as "toolResultTokens",
        opt attachment_tokens: u64 as "attachmentTokens",
        opt assistant_message_tokens: u64 as "assistantMessageTokens",
        opt user_message_tokens: u64 as "userMessageTokens",
        opt redirected_context_tokens: u64 as "redirectedContextTokens",
        opt unattributed_tokens: u64 as "unattributedTokens",
        def tool_calls_by_type: Vec<ToolCallTokens> as "toolCallsByType",
        def attachments_by_type: Vec<NamedTokens> as "attachmentsByType",
    }

    /// Tokens of the calls of a tool.
    pub struct ToolCallTokens {
        req name: String,
        opt call_tokens: u64 as "callTokens",
        opt result_tokens: u64 as "resultTokens",
    }

    /// Token counts of the API.
    pub struct ApiUsage {
        opt input_tokens: u64,
        opt output_tokens: u64,
        opt cache_creation_input_tokens: u64,
        opt cache_read_input_tokens: u64,
    }
}
