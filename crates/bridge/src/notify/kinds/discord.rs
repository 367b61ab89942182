//! Webhooks of Discord.

use reqwest::RequestBuilder;
use serde_json::json;

use super::{Grouping, Outgoing, UrlKind};

pub(super) static KIND: UrlKind = UrlKind {
    title: "Discord",
    example: "https://discord.com/api/webhooks/…",
    credential: None,
    buttons: None,
    grouping: Grouping::Many,
    url_problem: |_| None,
    request: |outgoing| Some(request(outgoing)),
};

fn request(Outgoing { to, notification, .. }: Outgoing<'_>) -> RequestBuilder {
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
    to.client.post(to.url.clone()).json(&body)
}
