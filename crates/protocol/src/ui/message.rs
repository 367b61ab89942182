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

/// One event of a session, for whoever shows it to people.
///
/// Handle the variants you care about and pass over the rest: more may be added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub enum UiMessage {
    /// A piece of the answer, as it is being generated.
    ///
    /// The pieces of a turn concatenate to its text; a piece may end anywhere between two characters.
    TextChunk {
        /// The piece.
        text: String,
        /// Session it belongs to.
        session_id: i64,
        /// Turn it belongs to.
        turn_id: TurnId,
    },
    /// A tool has begun to run.
    ToolExecuting {
        /// Id of this call, repeated by its `ToolCompleted`.
        tool_use_id: String,
        /// Name of the tool.
        tool_name: String,
        /// What the tool was called with.
        input: Value,
        /// Session it belongs to.
        session_id: i64,
    },
    /// A tool has ended, well or badly.
    ToolCompleted {
        /// Id from the `ToolExecuting` of this call.
        tool_use_id: String,
        /// What the tool returned, or why it failed.
        result: String,
        /// Session it belongs to.
        session_id: i64,
    },
    /// A turn is over: no text and no tool of this turn follows, and the next prompt is welcome.
    Complete {
        /// Session it belongs to.
        session_id: i64,
        /// Turn that is over.
        turn_id: TurnId,
        /// Why generation stopped.
        stop_reason: StopReason,
    },
    /// A tool waits for one permission.
    PermissionRequired {
        /// Call that waits; the answer names it.
        tool_use_id: String,
        /// What is asked for.
        request: PermissionRequest,
        /// Session it belongs to.
        session_id: i64,
    },
    /// Several tools of one turn wait for permission; each may be allowed or denied on its own.
    BatchPermissionRequired {
        /// Batch that waits; the answer names it.
        batch_id: String,
        /// What is asked for, one entry per call.
        requests: Vec<PermissionRequest>,
        /// Session it belongs to.
        session_id: i64,
    },
    /// The agent asks the person something.
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
    /// Something went wrong; the session may well go on.
    Error {
        /// What went wrong.
        message: String,
        /// Session it belongs to, or none when it concerns the whole agent.
        session_id: Option<i64>,
    },
    /// A note for logs rather than for the conversation.
    System {
        /// The note.
        message: String,
        /// Session it belongs to, or none when it concerns the whole agent.
        session_id: Option<i64>,
    },
    /// Text to show that the model did not write, such as the output of a slash command.
    Display {
        /// The text.
        content: String,
        /// Session it belongs to.
        session_id: i64,
    },
    /// A slash command is done.
    CommandComplete {
        /// The command.
        command: String,
        /// Session it belongs to.
        session_id: i64,
    },
    // Variants of our own go below this line. The twelve above keep exactly the fields they have:
    // clients match them without `..`, so that even one more field would break their build.
    /// A session has begun, or goes on in a new process.
    SessionStarted(SessionStarted),
    /// A session has a new title.
    SessionTitle(SessionTitle),
    /// A session is doing something else than before.
    SessionStateChanged(SessionStateChanged),
    /// The model or the permission mode is another one.
    SettingsChanged(SettingsChanged),
    /// A prompt was taken and waits for its turn.
    PromptQueued(PromptQueued),
    /// Something was said to the agent.
    UserPrompt(UserPrompt),
    /// A prompt that was sent will not be answered.
    PromptDropped(PromptDropped),
    /// The agent has begun a turn.
    TurnStarted(TurnStarted),
    /// A block of text is whole.
    TextEnded(TextEnded),
    /// A piece of the model's reasoning.
    Thinking(Thinking),
    /// The model is writing the input of a call.
    ToolPreparing(ToolPreparing),
    /// A call is still running.
    ToolProgress(ToolProgress),
    /// What a call returned, as data.
    ToolDetails(ToolDetails),
    /// Something that happened inside a sub-agent.
    Lane(Lane),
    /// A sub-agent has begun.
    SubAgentStarted(SubAgentStarted),
    /// A sub-agent is at work.
    SubAgentProgressed(SubAgentProgressed),
    /// A sub-agent has ended.
    SubAgentEnded(SubAgentEnded),
    /// Other work beside the conversation began or changed.
    TaskChanged(TaskChanged),
    /// How far the work has come.
    Progress(Progress),
    /// The agent's list of things to do.
    TodoList(TodoList),
    /// The agent asks whether to carry out a plan.
    PlanProposed(PlanProposed),
    /// History was summarised to make room.
    Compacted(Compacted),
    /// How the limits of the person's plan stand.
    RateLimit(RateLimit),
    /// A call of the API failed and will be tried again.
    Retrying(Retrying),
    /// How a turn went.
    TurnResult(TurnResult),
    /// What is known about a request for permission.
    PermissionDetails(PermissionDetails),
    /// What is known about a question.
    QuestionDetails(QuestionDetails),
    /// A request for permission waits no longer.
    PermissionResolved(PermissionResolved),
    /// A question waits no longer.
    InteractionResolved(InteractionResolved),
    /// Something that was shown does not count any more.
    Retracted(Retracted),
    /// What the person may want to say next.
    Suggestion(Suggestion),
    /// A frame that has no event of its own.
    RawFrame(RawFrame),
}

impl UiMessage {
    /// The session this event is to be routed to; none when it concerns the whole agent.
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

    /// Whether this is one of the twelve events of the page, which every client of this wire knows.
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

    /// Whether this is one of our own events.
    pub fn is_native(&self) -> bool {
        !self.is_seed()
    }
}

// A structure is made into its event with `.into()`.
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
