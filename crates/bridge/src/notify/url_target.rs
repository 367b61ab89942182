//! Targets with a URL that an admin has set.

use std::fmt;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use tidings_api::{Choice, Code, InboxKind};
use tidings_sessions::Error;

use super::attempt::{Attempt, FailureKind};
use super::compose::{Notification, decisions, link, shown_content};
use super::kinds::{Button, Grouping, Outgoing, UrlKind};
use super::target::{Occasion, Target};
use super::{PushKeys, token};
use crate::http::http_client;
use crate::inbox::{Inbox, Item, Subject};
use crate::limits::{NOTIFY_CONNECT_WAIT, NOTIFY_REDIRECTS_MAX, NOTIFY_WAIT};

/// A target with a URL.
pub(super) struct UrlTarget {
    pub(super) config: Target,
    kind: &'static UrlKind,
    pub(super) url: Url,
    pub(super) client: Client,
    /// The name in the log.
    pub(super) log_name: String,
}

/// What the buttons of a notification need.
pub(super) struct Buttons<'a> {
    /// The id of the target.
    pub(super) target: &'a str,
    /// The source of tokens; without it there are no buttons.
    pub(super) keys: Option<&'a PushKeys>,
    pub(super) page: Option<&'a str>,
}

impl UrlTarget {
    pub(super) fn new(config: Target) -> Result<Self, Error> {
        let (kind, url) = config.checked()?;
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
        Ok(UrlTarget { log_name: config.log_name(&url), config, kind, url, client })
    }

    /// The name to show.
    pub(super) fn name(&self) -> String {
        let host = || self.url.host_str().unwrap_or_default().to_owned();
        self.config.name.clone().unwrap_or_else(host)
    }

    /// True if the target subscribed to such items.
    pub(super) fn wants(&self, kind: InboxKind) -> bool {
        self.config.events.is_empty() || self.config.events.contains(&Occasion::of(kind))
    }

    /// True if every item gets a notification of its own.
    pub(super) fn wants_each(&self) -> bool {
        self.kind.grouping == Grouping::Each
    }

    pub(super) async fn send(&self, items: &[(Item, u32)], inbox: &Inbox, buttons: &Buttons<'_>) -> Attempt {
        let encoded = || Attempt::failed(FailureKind::Encrypt, "it cannot be encoded");
        let Some(mut notification) = Notification::summary(items, buttons.page) else { return encoded() };
        if let ([(item, _)], true) = (items, self.config.include_details) {
            notification = notification.with_details(item, inbox.sessions()).await;
        }
        let content = self.content(items, inbox).await;
        if let (Some(details), Some(content)) = (&mut notification.details, &content) {
            details.line.clone_from(content);
        }
        let buttons = self.buttons(items, content.as_deref(), inbox, buttons).await;
        let now_s = inbox.now() / 1000;
        let request = (self.kind.request)(Outgoing { to: self, notification: &notification, buttons, now_s });
        let Some(request) = request else { return encoded() };
        match request.send().await {
            Ok(response) => Attempt::of_response(&response, &[]),
            Err(error) => Attempt::of_error(error),
        }
    }

    /// Sends a notification on request of a person.
    pub(super) async fn test(&self, inbox: &Inbox, buttons: &Buttons<'_>) -> Attempt {
        let subject = Subject::new("", 0, "/test", None);
        let mut item = Item::new("test", InboxKind::Finished, inbox.now(), Some(subject));
        item.line = Some("This is a test".to_owned());
        self.send(&[(item, 0)], inbox, buttons).await
    }

    /// All that the one request of a notification would do, if the target may allow and shows it.
    async fn content(&self, items: &[(Item, u32)], inbox: &Inbox) -> Option<String> {
        let Target { allow_button, include_details, .. } = self.config;
        let space = self.kind.buttons.filter(|_| allow_button && include_details);
        let [(item, _)] = items else { return None };
        shown_content(item, space, inbox.sessions()).await
    }

    /// The buttons of a notification: one token for each, since everybody who reads the topic reads it too.
    async fn buttons(
        &self,
        items: &[(Item, u32)],
        content: Option<&str>,
        inbox: &Inbox,
        buttons: &Buttons<'_>,
    ) -> Vec<Button> {
        let (Some(_), Some(page), Some(keys), [(item, step)]) =
            (self.kind.buttons, buttons.page, buttons.keys, items)
        else {
            return Vec::new();
        };
        let mut made = Vec::new();
        for choice in decisions(item, content) {
            let Some(token) = keys.action_token() else { continue };
            token::store(inbox, &token, buttons.target, (item, *step), &[choice]).await;
            let label = match choice {
                Choice::Allow => "Allow once",
                Choice::Deny => "Deny",
            };
            made.push(Button { label, url: link(page, &format!("v1/notify/act/{token}")) });
        }
        made
    }
}

impl fmt::Debug for UrlTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UrlTarget").field("target", &self.config).finish_non_exhaustive()
    }
}
