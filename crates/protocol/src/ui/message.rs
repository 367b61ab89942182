//! Events from an agent.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::native::{
    Compacted, InteractionResolved, Lane, PermissionDetails, PermissionResolved, PlanProposed, Progress,
    PromptDropped, PromptQueued, QuestionDetails, RateLimit, RawFrame, Retracted, Retrying, SessionStarted,
    SessionStateChanged, SessionTitle, SettingsChanged, SubAgentEnded, SubAgentProgressed, SubAgentStarted,
    Suggestion, TaskChanged, TextEnded, Thinking, TodoList, ToolDetails, ToolPreparing, ToolProgress,
    TurnResult, TurnStarted, UserPrompt,
};
use super::{AskUserQuestionsRequest, PermissionRequest, StopReason, TurnId};

/// One event of a session, for clients that show it.
///
/// Handle the variants you need and ignore the rest: more may be added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub enum UiMessage {
    /// A delta of the answer, as it is generated.
    ///
    /// The deltas of a turn concatenate to its text; a delta may end between any two characters.
    TextChunk {
        /// The delta.
        text: String,
        /// Session it belongs to.
        session_id: i64,
        /// Turn it belongs to.
        turn_id: TurnId,
    },
    /// A tool has started.
    ToolExecuting {
        /// Id of this call, repeated by its `ToolCompleted`.
        tool_use_id: String,
        /// Name of the tool.
        tool_name: String,
        /// Input of the call.
        input: Value,
        /// Session it belongs to.
        session_id: i64,
    },
    /// A tool has finished, with success or failure.
    ToolCompleted {
        /// Id from the `ToolExecuting` of this call.
        tool_use_id: String,
        /// Output of the tool, or the reason of its failure.
        result: String,
        /// Session it belongs to.
        session_id: i64,
    },
    /// A turn is complete: no more text or tools of this turn follow, and the next prompt may be sent.
    Complete {
        /// Session it belongs to.
        session_id: i64,
        /// Turn that is over.
        turn_id: TurnId,
        /// Reason why generation stopped.
        stop_reason: StopReason,
    },
    /// A tool call waits for permission.
    PermissionRequired {
        /// Call that waits; the answer names it.
        tool_use_id: String,
        /// The request.
        request: PermissionRequest,
        /// Session it belongs to.
        session_id: i64,
    },
    /// Several tool calls of one turn wait for permission; each may be allowed or denied on its own.
    BatchPermissionRequired {
        /// Batch that waits; the answer names it.
        batch_id: String,
        /// The requests, one per call.
        requests: Vec<PermissionRequest>,
        /// Session it belongs to.
        session_id: i64,
    },
    /// The agent asks the user questions.
    UserInteractionRequired {
        /// Call that waits; the answer names it.
        tool_use_id: String,
        /// The questions.
        request: AskUserQuestionsRequest,
        /// Session it belongs to.
        session_id: i64,
    },
    /// Token counts so far.
    TokenUpdate {
        /// Tokens of the prompt.
        input_tokens: i64,
        /// Tokens generated.
        output_tokens: i64,
        /// Session it belongs to.
        session_id: i64,
    },
    /// An error; the session may continue.
    Error {
        /// Error message.
        message: String,
        /// Session it belongs to; none when it concerns the whole agent.
        session_id: Option<i64>,
    },
    /// A note for logs rather than for the conversation.
    System {
        /// The note.
        message: String,
        /// Session it belongs to; none when it concerns the whole agent.
        session_id: Option<i64>,
    },
    /// Text to show that the model did not write, such as the output of a slash command.
    Display {
        /// The text.
        content: String,
        /// Session it belongs to.
        session_id: i64,
    },
    /// A slash command has finished.
    CommandComplete {
        /// The command.
        command: String,
        /// Session it belongs to.
        session_id: i64,
    },
    // Our own variants go below this line. The twelve above keep exactly the fields they have: clients match
    // them without `..`, so one more field would break their build.
    /// A session has started, or continues in a new process.
    SessionStarted(SessionStarted),
    /// A session has a new title.
    SessionTitle(SessionTitle),
    /// A session has changed its state.
    SessionStateChanged(SessionStateChanged),
    /// The model or the permission mode has changed.
    SettingsChanged(SettingsChanged),
    /// A prompt was accepted and waits for its turn.
    PromptQueued(PromptQueued),
    /// A prompt reached the agent.
    UserPrompt(UserPrompt),
    /// A prompt that was sent will not be answered.
    PromptDropped(PromptDropped),
    /// The agent has started a turn.
    TurnStarted(TurnStarted),
    /// A block of text is complete.
    TextEnded(TextEnded),
    /// A delta of the model's reasoning.
    Thinking(Thinking),
    /// The model is writing the input of a tool call.
    ToolPreparing(ToolPreparing),
    /// A tool call is still running.
    ToolProgress(ToolProgress),
    /// Structured result of a tool call.
    ToolDetails(ToolDetails),
    /// An event inside a sub-agent.
    Lane(Lane),
    /// A sub-agent has started.
    SubAgentStarted(SubAgentStarted),
    /// A sub-agent has made progress.
    SubAgentProgressed(SubAgentProgressed),
    /// A sub-agent has ended.
    SubAgentEnded(SubAgentEnded),
    /// Another background task has started or changed.
    TaskChanged(TaskChanged),
    /// Progress of the work.
    Progress(Progress),
    /// The agent's to-do list.
    TodoList(TodoList),
    /// The agent proposes a plan and waits for approval.
    PlanProposed(PlanProposed),
    /// The history was compacted.
    Compacted(Compacted),
    /// State of the rate limits of the user's plan.
    RateLimit(RateLimit),
    /// An API call failed and will be retried.
    Retrying(Retrying),
    /// Result of a turn.
    TurnResult(TurnResult),
    /// Details of a permission request.
    PermissionDetails(PermissionDetails),
    /// Details of a question.
    QuestionDetails(QuestionDetails),
    /// A permission request was resolved.
    PermissionResolved(PermissionResolved),
    /// A question was resolved.
    InteractionResolved(InteractionResolved),
    /// Something already shown was retracted.
    Retracted(Retracted),
    /// Suggestion for the user's next prompt.
    Suggestion(Suggestion),
    /// A frame that has no event of its own.
    RawFrame(RawFrame),
}

