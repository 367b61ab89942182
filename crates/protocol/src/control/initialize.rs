//! `initialize`: the handshake.

use std::collections::BTreeMap;

use super::agents::{AgentDefinition, AgentInfo};
use super::mcp_config::McpToolPolicy;
use super::models::ModelInfo;
use super::user_dialog::DialogKind;
use crate::json::{Json, object, open_string};

open_string! {
    /// What a hook that throws or answers nonsense means.
    pub struct HookOnFailure {
        CONTINUE = "continue",
        BLOCK = "block",
    }

    /// What became of a handshake that the host made with its own MCP server beforehand.
    pub struct ManifestOutcome {
        PARKED = "parked",
        ALREADY_CONNECTED = "already_connected",
        PROTOCOL_VERSION_MISMATCH = "protocol_version_mismatch",
        MALFORMED = "malformed",
        NOT_HONOURED = "not_honoured",
    }

    /// Whose API the CLI talks to.
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
    /// The handshake: what the host brings along.
    ///
    /// It may be left out, and it may be repeated: then some of it is applied again and the current state answered.
    pub struct Initialize {
        /// Hooks of the host, by event. The host chooses the ids.
        opt hooks: BTreeMap<String, Vec<HookMatcher>>,
        /// MCP servers that live in the host, by name.
        opt sdk_mcp_servers: Vec<String> as "sdkMcpServers",
        opt sdk_mcp_server_configs: BTreeMap<String, SdkMcpServerConfig> as "sdkMcpServerConfigs",
        /// Handshakes made beforehand, which save the CLI the round trips.
        opt sdk_mcp_server_manifests: BTreeMap<String, SdkMcpManifest> as "sdkMcpServerManifests",
        opt sdk_mcp_server_manifests_origin: String as "sdkMcpServerManifestsOrigin",
        /// The JSON Schema of the result.
        opt json_schema: Json as "jsonSchema",
        /// The system prompt in blocks; `[""]` for an empty one.
        opt system_prompt: Vec<String> as "systemPrompt",
        opt append_system_prompt: String as "appendSystemPrompt",
        /// Whether the prompt is recorded once per conversation.
        opt system_prompt_snapshot: bool as "systemPromptSnapshot",
        opt plan_mode_instructions: String as "planModeInstructions",
        /// Other names for tools.
        opt tool_aliases: BTreeMap<String, String> as "toolAliases",
        opt exclude_dynamic_sections: bool as "excludeDynamicSections",
        /// Agents, by name.
        opt agents: BTreeMap<String, AgentDefinition>,
        opt title: String,
        /// The skills that may be used; all of them when absent.
        opt skills: Vec<String>,
        opt prompt_suggestions: bool as "promptSuggestions",
        opt agent_progress_summaries: bool as "agentProgressSummaries",
        opt forward_subagent_text: bool as "forwardSubagentText",
        opt per_task_stop_affordance: bool as "perTaskStopAffordance",
        /// The kinds of dialog that the host can show.
        opt supported_dialog_kinds: Vec<DialogKind> as "supportedDialogKinds",
        /// Plugins; they count only if the CLI was started with `--await-initialize`.
        opt plugins: Vec<PluginDelivery>,
        /// The flat spelling's way to say that the host answers `can_use_tool`. The CLI knows no such field.
        opt can_use_tool: bool,
    }

    /// Hooks of the host for one event.
    pub struct HookMatcher {
        /// What the event must match, most often a tool's name; anything when absent.
        opt matcher: String,
        /// The ids by which [`HookCallback`](super::HookCallback) will call them.
        def hook_callback_ids: Vec<String> as "hookCallbackIds",
        /// How long the CLI waits, in seconds.
        opt timeout: f64,
        opt on_failure: HookOnFailure as "onFailure",
    }

    /// Settings of an MCP server that lives in the host.
    pub struct SdkMcpServerConfig {
        /// The limit for one call in milliseconds; less than a second is ignored.
        opt timeout: u64,
        opt tools: Vec<McpToolPolicy>,
    }

    /// A handshake with an MCP server, made beforehand.
    pub struct SdkMcpManifest {
        def initialize_result: Json as "initializeResult",
        opt tools_list_result: Json as "toolsListResult",
    }

    /// A plugin that the host brings along.
    pub struct PluginDelivery {
        /// `local`
        opt kind: String as "type",
        req path: String,
        opt skip_mcp_discovery: bool as "skipMcpDiscovery",
    }

    /// The handshake's answer: what the CLI has.
    pub struct InitializeReply {
        def commands: Vec<SlashCommand>,
        def agents: Vec<AgentInfo>,
        opt output_style: String,
        def available_output_styles: Vec<String>,
        def models: Vec<ModelInfo>,
        opt account: AccountInfo,
        /// Whether the hooks were taken; absent if none were sent.
        opt hooks_applied: bool,
        /// Whether `onFailure: block` is understood. If it is not, a session that relies on it should not go on.
        opt hook_on_failure_supported: bool,
        opt plugins_applied: bool,
        opt sdk_mcp_manifests_parked: BTreeMap<String, ManifestOutcome>,
        opt claude_code_version: String,
        opt fast_mode_state: String,
        opt fast_mode_disabled_reason: String,
    }

    /// A slash command or skill that can be used.
    pub struct SlashCommand {
        req name: String,
        def description: String,
        def argument_hint: String as "argumentHint",
        opt aliases: Vec<String>,
        /// Whether it comes with the CLI.
        opt builtin: bool,
    }

    /// Who pays.
    pub struct AccountInfo {
        opt email: String,
        opt organization: String,
        opt subscription_type: String as "subscriptionType",
        opt token_source: String as "tokenSource",
        opt api_key_source: String as "apiKeySource",
        opt api_provider: ApiProvider as "apiProvider",
    }

    /// Asks for the handshake's answer once more, in the vocabulary of the flat style.
    ///
    /// The CLI does not know this request: its facts come with the answer to [`Initialize`].
    pub struct GetServerInfo {}
}

impl HookMatcher {
    /// Hooks for every occurrence of the event.
    pub fn every(hook_callback_ids: Vec<String>) -> Self {
        HookMatcher { hook_callback_ids, ..HookMatcher::default() }
    }

    /// Hooks for occurrences that `matcher` matches.
    pub fn matching(matcher: impl Into<String>, hook_callback_ids: Vec<String>) -> Self {
        HookMatcher { matcher: Some(matcher.into()), ..HookMatcher::every(hook_callback_ids) }
    }
}
