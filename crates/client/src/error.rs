//! The error of the SDK: a kind, a message and a hint.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use tidings_protocol::Outcome;
use tidings_protocol::control::ErrorCode;

use crate::agent_name::AgentName;
use crate::client::{OUTPUT_MISSING, TurnOutcome};
use crate::transport::Exit;

/// The category of an [`Error`], to branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// `claude` was not found, or the given path is not Claude Code.
    NotFound,
    /// The CLI is too old for this crate.
    VersionTooOld,
    /// The options contradict each other, or a given value cannot be sent.
    Invalid,
    /// The process could not be started.
    Spawn,
    /// The process ended before it was done.
    Exit,
    /// A turn did not complete; [`Error::outcome`] says how it ended.
    Turn,
    /// The CLI sent something that cannot be read.
    Decode,
    /// The CLI refused a control request.
    Control,
    /// The CLI did not answer in time.
    Timeout,
    /// The session is closed.
    Closed,
    /// The request was cancelled.
    Cancelled,
    /// The reader was too slow, and frames were dropped.
    Lagged,
    /// The request was already answered, or is not open.
    Settled,
    /// The session belongs to another process.
    Taken,
    /// There is no such session on disk.
    NoSession,
    /// A session on disk could not be read or written.
    Storage,
    /// A recording that is replayed does not go on with what the host does.
    Recording,
}

/// An error: a kind to branch on, a message to show and a hint to act on. Cheap to clone.
#[derive(Clone)]
pub struct Error(Arc<ErrorInner>);

