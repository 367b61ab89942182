//! Webhooks: a notification as JSON, with a signature by which the receiver authenticates the sender.

use reqwest::RequestBuilder;
use reqwest::header::CONTENT_TYPE;

use super::compose::Notification;
use super::hook::Hook;
use super::signature::signature;

pub(super) fn request(hook: &Hook, notification: &Notification, now_s: i64) -> Option<RequestBuilder> {
    let body = serde_json::to_vec(notification).ok()?;
    let mut request = hook.client.post(hook.url.clone());
    if let Some(secret) = &hook.target.secret {
        request = request.header("x-tidings-signature", signature(secret, now_s, &body));
    }
    Some(
        request
            .header(CONTENT_TYPE, "application/json")
            .header("x-tidings-event", notification.event)
            .header("x-tidings-delivery", &notification.id)
            .header("x-tidings-timestamp", now_s)
            .body(body),
    )
}
