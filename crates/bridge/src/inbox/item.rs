//! Items of the inbox, as they are stored.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tidings_api::{Choice, DeliveryState, InboxItem, InboxKind};
use tidings_protocol::mobile::RiskLevel;

/// Milliseconds since the epoch.
pub(crate) type Millis = i64;

/// An item. Times are milliseconds since the epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Item {
    /// Its id, which is made from its session and its request or event.
    pub(crate) id: String,
    /// Its position, which is unique and grows.
    pub(crate) position: u64,
    /// Its kind.
    pub(crate) kind: InboxKind,
    /// The time of the request or event.
    pub(crate) at: Millis,
    /// The session, with what is shown of it.
    pub(crate) subject: Option<Subject>,
    /// One line about it.
    #[serde(default)]
    pub(crate) line: Option<String>,
    /// The tool that waits or was denied.
    #[serde(default)]
    pub(crate) tool: Option<String>,
    /// The risk of a tool call.
    #[serde(default)]
    pub(crate) risk: Option<RiskLevel>,
    /// The id of the request.
    #[serde(default)]
    pub(crate) tool_use_id: Option<String>,
    /// The digest of the request.
    #[serde(default)]
    pub(crate) digest: Option<String>,
    /// The time at which a limit resets.
    #[serde(default)]
    pub(crate) resets_at: Option<Millis>,
    /// True while it waits for an answer.
    pub(crate) waiting: bool,
    /// The outcome of an answered request, and its time.
    #[serde(default)]
    pub(crate) outcome: Option<(String, Millis)>,
    /// True until it is marked as read.
    pub(crate) unread: bool,
    /// The time at which a visible tab last showed it.
    #[serde(default)]
    pub(crate) visible_at: Option<Millis>,
    /// The number of moments at which a notification was due.
    pub(crate) step: u32,
    /// The time of the first of them.
    #[serde(default)]
    pub(crate) first_at: Option<Millis>,
    /// The time of the next one.
    #[serde(default)]
    pub(crate) due: Option<Millis>,
    /// The notifications, by target.
    #[serde(default)]
    pub(crate) deliveries: BTreeMap<String, TargetDelivery>,
}

/// The session of an item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Subject {
    /// Its key.
    pub(crate) key: String,
    /// Its number.
    pub(crate) handle: i64,
    /// Its folder.
    pub(crate) cwd: String,
    /// Its title or first prompt.
    pub(crate) title: Option<String>,
    /// The server of the fleet that owns it; none for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<String>,
}

/// The notification of an item at one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TargetDelivery {
    /// Its state.
    pub(crate) state: DeliveryState,
    /// The step that it belongs to: 0 for the first notification, then the number of the reminder.
    pub(crate) step: u32,
    /// The time of the last attempt.
    pub(crate) at: Millis,
    /// Failed attempts of this step.
    pub(crate) tries: u32,
    /// The reason of the last failure.
    #[serde(default)]
    pub(crate) error: Option<String>,
    /// The time of the next attempt; none if it is being sent, or over.
    #[serde(default)]
    pub(crate) retry_at: Option<Millis>,
    /// True if the target has shown some step of it, so that a withdrawal makes sense.
    #[serde(default)]
    pub(crate) shown: bool,
    /// The step whose token was used.
    #[serde(default)]
    pub(crate) used: Option<u32>,
    /// The buttons of this step and of earlier ones, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) buttons: Vec<ButtonRecord>,
}

/// A button of a notification. Its token is random, and only the fingerprint is stored: a reader of the
/// journal learns no token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ButtonRecord {
    /// The fingerprint of its token.
    pub(crate) fingerprint: String,
    /// The step that it belongs to.
    pub(crate) step: u32,
    /// The decisions that it can make.
    pub(crate) decisions: Vec<Choice>,
    /// The digest of what was asked.
    pub(crate) digest: String,
}

