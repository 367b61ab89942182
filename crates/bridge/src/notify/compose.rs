//! Notifications made from items of the inbox.

use serde::Serialize;
use serde_json::Value;
use tidings_api::{Choice, InboxKind, PushActions, PushMessage, Scope};
use tidings_protocol::mobile::RiskLevel;
use tidings_protocol::ui::PermissionDetails;
use tidings_sessions::Sessions;

use super::content::{Space, whole_content};
use super::target::Occasion;
use crate::inbox::{Item, text};

/// A notification, as the JSON body of a webhook. Programs may rely on the keys.
#[derive(Debug, Clone, Serialize)]
pub struct Notification {
    /// The id of the notification; a retry has the same id, and a reminder another one.
    pub id: String,
    /// The occasion, such as `permission`.
    pub event: Occasion,
    /// The time of the occasion.
    pub at: String,
    /// The key of the session; empty if it concerns the whole server.
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
    /// The time at which a limit resets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<String>,
    /// The number of the reminder; absent in the first notification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reminder: Option<u32>,
    /// The URL of the request or the session on the page.
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
    /// The notification of an item.
    pub(super) fn new(item: &Item, step: u32, page: Option<&str>) -> Self {
        Notification {
            id: format!("{}.{step}", item.id),
            event: Occasion::of(item.kind),
            at: text(item.at),
            session: item.session().unwrap_or_default().to_owned(),
            project: project(item).to_owned(),
            text: line(item),
            tool_use_id: item.tool_use_id.clone().filter(|_| item.kind.is_request()),
            tool: item.tool.clone(),
            risk: item.risk,
            resets_at: item.resets_at.map(text),
            reminder: Some(step).filter(|step| *step > 0),
            link: page.map(|page| link(page, &item.link())),
            details: None,
        }
    }

    /// One notification of many items.
    pub(super) fn summary(items: &[(Item, u32)], page: Option<&str>) -> Option<Self> {
        let [(first, step), rest @ ..] = items else { return None };
        let mut notification = Notification::new(first, *step, page);
        if !rest.is_empty() {
            notification.text = many(items.len());
            notification.link = page.map(|page| link(page, INBOX));
            notification.tool_use_id = None;
            (notification.tool, notification.risk) = (None, None);
        }
        Some(notification)
    }

    /// Adds the details of an item.
    pub(super) async fn with_details(mut self, item: &Item, sessions: &Sessions) -> Self {
        let title = item.subject.as_ref().and_then(|subject| subject.title.clone());
        let mut details = Details { line: item.line.clone().unwrap_or_default(), title, input: None };
        details.input = pending(item, sessions).await.map(|asked| asked.input);
        self.details = Some(details);
        self
    }
}

/// The inbox on the page.
const INBOX: &str = "#/inbox";

/// The tag of a message about many items.
pub(super) const SUMMARY: &str = "summary";

/// The pending permission request of an item.
async fn pending(item: &Item, sessions: &Sessions) -> Option<PermissionDetails> {
    if item.kind != InboxKind::Permission {
        return None;
    }
    let permissions = sessions.permissions(item.session()).await.ok()?;
    let asked = permissions.into_iter().find(|it| Some(&it.tool_use_id) == item.tool_use_id.as_ref())?;
    Some(asked.details)
}

/// All that the request of an item would do, if a notification has space for it.
pub(super) async fn shown_content(item: &Item, space: Option<Space>, sessions: &Sessions) -> Option<String> {
    let space = space?;
    let asked = pending(item, sessions).await.filter(|asked| asked.digest == item.digest)?;
    whole_content(&asked.tool_name, &asked.input, space)
}

/// One line about an item.
pub(super) fn detail_line(item: &Item) -> Option<String> {
    match (&item.tool, &item.line) {
        (Some(tool), Some(line)) => Some(format!("{tool}: {line}")),
        (None, Some(line)) => Some(line.clone()),
        (tool, None) => tool.clone(),
    }
}

