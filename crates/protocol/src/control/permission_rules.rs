//! The permission mode and the active rules.

use crate::json::{Json, object, open_string};
use crate::permissions::{PermissionBehavior, PermissionMode};

open_string! {
    /// Source of a permission rule.
    pub struct RuleSource {
        SESSION = "session",
        USER_SETTINGS = "userSettings",
        PROJECT_SETTINGS = "projectSettings",
        LOCAL_SETTINGS = "localSettings",
        FLAG_SETTINGS = "flagSettings",
        POLICY_SETTINGS = "policySettings",
        CLI_ARG = "cliArg",
        COMMAND = "command",
        MCP_MOUNT = "mcpMount",
        TOOLS_NARROWING = "toolsNarrowing",
        MCP_SERVER_POLICY = "mcpServerPolicy",
        HOST_CREDENTIAL = "hostCredential",
    }

    /// Lifetime of a change to a rule.
    pub struct RuleEditability {
        READONLY = "readonly",
        SESSION = "session",
        PERSISTENT = "persistent",
    }
}

object! {
    /// Changes the permission mode.
    pub struct SetPermissionMode {
        req mode: PermissionMode,
    }

    /// The answer to a [`SetPermissionMode`].
    pub struct SetPermissionModeReply {
        /// The current mode.
        opt mode: PermissionMode,
    }

    /// Request for the active permission rules.
    pub struct ListPermissionRules {}

    /// The active permission rules.
    pub struct ListPermissionRulesReply {
        opt state: PermissionRules,
    }

    /// The active permission rules.
    pub struct PermissionRules {
        def rules: Vec<ListedRule>,
        def workspace_directories: Vec<WorkspaceDirectory> as "workspaceDirectories",
        opt original_cwd: String as "originalCwd",
        /// True if only rules of the organisation apply.
        opt managed_only: bool as "managedOnly",
        opt errors: Json,
        opt withheld: Json,
    }

    /// A listed rule.
    pub struct ListedRule {
        opt behavior: PermissionBehavior,
        opt source: RuleSource,
        /// The rule in the syntax of settings.
        req rule: String,
        opt description: RuleDescription,
        opt editability: RuleEditability,
        opt not_in_effect: Json as "notInEffect",
    }

    /// Description of a rule, split around the part to emphasise.
    pub struct RuleDescription {
        def prefix: String,
        opt emphasis: String,
        opt suffix: String,
    }

    /// A folder that the agent may work in.
    pub struct WorkspaceDirectory {
        req path: String,
        opt source: RuleSource,
    }
}

impl SetPermissionMode {
    /// Changes to this mode.
    pub fn new(mode: PermissionMode) -> Self {
        SetPermissionMode { mode, ..SetPermissionMode::default() }
    }
}