impl Subject {
    /// The session of an item.
    pub(crate) fn new(
        key: impl Into<String>,
        handle: i64,
        cwd: impl Into<String>,
        title: Option<String>,
    ) -> Self {
        Subject { key: key.into(), handle, cwd: cwd.into(), title, node: None }
    }

    /// The last component of the folder's path, which reveals less than the whole path.
    pub(crate) fn project(&self) -> &str {
        let name = self.cwd.trim_end_matches('/').rsplit('/').next();
        name.filter(|name| !name.is_empty()).unwrap_or("/")
    }
}

impl Item {
    /// A new item. It has no position before it is added.
    pub(crate) fn new(id: impl Into<String>, kind: InboxKind, at: Millis, subject: Option<Subject>) -> Self {
        Item {
            id: id.into(),
            position: 0,
            kind,
            at,
            subject,
            line: None,
            tool: None,
            risk: None,
            tool_use_id: None,
            digest: None,
            resets_at: None,
            waiting: kind.is_request(),
            outcome: None,
            unread: true,
            visible_at: None,
            step: 0,
            first_at: None,
            due: None,
            deliveries: BTreeMap::new(),
        }
    }

    /// The id of the item of a request.
    pub(crate) fn request_id(session: &str, tool_use_id: &str) -> String {
        format!("{session}.{tool_use_id}")
    }

    /// The key of its session.
    pub(crate) fn session(&self) -> Option<&str> {
        self.subject.as_ref().map(|subject| subject.key.as_str())
    }

    /// True as long as a notification of it makes sense.
    pub(crate) fn is_news(&self) -> bool {
        self.waiting || (!self.kind.is_request() && self.unread)
    }

    /// The link to it, relative to the page.
    pub(crate) fn link(&self) -> String {
        match (self.session(), &self.tool_use_id) {
            (Some(session), Some(ask)) if self.kind.is_request() => {
                format!("#/s/{session}?ask={}", encode(ask))
            }
            (Some(session), _) => format!("#/s/{session}"),
            (None, _) => "#/".to_owned(),
        }
    }

    /// The item as clients see it. The deliveries are left out.
    pub(crate) fn view(&self) -> InboxItem {
        let subject = self.subject.as_ref();
        InboxItem {
            id: self.id.clone(),
            position: self.position,
            kind: self.kind,
            at: text(self.at),
            session: subject.map(|subject| subject.key.clone()),
            handle: subject.map(|subject| subject.handle),
            project: subject.map(|subject| subject.project().to_owned()),
            title: subject.and_then(|subject| subject.title.clone()),
            line: self.line.clone(),
            tool: self.tool.clone(),
            risk: self.risk,
            tool_use_id: self.tool_use_id.clone(),
            digest: self.digest.clone(),
            resets_at: self.resets_at.map(text),
            waiting: self.waiting,
            outcome: self.outcome.as_ref().map(|(outcome, _)| outcome.clone()),
            settled_at: self.outcome.as_ref().map(|(_, at)| text(*at)),
            unread: self.unread,
            visible_at: self.visible_at.map(text),
            next_reminder: self.due.filter(|_| self.is_news()).map(text),
            link: self.link(),
            deliveries: Vec::new(),
        }
    }
}

impl TargetDelivery {
    pub(super) fn begun(step: u32, at: Millis, before: Option<&TargetDelivery>) -> Self {
        TargetDelivery {
            state: DeliveryState::Waiting,
            step,
            at,
            tries: 0,
            error: None,
            retry_at: None,
            shown: before.is_some_and(|before| before.shown),
            used: before.and_then(|before| before.used),
            buttons: before.map(|before| before.buttons.clone()).unwrap_or_default(),
        }
    }
}

/// A time as text.
pub(crate) fn text(at: Millis) -> String {
    Timestamp::from_millisecond(at).unwrap_or_default().to_string()
}

/// Escapes an id for the query of a link.
fn encode(id: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::new();
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            encoded.push(char::from(byte));
        } else {
            // Writing into a String cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
