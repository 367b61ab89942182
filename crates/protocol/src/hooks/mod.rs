//! Hooks: their input from the CLI, and their output.
//!
//! A [`HookInput`] has the fields common to all events (its [`HookBase`]) and those of the event (a
//! [`HookEventInput`], one variant per event). A [`HookOutput`] has fields for any event and fields for the
//! event at hand (a [`HookSpecificOutput`]).
//!
//! Hooks that are commands receive the same objects on their stdin.

mod compact;
mod elicitation;
mod event;
mod input;
mod model_switch;
mod output;
mod prompt;
mod session;
mod specific;
mod team;
mod tool;
mod workspace;

pub use compact::{CompactTrigger, PostCompact, PreCompact};
pub use elicitation::{ElicitationRequested, ElicitationResult};
pub use event::HookEvent;
pub use input::{HookBase, HookEffort, HookEventInput, HookInput};
pub use model_switch::{CacheTtl, ModelSwitchPricing, ModelSwitchSource, PostModelSwitch, PreModelSwitch};
pub use output::{HookDecision, HookOutput};
pub use prompt::{
    ExpansionType, MessageDisplay, Notification, PromptSource, UserPromptExpansion, UserPromptSubmit,
};
pub use session::{
    BackgroundTaskSummary, SessionCronSummary, SessionEnd, SessionEndReason, SessionStart,
    SessionStartSource, Setup, SetupTrigger, Stop, StopFailure, SubagentStart, SubagentStop,
};
pub use specific::{
    ContextOutput, ElicitationOutput, HookPermissionDecision, HookSpecificOutput, MessageDisplayOutput,
    PermissionDecisionOutput, PermissionDeniedOutput, PermissionRequestAllow, PermissionRequestDecision,
    PermissionRequestDeny, PermissionRequestOutput, PostToolUseOutput, PreToolUseOutput, SessionStartOutput,
    UserPromptExpansionOutput, UserPromptSubmitOutput, WatchOutput, WorktreeCreateOutput,
};
pub use team::{TaskCompleted, TaskCreated, TeammateIdle};
pub use tool::{
    PermissionDenied, PermissionRequested, PostToolBatch, PostToolUse, PostToolUseFailure, PreToolUse,
    ToolCallSummary,
};
pub use workspace::{
    ConfigChange, ConfigSource, CwdChanged, DirectoryAdded, DirectorySource, FileChange, FileChanged,
    InstructionsLoadReason, InstructionsLoaded, MemoryType, WorktreeCreate, WorktreeRemove,
};
