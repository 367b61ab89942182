//! Webhooks of Discord.

use reqwest::RequestBuilder;
use serde_json::json;

use super::compose::Notification;
use super::hook::Hook;

pub(super) fn request(hook: &Hook, notification: &Notification) -> RequestBuilder {
    let mut text = notification.text.clone();
    if let Some(details) = notification.details.as_ref().filter(|details| !details.line.is_empty()) {
        text = format!("{text}\n> {}", details.line);
    }
    if let Some(link) = &notification.link {
        // Without a preview, which Discord would fetch.
        text = format!("{text}\n<{link}>");
    }
    // No user is mentioned, whatever the text contains.
    let body = json!({ "content": text, "allowed_mentions": { "parse": [] } });
    hook.client.post(hook.url.clone()).json(&body)
}
