use std::borrow::Cow;
use std::fmt;

use tidings_protocol::api::{AnswerResult, Problem};

/// An error: a code to branch on, a message to show and a hint to act on.
#[derive(Debug, Clone)]
pub struct Error {
    code: Code,
    message: String,
    hint: Cow<'static, str>,
    retry_after_ms: Option<u64>,
    winner: Option<Box<AnswerResult>>,
    session: Option<Box<str>>,
}

macro_rules! codes {
    ($( $(#[$doc:meta])* $Name:ident = $text:literal, $status:literal, $retryable:literal; )+) => {
        /// Codes of errors, to branch on. The text and the status are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $( $(#[$doc])* $Name, )+ }

        impl Code {
            /// All of them.
            pub const ALL: &[Code] = &[$( Code::$Name, )+];

            /// The code as clients see it.
            pub fn as_str(self) -> &'static str {
                match self { $( Code::$Name => $text, )+ }
            }

            /// The HTTP status of a response with this code.
            pub fn status(self) -> u16 {
                match self { $( Code::$Name => $status, )+ }
            }

            /// True if the same request may succeed later.
            pub fn is_retryable(self) -> bool {
                match self { $( Code::$Name => $retryable, )+ }
            }
        }
    };
}

codes! {
    /// The request is malformed.
    Invalid = "invalid", 400, false;
    /// No credential, or an unknown one.
    Unauthorized = "unauthorized", 401, false;
    /// The credential lacks a scope, or is limited to other folders.
    Forbidden = "forbidden", 403, false;
    /// The folder is outside of the server's roots.
    OutsideRoots = "outside_roots", 403, false;
    /// The folder has commands of its own, and is not trusted.
    Untrusted = "untrusted_workspace", 403, false;
    /// The session's budget is used up.
    BudgetExhausted = "budget_exhausted", 403, false;
    /// No such session, request, device or route.
    NotFound = "not_found", 404, false;
    /// The route exists, but not with this method.
    Method = "method_not_allowed", 405, false;
    /// It exists already, or is used by another session.
    Conflict = "conflict", 409, false;
    /// The request was answered before.
    AlreadyAnswered = "already_answered", 409, false;
    /// The request has changed since it was shown.
    DigestMismatch = "digest_mismatch", 409, false;
    /// It existed once.
    Gone = "gone", 410, false;
    /// The body is longer than the limit.
    TooLarge = "too_large", 413, false;
    /// The body must be JSON.
    MediaType = "not_json", 415, false;
    /// The answer does not fit the question.
    Unprocessable = "unprocessable", 422, false;
    /// The answer must repeat the digest of what was shown.
    DigestRequired = "digest_required", 428, false;
    /// Too many requests, connections or sessions.
    TooMany = "too_many", 429, true;
    /// An internal failure.
    Internal = "internal", 500, true;
    /// The agent could not be started, or refused.
    Agent = "agent_failed", 502, true;
    /// The server is stopping, or its disk is full.
    Unavailable = "unavailable", 503, true;
    /// The agent did not answer in time.
    Timeout = "timeout", 504, true;
}

impl Error {
    /// An error with a message and a hint.
    pub fn new(code: Code, message: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> Self {
        Error {
            code,
            message: message.into(),
            hint: hint.into(),
            retry_after_ms: None,
            winner: None,
            session: None,
        }
    }

    /// Sets the time after which a retry makes sense.
    #[must_use]
    pub fn retry_after_ms(mut self, ms: u64) -> Self {
        self.retry_after_ms = Some(ms);
        self
    }

    /// Names the session that stands in the way.
    #[must_use]
    pub(crate) fn about_session(mut self, key: &str) -> Self {
        self.session = Some(key.into());
        self
    }

    /// The disk is full.
    pub(crate) fn storage_full() -> Self {
        const RETRY_MS: u64 = 5000;
        let message = "The disk of the server is full, and nothing can be stored";
        let hint = "make room on the disk; sessions can be read, interrupted and stopped meanwhile";
        Error::new(Code::Unavailable, message, hint).retry_after_ms(RETRY_MS)
    }

    /// The request was answered before, by `winner`.
    pub(crate) fn already_answered(winner: AnswerResult) -> Self {
        let by = winner.by.as_deref().unwrap_or("the agent");
        let message = format!("`{}` was {} by {by} before", winner.tool_use_id, winner.outcome);
        let mut error = Error::new(Code::AlreadyAnswered, message, "nothing is left to do");
        error.winner = Some(Box::new(winner));
        error
    }

    /// The error that another server has sent.
    pub(crate) fn from_problem(problem: Problem) -> Self {
        let code = Code::ALL.iter().copied().find(|code| code.as_str() == problem.code);
        Error {
            code: code.unwrap_or(Code::Internal),
            message: problem.detail,
            hint: problem.hint.into(),
            retry_after_ms: problem.retry_after_ms,
            winner: problem.winner.map(Box::new),
            session: problem.session.map(String::into_boxed_str),
        }
    }

    /// The code, to branch on.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The message, to show.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The hint; may be empty.
    pub fn hint(&self) -> &str {
        &self.hint
    }

    /// The answer that came first.
    pub fn winner(&self) -> Option<&AnswerResult> {
        self.winner.as_deref()
    }

    /// The key of the session that stands in the way, if the caller may see it.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Milliseconds after which a retry makes sense.
    pub fn retry_after(&self) -> Option<u64> {
        self.retry_after_ms
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<tidings::Error> for Error {
    fn from(error: tidings::Error) -> Self {
        use tidings::ErrorKind as Kind;
        let code = match error.kind() {
            Kind::Invalid => Code::Invalid,
            Kind::NoSession => Code::NotFound,
            Kind::Timeout => Code::Timeout,
            Kind::Settled => Code::AlreadyAnswered,
            Kind::Taken => Code::Conflict,
            Kind::Closed | Kind::Cancelled => Code::Unavailable,
            _ => Code::Agent,
        };
        Error::new(code, error.to_string(), error.hint().to_owned())
    }
}
