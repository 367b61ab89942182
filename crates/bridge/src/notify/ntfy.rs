//! Topics of ntfy, with buttons.

use reqwest::RequestBuilder;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use serde::Serialize;

use super::compose::Notification;
use super::hook::Hook;

/// A notification in the format of ntfy.
#[derive(Debug, Serialize)]
struct Ntfy<'a> {
    topic: &'a str,
    title: &'a str,
    message: &'a str,
    priority: u8,
    tags: [&'static str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    click: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    actions: Vec<NtfyAction>,
}

/// A button, which calls a URL.
#[derive(Debug, Serialize)]
struct NtfyAction {
    action: &'static str,
    label: &'static str,
    url: String,
    method: &'static str,
    /// Removes the notification after the call.
    clear: bool,
}

/// A button of a notification: its label and its URL.
pub(super) type Button = (&'static str, String);

/// A JSON request to the URL above the topic. Headers could not carry all characters.
pub(super) fn request(
    hook: &Hook,
    notification: &Notification,
    buttons: Vec<Button>,
) -> Option<RequestBuilder> {
    let mut url = hook.url.clone();
    let topic = url.path_segments()?.next_back()?.to_owned();
    url.path_segments_mut().ok()?.pop().push("");
    let details = notification.details.as_ref();
    let message = details.map(|details| details.line.as_str()).filter(|line| !line.is_empty());
    let needs_answer = matches!(notification.event, "permission" | "question");
    let button = |(label, url)| NtfyAction { action: "http", label, url, method: "POST", clear: true };
    let body = serde_json::to_vec(&Ntfy {
        topic: &topic,
        title: if message.is_some() { &notification.text } else { "Tidings" },
        message: message.unwrap_or(&notification.text),
        priority: if needs_answer { 4 } else { 3 },
        tags: [match notification.event {
            "permission" => "lock",
            "question" => "question",
            "failed" | "limit" | "disk_full" => "warning",
            "denied" => "no_entry",
            _ => "white_check_mark",
        }],
        click: notification.link.as_deref(),
        actions: buttons.into_iter().map(button).collect(),
    });
    let mut request = hook.client.post(url).header(CONTENT_TYPE, "application/json").body(body.ok()?);
    if let Some(token) = &hook.target.token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    Some(request)
}