impl UiMessage {
    /// Session that this event belongs to; none when it concerns the whole agent.
    ///
    /// ```
    /// use tidings_protocol::ui::UiMessage;
    ///
    /// fn line(event: &UiMessage) -> Option<String> {
    ///     match event {
    ///         UiMessage::ToolExecuting { tool_name, .. } => Some(format!("Running {tool_name}...")),
    ///         UiMessage::Error { message, .. } => Some(format!("Error: {message}")),
    ///         _ => None,
    ///     }
    /// }
    ///
    /// let event = UiMessage::Error { message: "overloaded".to_string(), session_id: None };
    /// assert_eq!(event.session_id(), None);
    /// assert_eq!(line(&event).as_deref(), Some("Error: overloaded"));
    /// ```
    pub fn session_id(&self) -> Option<i64> {
        match self {
            Self::TextChunk { session_id, .. }
            | Self::ToolExecuting { session_id, .. }
            | Self::ToolCompleted { session_id, .. }
            | Self::Complete { session_id, .. }
            | Self::PermissionRequired { session_id, .. }
            | Self::BatchPermissionRequired { session_id, .. }
            | Self::UserInteractionRequired { session_id, .. }
            | Self::TokenUpdate { session_id, .. }
            | Self::Display { session_id, .. }
            | Self::CommandComplete { session_id, .. } => Some(*session_id),
            Self::Error { session_id, .. } | Self::System { session_id, .. } => *session_id,
            Self::SessionStarted(event) => Some(event.session_id),
            Self::SessionTitle(event) => Some(event.session_id),
            Self::SessionStateChanged(event) => Some(event.session_id),
            Self::SettingsChanged(event) => Some(event.session_id),
            Self::PromptQueued(event) => Some(event.session_id),
            Self::UserPrompt(event) => Some(event.session_id),
            Self::PromptDropped(event) => Some(event.session_id),
            Self::TurnStarted(event) => Some(event.session_id),
            Self::TextEnded(event) => Some(event.session_id),
            Self::Thinking(event) => Some(event.session_id),
            Self::ToolPreparing(event) => Some(event.session_id),
            Self::ToolProgress(event) => Some(event.session_id),
            Self::ToolDetails(event) => Some(event.session_id),
            Self::Lane(event) => Some(event.session_id),
            Self::SubAgentStarted(event) => Some(event.session_id),
            Self::SubAgentProgressed(event) => Some(event.session_id),
            Self::SubAgentEnded(event) => Some(event.session_id),
            Self::TaskChanged(event) => Some(event.session_id),
            Self::Progress(event) => Some(event.session_id),
            Self::TodoList(event) => Some(event.session_id),
            Self::PlanProposed(event) => Some(event.session_id),
            Self::Compacted(event) => Some(event.session_id),
            Self::RateLimit(event) => Some(event.session_id),
            Self::Retrying(event) => Some(event.session_id),
            Self::TurnResult(event) => Some(event.session_id),
            Self::PermissionDetails(event) => Some(event.session_id),
            Self::QuestionDetails(event) => Some(event.session_id),
            Self::PermissionResolved(event) => Some(event.session_id),
            Self::InteractionResolved(event) => Some(event.session_id),
            Self::Retracted(event) => Some(event.session_id),
            Self::Suggestion(event) => Some(event.session_id),
            Self::RawFrame(event) => Some(event.session_id),
        }
    }

    /// True for the twelve events of the original UI wire, which every client knows.
    pub fn is_seed(&self) -> bool {
        matches!(
            self,
            Self::TextChunk { .. }
                | Self::ToolExecuting { .. }
                | Self::ToolCompleted { .. }
                | Self::Complete { .. }
                | Self::PermissionRequired { .. }
                | Self::BatchPermissionRequired { .. }
                | Self::UserInteractionRequired { .. }
                | Self::TokenUpdate { .. }
                | Self::Error { .. }
                | Self::System { .. }
                | Self::Display { .. }
                | Self::CommandComplete { .. }
        )
    }

    /// True for our own events.
    pub fn is_native(&self) -> bool {
        !self.is_seed()
    }
}

// Converts a structure into its event with `.into()`.
macro_rules! from_native {
    ($($Name:ident)+) => {$(
        impl From<$Name> for UiMessage {
            fn from(event: $Name) -> Self {
                Self::$Name(event)
            }
        }
    )+};
}

from_native! {
    SessionStarted
    SessionTitle
    SessionStateChanged
    SettingsChanged
    PromptQueued
    UserPrompt
    PromptDropped
    TurnStarted
    TextEnded
    Thinking
    ToolPreparing
    ToolProgress
    ToolDetails
    Lane
    SubAgentStarted
    SubAgentProgressed
    SubAgentEnded
    TaskChanged
    Progress
    TodoList
    PlanProposed
    Compacted
    RateLimit
    Retrying
    TurnResult
    PermissionDetails
    QuestionDetails
    PermissionResolved
    InteractionResolved
    Retracted
    Suggestion
    RawFrame
}
