use super::macros::by_tool;
use super::{
    AgentInput, AskUserQuestionInput, BashInput, BashOutputInput, EditInput, EnterPlanModeInput,
    ExitPlanModeInput, GlobInput, GrepInput, MonitorInput, MultiEditInput, NotebookEditInput, ReadInput,
    SkillInput, SlashCommandInput, TaskCreateInput, TaskGetInput, TaskListInput, TaskStopInput,
    TaskUpdateInput, TodoWriteInput, ToolSearchInput, WebFetchInput, WebSearchInput, WriteInput, summary,
};
use crate::json::{Json, Misfit, Raw, Reading};

by_tool! {
    /// Input of a tool call: the `input` of a `tool_use` block, of a permission request or of a hook.
    ///
    /// It is serialized as the input alone, so reading it back needs the name of the tool.
    pub enum ToolInput {
        Bash(BashInput) = "Bash",
        BashOutput(BashOutputInput) = "BashOutput",
        Read(ReadInput) = "Read",
        Write(WriteInput) = "Write",
        Edit(EditInput) = "Edit",
        MultiEdit(MultiEditInput) = "MultiEdit",
        NotebookEdit(NotebookEditInput) = "NotebookEdit",
        Glob(GlobInput) = "Glob",
        Grep(GrepInput) = "Grep",
        ToolSearch(ToolSearchInput) = "ToolSearch",
        WebFetch(WebFetchInput) = "WebFetch",
        WebSearch(WebSearchInput) = "WebSearch",
        TodoWrite(TodoWriteInput) = "TodoWrite",
        TaskCreate(TaskCreateInput) = "TaskCreate",
        TaskGet(TaskGetInput) = "TaskGet",
        TaskUpdate(TaskUpdateInput) = "TaskUpdate",
        TaskList(TaskListInput) = "TaskList",
        TaskStop(TaskStopInput) = "TaskStop",
        Agent(AgentInput) = "Agent",
        AskUserQuestion(AskUserQuestionInput) = "AskUserQuestion",
        EnterPlanMode(EnterPlanModeInput) = "EnterPlanMode",
        ExitPlanMode(ExitPlanModeInput) = "ExitPlanMode",
        Skill(SkillInput) = "Skill",
        SlashCommand(SlashCommandInput) = "SlashCommand",
        Monitor(MonitorInput) = "Monitor",
    } else {
        /// Input of a tool without a typed view, unchanged.
        Other(Json),
    }
}

impl ToolInput {
    /// Reads the input of the tool called `name`.
    ///
    /// Models make mistakes, so an input may lack required fields: the CLI refuses such a call, and this
    /// function returns the [`Misfit`].
    pub fn read(name: &str, input: Raw<'_>) -> Result<Self, Misfit> {
        Self::read_with(name, input, &mut Reading::default())
    }

    /// Same as [`ToolInput::read`], and records the optional fields that did not fit in `reading`.
    pub fn read_with(name: &str, input: Raw<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        Self::typed(name, input, reading).unwrap_or_else(|| Ok(ToolInput::Other(input.to_json())))
    }

    /// One-line summary of the call: the command, the path, the question.
    ///
    /// It has no control characters and at most [`SUMMARY_CHARS_MAX`](super::SUMMARY_CHARS_MAX) characters.
    pub fn summary(&self) -> String {
        summary::of(self)
    }
}
