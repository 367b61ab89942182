//! The kinds of targets with a URL, each declared in a file of its own, with a row here.

mod discord;
mod ntfy;
mod signature;
mod slack;
mod webhook;

use reqwest::{RequestBuilder, Url};
use tidings_api::NotifyKind;

use super::compose::Notification;
use super::content::Space;
use super::url_target::UrlTarget;

/// The declaration of a kind of target with a URL.
#[derive(Debug)]
#[non_exhaustive]
pub struct UrlKind {
    /// The name that the page shows.
    pub title: &'static str,
    /// The form of a URL, for the page.
    pub example: &'static str,
    /// The credential that a target may have.
    pub credential: Option<Credential>,
    /// The space for the content of a request that buttons may allow; `None` for notifications without
    /// buttons.
    pub(super) buttons: Option<Space>,
    /// The items that one notification is about.
    pub(super) grouping: Grouping,
    /// The problem of a URL, as the end of the sentence "The URL of a … target …", and a hint.
    pub(super) url_problem: fn(&Url) -> Option<(&'static str, &'static str)>,
    /// Writes the request that sends a notification; `None` if it cannot be encoded.
    pub(super) request: fn(Outgoing<'_>) -> Option<RequestBuilder>,
}

impl UrlKind {
    /// True if notifications can have buttons.
    pub fn has_buttons(&self) -> bool {
        self.buttons.is_some()
    }
}

/// The credential of a target, with its label on the page. It is never returned by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A key that signs notifications: `secret`.
    Secret(&'static str),
    /// A token that the service asks for: `token`.
    Token(&'static str),
}

/// The items that one notification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grouping {
    /// One: programs want each.
    Each,
    /// All that are due at the same moment, if they are many: people want few notifications.
    Many,
}

/// A notification on its way to a target.
pub(super) struct Outgoing<'a> {
    pub(super) to: &'a UrlTarget,
    pub(super) notification: &'a Notification,
    pub(super) buttons: Vec<Button>,
    /// The time, in seconds since the epoch.
    pub(super) now_s: i64,
}

/// A button of a notification.
pub(super) struct Button {
    pub(super) label: &'static str,
    /// The URL that it calls.
    pub(super) url: String,
}

/// The declaration of a kind; `None` for browsers, which subscribe and have no URL that an admin sets.
pub fn url_kind(kind: NotifyKind) -> Option<&'static UrlKind> {
    match kind {
        NotifyKind::Webhook => Some(&webhook::KIND),
        NotifyKind::Slack => Some(&slack::KIND),
        NotifyKind::Discord => Some(&discord::KIND),
        NotifyKind::Ntfy => Some(&ntfy::KIND),
        NotifyKind::WebPush => None,
    }
}
