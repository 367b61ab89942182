//! Permission rules and modes, decisions about tool calls, and updates of the rules.

use crate::control::tagged::{self, tagged};
use crate::json::{Cursor, Json, Misfit, Raw, Reading, Text, Wire, object, open_string};

open_string! {
    /// Permission mode: the extent of what the agent may do without a permission request.
    ///
    /// The help of the command line calls `default` `manual`; every version accepts `default`.
    pub struct PermissionMode {
        DEFAULT = "default",
        ACCEPT_EDITS = "acceptEdits",
        BYPASS_PERMISSIONS = "bypassPermissions",
        PLAN = "plan",
        DONT_ASK = "dontAsk",
        AUTO = "auto",
    }

    /// Effect of a rule on the calls that it matches.
    pub struct PermissionBehavior {
        ASK = "ask",
        ALLOW = "allow",
        DENY = "deny",
    }

    /// Destination of a permission update.
    pub struct PermissionDestination {
        SESSION = "session",
        USER_SETTINGS = "userSettings",
        PROJECT_SETTINGS = "projectSettings",
        LOCAL_SETTINGS = "localSettings",
        CLI_ARG = "cliArg",
    }

    /// Class of a decision, for statistics: temporary, permanent or rejected.
    pub struct DecisionClassification {
        USER_TEMPORARY = "user_temporary",
        USER_PERMANENT = "user_permanent",
        USER_REJECT = "user_reject",
    }
}

object! {
    /// Permission rule: a tool, and optionally a pattern for its calls.
    pub struct PermissionRule {
        req tool_name: String as "toolName",
        /// Pattern for the calls that the rule matches; absent matches all.
        opt rule_content: String as "ruleContent",
    }

    /// Update of permission rules.
    pub struct RulesUpdate {
        def rules: Vec<PermissionRule>,
        opt behavior: PermissionBehavior,
        opt destination: PermissionDestination,
    }

    /// Update of the permission mode.
    pub struct ModeUpdate {
        req mode: PermissionMode,
        opt destination: PermissionDestination,
    }

    /// Update of the folders that the agent may work in.
    pub struct DirectoriesUpdate {
        def directories: Vec<String>,
        opt destination: PermissionDestination,
    }

    /// The call may run.
    pub struct Allow {
        /// Input that replaces the one from the model.
        opt updated_input: Json as "updatedInput",
        /// Rule updates that come with the decision.
        opt updated_permissions: Vec<PermissionUpdate> as "updatedPermissions",
        opt tool_use_id: String as "toolUseID",
        opt decision_classification: DecisionClassification as "decisionClassification",
    }

    /// The call may not run.
    pub struct Deny {
        /// Message for the model.
        req message: String,
        /// True if the turn ends as well.
        opt interrupt: bool,
        opt tool_use_id: String as "toolUseID",
        opt decision_classification: DecisionClassification as "decisionClassification",
    }

    /// Decision in the flat spelling of the control protocol.
    pub struct FlatDecision {
        req allowed: bool,
        opt reason: String,
    }
}

tagged! {
    /// One permission update, distinguished by `type`.
    pub enum PermissionUpdate by "type" {
        /// Adds rules.
        AddRules(RulesUpdate) = "addRules",
        /// Replaces all rules of the destination.
        ReplaceRules(RulesUpdate) = "replaceRules",
        /// Removes rules.
        RemoveRules(RulesUpdate) = "removeRules",
        /// Changes the mode.
        SetMode(ModeUpdate) = "setMode",
        /// Adds folders.
        AddDirectories(DirectoriesUpdate) = "addDirectories",
        /// Removes folders.
        RemoveDirectories(DirectoriesUpdate) = "removeDirectories",
    }
}

/// Answer to a permission request for a tool call, distinguished by `behavior`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PermissionResult {
    /// `behavior` is `allow`.
    Allow(Allow),
    /// `behavior` is `deny`.
    Deny(Deny),
    /// The flat spelling: `allowed` instead of `behavior`.
    Flat(FlatDecision),
    /// Any other value, unchanged. The CLI treats it as a denial.
    Unknown(Json),
}

