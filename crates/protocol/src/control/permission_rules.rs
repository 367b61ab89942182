//! The permission mode and the rules in force.

use crate::json::{Json, object, open_string};
use crate::permissions::{PermissionBehavior, PermissionMode};

open_string! {
    /// Where a permission rule comes from.
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

    /// How long a change of a rule would last.
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
        /// The mode as it is now.
        opt mode: PermissionMode,
    }

    /// Which permission rules are in force?
    pub struct ListPermissionRules {}

    /// The permission rules in force.
    pub struct ListPermissionRulesReply {
        opt state: PermissionRules,
    }

    /// The permission rules in force.
    pub struct PermissionRules {
        def rules: Vec<ListedRule>,
        def workspace_directories: Vec<WorkspaceDirectory> as "workspaceDirectories",
        opt original_cwd: String as "originalCwd",
        /// Whether only rules of the organisation count.
        opt managed_only: bool as "managedOnly",
        opt errors: Json,
        opt withheld: Json,
    }

    /// A rule as it is listed.
    pub struct ListedRule {
        opt behavior: PermissionBehavior,
        opt source: RuleSource,
        /// The rule as it is written in settings.
        req rule: String,
        opt description: RuleDescription,
        opt editability: RuleEditability,
        opt not_in_effect: Json as "notInEffect",
    }

    /// A rule in words, with the part to stress apart.
    pub struct RuleDescription {
        def prefix: String,
        opt emphasis: String,
        opt suffix: String,
    }

    /// A folder the agent may work in.
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
