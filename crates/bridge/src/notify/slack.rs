//! Incoming webhooks of Slack.

use reqwest::RequestBuilder;
use serde_json::json;

use super::compose::Notification;
use super::hook::Hook;

pub(super) fn request(hook: &Hook, notification: &Notification) -> RequestBuilder {
    hook.client.post(hook.url.clone()).json(&json!({ "text": text(notification) }))
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
