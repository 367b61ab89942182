//! Inputs of a fold.

use tidings_protocol::FrameRef;
use tidings_protocol::ui::{
    AskUserQuestionsRequest, InteractionResolved, PermissionDetails, PermissionRequest, PermissionResolved,
    PlanProposed, QuestionDetails, TurnId,
};

/// One input of a fold.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Input<'a> {
    /// A line from the agent. Requests in it come as [`Input::RequestOpened`] and are ignored here.
    Frame(&'a FrameRef<'a>),
    /// A prompt that was sent to the agent.
    Prompt(&'a Prompt),
    /// A request was opened.
    RequestOpened(&'a OpenedRequest),
    /// A request was settled.
    RequestSettled(&'a SettledRequest),
    /// The agent's process has ended.
    Exited(&'a Exit),
    /// The time, in milliseconds since the Unix epoch. It is needed only to report how long calls have been
    /// running.
    Tick(i64),
}

/// The origin of a prompt that executes a command of the front end. `CommandComplete` reports it by name,
/// without the slash, whatever its outcome.
pub const COMMAND: &str = "command";

/// A message that was sent to the agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The text.
    pub text: String,
    /// The user turn; the fold assigns the next number if it is `None`.
    pub turn_id: Option<TurnId>,
    /// The id with which it was sent.
    pub uuid: Option<String>,
    /// Kinds of the attachments, such as `image`.
    pub attachments: Vec<String>,
    /// The origin, if the prompt does not come from a user.
    pub origin: Option<String>,
}

impl Prompt {
    /// Creates a prompt with plain text of a user.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), turn_id: None, uuid: None, attachments: Vec::new(), origin: None }
    }
}

/// A request that waits for the user.
#[derive(Debug, Clone, PartialEq)]
pub enum OpenedRequest {
    /// One permission.
    Permission {
        /// The request.
        request: PermissionRequest,
        /// Details of the request.
        details: PermissionDetails,
    },
    /// Several permissions that are answered together.
    Batch {
        /// Id of the batch.
        batch_id: String,
        /// The requests, one per call.
        requests: Vec<(PermissionRequest, PermissionDetails)>,
    },
    /// Questions, a plan to approve, or a form of an MCP server.
    Questions {
        /// The questions.
        request: AskUserQuestionsRequest,
        /// Details of the questions.
        details: QuestionDetails,
        /// The plan, if the question is about one.
        plan: Option<PlanProposed>,
    },
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum SettledRequest {
    /// A permission, single or in a batch.
    Permission(PermissionResolved),
    /// Questions, a plan or a form.
    Questions(InteractionResolved),
}

/// The way the agent's process ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code, if it exited.
    pub code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// The error, if it ended unexpectedly.
    pub error: Option<String>,
}
