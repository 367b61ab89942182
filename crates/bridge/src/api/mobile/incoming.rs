//! Messages from phones, of both protocol families.

use serde::Deserialize;
use serde_json::{Map, Value};
use tidings_api::QuestionReply;
use tidings_protocol::mobile::{
    MobileBody, MobileMessage, PermissionResponse, SessionAction, SessionResumeMessage,
};

use super::outgoing::Refusal;

/// A parsed message of a phone.
#[derive(Debug)]
pub(super) struct PhoneMessage {
    /// The id of the message; a message that is sent twice has one effect.
    pub(super) id: Option<String>,
    /// The project that the message names; the one that was opened or joined last is used if it names none.
    pub(super) project: Option<String>,
    pub(super) action: PhoneAction,
}

#[derive(Debug)]
pub(super) enum PhoneAction {
    Heartbeat,
    HealthCheck,
    Answer(PermissionResponse, Vec<QuestionReply>),
    Work(Work),
    /// An unknown type of message, or one that only servers send.
    Ignore,
}

/// Requests that take time and are handled in order.
#[derive(Debug)]
pub(super) enum Work {
    Execute(Execute),
    Control(SessionAction),
    Resume(SessionResumeMessage),
    /// Opens a project and joins it, in the first family.
    Init(String),
    Create(String),
    List,
    Join,
    Leave,
    Delete,
    NewSession,
    Kill,
    Messages(Messages),
}

/// A prompt, and options for its session.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Execute {
    pub(super) prompt: String,
    pub(super) options: ExecuteOptions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ExecuteOptions {
    pub(super) model: Option<String>,
    pub(super) permission_mode: Option<String>,
    pub(super) allowed_tools: Vec<String>,
    pub(super) dangerously_skip_permissions: bool,
    pub(super) mcp_config: Option<Value>,
    pub(super) append_system_prompt: Option<String>,
    pub(super) add_dirs: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Messages {
    /// Milliseconds since the epoch, or a time as text.
    pub(super) since: Value,
    pub(super) limit: Option<usize>,
}

/// The token in the first message of a socket.
pub(super) fn token(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct AuthMessage {
        r#type: String,
        token: String,
    }
    let auth: AuthMessage = serde_json::from_str(text).ok()?;
    (auth.r#type == "auth").then_some(auth.token)
}

pub(super) fn read(text: &str) -> Result<PhoneMessage, Refusal> {
    let message: MobileMessage = serde_json::from_str(text)
        .map_err(|error| Refusal::new("INVALID_MESSAGE", format!("Invalid message: {error}")))?;
    let mut project = None;
    let action = match message.body {
        MobileBody::Heartbeat(_) => PhoneAction::Heartbeat,
        MobileBody::HealthCheck(_) => PhoneAction::HealthCheck,
        MobileBody::PermissionResponse(response) => PhoneAction::Answer(response, answers(text)?),
        MobileBody::Command(command) if command.is_shell_command => return Err(Refusal::shell()),
        MobileBody::Command(command) => {
            PhoneAction::Work(Work::Execute(Execute { prompt: command.command, ..Execute::default() }))
        }
        MobileBody::ProjectInit(init) if init.repository_url.is_some() => {
            let message = "Cloning repositories is not supported: clone it yourself and open its folder";
            return Err(Refusal::new("VALIDATION_FAILED", message));
        }
        MobileBody::ProjectInit(init) => PhoneAction::Work(Work::Init(init.project_path)),
        MobileBody::SessionControl(control) => PhoneAction::Work(Work::Control(control.action)),
        MobileBody::SessionResume(resume) => PhoneAction::Work(Work::Resume(resume)),
        MobileBody::Unknown(object) => {
            project = object.get("project_id").and_then(Value::as_str).map(str::to_owned);
            named(object)?
        }
        _ => PhoneAction::Ignore,
    };
    Ok(PhoneMessage { id: message.id, project, action })
}

/// Parses a message of the second family: `{type, project_id, data}`.
fn named(mut object: Map<String, Value>) -> Result<PhoneAction, Refusal> {
    let data = object.remove("data").unwrap_or_else(|| Value::Object(Map::new()));
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
    let path = || data.get("path").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(PhoneAction::Work(match kind {
        "execute" => Work::Execute(decode(data)?),
        "project_create" => Work::Create(path()),
        "project_list" => Work::List,
        "project_join" => Work::Join,
        "project_leave" => Work::Leave,
        "project_delete" => Work::Delete,
        "agent_new_session" => Work::NewSession,
        "agent_kill" => Work::Kill,
        "get_messages" => Work::Messages(decode(data)?),
        "shell_command" | "execute_script" => return Err(Refusal::shell()),
        "auth_response" => {
            let message = "Signing in by SSH key is not supported: pair the phone and send its credential";
            return Err(Refusal::new("UNAUTHORIZED", message));
        }
        _ => return Ok(PhoneAction::Ignore),
    }))
}

fn decode<T: serde::de::DeserializeOwned>(data: Value) -> Result<T, Refusal> {
    serde_json::from_value(data)
        .map_err(|error| Refusal::new("INVALID_MESSAGE", format!("Invalid `data`: {error}")))
}

/// The answers to questions, in the key `answers`. This is an extension: the original protocol has no
/// questions.
fn answers(text: &str) -> Result<Vec<QuestionReply>, Refusal> {
    #[derive(Deserialize)]
    struct Answers {
        #[serde(default)]
        answers: Vec<QuestionReply>,
    }
    let Answers { answers } = serde_json::from_str(text)
        .map_err(|error| Refusal::new("INVALID_MESSAGE", format!("Invalid `answers`: {error}")))?;
    Ok(answers)
}
