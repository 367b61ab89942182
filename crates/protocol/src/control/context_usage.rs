//! `get_context_usage`: what fills the context window.

use crate::json::{object, open_string};

open_string! {
    /// How much to tell about the context.
    pub struct ContextDetail {
        FULL = "full",
        SUMMARY = "summary",
    }

    /// What a part of the context window is.
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

    /// Whether a part of the context window is taken.
    pub struct ContextCategoryKind {
        USED = "used",
        FREE = "free",
        BUFFER = "buffer",
        DEFERRED = "deferred",
    }
}

object! {
    /// What fills the context window?
    pub struct GetContextUsage {
        opt detail: ContextDetail,
    }

    /// What fills the context window.
    pub struct ContextUsage {
        def categories: Vec<ContextCategory>,
        opt total_tokens: u64 as "totalTokens",
        opt max_tokens: u64 as "maxTokens",
        opt raw_max_tokens: u64 as "rawMaxTokens",
        opt percentage: f64,
        /// A picture of the window, row by row.
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
        /// How many tokens start a compaction.
        opt auto_compact_threshold: u64 as "autoCompactThreshold",
        opt is_auto_compact_enabled: bool as "isAutoCompactEnabled",
        opt message_breakdown: MessageBreakdown as "messageBreakdown",
        /// What the API counted last; nothing before the first turn.
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
        /// From 0 to 1.
        opt square_fullness: f64 as "squareFullness",
    }

    /// What a memory file takes.
    pub struct MemoryFileTokens {
        req path: String,
        opt kind: String as "type",
        opt tokens: u64,
    }

    /// What a tool of an MCP server takes.
    pub struct McpToolTokens {
        req name: String,
        opt server_name: String as "serverName",
        opt tokens: u64,
        opt is_loaded: bool as "isLoaded",
    }

    /// What the instructions of an MCP server take.
    pub struct McpInstructionsTokens {
        req server_name: String as "serverName",
        opt tokens: u64,
    }

    /// What a tool takes that is loaded when it is searched for.
    pub struct DeferredToolTokens {
        req name: String,
        opt tokens: u64,
        opt is_loaded: bool as "isLoaded",
    }

    /// What something with a name takes.
    pub struct NamedTokens {
        req name: String,
        opt tokens: u64,
    }

    /// What the description of an agent takes.
    pub struct AgentTokens {
        req agent_type: String as "agentType",
        opt source: String,
        opt plugin_id: String as "pluginId",
        opt path: String,
        opt tokens: u64,
    }

    /// What the list of slash commands takes.
    pub struct SlashCommandsTokens {
        opt total_commands: u64 as "totalCommands",
        opt included_commands: u64 as "includedCommands",
        opt tokens: u64,
    }

    /// What the list of skills takes.
    pub struct SkillsTokens {
        opt total_skills: u64 as "totalSkills",
        opt included_skills: u64 as "includedSkills",
        opt tokens: u64,
        def skill_frontmatter: Vec<SkillTokens> as "skillFrontmatter",
    }

    /// What the description of a skill takes.
    pub struct SkillTokens {
        req name: String,
        opt source: String,
        opt plugin_name: String as "pluginName",
        opt plugin_id: String as "pluginId",
        opt path: String,
        opt tokens: u64,
    }

    /// What the parts of the conversation take.
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

    /// What the calls of a tool take.
    pub struct ToolCallTokens {
        req name: String,
        opt call_tokens: u64 as "callTokens",
        opt result_tokens: u64 as "resultTokens",
    }

    /// What the API counted.
    pub struct ApiUsage {
        opt input_tokens: u64,
        opt output_tokens: u64,
        opt cache_creation_input_tokens: u64,
        opt cache_read_input_tokens: u64,
    }
}
