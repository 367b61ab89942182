//! What a fold is fed with.

use tidings_protocol::FrameRef;
use tidings_protocol::ui::{
    AskUserQuestionsRequest, InteractionResolved, PermissionDetails, PermissionRequest, PermissionResolved,
    PlanProposed, QuestionDetails, TurnId,
};

/// One thing that happened.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Input<'a> {
    /// The agent wrote this line. Questions that it asks come as [`Input::Asked`] and not from here.
    Frame(&'a FrameRef<'a>),
    /// We sent this to the agent.
    Prompt(&'a Prompt),
    /// Somebody has to decide something.
    Asked(&'a Asked),
    /// Somebody has decided, or nobody will.
    Settled(&'a Settled),
    /// The agent's process is gone.
    Exited(&'a Exit),
    /// The time, in milliseconds since the epoch. Without it the fold does the same, only it cannot tell for how long
    /// a call has been running.
    Tick(i64),
}

/// The origin of a prompt that carries out a command of the front end. `CommandComplete` tells of it by its name, without
/// the slash, whatever comes of it.
pub const COMMAND: &str = "command";

/// A message that was sent to the agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// What it says.
    pub text: String,
    /// The person's turn; the fold counts by itself where there is none.
    pub turn_id: Option<TurnId>,
    /// The id it was sent with.
    pub uuid: Option<String>,
    /// What goes with the text, one word each, such as `image`.
    pub attachments: Vec<String>,
    /// Who speaks, when it is no person.
    pub origin: Option<String>,
}

impl Prompt {
    /// Plain words of a person.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), turn_id: None, uuid: None, attachments: Vec::new(), origin: None }
    }
}

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// One permission.
    Permission {
        /// What is asked for.
        request: PermissionRequest,
        /// All that is known about it.
        details: PermissionDetails,
    },
    /// Several permissions, to be answered together.
    Batch {
        /// Names the batch.
        batch_id: String,
        /// What is asked for, one entry per call.
        requests: Vec<(PermissionRequest, PermissionDetails)>,
    },
    /// Questions, a plan to be approved, or a form of an MCP server.
    Questions {
        /// What is asked.
        request: AskUserQuestionsRequest,
        /// All that is known about it.
        details: QuestionDetails,
        /// The plan, when it is about one.
        plan: Option<PlanProposed>,
    },
}

/// A question that waits no longer.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// A permission, alone or of a batch.
    Permission(PermissionResolved),
    /// Questions, a plan or a form.
    Questions(InteractionResolved),
}

/// How the agent's process ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code, when it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why, when it should not have ended.
    pub error: Option<String>,
}
