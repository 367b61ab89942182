//! Typed views of tool inputs and outputs.
//!
//! A tool's input and output are foreign data that change with every release of the CLI, so messages carry
//! them raw. Typed access needs the tool's name: [`ToolInput::read`] reads the `input` of a `tool_use` block,
//! [`ToolOutput::read`] the `tool_use_result` next to a tool's result. The data of a tool without a view stay
//! raw, and a view writes back exactly what was read.
//!
//! ```
//! use tidings_protocol::json::Raw;
//! use tidings_protocol::tools::ToolInput;
//!
//! let input = Raw::parse(r#"{"command":"cargo test","timeout":60000}"#)?;
//! let ToolInput::Bash(bash) = ToolInput::read("Bash", input)? else { unreachable!() };
//! assert_eq!(bash.command, "cargo test");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agent;
mod ask;
mod bash;
mod edit;
mod input;
mod macros;
mod monitor;
mod name;
mod notebook;
mod output;
mod patch;
mod plan;
mod read;
mod search;
mod skill;
mod summary;
mod tasks;
mod todo;
mod web;
mod write;

pub use agent::{
    AgentCompleted, AgentInput, AgentIsolation, AgentLaunched, AgentOutput, AgentRemote, AgentText,
    AgentToolStats,
};
pub use ask::{Annotation, AskUserQuestionInput, AskUserQuestionOutput, AskedQuestion, QuestionOption};
pub use bash::{
    BashEditDiff, BashEditedFile, BashInput, BashOutput, BashOutputInput, GitBranch, GitCommit, GitOperation,
    GitPullRequest, GitPush,
};
pub use edit::{EditInput, EditOutput, MultiEditInput, MultiEditOutput, Replacement};
pub use input::ToolInput;
pub use monitor::{MonitorInput, MonitorOutput, MonitorSocket};
pub use name::{ToolFamily, canonical_name, family, mcp_parts};
pub use notebook::{CellType, NotebookEditInput, NotebookEditMode, NotebookEditOutput};
pub use output::ToolOutput;
pub use patch::{GitDiff, Hunk, Patch};
pub use plan::{
    AllowedPrompt, EnterPlanModeInput, EnterPlanModeOutput, ExitPlanModeInput, ExitPlanModeOutput,
};
pub use read::{
    ImageFile, NotebookFile, PartPage, PartsFile, PdfFile, ReadImage, ReadInput, ReadNotebook, ReadOutput,
    ReadParts, ReadPdf, ReadText, ReadUnchanged, TextFile, UnchangedFile,
};
pub use search::{GlobInput, GlobOutput, GrepInput, GrepMode, GrepOutput, ToolSearchInput, ToolSearchOutput};
pub use skill::{SkillInput, SkillOutput, SlashCommandInput};
pub use summary::SUMMARY_CHARS_MAX;
pub use tasks::{
    ListedTask, StatusChange, Task, TaskCreateInput, TaskCreateOutput, TaskGetInput, TaskGetOutput,
    TaskListInput, TaskListOutput, TaskListStatus, TaskStopInput, TaskStopOutput, TaskUpdateInput,
    TaskUpdateOutput,
};
pub use todo::{TodoWriteInput, TodoWriteItem, TodoWriteOutput, TodoWriteStatus};
pub use web::{
    WebFetchInput, WebFetchOutput, WebHits, WebLink, WebSearchInput, WebSearchOutput, WebSearchPart,
};
pub use write::{WriteInput, WriteKind, WriteOutput};
