//! The table of built-in tools.
//!
//! A row has the family of a tool, its name, the types of its input and output if this crate has them, and
//! its earlier names.

use super::macros::by_tool;
use super::{ToolFamily, mcp_parts};
use crate::json::Json;

macro_rules! tools {
    ($(
        $Family:ident: $Tool:ident $(($Input:ident))? $(-> $Output:ident)? $(formerly $($old:literal)|+)?,
    )+) => {
        by_tool! {
            /// Input of a tool call: the `input` of a `tool_use` block, of a permission request or of a hook.
            ///
            /// It is serialized as the input alone, so reading it back needs the name of the tool.
            pub enum ToolInput {
                $( $( $Tool(super::$Input), )? )+
            } else {
                /// Input of a tool without a typed view, unchanged.
                Other(Json),
            }
        }

        by_tool! {
            /// Output of a tool: the `tool_use_result` next to a tool's result, or the `tool_response` of a
            /// hook.
            ///
            /// This is the CLI's structured result; the model receives the `tool_result` block.
            /// It is serialized as the output alone, so reading it back needs the name of the tool.
            pub enum ToolOutput {
                $( $( $Tool(super::$Output), )? )+
            } else {
                /// A plain string, from any tool: an error, a refusal, or its whole output.
                Text(String),
                /// Content blocks of an MCP tool, unchanged.
                Blocks(Json),
                /// Output of a tool without a typed view, unchanged.
                Other(Json),
            }
        }

        /// Current name of a tool. Older CLIs and transcripts use other names for some.
        pub fn canonical_name(name: &str) -> &str {
            match name {
                $( $( $($old)|+ => stringify!($Tool), )? )+
                other => other,
            }
        }

        /// Family of a tool, by its current or an older name.
        pub fn family(name: &str) -> ToolFamily {
            match canonical_name(name) {
                $( stringify!($Tool) => ToolFamily::$Family, )+
                other if mcp_parts(other).is_some() => ToolFamily::Mcp,
                _ => ToolFamily::Other,
            }
        }
    };
}

tools! {
    File: Read(ReadInput) -> ReadOutput,
    File: Write(WriteInput) -> WriteOutput,
    File: Edit(EditInput) -> EditOutput,
    File: MultiEdit(MultiEditInput) -> MultiEditOutput,
    File: NotebookEdit(NotebookEditInput) -> NotebookEditOutput,
    File: NotebookRead,
    File: LS,
    Command: Bash(BashInput) -> BashOutput,
    Command: BashOutput(BashOutputInput),
    Command: Monitor(MonitorInput) -> MonitorOutput,
    Command: PowerShell,
    // These two belong to background commands, not to the list of tasks.
    Command: TaskOutput,
    Command: TaskStop(TaskStopInput) -> TaskStopOutput formerly "KillShell" | "KillBash",
    Search: Glob(GlobInput) -> GlobOutput,
    Search: Grep(GrepInput) -> GrepOutput,
    Search: ToolSearch(ToolSearchInput) -> ToolSearchOutput,
    Search: LSP,
    Web: WebFetch(WebFetchInput) -> WebFetchOutput,
    Web: WebSearch(WebSearchInput) -> WebSearchOutput,
    Task: TodoWrite(TodoWriteInput) -> TodoWriteOutput,
    Task: TaskCreate(TaskCreateInput) -> TaskCreateOutput,
    Task: TaskGet(TaskGetInput) -> TaskGetOutput,
    Task: TaskUpdate(TaskUpdateInput) -> TaskUpdateOutput,
    Task: TaskList(TaskListInput) -> TaskListOutput,
    Task: TodoRead,
    SlashCommand: Skill(SkillInput) -> SkillOutput,
    SlashCommand: SlashCommand(SlashCommandInput),
    SubAgent: Agent(AgentInput) -> AgentOutput formerly "Task",
    SubAgent: ListAgents formerly "ListPeers",
    SubAgent: SendMessage,
    SubAgent: SubagentHandback,
    SubAgent: Workflow(WorkflowInput) -> WorkflowOutput,
    Mcp: ListMcpResourcesTool(ListMcpResourcesInput) -> ListMcpResourcesOutput formerly "ListMcpResources",
    Mcp: ReadMcpResourceTool(ReadMcpResourceInput) -> ReadMcpResourceOutput formerly "ReadMcpResource",
    Mcp: ReadMcpResourceDirTool(ReadMcpResourceDirInput) -> ReadMcpResourceDirOutput formerly "ReadMcpResourceDir",
    Mcp: RefreshMcpTools(RefreshMcpToolsInput) -> RefreshMcpToolsOutput,
    Mcp: WaitForMcpServers,
    Plan: EnterPlanMode(EnterPlanModeInput) -> EnterPlanModeOutput,
    Plan: ExitPlanMode(ExitPlanModeInput) -> ExitPlanModeOutput,
    Question: AskUserQuestion(AskUserQuestionInput) -> AskUserQuestionOutput,
    Other: Artifact(ArtifactInput) -> ArtifactOutput,
    Other: ClaudeDesign(ClaudeDesignInput) -> ClaudeDesignOutput,
    Other: CronCreate(CronCreateInput) -> CronCreateOutput,
    Other: CronDelete(CronDeleteInput) -> CronDeleteOutput,
    Other: CronList(CronListInput) -> CronListOutput,
    Other: EndConversation,
    Other: EnterWorktree(EnterWorktreeInput) -> EnterWorktreeOutput,
    Other: ExitWorktree(ExitWorktreeInput) -> ExitWorktreeOutput,
    Other: OfferChromeSetup(OfferChromeSetupInput) -> OfferChromeSetupOutput,
    Other: Projects(ProjectsInput) -> ProjectsOutput,
    // The CLI spells this one differently from all others.
    Other: ProposeSkills(ProposeSkillsInput) -> ProposeSkillsOutput formerly "propose_skills",
    Other: PushNotification(PushNotificationInput) -> PushNotificationOutput,
    Other: ReadNotifications(ReadNotificationsInput) -> ReadNotificationsOutput,
    Other: RemoteTrigger(RemoteTriggerInput) -> RemoteTriggerOutput,
    Other: ReportFindings(ReportFindingsInput) -> ReportFindingsOutput,
    Other: ScheduleWakeup(ScheduleWakeupInput) -> ScheduleWakeupOutput,
    Other: SendFeedback(SendFeedbackInput) -> SendFeedbackOutput,
    Other: SendUserFile,
    Other: SendUserMessage formerly "Brief",
    Other: SetGoal(SetGoalInput) -> SetGoalOutput formerly "ProposeGoal",
    Other: ShareOnboardingGuide,
    Other: ShowOnboardingRolePicker(ShowOnboardingRolePickerInput) -> ShowOnboardingRolePickerOutput,
}
