//! `can_use_tool`: permission request of the CLI for a tool call.

use super::mcp::McpServerRef;
use crate::json::{Json, object, open_string};
use crate::permissions::PermissionUpdate;

open_string! {
    /// Cause of a permission request.
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
    /// Permission request for a tool call.
    ///
    /// Questions to the user and plans use it too; `requires_user_interaction` marks them. The CLI sets no
    /// deadline, but withdraws the request with a `control_cancel_request` when it is resolved elsewhere.
    pub struct CanUseTool {
        req tool_name: String,
        /// Use [`CanUseTool::input`], which reads both spellings.
        opt input: Json,
        /// The flat spelling of `input`.
        opt tool_input: Json,
        /// Id of the tool call in the conversation. The flat spelling has none.
        opt tool_use_id: String,
        /// Server that the tool belongs to.
        opt mcp_server: McpServerRef,
        /// Rule updates that would make the request unnecessary next time.
        def permission_suggestions: Vec<PermissionUpdate>,
        /// Path outside of the allowed folders.
        opt blocked_path: String,
        opt decision_reason: String,
        opt decision_reason_type: DecisionReasonType,
        opt classifier_approvable: bool,
        /// True if "always allow" should not be offered.
        opt suppress_always_allow_rule: bool,
        /// True if "no" should be the preselected choice.
        opt default_to_no: bool,
        /// Rule that caused the request.
        opt matched_ask_rule: MatchedAskRule,
        opt title: String,
        opt display_name: String,
        opt description: String,
        /// Sub-agent that calls the tool; absent for the main conversation.
        opt agent_id: String,
        /// True if the user has to answer, because the tool is a question.
        opt requires_user_interaction: bool,
    }

    /// A rule that requires a permission request.
    pub struct MatchedAskRule {
        opt source: String,
        opt tool_name: String,
        opt rule_content: String,
    }
}

impl CanUseTool {
    /// A permission request in the CLI's spelling.
    pub fn new(tool_name: impl Into<String>, input: Json, tool_use_id: impl Into<String>) -> Self {
        CanUseTool {
            tool_name: tool_name.into(),
            input: Some(input),
            tool_use_id: Some(tool_use_id.into()),
            ..CanUseTool::default()
        }
    }

    /// Input of the tool call, in either spelling.
    pub fn input(&self) -> Option<&Json> {
        self.input.as_ref().or(self.tool_input.as_ref())
    }
}
