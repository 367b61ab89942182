use super::macros::by_tool;
use super::{
    AgentInput, AskUserQuestionInput, BashInput, BashOutputInput, EditInput, EnterPlanModeInput,
    ExitPlanModeInput, GlobInput, GrepInput, MonitorInput, MultiEditInput, NotebookEditInput, ReadInput,
    SkillInput, SlashCommandInput, TaskCreateInput, TaskGetInput, TaskListInput, TaskStopInput,
    TaskUpdateInput, TodoWriteInput, ToolSearchInput, WebFetchInput, WebSearchInput, WriteInput, summary,
};
use crate::json::{Json, Misfit, Raw, Reading};

by_tool! {
    /// What a tool is asked to do: the `input` of a `tool_use` block, of a permission request, of a hook.
    ///
    /// It writes itself as the input alone, so it cannot be read back without the tool's name.
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
        /// Of a tool without a view, as it came.
        Other(Json),
    }
}

impl ToolInput {
    /// Reads the input of the tool called `name`.
    ///
    /// Models make mistakes, so an input may lack what the tool needs: the CLI refuses such a call, and this
    /// gives the [`Misfit`].
    pub fn read(name: &str, input: Raw<'_>) -> Result<Self, Misfit> {
        Self::read_with(name, input, &mut Reading::default())
    }

    /// The same, and `reading` takes down the optional fields that did not fit.
    pub fn read_with(name: &str, input: Raw<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        Self::typed(name, input, reading).unwrap_or_else(|| Ok(ToolInput::Other(input.to_json())))
    }

    /// One line that tells a reader what the call is about: the command, the path, the question.
    ///
    /// It has no control characters and at most [`SUMMARY_CHARS_MAX`](super::SUMMARY_CHARS_MAX) characters.
    pub fn summary(&self) -> String {
        summary::of(self)
    }
}
