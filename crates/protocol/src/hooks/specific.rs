//! Output of hooks for the event at hand.

use super::table::{HookEvent, HookSpecificOutput};
use crate::control::ElicitationAction;
use crate::control::tagged::tagged;
use crate::json::{Json, object, open_string};
use crate::permissions::PermissionUpdate;

open_string! {
    /// Permission decision of a hook.
    pub struct HookPermissionDecision {
        ASK = "ask",
        ALLOW = "allow",
        DENY = "deny",
        DEFER = "defer",
    }
}

object! {
    /// Output before a tool runs.
    pub struct PreToolUseOutput {
        opt permission_decision: HookPermissionDecision as "permissionDecision",
        opt permission_decision_reason: String as "permissionDecisionReason",
        /// Input that replaces the one from the model.
        opt updated_input: Json as "updatedInput",
        /// Additional context for the model.
        opt additional_context: String as "additionalContext",
    }

    /// Output after a tool has run.
    pub struct PostToolUseOutput {
        /// Additional context for the model.
        opt additional_context: String as "additionalContext",
        /// Context for the classifier; at most 2000 UTF-16 code units.
        opt classifier_context: String as "classifierContext",
        /// Output that the model sees instead of the tool's.
        opt updated_tool_output: Json as "updatedToolOutput",
        /// The same for tools of MCP servers.
        opt updated_mcp_tool_output: Json as "updatedMCPToolOutput",
    }

    /// Output for events that take only context.
    pub struct ContextOutput {
        /// Additional context for the model.
        opt additional_context: String as "additionalContext",
    }

    /// Output for a prompt.
    pub struct UserPromptSubmitOutput {
        /// Additional context for the model.
        opt additional_context: String as "additionalContext",
        opt session_title: String as "sessionTitle",
        opt suppress_original_prompt: bool as "suppressOriginalPrompt",
    }

    /// Output for an expanded prompt.
    pub struct UserPromptExpansionOutput {
        /// Additional context for the model.
        opt additional_context: String as "additionalContext",
        opt suppress_original_prompt: bool as "suppressOriginalPrompt",
    }

    /// Output for the start of a session.
    pub struct SessionStartOutput {
        /// Additional context for the model.
        opt additional_context: String as "additionalContext",
        opt initial_user_message: String as "initialUserMessage",
        opt session_title: String as "sessionTitle",
        /// Paths that the hook watches for changes.
        opt watch_paths: Vec<String> as "watchPaths",
        opt reload_skills: bool as "reloadSkills",
    }

    /// Output for a change of the model.
    pub struct PermissionDecisionOutput {
        opt permission_decision: HookPermissionDecision as "permissionDecision",
        opt permission_decision_reason: String as "permissionDecisionReason",
    }

    /// Output for a permission request.
    pub struct PermissionRequestOutput {
        opt decision: PermissionRequestDecision,
    }

    /// Allows the tool call.
    pub struct PermissionRequestAllow {
        opt updated_input: Json as "updatedInput",
        opt updated_permissions: Vec<PermissionUpdate> as "updatedPermissions",
    }

    /// Denies the tool call.
    pub struct PermissionRequestDeny {
        opt message: String,
        /// True if the turn ends as well.
        opt interrupt: bool,
    }

    /// Output for a denied tool call.
    pub struct PermissionDeniedOutput {
        /// True if the model may try again.
        opt retry: bool,
    }

    /// Output for an elicitation, or for its answer.
    pub struct ElicitationOutput {
        opt action: ElicitationAction,
        opt content: Json,
    }

    /// Output for a requested worktree.
    pub struct WorktreeCreateOutput {
        req worktree_path: String as "worktreePath",
    }

    /// Output for changes of folders and files.
    pub struct WatchOutput {
        /// Paths that the hook watches for changes.
        opt watch_paths: Vec<String> as "watchPaths",
    }

    /// Output for a delta of a message.
    pub struct MessageDisplayOutput {
        /// Text shown instead.
        opt display_content: String as "displayContent",
    }
}

tagged! {
    /// Answer of a hook to a permission request, distinguished by `behavior`.
    pub enum PermissionRequestDecision by "behavior" {
        /// The tool may run.
        Allow(PermissionRequestAllow) = "allow",
        /// The tool may not run.
        Deny(PermissionRequestDeny) = "deny",
    }
}

impl HookSpecificOutput {
    /// Additional context for the model. It has no effect for events that take no context.
    pub fn additional_context(event: &HookEvent, text: impl Into<String>) -> Self {
        let members = [("hookEventName", event.as_str()), ("additionalContext", &text.into())];
        let object: serde_json::Map<_, _> =
            members.into_iter().map(|(key, text)| (key.to_owned(), text.into())).collect();
        let raw = Json::from(serde_json::Value::Object(object));
        // The table of variants determines which of them have a field for context.
        raw.raw().read().unwrap_or(HookSpecificOutput::Unknown(raw))
    }
}