impl PermissionRule {
    /// A rule for all calls of a tool.
    pub fn tool(name: impl Into<String>) -> Self {
        PermissionRule { tool_name: name.into(), ..PermissionRule::default() }
    }

    /// A rule for the calls of a tool that `content` matches.
    pub fn matching(name: impl Into<String>, content: impl Into<String>) -> Self {
        PermissionRule { rule_content: Some(content.into()), ..PermissionRule::tool(name) }
    }
}

impl PermissionUpdate {
    /// Adds rules with the given behavior.
    pub fn add_rules(
        rules: Vec<PermissionRule>,
        behavior: PermissionBehavior,
        destination: PermissionDestination,
    ) -> Self {
        PermissionUpdate::AddRules(RulesUpdate {
            rules,
            behavior: Some(behavior),
            destination: Some(destination),
            ..RulesUpdate::default()
        })
    }

    /// Changes the mode.
    pub fn set_mode(mode: PermissionMode, destination: PermissionDestination) -> Self {
        PermissionUpdate::SetMode(ModeUpdate {
            mode,
            destination: Some(destination),
            ..ModeUpdate::default()
        })
    }

    /// Adds folders the agent may work in.
    pub fn add_directories(directories: Vec<String>, destination: PermissionDestination) -> Self {
        PermissionUpdate::AddDirectories(DirectoriesUpdate {
            directories,
            destination: Some(destination),
            ..DirectoriesUpdate::default()
        })
    }
}

impl PermissionResult {
    /// Allows the call, with `updated_input` if given, otherwise with the model's input.
    pub fn allow(updated_input: impl Into<Option<Json>>) -> Self {
        PermissionResult::Allow(Allow { updated_input: updated_input.into(), ..Allow::default() })
    }

    /// Denies the call, with a message for the model.
    pub fn deny(message: impl Into<String>) -> Self {
        PermissionResult::Deny(Deny { message: message.into(), ..Deny::default() })
    }

    /// True if the call may run; `None` if the answer has no known spelling.
    pub fn is_allowed(&self) -> Option<bool> {
        match self {
            PermissionResult::Allow(_) => Some(true),
            PermissionResult::Deny(_) => Some(false),
            PermissionResult::Flat(flat) => Some(flat.allowed),
            PermissionResult::Unknown(_) => None,
        }
    }

    /// Message that the model receives with a denial.
    pub fn message(&self) -> Option<&str> {
        match self {
            PermissionResult::Deny(deny) => Some(&deny.message),
            PermissionResult::Flat(flat) => flat.reason.as_deref(),
            PermissionResult::Allow(_) | PermissionResult::Unknown(_) => None,
        }
    }

    /// The same decision in the flat spelling, which drops all other fields; an unknown answer is a denial.
    #[must_use]
    pub fn to_flat(&self) -> Self {
        PermissionResult::Flat(FlatDecision {
            allowed: self.is_allowed() == Some(true),
            reason: self.message().map(str::to_owned),
            ..FlatDecision::default()
        })
    }
}

/// Key that distinguishes results.
const TAG: &str = "behavior";

impl Wire for PermissionResult {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        let raw = cursor.raw();
        let known = match raw.get(TAG).and_then(Raw::text).map(Text::get).as_deref() {
            Some("allow") => tagged::body(raw, reading, TAG).map(PermissionResult::Allow),
            Some("deny") => tagged::body(raw, reading, TAG).map(PermissionResult::Deny),
            None if raw.get("allowed").and_then(Raw::bool).is_some() => {
                Some(PermissionResult::Flat(FlatDecision::read(&mut raw.cursor(), reading)?))
            }
            _ => None,
        };
        Ok(known.unwrap_or_else(|| PermissionResult::Unknown(raw.to_json())))
    }

    fn write(&self, out: &mut String) {
        match self {
            PermissionResult::Allow(allow) => tagged::write(allow, TAG, "allow", out),
            PermissionResult::Deny(deny) => tagged::write(deny, TAG, "deny", out),
            PermissionResult::Flat(flat) => flat.write(out),
            PermissionResult::Unknown(raw) => raw.write(out),
        }
    }
}

object!(@through_wire PermissionResult);
