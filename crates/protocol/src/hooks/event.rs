//! Names of hook events.

use crate::json::open_string;

open_string! {
    /// An event that hooks can be registered for.
    pub struct HookEvent {
        PRE_TOOL_USE = "PreToolUse",
        POST_TOOL_USE = "PostToolUse",
        POST_TOOL_USE_FAILURE = "PostToolUseFailure",
        POST_TOOL_BATCH = "PostToolBatch",
        NOTIFICATION = "Notification",
        USER_PROMPT_SUBMIT = "UserPromptSubmit",
        USER_PROMPT_EXPANSION = "UserPromptExpansion",
        SESSION_START = "SessionStart",
        SESSION_END = "SessionEnd",
        STOP = "Stop",
        STOP_FAILURE = "StopFailure",
        SUBAGENT_START = "SubagentStart",
        SUBAGENT_STOP = "SubagentStop",
        PRE_COMPACT = "PreCompact",
        POST_COMPACT = "PostCompact",
        PRE_MODEL_SWITCH = "PreModelSwitch",
        POST_MODEL_SWITCH = "PostModelSwitch",
        PERMISSION_REQUEST = "PermissionRequest",
        PERMISSION_DENIED = "PermissionDenied",
        SETUP = "Setup",
        TEAMMATE_IDLE = "TeammateIdle",
        TASK_CREATED = "TaskCreated",
        TASK_COMPLETED = "TaskCompleted",
        ELICITATION = "Elicitation",
        ELICITATION_RESULT = "ElicitationResult",
        CONFIG_CHANGE = "ConfigChange",
        WORKTREE_CREATE = "WorktreeCreate",
        WORKTREE_REMOVE = "WorktreeRemove",
        INSTRUCTIONS_LOADED = "InstructionsLoaded",
        CWD_CHANGED = "CwdChanged",
        FILE_CHANGED = "FileChanged",
        DIRECTORY_ADDED = "DirectoryAdded",
        MESSAGE_DISPLAY = "MessageDisplay",
    }
}
