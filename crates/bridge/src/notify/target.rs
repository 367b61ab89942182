//! Targets of notifications, as in the configuration.

use std::fmt;

use serde::{Deserialize, Serialize};
use tidings_api::{Code, NotifyKind};
use tidings_sessions::Error;

use super::kinds::{UrlKind, url_kind};

/// A target of notifications.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Target {
    /// The URL of a webhook, or of a topic at ntfy (`https://ntfy.sh/my-topic`).
    pub url: String,
    /// The kind of the target. Browsers subscribe and are no targets of a configuration.
    pub kind: NotifyKind,
    /// The occasions to notify of; all if empty.
    #[serde(default)]
    pub events: Vec<Occasion>,
    /// True to send what the agent wants to do and what it said.
    #[serde(default)]
    pub include_details: bool,
    /// The key of webhook signatures, by which the receiver authenticates the sender.
    #[serde(default)]
    pub secret: Option<String>,
    /// The access token of a protected ntfy topic.
    #[serde(default)]
    pub token: Option<String>,
    /// The name to show; the host of the URL if there is none.
    #[serde(default)]
    pub name: Option<String>,
    /// True for a button that allows, besides the one that denies. Only for an ntfy topic with a token:
    /// everybody who reads the topic could press it.
    #[serde(default)]
    pub allow_button: bool,
}

/// An occasion for a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    /// A tool call waits for permission.
    Permission,
    /// The agent asks a question, or a plan waits for approval.
    Question,
    /// A turn has ended well.
    TurnEnded,
    /// A turn or a session has failed, or an agent has ended during a turn.
    Failed,
    /// A tool call was denied without asking a person.
    Denied,
    /// The limit of the plan is reached.
    Limit,
    /// The disk of the server is full.
    DiskFull,
}

impl Occasion {
    /// All occasions.
    pub const ALL: [Occasion; 7] = [
        Occasion::Permission,
        Occasion::Question,
        Occasion::TurnEnded,
        Occasion::Failed,
        Occasion::Denied,
        Occasion::Limit,
        Occasion::DiskFull,
    ];

    /// The name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Occasion::Permission => "permission",
            Occasion::Question => "question",
            Occasion::TurnEnded => "turn_ended",
            Occasion::Failed => "failed",
            Occasion::Denied => "denied",
            Occasion::Limit => "limit",
            Occasion::DiskFull => "disk_full",
        }
    }
}

impl Target {
    /// The declaration of the kind and the parsed URL, if it is valid and safe enough for the details that
    /// are sent.
    pub(super) fn checked(&self) -> Result<(&'static UrlKind, reqwest::Url), Error> {
        let kind = url_kind(self.kind).ok_or_else(|| {
            let hint = "subscribe on the device itself";
            Error::new(Code::Invalid, "Browsers are not added as targets", hint)
        })?;
        let wrong = |why: &str, hint: &'static str| {
            // The path of a URL is often a secret, so the message leaves it out.
            Error::new(Code::Invalid, format!("The URL of a {} target {why}", self.kind.as_str()), hint)
        };
        let hint = "write it as https://example.org/path";
        let url =
            reqwest::Url::parse(&self.url).map_err(|error| wrong(&format!("is invalid: {error}"), hint))?;
        let Some(host) = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https")) else {
            return Err(wrong("must begin with http:// or https://", hint));
        };
        let is_near = host == "localhost" || host.trim_matches(['[', ']']).parse().is_ok_and(is_loopback);
        if url.scheme() == "http" && self.include_details && !is_near {
            return Err(wrong(
                "would send details without encryption",
                "use https, or leave the details out",
            ));
        }
        if let Some((why, hint)) = (kind.url_problem)(&url) {
            return Err(wrong(why, hint));
        }
        if self.allow_button && (kind.buttons.is_none() || self.token.is_none()) {
            return Err(wrong(
                "is not protected, so its notifications cannot have a button that allows",
                "use an ntfy topic with a `token`, or leave `allow_button` out",
            ));
        }
        Ok((kind, url))
    }

    /// The name for the log: kind and host. The rest of the URL may be a secret.
    pub(super) fn log_name(&self, address: &reqwest::Url) -> String {
        let port = address.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{} {}{port}", self.kind.as_str(), address.host_str().unwrap_or_default())
    }
}

fn is_loopback(address: std::net::IpAddr) -> bool {
    address.is_loopback()
}

/// Leaves out the secrets, and the URL, whose path may be a secret.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Target { kind, events, include_details, .. } = self;
        let mut fields = f.debug_struct("Target");
        fields.field("kind", kind).field("events", events).field("include_details", include_details);
        fields.finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_make_no_sense_or_give_too_much_away_are_refused() {
        let target = |kind, url: &str, include_details| Target {
            url: url.to_owned(),
            kind,
            events: Vec::new(),
            include_details,
            secret: None,
            token: None,
            name: None,
            allow_button: false,
        };
        let cases = [
            (NotifyKind::Webhook, "https://example.org/hook", true, true),
            (NotifyKind::Webhook, "http://example.org/hook", false, true),
            (NotifyKind::Webhook, "http://example.org/hook", true, false),
            (NotifyKind::Webhook, "http://127.0.0.1:9/hook", true, true),
            (NotifyKind::Webhook, "http://[::1]:9/hook", true, true),
            (NotifyKind::Webhook, "file:///etc/passwd", false, false),
            (NotifyKind::Webhook, "example.org", false, false),
            (NotifyKind::Ntfy, "https://ntfy.sh/topic", false, true),
            (NotifyKind::Ntfy, "https://ntfy.sh/", false, false),
            (NotifyKind::WebPush, "https://push.example/1", false, false),
        ];
        for (kind, url, details, fine) in cases {
            let checked = target(kind, url, details).checked();
            assert_eq!(checked.is_ok(), fine, "{url} {details}: {checked:?}");
        }
        let mut open = target(NotifyKind::Ntfy, "https://ntfy.sh/topic", false);
        open.allow_button = true;
        assert!(open.checked().is_err(), "everybody could allow");
        open.token = Some("tk_1".to_owned());
        assert!(open.checked().is_ok());
        open.kind = NotifyKind::Slack;
        assert!(open.checked().is_err(), "it has no buttons");
        let error =
            target(NotifyKind::Webhook, "ftp://example.org/secret-path", false).checked().unwrap_err();
        assert!(!error.to_string().contains("secret-path"));
        let target =
            target(NotifyKind::Webhook, "https://me:secret@example.org:8443/secret-path?key=secret", false);
        assert_eq!(target.log_name(&target.checked().unwrap().1), "webhook example.org:8443", "for the log");
    }
}
