//! Where notifications go, as it stands in a configuration.

use std::fmt;

use serde::Deserialize;

use crate::error::{Code, Error};

/// Where notifications go.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The address: of a program of yours, or of a topic at ntfy (`https://ntfy.sh/my-topic`).
    pub url: String,
    /// What is there.
    pub kind: Kind,
    /// What it is told of; everything if nothing is named.
    #[serde(default)]
    pub events: Vec<Occasion>,
    /// Whether it is told what the agent wants to do, and what it said.
    #[serde(default)]
    pub include_details: bool,
    /// Webhooks are signed with it, so that the program knows who sends.
    #[serde(default)]
    pub secret: Option<String>,
    /// The access token of a protected topic at ntfy.
    #[serde(default)]
    pub token: Option<String>,
}

/// What is at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A program that takes JSON.
    Webhook,
    /// A topic of ntfy, which shows it on phones.
    Ntfy,
}

/// What somebody may want to be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    /// A tool waits for a yes.
    Permission,
    /// The agent asks something.
    Question,
    /// A turn has ended well.
    TurnEnded,
    /// A turn or a session has failed.
    Failed,
}

impl Occasion {
    /// All of them.
    pub const ALL: [Occasion; 4] =
        [Occasion::Permission, Occasion::Question, Occasion::TurnEnded, Occasion::Failed];

    /// One word, as in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Occasion::Permission => "permission",
            Occasion::Question => "question",
            Occasion::TurnEnded => "turn_ended",
            Occasion::Failed => "failed",
        }
    }
}

impl Target {
    /// The address, if it makes sense and is safe enough for what is sent.
    pub(super) fn address(&self) -> Result<reqwest::Url, Error> {
        let wrong = |why: &str, hint: &'static str| {
            // The path of an address is often a secret by itself.
            Error::new(Code::Invalid, format!("The address of a {} target {why}", self.name()), hint)
        };
        let hint = "write it as https://example.org/path";
        let url =
            reqwest::Url::parse(&self.url).map_err(|error| wrong(&format!("is none: {error}"), hint))?;
        let Some(host) = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https")) else {
            return Err(wrong("is not of the web", hint));
        };
        let is_near = host == "localhost" || host.trim_matches(['[', ']']).parse().is_ok_and(is_loopback);
        if url.scheme() == "http" && self.include_details && !is_near {
            return Err(wrong(
                "would carry details that anybody on the way can read",
                "use https, or leave the details out",
            ));
        }
        if self.kind == Kind::Ntfy && url.path_segments().and_then(Iterator::last).is_none_or(str::is_empty) {
            return Err(wrong("names no topic", "write it as https://ntfy.sh/my-topic"));
        }
        Ok(url)
    }

    /// What a log may show: what is there and its host, since everything behind that may be a secret.
    pub(super) fn shown(&self, address: &reqwest::Url) -> String {
        let port = address.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{} {}{port}", self.name(), address.host_str().unwrap_or_default())
    }

    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Webhook => "webhook",
            Kind::Ntfy => "ntfy",
        }
    }
}

fn is_loopback(address: std::net::IpAddr) -> bool {
    address.is_loopback()
}

/// Without the secrets, and without the path, which may be one.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Target { kind, events, include_details, .. } = self;
        let mut shown = f.debug_struct("Target");
        shown.field("kind", kind).field("events", events).field("include_details", include_details);
        shown.finish_non_exhaustive()
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
        };
        let cases = [
            (Kind::Webhook, "https://example.org/hook", true, true),
            (Kind::Webhook, "http://example.org/hook", false, true),
            (Kind::Webhook, "http://example.org/hook", true, false),
            (Kind::Webhook, "http://127.0.0.1:9/hook", true, true),
            (Kind::Webhook, "http://[::1]:9/hook", true, true),
            (Kind::Webhook, "file:///etc/passwd", false, false),
            (Kind::Webhook, "example.org", false, false),
            (Kind::Ntfy, "https://ntfy.sh/topic", false, true),
            (Kind::Ntfy, "https://ntfy.sh/", false, false),
        ];
        for (kind, url, details, fine) in cases {
            let address = target(kind, url, details).address();
            assert_eq!(address.is_ok(), fine, "{url} {details}: {address:?}");
        }
        let error = target(Kind::Webhook, "ftp://example.org/secret-path", false).address().unwrap_err();
        assert!(!error.to_string().contains("secret-path"));
        let target =
            target(Kind::Webhook, "https://me:secret@example.org:8443/secret-path?key=secret", false);
        assert_eq!(target.shown(&target.address().unwrap()), "webhook example.org:8443", "for the log");
    }
}
