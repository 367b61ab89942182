//! The control protocol: requests between host and CLI outside of the conversation.
//!
//! A [`ControlRequest`] carries a [`Call`], one variant per request. A [`ControlResponse`] carries a
//! [`ControlOutcome`] that names its request only by id, so its body is typed through that request: each
//! request is a [`Request`] with its `Reply`, and [`Success::reply`] reads one.
//!
//! Replies come in any order. Requests of the CLI may arrive before the reply to the first request of the
//! host, and a reply may arrive for a request that the host never sent (the CLI can echo its input).

mod agents;
mod call;
mod can_use_tool;
mod context_usage;
mod elicitation;
mod files;
mod hook_callback;
mod hooks_listing;
mod initialize;
mod mcp;
mod mcp_call;
mod mcp_config;
mod models;
mod outcome;
mod parts;
mod permission_rules;
mod reload;
mod request;
mod response;
mod session;
mod settings;
pub(crate) mod tagged;
mod tasks;
mod usage;
mod user_dialog;

pub use agents::{AgentDefinition, AgentEffort, AgentInfo, AgentMcpServer, AgentMemory};
pub use call::{Call, Request, UnknownCall};
pub use can_use_tool::{CanUseTool, DecisionReasonType, MatchedAskRule};
pub use context_usage::{
    AgentTokens, ApiUsage, ContextCategory, ContextCategoryId, ContextCategoryKind, ContextDetail,
    ContextSquare, ContextUsage, DeferredToolTokens, GetContextUsage, McpInstructionsTokens, McpToolTokens,
    MemoryFileTokens, MessageBreakdown, NamedTokens, SkillTokens, SkillsTokens, SlashCommandsTokens,
    ToolCallTokens,
};
pub use elicitation::{Elicitation, ElicitationAction, ElicitationAnswer, ElicitationMode};
pub use files::{
    FileContents, FileEncoding, FileSuggestion, FileSuggestions, FileSuggestionsReply, ReadFile,
    RegisterRepoRoot, RegisterRepoRootReply, RewindFiles, RewindFilesReply, SeedReadState,
};
pub use hook_callback::HookCallback;
pub use hooks_listing::{
    EditableHook, GetHooksListing, HookEventInfo, HookPolicy, HooksListing, ListedHook, RestrictedMode,
};
pub use initialize::{
    AccountInfo, ApiProvider, GetServerInfo, HookMatcher, HookOnFailure, Initialize, InitializeReply,
    ManifestOutcome, PluginDelivery, SdkMcpManifest, SdkMcpServerConfig, SlashCommand,
};
pub use mcp::{
    McpMessage, McpMessageReply, McpReadResource, McpReconnect, McpResource, McpResourceContents,
    McpServerRef, McpServerStatus, McpServerVersion, McpSetServers, McpSetServersReply, McpStatus,
    McpStatusReply, McpToggle, McpToolAnnotations, McpToolStatus, ServerStatus, SetMcpPermissionModeOverride,
    SetMcpPermissionModeOverrideReply,
};
pub use mcp_call::{McpCall, McpCallReply, Staging, StagingError, StagingFile, StagingResult};
pub use mcp_config::{
    ClaudeAiProxyServer, McpServerConfig, McpToolPolicy, OrgMaxPermission, RemoteServer, SdkServer,
    StdioServer, ToolPermissionPolicy,
};
pub use models::{
    EffortLevel, ListModels, ListModelsReply, ModelInfo, SetMaxThinkingTokens, SetModel, SetModelReply,
    ThinkingDisplay,
};
pub use outcome::{Ack, ControlOutcome, ErrorCode, Failure, Success, UnknownOutcome};
pub use permission_rules::{
    ListPermissionRules, ListPermissionRulesReply, ListedRule, PermissionRules, RuleDescription,
    RuleEditability, RuleSource, SetPermissionMode, SetPermissionModeReply, WorkspaceDirectory,
};
pub use reload::{
    CacheImpact, ReloadOutputStyles, ReloadOutputStylesReply, ReloadPlugins, ReloadPluginsReply,
    ReloadSkills, ReloadSkillsReply, ReloadedPlugin,
};
pub use request::ControlRequest;
pub use response::ControlResponse;
pub use session::{
    BinaryVersion, CancelAsyncMessage, CancelAsyncMessageReply, GetBinaryVersion, Interrupt,
    InterruptReceipt, RenameSession, RenameSource, SetColor, SetHasSubscribers,
};
pub use settings::{
    AppliedSettings, ApplyFlagSettings, GetSettings, SettingsError, SettingsLayer, SettingsReply,
    SettingsSource, UpdateSettings,
};
pub use tasks::{BackgroundTasks, BackgroundTasksReply, GetTaskOutput, StopTask, TaskOutput};
pub use usage::{
    BehaviorKey, BehaviorShare, ExtraUsage, GetSessionCost, GetUsage, ModelLimit, NamedShare, RateLimits,
    Recommendation, SessionCost, Usage, UsageBehaviors, UsageFix, UsageLimit, UsagePeriod,
};
pub use user_dialog::{DialogAnswer, DialogCancelled, DialogCompleted, DialogKind, RequestUserDialog};

/// Position of the payload in a control frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ControlStyle {
    /// In a separate object, `request` or `response`: the style of the CLI.
    #[default]
    Nested,
    /// Next to `type` and `request_id`: the style of the `rusty_claw` wire format. The CLI exits on such a
    /// line.
    Flat,
}

#[cfg(test)]
mod tests;
