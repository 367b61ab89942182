//! Webhooks: a notification as JSON, with a signature by which the receiver authenticates the sender.

use reqwest::RequestBuilder;
use reqwest::header::CONTENT_TYPE;

use super::signature::signature;
use super::{Credential, Grouping, Outgoing, UrlKind};

pub(super) static KIND: UrlKind = UrlKind {
    title: "Webhook",
    example: "https://example.org/hook",
    credential: Some(Credential::Secret("Secret that signs the messages")),
    buttons: None,
    grouping: Grouping::Each,
    url_problem: |_| None,
    request,
};

fn request(Outgoing { to, notification, now_s, .. }: Outgoing<'_>) -> Option<RequestBuilder> {
    let body = serde_json::to_vec(notification).ok()?;
    let mut request = to.client.post(to.url.clone());
    if let Some(secret) = &to.config.secret {
        request = request.header("x-tidings-signature", signature(secret, now_s, &body));
    }
    Some(
        request
            .header(CONTENT_TYPE, "application/json")
            .header("x-tidings-event", notification.event.as_str())
            .header("x-tidings-delivery", &notification.id)
            .header("x-tidings-timestamp", now_s)
            .body(body),
    )
}
