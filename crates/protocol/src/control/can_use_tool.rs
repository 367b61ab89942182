//! `can_use_tool`: the CLI asks whether a tool may run.

use super::mcp::McpServerRef;
use crate::json::{Json, object, open_string};
use crate::permissions::PermissionUpdate;

open_string! {
    /// What made the CLI ask.
    pub struct DecisionReasonType {
        OTHER = "other",
        RULE = "rule",
        MODE = "mode",
        SUBCOMMAND_RESULTS = "subcommandResults",
        PERMISSION_PROMPT_TOOL = "permissionPromptTool",
        HOOK = "hook",
        ASYNC_AGENT = "asyncAgent",
        SANDBOX_OVERRIDE = "sandboxOverride",
        WORKING_DIR = "workingDir",
        SAFETY_CHECK = "safetyCheck",
        CLASSIFIER = "classifier",
    }
}

object! {
    /// May this tool run?
    ///
    /// Questions to the user and plans come this way too; `requires_user_interaction` marks them.
    /// The CLI sets no deadline, but takes the question back with a `control_cancel_request` when it is settled elsewhere.
    pub struct CanUseTool {
        req tool_name: String,
        /// See [`CanUseTool::input`], which knows both spellings.
        opt input: Json,
        /// The flat spelling of `input`.
        opt tool_input: Json,
        /// The call in the conversation. The flat spelling has none.
        opt tool_use_id: String,
        /// The server that the tool belongs to.
        opt mcp_server: McpServerRef,
        /// Changes of the rules that would make the question unnecessary next time.
        def permission_suggestions: Vec<PermissionUpdate>,
        /// The path that is out of bounds.
        opt blocked_path: String,
        opt decision_reason: String,
        opt decision_reason_type: DecisionReasonType,
        opt classifier_approvable: bool,
        /// Whether "always allow" should not be offered.
        opt suppress_always_allow_rule: bool,
        /// Whether "no" should be the choice at hand.
        opt default_to_no: bool,
        /// The rule that says to ask.
        opt matched_ask_rule: MatchedAskRule,
        opt title: String,
        opt display_name: String,
        opt description: String,
        /// The subagent that wants to run the tool; absent for the main conversation.
        opt agent_id: String,
        /// Whether a person has to answer, because the tool is a question.
        opt requires_user_interaction: bool,
    }

    /// A rule that says to ask.
    pub struct MatchedAskRule {
        opt source: String,
        opt tool_name: String,
        opt rule_content: String,
    }
}

impl CanUseTool {
    /// A question about a tool, as the CLI asks it.
    pub fn new(tool_name: impl Into<String>, input: Json, tool_use_id: impl Into<String>) -> Self {
        CanUseTool {
            tool_name: tool_name.into(),
            input: Some(input),
            tool_use_id: Some(tool_use_id.into()),
            ..CanUseTool::default()
        }
    }

    /// What the tool would get, in whichever spelling it came.
    pub fn input(&self) -> Option<&Json> {
        self.input.as_ref().or(self.tool_input.as_ref())
    }
}
