//! `initialize`: the handshake.

use std::collections::BTreeMap;

use super::agents::{AgentDefinition, AgentInfo};
use super::mcp_config::{McpServerConfig, McpToolPolicy};
use super::models::ModelInfo;
use super::user_dialog::DialogKind;
use crate::json::{Json, object, open_string};

open_string! {
    /// Effect of a hook that throws or returns an invalid answer.
    pub struct HookOnFailure {
        CONTINUE = "continue",
        BLOCK = "block",
    }

    /// Outcome of a handshake that the host made with its own MCP server beforehand.
    pub struct ManifestOutcome {
        PARKED = "parked",
        ALREADY_CONNECTED = "already_connected",
        PROTOCOL_VERSION_MISMATCH = "protocol_version_mismatch",
        MALFORMED = "malformed",
        NOT_HONOURED = "not_honoured",
    }

    /// API provider of the CLI.
    pub struct ApiProvider {
        FIRST_PARTY = "firstParty",
        BEDROCK = "bedrock",
        VERTEX = "vertex",
        FOUNDRY = "foundry",
        ANTHROPIC_AWS = "anthropicAws",
        ANTHROPIC_GOOGLE_CLOUD = "anthropicGoogleCloud",
        MANTLE = "mantle",
        GATEWAY = "gateway",
    }
}

object! {
    /// The handshake: configuration supplied by the host.
    ///
    /// It is optional and may be repeated: a repetition applies some of it again and returns the current
    /// state.
    pub struct Initialize {
        /// Hooks of the host, by event. The host chooses the ids.
        opt hooks: BTreeMap<String, Vec<HookMatcher>>,
        /// MCP servers inside the host, by name.
        opt sdk_mcp_servers: Vec<String> as "sdkMcpServers",
        opt sdk_mcp_server_configs: BTreeMap<String, SdkMcpServerConfig> as "sdkMcpServerConfigs",
        /// Handshakes made beforehand, which save the CLI round trips.
        opt sdk_mcp_server_manifests: BTreeMap<String, SdkMcpManifest> as "sdkMcpServerManifests",
        opt sdk_mcp_server_manifests_origin: String as "sdkMcpServerManifestsOrigin",
        /// JSON Schema of the result.
        opt json_schema: Json as "jsonSchema",
        /// System prompt in blocks; `[""]` for an empty one.
        opt system_prompt: Vec<String> as "systemPrompt",
        opt append_system_prompt: String as "appendSystemPrompt",
        /// True if the prompt is recorded once per conversation.
        opt system_prompt_snapshot: bool as "systemPromptSnapshot",
        opt plan_mode_instructions: String as "planModeInstructions",
        /// Aliases of tools.
        opt tool_aliases: BTreeMap<String, String> as "toolAliases",
        opt exclude_dynamic_sections: bool as "excludeDynamicSections",
        /// Agents, by name.
        opt agents: BTreeMap<String, AgentDefinition>,
        opt title: String,
        /// Available skills; all of them when absent.
        opt skills: Vec<String>,
        opt prompt_suggestions: bool as "promptSuggestions",
        opt agent_progress_summaries: bool as "agentProgressSummaries",
        opt forward_subagent_text: bool as "forwardSubagentText",
        opt per_task_stop_affordance: bool as "perTaskStopAffordance",
        /// Kinds of dialog that the host supports.
        opt supported_dialog_kinds: Vec<DialogKind> as "supportedDialogKinds",
        /// Plugins; ignored unless the CLI was started with `--await-initialize`.
        opt plugins: Vec<PluginDelivery>,
        /// MCP servers that the CLI runs or connects to, by name; ignored unless the CLI was started with
        /// `--await-initialize`.
        opt mcp_servers: BTreeMap<String, McpServerConfig> as "mcpServers",
        /// Flag of the flat spelling: the host answers `can_use_tool`. The CLI has no such field.
        opt can_use_tool: bool,
    }