struct ErrorInner {
    kind: ErrorKind,
    message: String,
    hint: Cow<'static, str>,
    code: Option<ErrorCode>,
    exit: Option<Exit>,
    outcome: Option<TurnOutcome>,
    stderr: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error of a kind, with a message to show and a hint to act on.
    pub fn new(kind: ErrorKind, message: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> Self {
        Error(Arc::new(ErrorInner {
            kind,
            message: message.into(),
            hint: hint.into(),
            code: None,
            exit: None,
            outcome: None,
            stderr: String::new(),
            source: None,
        }))
    }

    /// The category of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Advice on how to fix the error; may be empty.
    pub fn hint(&self) -> &str {
        &self.0.hint
    }

    /// The machine-readable reason why the CLI refused a request.
    pub fn code(&self) -> Option<&ErrorCode> {
        self.0.code.as_ref()
    }

    /// The exit status of the process, if it ended.
    pub fn exit(&self) -> Option<Exit> {
        self.0.exit
    }

    /// The outcome of the turn that did not complete, for an error of the kind [`ErrorKind::Turn`].
    pub fn outcome(&self) -> Option<TurnOutcome> {
        self.0.outcome
    }

    /// The last part of the process's stderr; empty if it wrote nothing.
    pub fn stderr(&self) -> &str {
        &self.0.stderr
    }

    /// Adds the cause of the error.
    #[must_use]
    pub(crate) fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.source = Some(Box::new(source));
        }
        self
    }

    /// The error of a control request that the agent refused.
    pub(crate) fn control(agent: &AgentName, subtype: &str, text: &str, code: Option<ErrorCode>) -> Self {
        let hint = match code.as_ref().filter(|_| agent.is_claude()) {
            Some(code) if *code == ErrorCode::UNSUPPORTED_REQUEST => {
                "update Claude Code: it does not support this request"
            }
            Some(code) if *code == ErrorCode::BYPASS_NOT_LAUNCHED => {
                "start the session with `Options::allow_bypass_permissions`"
            }
            _ => "",
        };
        let mut error = Error::new(ErrorKind::Control, format!("{agent} refused `{subtype}`: {text}"), hint);
        if let Some(inner) = Arc::get_mut(&mut error.0) {
            inner.code = code;
        }
        error
    }

    /// The error of a process that ended. The message quotes the last result, or else stderr.
    pub(crate) fn exited(agent: &AgentName, exit: Exit, text: Option<&str>, stderr: &str) -> Self {
        let shown =
            text.map(str::trim).filter(|text| !text.is_empty()).unwrap_or_else(|| stderr_excerpt(stderr));
        // The process is the adapter of another agent, whose last result says how the agent ended.
        let is_explained = !agent.is_claude() && shown.starts_with(&format!("{agent} ended"));
        let message = if is_explained {
            shown.to_owned()
        } else if shown.is_empty() {
            format!("{agent} ended {exit}")
        } else {
            format!("{agent} ended {exit}: {shown}")
        };
        let mut error = Error::new(ErrorKind::Exit, message, exit_hint(agent, exit, shown));
        if let Some(inner) = Arc::get_mut(&mut error.0) {
            inner.exit = Some(exit);
            stderr.clone_into(&mut inner.stderr);
        }
        error
    }

    pub(crate) fn closed() -> Self {
        Error::new(
            ErrorKind::Closed,
            "The session is closed",
            "connect again; `Options::resume` continues the conversation",
        )
    }

    /// The error of a turn whose result line was too long or unreadable.
    pub(crate) fn result_lost() -> Self {
        Error::new(
            ErrorKind::Decode,
            "The result of the turn is lost: its line is longer than `line_bytes_max`, or not valid JSON",
            "raise `Options::line_bytes_max`, or request a shorter answer",
        )
    }

    /// The error of a turn that did not complete. `text` is the error text of its result.
    pub(crate) fn turn(outcome: TurnOutcome, text: Option<String>) -> Self {
        let (usual, hint) = match outcome {
            TurnOutcome::ResultLost => return Error::result_lost(),
            TurnOutcome::Cancelled => ("The turn was interrupted", "send the prompt again"),
            TurnOutcome::Dropped => {
                ("The prompt was cancelled or refused before a turn began", "send the prompt again")
            }
            TurnOutcome::Failed(Outcome::MaxTurns) => {
                ("The turn has reached its limit of rounds", "raise `Options::max_turns`, or ask for less")
            }
            TurnOutcome::Failed(Outcome::MaxBudget) => {
                ("The budget is spent", "raise `Options::max_budget_usd`, or ask for less")
            }
            TurnOutcome::Failed(Outcome::StructuredOutput) => {
                (OUTPUT_MISSING, "check the answer, or relax the schema")
            }
            _ => ("The turn has failed", "read the messages one by one to see what led to it"),
        };
        let mut error = Error::new(ErrorKind::Turn, text.unwrap_or_else(|| usual.to_owned()), hint);
        if let Some(inner) = Arc::get_mut(&mut error.0) {
            inner.outcome = Some(outcome);
        }
        error
    }

    pub(crate) fn timeout(agent: &AgentName, what: &str, limit: std::time::Duration) -> Self {
        let message = format!("{agent} did not answer `{what}` within {limit:?}");
        Error::new(ErrorKind::Timeout, message, "raise the limit in `Options`, or check what it is busy with")
    }

    pub(crate) fn invalid(message: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Invalid, message, hint)
    }
}

/// The last part of stderr, short enough for an error message.
fn stderr_excerpt(stderr: &str) -> &str {
    let text = stderr.trim();
    let mut start = text.len().saturating_sub(crate::limits::STDERR_SHOWN_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

fn exit_hint(agent: &AgentName, exit: Exit, text: &str) -> &'static str {
    let says = |part: &str| agent.is_claude() && text.to_ascii_lowercase().contains(part);
    if says("invalid api key") || says("/login") || says("authentication") {
        "log in with `claude /login`, or set ANTHROPIC_API_KEY"
    } else if says("unknown option") {
        "update Claude Code, or remove the option that it names"
    } else if exit.signal == Some(9) {
        "something killed it; if the machine ran out of memory, start fewer sessions at once"
    } else if text.is_empty() && agent.is_claude() {
        "run `claude` by hand in the same folder to see its output"
    } else if text.is_empty() {
        "run the agent by hand in the same folder to see its output"
    } else {
        ""
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Error");
        shown.field("kind", &self.0.kind).field("message", &self.0.message).field("hint", &self.0.hint);
        if let Some(code) = &self.0.code {
            shown.field("code", code);
        }
        if let Some(outcome) = &self.0.outcome {
            shown.field("outcome", outcome);
        }
        if let Some(exit) = &self.0.exit {
            shown.field("exit", exit).field("stderr", &self.0.stderr);
        }
        shown.finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