/// A message to a browser about one item.
pub(super) fn push_message(
    item: &Item,
    step: u32,
    badge: u64,
    detail: Option<String>,
    token: Option<PushActions>,
) -> PushMessage {
    PushMessage::Notify {
        v: 1,
        id: item.id.clone(),
        tag: item.id.clone(),
        kind: item.kind.as_str().to_owned(),
        session: item.session().map(str::to_owned),
        title: project(item).to_owned(),
        body: words(item.kind).to_owned(),
        url: item.link(),
        at: text(item.at),
        reminder: step,
        waiting: item.waiting,
        badge,
        risk: item.risk,
        actions: token,
        detail,
        items: Vec::new(),
    }
}

/// A message to a browser about many items.
pub(super) fn push_summary(items: &[(Item, u32)], badge: u64) -> PushMessage {
    PushMessage::Notify {
        v: 1,
        id: SUMMARY.to_owned(),
        tag: SUMMARY.to_owned(),
        kind: SUMMARY.to_owned(),
        session: None,
        title: "Tidings".to_owned(),
        body: many(items.len()),
        url: INBOX.to_owned(),
        at: items.iter().map(|(item, _)| item.at).max().map(text).unwrap_or_default(),
        reminder: items.iter().map(|(_, step)| *step).min().unwrap_or_default(),
        waiting: items.iter().any(|(item, _)| item.waiting),
        badge,
        risk: None,
        actions: None,
        detail: None,
        // A message is short; the page has all of them.
        items: items.iter().take(SUMMARY_IDS_MAX).map(|(item, _)| item.id.clone()).collect(),
    }
}

const SUMMARY_IDS_MAX: usize = 20;

/// The decisions that the buttons of a notification with this content make: none for high risk, which must be
/// opened, and none that allows without the whole content.
pub(super) fn decisions(item: &Item, content: Option<&str>) -> Vec<Choice> {
    match content {
        _ if !is_decidable(item) => Vec::new(),
        Some(_) => vec![Choice::Allow, Choice::Deny],
        None => vec![Choice::Deny],
    }
}

/// True if a button may decide about an item.
pub(super) fn is_decidable(item: &Item) -> bool {
    let is_asked = item.waiting && item.kind == InboxKind::Permission && item.digest.is_some();
    is_asked && matches!(item.risk, Some(RiskLevel::Low | RiskLevel::Medium))
}

/// The scope that a device needs for buttons.
pub(super) const BUTTON_SCOPE: Scope = Scope::Decide;

/// The URL of a part of the page.
pub(super) fn link(page: &str, part: &str) -> String {
    format!("{}/{part}", page.trim_end_matches('/'))
}

fn project(item: &Item) -> &str {
    item.subject.as_ref().map_or("Tidings", |subject| subject.project())
}

/// The text of a notification, with the name of its session.
fn line(item: &Item) -> String {
    let project = project(item);
    match (item.kind, &item.tool) {
        (InboxKind::Permission, Some(tool)) => format!("{project}: may `{tool}` run?"),
        (kind, _) => {
            let words = words(kind);
            let mut letters = words.chars();
            let first = letters.next().map(|letter| letter.to_ascii_lowercase()).into_iter();
            format!("{project}: {}", first.chain(letters).collect::<String>())
        }
    }
}

fn words(kind: InboxKind) -> &'static str {
    match kind {
        InboxKind::Permission => "A permission request waits for you",
        InboxKind::Question => "A question waits for you",
        InboxKind::Plan => "A plan waits for you",
        InboxKind::Dialog => "A dialog waits for you where the session runs",
        InboxKind::Finished => "The turn has ended",
        InboxKind::Failed => "The turn has failed",
        InboxKind::Denied => "A tool call was denied",
        InboxKind::Limit => "The limit of the plan is reached",
        InboxKind::AgentGone => "The agent has ended during a turn",
        InboxKind::DiskFull => "The disk of the server is full",
    }
}

fn many(count: usize) -> String {
    format!("{count} things need you")
}
impl Occasion {
    /// The occasion of an item of the inbox.
    pub(super) fn of(kind: InboxKind) -> Self {
        match kind {
            InboxKind::Permission | InboxKind::Dialog => Occasion::Permission,
            InboxKind::Question | InboxKind::Plan => Occasion::Question,
            InboxKind::Finished => Occasion::TurnEnded,
            InboxKind::Failed | InboxKind::AgentGone => Occasion::Failed,
            InboxKind::Denied => Occasion::Denied,
            InboxKind::Limit => Occasion::Limit,
            InboxKind::DiskFull => Occasion::DiskFull,
        }
    }
}
