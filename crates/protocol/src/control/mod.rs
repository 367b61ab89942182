//! The control protocol: what host and CLI ask of each other beside the conversation.
//!
//! A [`ControlRequest`] carries a [`Call`], one variant per request. A [`ControlResponse`] carries an
//! [`Outcome`] that names its request only by id, so its body is typed through the request it answers: each
//! request's struct is a [`Request`] with its `Reply`, and [`Success::reply`] reads one.
//!
//! Replies come in any order, requests of the CLI may arrive before the reply to the host's own first request,
//! and a reply may come for a request that nobody here sent (the CLI can echo what it was told).

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
pub use outcome::{Ack, ErrorCode, Failure, Outcome, Success, UnknownOutcome};
pub use permission_rules::{
    ListPermissionRules, ListPermissionRulesReply, ListedRule, PermissionRules, RuleDescription,
    RuleEditability, RuleSource, SetPermissionMode, SetPermissionModeReply, WorkspaceDirectory,
};
pub use reload::{
    CacheImpact, PluginInfo, ReloadOutputStyles, ReloadOutputStylesReply, ReloadPlugins, ReloadPluginsReply,
    ReloadSkills, ReloadSkillsReply,
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

/// Where the payload of a control frame stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ControlStyle {
    /// In an object of its own, `request` or `response`: what the CLI speaks.
    #[default]
    Nested,
    /// Beside `type` and `request_id`: what the first Rust SDK wrote down. The CLI ends on such a line.
    Flat,
}

#[cfg(test)]
mod tests;
