//! Notifications made from notices.

use serde::Serialize;
use serde_json::Value;
use tidings_protocol::api::{Notice, ServerPhase, SessionView};
use tidings_protocol::mobile::RiskLevel;

use super::target::Occasion;
use crate::limits::NOTIFY_LINE_CHARS;
use crate::sessions::Sessions;

/// A notification, as the JSON body of a webhook. Programs may rely on the keys.
#[derive(Debug, Clone, Serialize)]
pub struct Notification {
    /// The id of the notification; a retry has the same id.
    pub id: String,
    /// The occasion: `permission`, `question`, `turn_ended` or `failed`.
    pub event: &'static str,
    /// The time of the occasion.
    pub at: String,
    /// The key of the session.
    pub session: String,
    /// The name of the folder of the session.
    pub project: String,
    /// The text to show, without details.
    pub text: String,
    /// The id of the request that waits for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The tool that waits for permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The risk of the tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<RiskLevel>,
    /// The URL of the session's page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Details, for targets with `include_details`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

/// Details of a notification: what the agent wants to do or has said.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Details {
    /// One line: the command, the path, the question, or the last line of the answer.
    pub line: String,
    /// The title of the session, or its first prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The input of the tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

impl Notification {
    /// True if the agent waits for an answer of the user.
    pub(super) fn needs_answer(&self) -> bool {
        self.tool_use_id.is_some()
    }

    /// The notification without details.
    #[must_use]
    pub fn without_details(&self) -> Self {
        Notification { details: None, ..self.clone() }
    }
}

/// Makes a notification from a notice.
pub(super) async fn notification(
    sessions: &Sessions,
    notice: &Notice,
    occasion: Occasion,
    page: Option<&str>,
) -> Notification {
    let key = match notice {
        Notice::Permission { permission } => permission.session.clone(),
        Notice::Question { question } => question.session.clone(),
        Notice::TurnEnded { session, .. } | Notice::Settled { session, .. } => session.clone(),
        Notice::Session { session } => session.key.clone(),
        Notice::Deleted { key, .. } => key.clone(),
        Notice::Resync {} => String::new(),
    };
    let view = match notice {
        Notice::Session { session } => Some(session.clone()),
        _ => sessions.find(&key).await.ok(),
    };
    let config = sessions.config();
    let project = view.as_ref().map_or_else(|| "a session".to_owned(), project);
    let mut notification = Notification {
        id: config.ids.next(),
        event: occasion.as_str(),
        at: config.clock.now().to_string(),
        text: text(notice, &project),
        project,
        tool_use_id: None,
        tool: None,
        risk: None,
        link: page.map(|page| format!("{}/#/s/{key}", page.trim_end_matches('/'))),
        details: None,
        session: key,
    };
    let title = view.and_then(|view| view.title.or(view.first_prompt));
    let mut details = Details { title, ..Details::default() };
    match notice {
        Notice::Permission { permission } => {
            notification.tool_use_id = Some(permission.tool_use_id.clone());
            notification.tool = Some(permission.details.tool_name.clone());
            notification.risk = Some(permission.details.risk);
            details.line =
                permission.request.as_ref().map(|request| request.target.clone()).unwrap_or_default();
            details.input = Some(permission.details.input.clone());
        }
        Notice::Question { question } => {
            notification.tool_use_id = Some(question.tool_use_id.clone());
            details.line = question.request.questions.first().map(|it| it.text.clone()).unwrap_or_default();
        }
        Notice::TurnEnded { last_line, .. } => details.line = last_line.clone().unwrap_or_default(),
        Notice::Session { session } => details.line = session.error.clone().unwrap_or_default(),
        _ => {}
    }
    details.line = details.line.lines().next().unwrap_or_default().chars().take(NOTIFY_LINE_CHARS).collect();
    notification.details = Some(details);
    notification
}

pub(super) fn text(notice: &Notice, project: &str) -> String {
    match notice {
        Notice::Permission { permission } => {
            format!("{project}: may `{}` run?", permission.details.tool_name)
        }
        Notice::Question { question } if question.plan.is_some() => {
            format!("{project}: a plan waits for you")
        }
        Notice::Question { .. } => format!("{project}: a question waits for you"),
        Notice::TurnEnded { interrupted: true, .. } => format!("{project}: the turn was interrupted"),
        Notice::TurnEnded { is_error: true, .. } => format!("{project}: the turn has failed"),
        Notice::TurnEnded { .. } => format!("{project}: the turn has ended"),
        Notice::Session { session } if session.state == ServerPhase::Interrupted => {
            format!("{project}: the agent has ended during a turn")
        }
        _ => format!("{project}: the session has failed"),
    }
}

/// The last component of the folder's path, which reveals less than the whole path.
fn project(view: &SessionView) -> String {
    let name = view.cwd.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty());
    name.unwrap_or("/").to_owned()
}
