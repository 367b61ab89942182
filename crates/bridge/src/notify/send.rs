//! Sending to one target: in order, again when it fails, and not for ever.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;
use tokio::sync::mpsc;

use super::compose::Delivery;
use super::signature::signature;
use super::target::{Kind, Occasion, Target};
use crate::error::{Code, Error};
use crate::http::http_client;
use crate::limits::{
    NOTIFY_CONNECT_WAIT, NOTIFY_PAUSE_FIRST, NOTIFY_PAUSE_MAX, NOTIFY_REDIRECTS_MAX, NOTIFY_TRIES_MAX,
    NOTIFY_WAIT,
};
use crate::sessions::Sessions;

/// Sends to one target.
pub(super) struct Sender {
    target: Target,
    url: Url,
    client: Client,
}

/// What came of one try.
enum Tried {
    Taken,
    /// It may work later, perhaps after so long.
    Failed(String, Option<Duration>),
    /// It never will.
    Refused(String),
}

/// A notification as ntfy takes it.
#[derive(Debug, Serialize)]
struct Ntfy<'a> {
    topic: &'a str,
    title: &'a str,
    message: &'a str,
    priority: u8,
    tags: [&'static str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    click: Option<&'a str>,
}

impl Sender {
    pub(super) fn new(target: Target) -> Result<Self, Error> {
        let url = target.address()?;
        let home = url.clone();
        let same_host = Policy::custom(move |attempt| {
            let is_home = attempt.url().host_str() == home.host_str()
                && attempt.url().port_or_known_default() == home.port_or_known_default()
                && attempt.url().scheme() == home.scheme();
            if is_home && attempt.previous().len() <= NOTIFY_REDIRECTS_MAX {
                attempt.follow()
            } else {
                // Another host was not what the owner has named, and would get the words and the signature.
                attempt.stop()
            }
        });
        let client = http_client()
            .redirect(same_host)
            .timeout(NOTIFY_WAIT)
            .connect_timeout(NOTIFY_CONNECT_WAIT)
            .build()
            .map_err(|error| {
                Error::new(Code::Internal, format!("Notifications cannot be sent: {error}"), "")
            })?;
        Ok(Sender { target, url, client })
    }

    /// What the target is told of.
    pub(super) fn wants(&self) -> HashSet<Occasion> {
        let all = || Occasion::ALL.into_iter().collect();
        if self.target.events.is_empty() { all() } else { self.target.events.iter().copied().collect() }
    }

    /// Sends what comes, one after the other.
    pub(super) async fn run(self, sessions: Sessions, mut waiting: mpsc::Receiver<Arc<Delivery>>) {
        while let Some(delivery) = waiting.recv().await {
            self.deliver(&sessions, &delivery).await;
        }
    }

    async fn deliver(&self, sessions: &Sessions, delivery: &Delivery) {
        let mut pause = NOTIFY_PAUSE_FIRST;
        for tried in 1..=NOTIFY_TRIES_MAX {
            if tried > 1 && is_settled(sessions, delivery).await {
                return;
            }
            let (why, after) = match self.send(sessions, delivery).await {
                Tried::Taken => return,
                Tried::Refused(why) => {
                    tracing::warn!(target = ?self.target.kind, why, "a notification was refused");
                    return;
                }
                Tried::Failed(why, after) => (why, after),
            };
            tracing::debug!(target = ?self.target.kind, tried, why, "a notification has failed");
            if tried == NOTIFY_TRIES_MAX {
                tracing::warn!(target = ?self.target.kind, why, "a notification was given up");
                return;
            }
            tokio::time::sleep(after.unwrap_or(pause).min(NOTIFY_PAUSE_MAX)).await;
            pause = (pause * 2).min(NOTIFY_PAUSE_MAX);
        }
    }

    async fn send(&self, sessions: &Sessions, delivery: &Delivery) -> Tried {
        let request = match self.target.kind {
            Kind::Webhook => self.webhook(sessions, delivery),
            Kind::Ntfy => self.ntfy(delivery),
        };
        let Some(request) = request else { return Tried::Refused("it cannot be written".to_owned()) };
        match request.send().await {
            // The address may be a secret, and stands in the error otherwise.
            Err(error) => Tried::Failed(error.without_url().to_string(), None),
            Ok(response) => judge(&response),
        }
    }

    fn webhook(&self, sessions: &Sessions, delivery: &Delivery) -> Option<RequestBuilder> {
        let body = if self.target.include_details {
            serde_json::to_vec(delivery)
        } else {
            serde_json::to_vec(&delivery.without_details())
        };
        let body = body.ok()?;
        let timestamp = sessions.config().clock.now().as_second();
        let mut request = self.client.post(self.url.clone());
        if let Some(secret) = &self.target.secret {
            request = request.header("x-tidings-signature", signature(secret, timestamp, &body));
        }
        Some(
            request
                .header(CONTENT_TYPE, "application/json")
                .header("x-tidings-event", delivery.event)
                .header("x-tidings-delivery", &delivery.id)
                .header("x-tidings-timestamp", timestamp)
                .body(body),
        )
    }

    /// As JSON to the address above the topic: a header could not carry every letter.
    fn ntfy(&self, delivery: &Delivery) -> Option<RequestBuilder> {
        let mut url = self.url.clone();
        let topic = url.path_segments()?.next_back()?.to_owned();
        url.path_segments_mut().ok()?.pop().push("");
        let details = delivery.details.as_ref().filter(|_| self.target.include_details);
        let message = details.map(|details| details.line.as_str()).filter(|line| !line.is_empty());
        let needs_answer = delivery.tool_use_id.is_some();
        let body = serde_json::to_vec(&Ntfy {
            topic: &topic,
            title: if message.is_some() { &delivery.text } else { "Tidings" },
            message: message.unwrap_or(&delivery.text),
            priority: if needs_answer { 4 } else { 3 },
            tags: [match delivery.event {
                "permission" => "lock",
                "question" => "question",
                "failed" => "warning",
                _ => "white_check_mark",
            }],
            click: delivery.link.as_deref(),
        });
        let mut request = self.client.post(url).header(CONTENT_TYPE, "application/json").body(body.ok()?);
        if let Some(token) = &self.target.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        Some(request)
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("target", &self.target).finish_non_exhaustive()
    }
}

fn judge(response: &Response) -> Tried {
    let status = response.status();
    if status.is_success() {
        return Tried::Taken;
    }
    if status.is_redirection() {
        return Tried::Refused("it leads to another host".to_owned());
    }
    let may_work = status.is_server_error()
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    if !may_work {
        return Tried::Refused(status.to_string());
    }
    let after = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
    Tried::Failed(status.to_string(), after.map(Duration::from_secs))
}

/// Whether somebody has answered meanwhile: nobody needs to be told any more.
async fn is_settled(sessions: &Sessions, delivery: &Delivery) -> bool {
    let Some(asked) = &delivery.tool_use_id else { return false };
    let permissions = sessions.permissions(Some(&delivery.session)).await.unwrap_or_default();
    let questions = sessions.questions(Some(&delivery.session)).await.unwrap_or_default();
    !permissions.iter().any(|it| it.tool_use_id == *asked)
        && !questions.iter().any(|it| it.tool_use_id == *asked)
}