    /// Hooks of the host for one event.
    pub struct HookMatcher {
        /// Pattern for the event, usually a tool name; matches everything when absent.
        opt matcher: String,
        /// Ids that [`HookCallback`](super::HookCallback) uses to call them.
        def hook_callback_ids: Vec<String> as "hookCallbackIds",
        /// Timeout in seconds.
        opt timeout: f64,
        opt on_failure: HookOnFailure as "onFailure",
    }

    /// Settings of an MCP server inside the host.
    pub struct SdkMcpServerConfig {
        /// Timeout of one call in milliseconds; values below a second are ignored.
        opt timeout: u64,
        opt tools: Vec<McpToolPolicy>,
    }

    /// A handshake with an MCP server, made beforehand.
    pub struct SdkMcpManifest {
        def initialize_result: Json as "initializeResult",
        opt tools_list_result: Json as "toolsListResult",
    }

    /// A plugin supplied by the host.
    pub struct PluginDelivery {
        /// `local`
        opt kind: String as "type",
        req path: String,
        opt skip_mcp_discovery: bool as "skipMcpDiscovery",
    }

    /// Reply of the handshake: capabilities and state of the CLI.
    pub struct InitializeReply {
        def commands: Vec<SlashCommand>,
        def agents: Vec<AgentInfo>,
        opt output_style: String,
        def available_output_styles: Vec<String>,
        def models: Vec<ModelInfo>,
        opt account: AccountInfo,
        /// True if the hooks were accepted; absent if none were sent.
        opt hooks_applied: bool,
        /// True if `onFailure: block` is supported. If not, a session that relies on it should not continue.
        opt hook_on_failure_supported: bool,
        /// Number of hooks whose answer may be missing (`whenUnanswered`), as the CLI has kept them.
        opt hooks_when_unanswered_kept: u64,
        opt plugins_applied: bool,
        /// True if the MCP servers of the handshake were taken; absent in a CLI that does not read them.
        opt mcp_servers_applied: bool,
        opt sdk_mcp_manifests_parked: BTreeMap<String, ManifestOutcome>,
        opt claude_code_version: String,
        opt fast_mode_state: String,
        opt fast_mode_disabled_reason: String,
    }

    /// An available slash command or skill.
    pub struct SlashCommand {
        req name: String,
        def description: String,
        def argument_hint: String as "argumentHint",
        opt aliases: Vec<String>,
        /// True if it is built into the CLI.
        opt builtin: bool,
    }

    /// Account that pays for the session.
    pub struct AccountInfo {
        opt email: String,
        opt organization: String,
        opt subscription_type: String as "subscriptionType",
        opt token_source: String as "tokenSource",
        opt api_key_source: String as "apiKeySource",
        opt api_provider: ApiProvider as "apiProvider",
    }

    /// Repeats the reply of the handshake; part of the flat style.
    ///
    /// The CLI does not support this request: it gives the same data in the reply to [`Initialize`].
    pub struct GetServerInfo {}
}

impl HookMatcher {
    /// Hooks for every occurrence of the event.
    pub fn every(hook_callback_ids: Vec<String>) -> Self {
        HookMatcher { hook_callback_ids, ..HookMatcher::default() }
    }

    /// Hooks for the occurrences that match `matcher`.
    pub fn matching(matcher: impl Into<String>, hook_callback_ids: Vec<String>) -> Self {
        HookMatcher { matcher: Some(matcher.into()), ..HookMatcher::every(hook_callback_ids) }
    }
}

impl SlashCommand {
    /// A command, in the form of the CLI, which writes empty texts too.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        argument_hint: impl Into<String>,
    ) -> Self {
        let mut command = SlashCommand {
            name: name.into(),
            description: description.into(),
            argument_hint: argument_hint.into(),
            ..SlashCommand::default()
        };
        command.extra.keep("\"description\":\"\",\"argumentHint\":\"\"");
        command
    }
}
