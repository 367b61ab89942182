//! Errors of the server, as its clients receive them.

use std::borrow::Cow;
use std::fmt;

use tidings_api::{AnswerResult, Code, Problem, UnknownScope};
use tidings_journal::{ErrorKind as JournalKind, JournalError};

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
    pub fn about_session(mut self, key: &str) -> Self {
        self.session = Some(key.into());
        self
    }

    /// The disk is full.
    pub fn storage_full() -> Self {
        const RETRY_MS: u64 = 5000;
        let message = "The disk of the server is full, and nothing can be stored";
        let hint = "make room on the disk; sessions can be read, interrupted and stopped meanwhile";
        Error::new(Code::Unavailable, message, hint).retry_after_ms(RETRY_MS)
    }

    /// No such session, or one that the caller may not see: the message is the same for both, so that it
    /// reveals nothing.
    pub fn no_session(name: &str) -> Self {
        let hint = "list the sessions; it may have been deleted";
        Error::new(Code::NotFound, format!("There is no session `{name}`"), hint)
    }

    /// The request was answered before, by `winner`.
    pub fn already_answered(winner: AnswerResult) -> Self {
        let by = winner.by.as_deref().unwrap_or("the agent");
        let message = format!("`{}` was {} by {by} before", winner.tool_use_id, winner.outcome);
        let mut error = Error::new(Code::AlreadyAnswered, message, "nothing is left to do");
        error.winner = Some(Box::new(winner));
        error
    }

    /// The error that another server has sent.
    pub fn from_problem(problem: Problem) -> Self {
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

impl From<JournalError> for Error {
    fn from(error: JournalError) -> Self {
        use JournalKind as Kind;
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

impl From<tidings_transcript::Error> for Error {
    fn from(error: tidings_transcript::Error) -> Self {
        use tidings_transcript::ErrorKind as Kind;
        let code = match error.kind() {
            Kind::NotFound => Code::NotFound,
            Kind::Ambiguous | Kind::Invalid => Code::Invalid,
            _ => Code::Internal,
        };
        Error::new(code, error.to_string(), error.hint())
    }
}

impl From<UnknownScope> for Error {
    fn from(error: UnknownScope) -> Self {
        Error::new(Code::Invalid, error.to_string(), error.hint())
    }
}
