//! One attempt to send something, and the kinds of its failure.

use std::error::Error as _;
use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use reqwest::{Response, StatusCode};
use tidings_api::NotifyTest;

use crate::inbox::Outcome;

/// The result of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Attempt {
    Sent,
    /// The request was answered meanwhile.
    Obsolete,
    Failed {
        kind: FailureKind,
        error: String,
        /// The delay that the target requested.
        after: Option<Duration>,
    },
}

/// The kind of a failure, for people who test a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureKind {
    Gone,
    Refused,
    RateLimited,
    Unavailable,
    Timeout,
    Connect,
    Tls,
    Address,
    Encrypt,
}

impl Attempt {
    pub(super) fn failed(kind: FailureKind, error: impl Into<String>) -> Self {
        Attempt::Failed { kind, error: error.into(), after: None }
    }

    /// The result of a response. Some targets say by these statuses that they are gone.
    pub(super) fn of_response(response: &Response, gone: &[StatusCode]) -> Self {
        let status = response.status();
        if status.is_success() {
            return Attempt::Sent;
        }
        let (kind, error) = match status {
            status if gone.contains(&status) => (FailureKind::Gone, status.to_string()),
            StatusCode::TOO_MANY_REQUESTS => (FailureKind::RateLimited, status.to_string()),
            StatusCode::REQUEST_TIMEOUT => (FailureKind::Timeout, status.to_string()),
            status if status.is_server_error() => (FailureKind::Unavailable, status.to_string()),
            status if status.is_redirection() => {
                (FailureKind::Refused, "it redirects to another host".to_owned())
            }
            status => (FailureKind::Refused, status.to_string()),
        };
        let after = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
        Attempt::Failed { kind, error, after: after.map(Duration::from_secs) }
    }

    /// The result of a request without a response. Its URL may be a secret, and stays out of the text.
    pub(super) fn of_error(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(inner) = source {
            text = inner.to_string();
            source = inner.source();
        }
        let is_tls =
            ["certificate", "tls", "handshake"].iter().any(|word| text.to_lowercase().contains(word));
        let kind = match () {
            () if error.is_timeout() => FailureKind::Timeout,
            () if is_tls => FailureKind::Tls,
            () => FailureKind::Connect,
        };
        Attempt::failed(kind, if error.is_timeout() { "no answer in time".to_owned() } else { text })
    }

    pub(super) fn outcome(self) -> Outcome {
        match self {
            Attempt::Sent => Outcome::Sent,
            Attempt::Obsolete => Outcome::Obsolete,
            Attempt::Failed { kind, error, after } => match kind {
                FailureKind::Gone => Outcome::Gone { error },
                FailureKind::RateLimited => Outcome::Limited { error, after },
                FailureKind::Refused | FailureKind::Encrypt | FailureKind::Address => {
                    Outcome::Refused { error }
                }
                FailureKind::Unavailable | FailureKind::Timeout | FailureKind::Connect | FailureKind::Tls => {
                    Outcome::Failed { error, after }
                }
            },
        }
    }

    /// The result for the person who tests a target.
    pub(super) fn test(&self) -> NotifyTest {
        match self {
            Attempt::Sent | Attempt::Obsolete => NotifyTest { sent: true, ..NotifyTest::default() },
            Attempt::Failed { kind, error, .. } => NotifyTest {
                sent: false,
                kind: Some(kind.as_str().to_owned()),
                message: Some(error.clone()),
                hint: Some(kind.hint().to_owned()),
            },
        }
    }
}

impl FailureKind {
    fn as_str(self) -> &'static str {
        match self {
            FailureKind::Gone => "gone",
            FailureKind::Refused => "refused",
            FailureKind::RateLimited => "rate_limited",
            FailureKind::Unavailable => "unavailable",
            FailureKind::Timeout => "timeout",
            FailureKind::Connect => "connect",
            FailureKind::Tls => "tls",
            FailureKind::Address => "address",
            FailureKind::Encrypt => "encrypt",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            FailureKind::Gone => "it was removed; subscribe again",
            FailureKind::Refused => "check the URL and the token; a browser subscribes again",
            FailureKind::RateLimited => "wait; the server tries again by itself",
            FailureKind::Unavailable => "the service has a problem; the server tries again by itself",
            FailureKind::Timeout => "check that this machine may connect to the service",
            FailureKind::Connect => "check the name, and that this machine is online",
            FailureKind::Tls => "check the certificate of the service, and the clock of this machine",
            FailureKind::Address => "the service must have a public address",
            FailureKind::Encrypt => "subscribe again: the keys of the browser are not valid",
        }
    }
}
