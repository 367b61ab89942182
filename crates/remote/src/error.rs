//! Errors of requests to a server.

use std::fmt;
use std::time::Duration;

use tidings_api::{AnswerResult, Code, Problem};

/// Delay before the next attempt if the server names none.
const RETRY_DEFAULT: Duration = Duration::from_secs(1);

/// Upper bound of the delay that a server names.
const RETRY_MAX: Duration = Duration::from_secs(3600);

/// A request that failed: a kind to branch on, a message to show, a hint to act on, and advice on a retry.
#[derive(Debug, Clone)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: String,
    retry: Retry,
    problem: Option<Box<Problem>>,
}

/// Kind of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The server refused the request, for this reason.
    Refused(Code),
    /// The server refused the request for a reason that only later versions know.
    RefusedOtherwise,
    /// No server runs with this data folder. Nothing was sent.
    NotRunning,
    /// The server cannot be reached. Nothing was sent.
    Unreachable,
    /// The certificate of the server is not trusted. Nothing was sent.
    Untrusted,
    /// A file in the data folder of the server cannot be used.
    DataFolder,
    /// A file in the data folder of the server belongs to another user, or other users may use it.
    NotPrivate,
    /// The connection was lost before the whole response was there: the request may have had its effect.
    Cut,
    /// The address of the server, or the request, cannot be sent as it is.
    Invalid,
    /// The response is not one of a Tidings server.
    Response,
}

/// Advice on sending a request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// The same request fails again.
    Never,
    /// The same request may succeed after this time.
    After(Duration),
    /// The request may have had its effect. Sent again with the same client id it has no second one.
    WithSameId,
}

impl Error {
    /// The error that a server has reported.
    pub(crate) fn refused(problem: Problem) -> Self {
        let code = Code::ALL.iter().copied().find(|code| code.as_str() == problem.code);
        let delay = delay(&problem).unwrap_or(RETRY_DEFAULT);
        Error {
            kind: code.map_or(ErrorKind::RefusedOtherwise, ErrorKind::Refused),
            message: problem.detail.clone(),
            hint: problem.hint.clone(),
            retry: if problem.retryable { Retry::After(delay) } else { Retry::Never },
            problem: Some(Box::new(problem)),
        }
    }

    /// An error of this client.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>, hint: &str) -> Self {
        let retry = match kind {
            ErrorKind::NotRunning | ErrorKind::Unreachable => Retry::After(RETRY_DEFAULT),
            ErrorKind::Cut => Retry::WithSameId,
            ErrorKind::Refused(code) if code.is_retryable() => Retry::After(RETRY_DEFAULT),
            ErrorKind::Refused(_)
            | ErrorKind::RefusedOtherwise
            | ErrorKind::Untrusted
            | ErrorKind::DataFolder
            | ErrorKind::NotPrivate
            | ErrorKind::Invalid
            | ErrorKind::Response => Retry::Never,
        };
        Error { kind, message: message.into(), hint: hint.to_owned(), retry, problem: None }
    }

    /// The same with other advice.
    pub(crate) fn retry_after(self, delay: Duration) -> Self {
        Error { retry: Retry::After(delay), ..self }
    }

    /// The same error after an earlier attempt that may have had its effect.
    pub(crate) fn after_cut(self) -> Self {
        match self.kind {
            ErrorKind::NotRunning | ErrorKind::Unreachable => {
                Error { kind: ErrorKind::Cut, retry: Retry::WithSameId, ..self }
            }
            _ => self,
        }
    }

    /// The kind, to branch on.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The code of the server, or the one that is nearest to an error of this client.
    pub fn code(&self) -> Code {
        match self.kind {
            ErrorKind::Refused(code) => code,
            ErrorKind::Invalid => Code::Invalid,
            ErrorKind::NotPrivate => Code::Forbidden,
            ErrorKind::NotRunning | ErrorKind::Unreachable | ErrorKind::Untrusted | ErrorKind::Cut => {
                Code::Unavailable
            }
            ErrorKind::RefusedOtherwise | ErrorKind::DataFolder | ErrorKind::Response => Code::Internal,
        }
    }

    /// The message, to show.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The hint; may be empty.
    pub fn hint(&self) -> &str {
        &self.hint
    }

    /// Advice on sending the request again.
    pub fn retry(&self) -> Retry {
        self.retry
    }

    /// The answer that came first, if the request had been answered before.
    pub fn winner(&self) -> Option<&AnswerResult> {
        self.problem.as_ref()?.winner.as_ref()
    }

    /// The key of the session that has open what the request wanted to use.
    pub fn session(&self) -> Option<&str> {
        self.problem.as_ref()?.session.as_deref()
    }

    /// Time that the server asks to wait before the next attempt.
    pub(crate) fn wait(&self) -> Option<Duration> {
        delay(self.problem.as_ref()?)
    }

    /// The whole report of the server.
    pub fn problem(&self) -> Option<&Problem> {
        self.problem.as_deref()
    }

    /// True if the session, request or device does not exist, or exists no more.
    pub fn is_gone(&self) -> bool {
        matches!(self.kind, ErrorKind::Refused(Code::NotFound | Code::Gone))
    }
}

fn delay(problem: &Problem) -> Option<Duration> {
    problem.retry_after_ms.map(|delay| Duration::from_millis(delay).min(RETRY_MAX))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn problem(code: &str, more: &Value) -> Error {
        let mut problem =
            json!({"type": "", "title": "", "status": 0, "code": code, "detail": "No", "hint": "Go"});
        for (name, value) in more.as_object().unwrap() {
            problem[name] = value.clone();
        }
        Error::refused(serde_json::from_value(problem).unwrap())
    }

    #[test]
    fn the_advice_on_a_retry_is_that_of_the_server() {
        for (code, more, kind, retry) in [
            ("conflict", json!({}), ErrorKind::Refused(Code::Conflict), Retry::Never),
            (
                "unavailable",
                json!({"retryable": true, "retry_after_ms": 250}),
                ErrorKind::Refused(Code::Unavailable),
                Retry::After(Duration::from_millis(250)),
            ),
            (
                "too_late",
                json!({"retryable": true}),
                ErrorKind::RefusedOtherwise,
                Retry::After(RETRY_DEFAULT),
            ),
            (
                "unavailable",
                json!({"retryable": true, "retry_after_ms": u64::MAX}),
                ErrorKind::Refused(Code::Unavailable),
                Retry::After(RETRY_MAX),
            ),
        ] {
            let error = problem(code, &more);
            assert_eq!((error.kind(), error.retry()), (kind, retry), "{code}");
            assert_eq!((error.message(), error.hint()), ("No", "Go"));
        }
    }

    #[test]
    fn after_a_cut_an_unreachable_server_may_have_done_what_it_was_asked() {
        let error = Error::new(ErrorKind::Unreachable, "No", "").after_cut();
        assert_eq!((error.kind(), error.retry()), (ErrorKind::Cut, Retry::WithSameId));
    }
}
