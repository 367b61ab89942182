//! Tools that enter and leave plan mode.

use crate::json::object;

object! {
    /// Enters plan mode.
    pub struct EnterPlanModeInput {}

    /// Result of entering plan mode.
    pub struct EnterPlanModeOutput {
        /// Message for the model.
        opt message: String,
    }

    /// A plan for the user to approve.
    pub struct ExitPlanModeInput {
        /// The plan in Markdown; newer CLIs store it in a file instead.
        opt plan: String,
        /// Actions allowed without a permission request during the plan.
        opt allowed_prompts: Vec<AllowedPrompt> as "allowedPrompts",
    }

    /// An action allowed without a permission request.
    pub struct AllowedPrompt {
        /// Name of the tool.
        opt tool: String,
        /// Description of the action: "run tests".
        opt prompt: String,
    }

    /// The plan that the user approved.
    pub struct ExitPlanModeOutput {
        /// The plan, if there is one.
        opt plan: String,
        /// True if another agent made it.
        opt is_agent: bool as "isAgent",
        /// File that holds the plan.
        opt file_path: String as "filePath",
        /// True if a tool that starts agents is available for it.
        opt has_task_tool: bool as "hasTaskTool",
        /// True if the user changed it.
        opt plan_was_edited: bool as "planWasEdited",
        /// True if the team leader still has to approve.
        opt awaiting_leader_approval: bool as "awaitingLeaderApproval",
        /// Id of the request to the leader.
        opt request_id: String as "requestId",
    }
}
