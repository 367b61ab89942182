use std::borrow::Cow;
use std::fmt;

use tidings_protocol::api::AnswerResult;

use crate::journal::{self, JournalError};

/// What went wrong: a code to branch on, a sentence to show and a hint to act on.
#[derive(Debug, Clone)]
pub struct Error {
    code: Code,
    message: String,
    hint: Cow<'static, str>,
    retry_after_ms: Option<u64>,
    winner: Option<Box<AnswerResult>>,
}

macro_rules! codes {
    ($( $(#[$doc:meta])* $Name:ident = $text:literal, $status:literal, $retryable:literal; )+) => {
        /// What went wrong, to branch on. The text and the status are promises.
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

            /// The status of an answer that says so.
            pub fn status(self) -> u16 {
                match self { $( Code::$Name => $status, )+ }
            }

            /// Whether the same may work later.
            pub fn is_retryable(self) -> bool {
                match self { $( Code::$Name => $retryable, )+ }
            }
        }
    };
}

codes! {
    /// The request makes no sense.
    Invalid = "invalid", 400, false;
    /// No credential, or one that is not known.
    Unauthorized = "unauthorized", 401, false;
    /// The credential does not reach that far.
    Forbidden = "forbidden", 403, false;
    /// The folder is outside those that the server works in.
    OutsideRoots = "outside_roots", 403, false;
    /// The folder has commands of its own, and nobody has said that it is trusted.
    Untrusted = "untrusted_workspace", 403, false;
    /// The session has used what it may use.
    BudgetExhausted = "budget_exhausted", 403, false;
    /// There is no such thing.
    NotFound = "not_found", 404, false;
    /// It is there, and cannot be asked for that.
    Method = "method_not_allowed", 405, false;
    /// It exists already, or is used by another session.
    Conflict = "conflict", 409, false;
    /// Somebody has answered before.
    AlreadyAnswered = "already_answered", 409, false;
    /// What was shown is not what waits now.
    DigestMismatch = "digest_mismatch", 409, false;
    /// It was there once.
    Gone = "gone", 410, false;
    /// It is longer than the server takes.
    TooLarge = "too_large", 413, false;
    /// It is not JSON, and has to be.
    MediaType = "not_json", 415, false;
    /// The answer does not fit the question.
    Unprocessable = "unprocessable", 422, false;
    /// The digest of what was shown has to come with this answer.
    DigestRequired = "digest_required", 428, false;
    /// Too many requests, connections or sessions.
    TooMany = "too_many", 429, true;
    /// Something of ours is broken.
    Internal = "internal", 500, true;
    /// The agent could not be started, or has refused.
    Agent = "agent_failed", 502, true;
    /// The server is stopping, or has no room on its disk.
    Unavailable = "unavailable", 503, true;
    /// The agent did not answer in time.
    Timeout = "timeout", 504, true;
}

impl Error {
    /// An error with a sentence to show and a hint to act on.
    pub fn new(code: Code, message: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> Self {
        Error { code, message: message.into(), hint: hint.into(), retry_after_ms: None, winner: None }
    }

    /// The same, with the time after which trying again makes sense.
    #[must_use]
    pub fn retry_after_ms(mut self, ms: u64) -> Self {
        self.retry_after_ms = Some(ms);
        self
    }

    /// There is no such session, or none that the caller may know of: the same words for both, so that nobody learns of it.
    pub(crate) fn no_session(name: &str) -> Self {
        JournalError::no_session(&name).into()
    }

    /// Nothing can be stored.
    pub(crate) fn storage_full() -> Self {
        const RETRY_MS: u64 = 5000;
        let message = "The disk of the server is full, and nothing can be stored";
        let hint = "make room on the disk; sessions can be read, interrupted and stopped meanwhile";
        Error::new(Code::Unavailable, message, hint).retry_after_ms(RETRY_MS)
    }

    /// Somebody has answered before, and this is how.
    pub(crate) fn already_answered(winner: AnswerResult) -> Self {
        let by = winner.by.as_deref().unwrap_or("the agent");
        let message = format!("`{}` was {} by {by} before", winner.tool_use_id, winner.outcome);
        let mut error = Error::new(Code::AlreadyAnswered, message, "nothing is left to do");
        error.winner = Some(Box::new(winner));
        error
    }

    /// To branch on.
    pub fn code(&self) -> Code {
        self.code
    }

    /// To show.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it; may be empty.
    pub fn hint(&self) -> &str {
        &self.hint
    }

    /// The answer that was faster.
    pub fn winner(&self) -> Option<&AnswerResult> {
        self.winner.as_deref()
    }

    /// When to try again.
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

impl From<JournalError> for Error {
    fn from(error: JournalError) -> Self {
        use journal::ErrorKind as Kind;
        if error.kind() == Kind::Full {
            return Error::storage_full();
        }
        let code = match error.kind() {
            Kind::NotFound => Code::NotFound,
            Kind::Exists | Kind::Fenced | Kind::Nested => Code::Conflict,
            Kind::Invalid => Code::Invalid,
            Kind::TooLarge => Code::TooLarge,
            Kind::Full | Kind::Locked | Kind::Closed => Code::Unavailable,
            Kind::Newer | Kind::Damaged | Kind::Missing | Kind::Io => Code::Internal,
        };
        Error::new(code, error.to_string(), error.hint())
    }
}

impl From<tidings::Error> for Error {
    fn from(error: tidings::Error) -> Self {
        use tidings::ErrorKind as Kind;
        let code = match error.kind() {
            Kind::Invalid => Code::Invalid,
            Kind::NoSession => Code::NotFound,
            Kind::Timeout => Code::Timeout,
            Kind::Settled => Code::AlreadyAnswered,
            Kind::Closed | Kind::Cancelled => Code::Unavailable,
            _ => Code::Agent,
        };
        Error::new(code, error.to_string(), error.hint().to_owned())
    }
}
