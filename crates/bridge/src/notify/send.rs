//! Sending to one target: pending requests first, with a limited number of retries.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::compose::Notification;
use super::queue::{Due, NotificationQueue};
use super::signature::signature;
use super::target::{Occasion, Target, TargetKind};
use crate::error::{Code, Error};
use crate::http::http_client;
use crate::limits::{NOTIFY_CONNECT_WAIT, NOTIFY_REDIRECTS_MAX, NOTIFY_TRIES_MAX, NOTIFY_WAIT};
use crate::sessions::Sessions;

/// The sender of one target.
pub(super) struct Sender {
    target: Target,
    /// The name in the log.
    name: String,
    url: Url,
    client: Client,
}

/// The outcome of one attempt.
enum SendOutcome {
    Sent,
    /// The request was answered meanwhile.
    Obsolete,
    /// A temporary failure, with the delay that the target requested.
    Failed(String, Option<Duration>),
    /// A permanent failure.
    Refused(String),
}

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
                // The owner has not named this host, so it must not get the text and the signature.
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
        Ok(Sender { name: target.log_name(&url), target, url, client })
    }

    /// The occasions that the target subscribed to.
    pub(super) fn wants(&self) -> HashSet<Occasion> {
        let all = || Occasion::ALL.into_iter().collect();
        if self.target.events.is_empty() { all() } else { self.target.events.iter().copied().collect() }
    }

    /// Sends notifications one at a time. A failed one waits for its retry without delaying those behind it.
    pub(super) async fn run(self, sessions: Sessions, mut arriving: mpsc::Receiver<Arc<Notification>>) {
        let mut waiting = NotificationQueue::default();
        loop {
            let Some(due) = waiting.take(Instant::now()) else {
                let next = waiting.next_due();
                let pause = async {
                    match next {
                        Some(due) => tokio::time::sleep_until(due).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    arrived = arriving.recv() => match arrived {
                        Some(notification) => self.queue(&mut waiting, notification),
                        None => return,
                    },
                    () = pause => {}
                }
                continue;
            };
            let notification = Arc::clone(&due.notification);
            let trying = self.attempt(&sessions, &notification);
            tokio::pin!(trying);
            let outcome = loop {
                tokio::select! {
                    outcome = &mut trying => break outcome,
                    Some(notification) = arriving.recv() => self.queue(&mut waiting, notification),
                }
            };
            self.finish_attempt(&mut waiting, due, outcome);
        }
    }

    fn queue(&self, waiting: &mut NotificationQueue, notification: Arc<Notification>) {
        if let Some(dropped) = waiting.add(notification, Instant::now()) {
            let Notification { session, event, .. } = &*dropped;
            tracing::warn!(at = self.name, session, event, "the queue is full; a notification was dropped");
        }
    }

    async fn attempt(&self, sessions: &Sessions, notification: &Notification) -> SendOutcome {
        if is_settled(sessions, notification).await {
            return SendOutcome::Obsolete;
        }
        self.send(sessions, notification).await
    }

    /// Logs the outcome, and queues a retry after a temporary failure.
    fn finish_attempt(&self, waiting: &mut NotificationQueue, due: Due, outcome: SendOutcome) {
        let (at, event) = (&self.name, due.notification.event);
        match outcome {
            SendOutcome::Sent | SendOutcome::Obsolete => {}
            SendOutcome::Refused(why) => tracing::warn!(at, event, why, "a notification was refused"),
            SendOutcome::Failed(why, _) if due.tries + 1 >= NOTIFY_TRIES_MAX => {
                tracing::warn!(at, event, why, "a notification failed for the last time");
            }
            SendOutcome::Failed(why, after) => {
                if due.tries == 0 {
                    tracing::warn!(at, event, why, "a notification failed and will be retried");
                }
                waiting.put_back(due, after, Instant::now());
            }
        }
    }

    async fn send(&self, sessions: &Sessions, notification: &Notification) -> SendOutcome {
        let request = match self.target.kind {
            TargetKind::Webhook => self.webhook(sessions, notification),
            TargetKind::Ntfy => self.ntfy(notification),
        };
        let Some(request) = request else { return SendOutcome::Refused("it cannot be encoded".to_owned()) };
        match request.send().await {
            // The URL may be a secret and must not appear in the log.
            Err(error) => SendOutcome::Failed(error.without_url().to_string(), None),
            Ok(response) => outcome_of(&response),
        }
    }

    fn webhook(&self, sessions: &Sessions, notification: &Notification) -> Option<RequestBuilder> {
        let body = if self.target.include_details {
            serde_json::to_vec(notification)
        } else {
            serde_json::to_vec(&notification.without_details())
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
                .header("x-tidings-event", notification.event)
                .header("x-tidings-delivery", &notification.id)
                .header("x-tidings-timestamp", timestamp)
                .body(body),
        )
    }

    /// A JSON request to the URL above the topic. Headers could not carry all characters.
    fn ntfy(&self, notification: &Notification) -> Option<RequestBuilder> {
        let mut url = self.url.clone();
        let topic = url.path_segments()?.next_back()?.to_owned();
        url.path_segments_mut().ok()?.pop().push("");
        let details = notification.details.as_ref().filter(|_| self.target.include_details);
        let message = details.map(|details| details.line.as_str()).filter(|line| !line.is_empty());
        let body = serde_json::to_vec(&Ntfy {
            topic: &topic,
            title: if message.is_some() { &notification.text } else { "Tidings" },
            message: message.unwrap_or(&notification.text),
            priority: if notification.needs_answer() { 4 } else { 3 },
            tags: [match notification.event {
                "permission" => "lock",
                "question" => "question",
                "failed" => "warning",
                _ => "white_check_mark",
            }],
            click: notification.link.as_deref(),
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

fn outcome_of(response: &Response) -> SendOutcome {
    let status = response.status();
    if status.is_success() {
        return SendOutcome::Sent;
    }
    if status.is_redirection() {
        return SendOutcome::Refused("it redirects to another host".to_owned());
    }
    let may_work = status.is_server_error()
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    if !may_work {
        return SendOutcome::Refused(status.to_string());
    }
    let after = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
    SendOutcome::Failed(status.to_string(), after.map(Duration::from_secs))
}

/// True if the request was answered meanwhile, so that no notification is needed.
async fn is_settled(sessions: &Sessions, notification: &Notification) -> bool {
    let Some(asked) = &notification.tool_use_id else { return false };
    let session = Some(notification.session.as_str());
    let open = async {
        let permissions = sessions.permissions(session).await?;
        let questions = sessions.questions(session).await?;
        let is_permission = permissions.iter().any(|it| it.tool_use_id == *asked);
        Ok::<_, Error>(is_permission || questions.iter().any(|it| it.tool_use_id == *asked))
    };
    match open.await {
        Ok(is_open) => !is_open,
        // True if the session was deleted. After other errors the request may still be pending.
        Err(error) => error.code() == Code::NotFound,
    }
}
