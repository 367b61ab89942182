//! Incoming webhooks of Slack.

use reqwest::RequestBuilder;
use serde_json::json;

use super::{Grouping, Outgoing, UrlKind};
use crate::notify::Notification;

pub(super) static KIND: UrlKind = UrlKind {
    title: "Slack",
    example: "https://hooks.slack.com/services/…",
    credential: None,
    buttons: None,
    grouping: Grouping::Many,
    url_problem: |_| None,
    request: |outgoing| Some(request(outgoing)),
};

fn request(Outgoing { to, notification, .. }: Outgoing<'_>) -> RequestBuilder {
    to.client.post(to.url.clone()).json(&json!({ "text": text(notification) }))
}

/// The text in the markup of Slack.
fn text(notification: &Notification) -> String {
    let mut text = escaped(&notification.text);
    if let Some(details) = notification.details.as_ref().filter(|details| !details.line.is_empty()) {
        text = format!("{text}\n>{}", escaped(&details.line));
    }
    match &notification.link {
        Some(link) => format!("{text}\n<{}|Open>", escaped(link)),
        None => text,
    }
}

/// Slack reads these three as markup, by which a text could mention everybody or hide where a link leads.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
