use super::macros::by_tool;
use super::{
    AgentOutput, AskUserQuestionOutput, BashOutput, EditOutput, EnterPlanModeOutput, ExitPlanModeOutput,
    GlobOutput, GrepOutput, MonitorOutput, MultiEditOutput, NotebookEditOutput, ReadOutput, SkillOutput,
    TaskCreateOutput, TaskGetOutput, TaskListOutput, TaskStopOutput, TaskUpdateOutput, TodoWriteOutput,
    ToolSearchOutput, WebFetchOutput, WebSearchOutput, WriteOutput, canonical_name,
};
use crate::json::{Json, Misfit, Raw, Reading};

by_tool! {
    /// Output of a tool: the `tool_use_result` next to a tool's result, or the `tool_response` of a hook.
    ///
    /// This is the CLI's structured result; the model receives the `tool_result` block.
    /// It is serialized as the output alone, so reading it back needs the name of the tool.
    pub enum ToolOutput {
        Bash(BashOutput) = "Bash",
        Read(ReadOutput) = "Read",
        Write(WriteOutput) = "Write",
        Edit(EditOutput) = "Edit",
        MultiEdit(MultiEditOutput) = "MultiEdit",
        NotebookEdit(NotebookEditOutput) = "NotebookEdit",
        Glob(GlobOutput) = "Glob",
        Grep(GrepOutput) = "Grep",
        ToolSearch(ToolSearchOutput) = "ToolSearch",
        WebFetch(WebFetchOutput) = "WebFetch",
        WebSearch(WebSearchOutput) = "WebSearch",
        TodoWrite(TodoWriteOutput) = "TodoWrite",
        TaskCreate(TaskCreateOutput) = "TaskCreate",
        TaskGet(TaskGetOutput) = "TaskGet",
        TaskUpdate(TaskUpdateOutput) = "TaskUpdate",
        TaskList(TaskListOutput) = "TaskList",
        TaskStop(TaskStopOutput) = "TaskStop",
        Agent(AgentOutput) = "Agent",
        AskUserQuestion(AskUserQuestionOutput) = "AskUserQuestion",
        EnterPlanMode(EnterPlanModeOutput) = "EnterPlanMode",
        ExitPlanMode(ExitPlanModeOutput) = "ExitPlanMode",
        Skill(SkillOutput) = "Skill",
        Monitor(MonitorOutput) = "Monitor",
    } else {
        /// A plain string, from any tool: an error, a refusal, or its whole output.
        Text(String),
        /// Content blocks of an MCP tool, unchanged.
        Blocks(Json),
        /// Output of a tool without a typed view, unchanged.
        Other(Json),
    }
}

impl ToolOutput {
    /// Reads the output of the tool called `name`.
    pub fn read(name: &str, output: Raw<'_>) -> Result<Self, Misfit> {
        Self::read_with(name, output, &mut Reading::default())
    }

    /// Same as [`ToolOutput::read`], and records the optional fields that did not fit in `reading`.
    pub fn read_with(name: &str, output: Raw<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        if let Some(text) = output.text() {
            return Ok(ToolOutput::Text(text.get().into_owned()));
        }
        if output.is_array() {
            return Ok(match canonical_name(name) {
                // Their lists contain servers' resources and tools, not content blocks.
                "ListMcpResourcesTool" | "RefreshMcpTools" => ToolOutput::Other(output.to_json()),
                _ => ToolOutput::Blocks(output.to_json()),
            });
        }
        Self::typed(name, output, reading).unwrap_or_else(|| Ok(ToolOutput::Other(output.to_json())))
    }
}
