//! Topics of ntfy, with buttons.

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{RequestBuilder, Url};
use serde::Serialize;

use super::{Button, Credential, Grouping, Outgoing, UrlKind};
use crate::notify::Occasion;
use crate::notify::content::Space;

pub(super) static KIND: UrlKind = UrlKind {
    title: "ntfy",
    example: "https://ntfy.sh/your-topic",
    credential: Some(Credential::Token("Access token of the topic")),
    buttons: Some(Space { chars_max: 400, lines_max: 8 }),
    grouping: Grouping::Many,
    url_problem,
    request,
};

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

fn url_problem(url: &Url) -> Option<(&'static str, &'static str)> {
    let has_topic = url.path_segments().and_then(Iterator::last).is_some_and(|topic| !topic.is_empty());
    (!has_topic).then_some(("names no topic", "write it as https://ntfy.sh/my-topic"))
}

/// A JSON request to the URL above the topic. Headers could not carry all characters.
fn request(Outgoing { to, notification, buttons, .. }: Outgoing<'_>) -> Option<RequestBuilder> {
    let mut url = to.url.clone();
    let topic = url.path_segments()?.next_back()?.to_owned();
    url.path_segments_mut().ok()?.pop().push("");
    let details = notification.details.as_ref();
    let message = details.map(|details| details.line.as_str()).filter(|line| !line.is_empty());
    let (priority, tag) = match notification.event {
        Occasion::Permission => (4, "lock"),
        Occasion::Question => (4, "question"),
        Occasion::Failed | Occasion::Limit | Occasion::DiskFull => (3, "warning"),
        Occasion::Denied => (3, "no_entry"),
        Occasion::TurnEnded => (3, "white_check_mark"),
    };
    let button =
        |Button { label, url }| NtfyAction { action: "http", label, url, method: "POST", clear: true };
    let body = serde_json::to_vec(&Ntfy {
        topic: &topic,
        title: if message.is_some() { &notification.text } else { "Tidings" },
        message: message.unwrap_or(&notification.text),
        priority,
        tags: [tag],
        click: notification.link.as_deref(),
        actions: buttons.into_iter().map(button).collect(),
    });
    let mut request = to.client.post(url).header(CONTENT_TYPE, "application/json").body(body.ok()?);
    if let Some(token) = &to.config.token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    Some(request)
}
