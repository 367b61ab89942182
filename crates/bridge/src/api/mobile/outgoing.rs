//! Messages to phones that are not made from events of a session.

use serde::Serialize;
use serde_json::{Map, Value};
use tidings_api::{Code, ServerPhase, SessionView};
use tidings_journal::Project;
use tidings_protocol::mobile::{ErrorMessage, MobileMessage};
use tidings_sessions::Error;

/// An error in the terms of the phone protocol.
#[derive(Debug)]
pub(crate) struct Refusal {
    code: &'static str,
    message: String,
    hint: String,
}

impl Refusal {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Refusal { code, message: message.into(), hint: String::new() }
    }

    /// Refuses shell commands: they would bypass the agent and its permissions.
    pub(super) fn shell() -> Self {
        Refusal::new("PERMISSION_DENIED", "Shell commands are not supported: ask the agent to run it")
    }

    pub(super) fn no_project() -> Self {
        Refusal::new("PROJECT_NOT_FOUND", "The message names no project, and none was joined")
    }

    pub(super) fn unknown_project(id: &str) -> Self {
        Refusal::new("PROJECT_NOT_FOUND", format!("There is no project `{id}`"))
    }

    /// The error as a message that names the request it is about.
    pub(super) fn message(self, about: Option<&str>) -> MobileMessage {
        let mut details = Map::new();
        if let Some(about) = about {
            details.insert("requestId".to_owned(), about.into());
        }
        if !self.hint.is_empty() {
            details.insert("hint".to_owned(), self.hint.into());
        }
        MobileMessage::new(ErrorMessage {
            code: self.code.to_owned(),
            message: self.message,
            details,
            recoverable: true,
        })
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let code = match error.code() {
            Code::Invalid | Code::Unprocessable | Code::DigestRequired => "VALIDATION_FAILED",
            Code::Unauthorized => "UNAUTHORIZED",
            Code::Forbidden | Code::Untrusted | Code::BudgetExhausted => "PERMISSION_DENIED",
            Code::OutsideRoots => "INVALID_PATH",
            Code::NotFound | Code::Gone => "PROCESS_NOT_FOUND",
            Code::Conflict => "PROCESS_ACTIVE",
            Code::AlreadyAnswered | Code::DigestMismatch => "ALREADY_ANSWERED",
            Code::TooLarge => "MESSAGE_SIZE_LIMIT",
            Code::TooMany => "RESOURCE_LIMIT",
            Code::Agent => "EXECUTION_FAILED",
            Code::Timeout => "EXECUTION_TIMEOUT",
            _ => "INTERNAL_ERROR",
        };
        Refusal { code, message: error.message().to_owned(), hint: error.hint().to_owned() }
    }
}

/// The envelope of messages of the second family.
#[derive(Debug, Serialize)]
pub(super) struct ProjectEnvelope<'a, T> {
    pub(super) r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) project_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a str>,
    pub(super) data: T,
}

#[derive(Debug, Serialize)]
pub(super) struct Empty {}

/// A project as phones see it. Its folder is its id.
#[derive(Debug, Serialize)]
pub(super) struct ProjectState {
    id: String,
    path: String,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    created_at: String,
    last_active: String,
}

impl ProjectState {
    pub(super) fn new(project: &Project, session: Option<&SessionView>) -> Self {
        let path = project.folder.as_str().to_owned();
        let state = match session.map(|session| session.state) {
            Some(ServerPhase::Running | ServerPhase::NeedsYou | ServerPhase::Starting) => "EXECUTING",
            Some(ServerPhase::Failed | ServerPhase::Interrupted) => "ERROR",
            _ => "IDLE",
        };
        let opened = project.opened.to_string();
        ProjectState {
            id: path.clone(),
            path,
            state,
            session_id: session.and_then(|session| session.cli_session_ids.last().cloned()),
            last_active: session.map_or_else(|| opened.clone(), |session| session.active.clone()),
            created_at: opened,
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct ProjectList {
    pub(super) projects: Vec<ProjectState>,
}

#[derive(Debug, Serialize)]
pub(super) struct Killed {
    pub(super) reason: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct History {
    pub(super) messages: Vec<PastMessage>,
}

/// A message of the history.
#[derive(Debug, Serialize)]
pub(super) struct PastMessage {
    pub(super) timestamp: String,
    pub(super) direction: &'static str,
    pub(super) message: Value,
}

/// A message of a session with the project that it belongs to.
#[derive(Debug, Serialize)]
pub(super) struct WithProject<'a> {
    #[serde(flatten)]
    pub(super) message: &'a MobileMessage,
    #[serde(rename = "projectId")]
    pub(super) project: &'a str,
}

/// The message as JSON.
pub(super) fn to_json(message: &impl Serialize) -> String {
    serde_json::to_string(message).unwrap_or_default()
}
