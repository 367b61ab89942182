//! What a hook says to its event.

use super::event::HookEvent;
use crate::control::ElicitationAction;
use crate::control::tagged::tagged;
use crate::json::{Json, object, open_string};
use crate::permissions::PermissionUpdate;

open_string! {
    /// What a hook says about something that is about to happen.
    pub struct HookPermissionDecision {
        ASK = "ask",
        ALLOW = "allow",
        DENY = "deny",
        DEFER = "defer",
    }
}

object! {
    /// What a hook says to a tool that is about to run.
    pub struct PreToolUseOutput {
        opt permission_decision: HookPermissionDecision as "permissionDecision",
        opt permission_decision_reason: String as "permissionDecisionReason",
        /// What the tool gets instead of what the model asked for.
        opt updated_input: Json as "updatedInput",
        /// What the model is told besides.
        opt additional_context: String as "additionalContext",
    }

    /// What a hook says to a tool that has run.
    pub struct PostToolUseOutput {
        /// What the model is told besides.
        opt additional_context: String as "additionalContext",
        /// What the classifier is told; at most 2000 UTF-16 units.
        opt classifier_context: String as "classifierContext",
        /// What the model sees instead of what the tool gave.
        opt updated_tool_output: Json as "updatedToolOutput",
        /// The same for tools of MCP servers.
        opt updated_mcp_tool_output: Json as "updatedMCPToolOutput",
    }

    /// What a hook says to events that take nothing but words.
    pub struct ContextOutput {
        /// What the model is told besides.
        opt additional_context: String as "additionalContext",
    }

    /// What a hook says to a prompt.
    pub struct UserPromptSubmitOutput {
        /// What the model is told besides.
        opt additional_context: String as "additionalContext",
        opt session_title: String as "sessionTitle",
        opt suppress_original_prompt: bool as "suppressOriginalPrompt",
    }

    /// What a hook says to a prompt that was made out of a command.
    pub struct UserPromptExpansionOutput {
        /// What the model is told besides.
        opt additional_context: String as "additionalContext",
        opt suppress_original_prompt: bool as "suppressOriginalPrompt",
    }

    /// What a hook says to a session that begins.
    pub struct SessionStartOutput {
        /// What the model is told besides.
        opt additional_context: String as "additionalContext",
        opt initial_user_message: String as "initialUserMessage",
        opt session_title: String as "sessionTitle",
        /// Paths whose changes the hook wants to hear of.
        opt watch_paths: Vec<String> as "watchPaths",
        opt reload_skills: bool as "reloadSkills",
    }

    /// What a hook says to a change of the model.
    pub struct PermissionDecisionOutput {
        opt permission_decision: HookPermissionDecision as "permissionDecision",
        opt permission_decision_reason: String as "permissionDecisionReason",
    }

    /// What a hook says to the question whether a tool may run.
    pub struct PermissionRequestOutput {
        opt decision: PermissionRequestDecision,
    }

    /// The tool may run.
    pub struct PermissionRequestAllow {
        opt updated_input: Json as "updatedInput",
        opt updated_permissions: Vec<PermissionUpdate> as "updatedPermissions",
    }

    /// The tool may not run.
    pub struct PermissionRequestDeny {
        opt message: String,
        /// Whether the turn ends as well.
        opt interrupt: bool,
    }

    /// What a hook says to a refusal.
    pub struct PermissionDeniedOutput {
        /// Whether the model may try again.
        opt retry: bool,
    }

    /// What a hook says to a question of an MCP server, or to its answer.
    pub struct ElicitationOutput {
        opt action: ElicitationAction,
        opt content: Json,
    }

    /// What a hook says when a worktree is wanted.
    pub struct WorktreeCreateOutput {
        req worktree_path: String as "worktreePath",
    }

    /// What a hook says to changes of folders and files.
    pub struct WatchOutput {
        /// Paths whose changes the hook wants to hear of.
        opt watch_paths: Vec<String> as "watchPaths",
    }

    /// What a hook says to a piece of a message.
    pub struct MessageDisplayOutput {
        /// What is shown instead.
        opt display_content: String as "displayContent",
    }
}

tagged! {
    /// A hook's own answer to the question whether a tool may run, told apart by `behavior`.
    pub enum PermissionRequestDecision by "behavior" {
        /// The tool may run.
        Allow(PermissionRequestAllow) = "allow",
        /// The tool may not run.
        Deny(PermissionRequestDeny) = "deny",
    }

    /// What a hook says to its event, told apart by `hookEventName`. Events not among these take nothing.
    pub enum HookSpecificOutput by "hookEventName" {
        /// To a tool that is about to run.
        PreToolUse(PreToolUseOutput) = "PreToolUse",
        /// To a tool that has run.
        PostToolUse(PostToolUseOutput) = "PostToolUse",
        /// To a tool that has failed.
        PostToolUseFailure(ContextOutput) = "PostToolUseFailure",
        /// To the tools of a message.
        PostToolBatch(ContextOutput) = "PostToolBatch",
        /// To a notification.
        Notification(ContextOutput) = "Notification",
        /// To a prompt.
        UserPromptSubmit(UserPromptSubmitOutput) = "UserPromptSubmit",
        /// To a prompt that was made out of a command.
        UserPromptExpansion(UserPromptExpansionOutput) = "UserPromptExpansion",
        /// To a session that begins.
        SessionStart(SessionStartOutput) = "SessionStart",
        /// To a turn that is about to end; words make it go on.
        Stop(ContextOutput) = "Stop",
        /// To a subagent that begins.
        SubagentStart(ContextOutput) = "SubagentStart",
        /// To a subagent that is about to end; words make it go on.
        SubagentStop(ContextOutput) = "SubagentStop",
        /// To a change of the model.
        PreModelSwitch(PermissionDecisionOutput) = "PreModelSwitch",
        /// To a model that has changed.
        PostModelSwitch(ContextOutput) = "PostModelSwitch",
        /// To the question whether a tool may run.
        PermissionRequest(PermissionRequestOutput) = "PermissionRequest",
        /// To a refusal.
        PermissionDenied(PermissionDeniedOutput) = "PermissionDenied",
        /// To a setup.
        Setup(ContextOutput) = "Setup",
        /// To a question of an MCP server.
        Elicitation(ElicitationOutput) = "Elicitation",
        /// To the answer to an MCP server.
        ElicitationResult(ElicitationOutput) = "ElicitationResult",
        /// To the wish for a worktree.
        WorktreeCreate(WorktreeCreateOutput) = "WorktreeCreate",
        /// To a change of the working folder.
        CwdChanged(WatchOutput) = "CwdChanged",
        /// To a change of a file.
        FileChanged(WatchOutput) = "FileChanged",
        /// To a piece of a message.
        MessageDisplay(MessageDisplayOutput) = "MessageDisplay",
    }
}

impl HookSpecificOutput {
    /// Words for the model beside an event. Nothing comes of them with events that take none.
    pub fn additional_context(event: &HookEvent, text: impl Into<String>) -> Self {
        let members = [("hookEventName", event.as_str()), ("additionalContext", &text.into())];
        let object: serde_json::Map<_, _> =
            members.into_iter().map(|(key, text)| (key.to_owned(), text.into())).collect();
        let raw = Json::from(serde_json::Value::Object(object));
        // The table of variants knows which of them have room for words.
        raw.raw().read().unwrap_or(HookSpecificOutput::Unknown(raw))
    }
}
