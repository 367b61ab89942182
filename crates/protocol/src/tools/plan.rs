use crate::json::object;

object! {
    /// Enters plan mode.
    pub struct EnterPlanModeInput {}

    /// What holds in plan mode.
    pub struct EnterPlanModeOutput {
        /// The words for the model.
        opt message: String,
    }

    /// A plan for the user to agree to.
    pub struct ExitPlanModeInput {
        /// The plan in Markdown; newer CLIs have it in a file instead.
        opt plan: String,
        /// What shall be allowed without asking while the plan is carried out.
        opt allowed_prompts: Vec<AllowedPrompt> as "allowedPrompts",
    }

    /// Something to be allowed without asking.
    pub struct AllowedPrompt {
        /// The tool.
        opt tool: String,
        /// What may be done with it, in words: "run tests".
        opt prompt: String,
    }

    /// The plan that the user agreed to.
    pub struct ExitPlanModeOutput {
        /// The plan, if there is one.
        opt plan: String,
        /// Whether another agent made it.
        opt is_agent: bool as "isAgent",
        /// The file with the plan.
        opt file_path: String as "filePath",
        /// Whether there is a tool to start agents for it.
        opt has_task_tool: bool as "hasTaskTool",
        /// Whether the user changed it.
        opt plan_was_edited: bool as "planWasEdited",
        /// Whether the leader of the team has to agree yet.
        opt awaiting_leader_approval: bool as "awaitingLeaderApproval",
        /// The request to the leader.
        opt request_id: String as "requestId",
    }
}
