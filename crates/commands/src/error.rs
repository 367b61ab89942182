//! Exit codes, and errors with a message and a hint.

use std::process::ExitCode;
use std::{fmt, io};

use serde::Serialize;
use tidings_journal::JournalError;
use tidings_transcript::ErrorKind;

use crate::output::{Output, is_output_closed};

/// Outcome of a command that could run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Exit code 0.
    Success,
    /// A check or a turn failed, exit code 1.
    Failure,
    /// A given exit code, for commands that stand in for another program.
    Code(u8),
}

impl Exit {
    /// Returns the first of the two that is not `Success`.
    pub(crate) fn and(self, other: Exit) -> Exit {
        if self == Exit::Success { other } else { self }
    }
}

/// A command that could not run.
#[derive(Debug)]
pub struct CannotRun {
    /// Stable error code for scripts.
    pub code: &'static str,
    pub message: String,
    pub hint: &'static str,
}

impl CannotRun {
    /// Code for errors in the command line.
    pub const USAGE: &str = "usage";
    /// Code for a decision that only a person may make, without a terminal to ask on.
    pub(crate) const NEEDS_A_PERSON: &str = "needs_a_person";
}

impl fmt::Display for CannotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CannotRun {}

/// The user left a choice without choosing, exit code 130.
#[derive(Debug)]
pub(crate) struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nothing was chosen")
    }
}

impl std::error::Error for Cancelled {}

/// Code and hint of an error that this crate does not know.
pub type Details = for<'a> fn(&'a anyhow::Error) -> Option<ErrorDetails<'a>>;

/// Prints the error, if any, and returns the exit code. Output whose reader has gone is success.
pub fn finish(result: anyhow::Result<Exit>, json: bool, foreign: Details, out: &mut Output) -> ExitCode {
    let result = result.and_then(|exit| {
        out.flush()?;
        Ok(exit)
    });
    let was_paged = out.end_page();
    match result {
        Ok(Exit::Success) => ExitCode::SUCCESS,
        Ok(Exit::Failure) => ExitCode::from(1),
        Ok(Exit::Code(code)) => ExitCode::from(code),
        Err(error) if error.is::<Cancelled>() => ExitCode::from(130),
        Err(error) if is_broken_pipe(&error) && (was_paged || is_output_closed()) => ExitCode::SUCCESS,
        Err(error) => {
            let details = details(&error).or_else(|| foreign(&error));
            show(&error, details.as_ref(), json, out);
            ExitCode::from(match details.map(|details| details.code) {
                Some(CannotRun::USAGE) => 2,
                Some(CannotRun::NEEDS_A_PERSON) => 4,
                _ => 3,
            })
        }
    }
}

/// Hint on how to fix an error; empty if there is none.
pub fn hint(error: &anyhow::Error) -> &str {
    details(error).map_or("", |details| details.hint)
}

fn show(error: &anyhow::Error, details: Option<&ErrorDetails<'_>>, json: bool, out: &mut Output) {
    let (code, hint) = details.map_or(("failed", ""), |details| (details.code, details.hint));
    let line = || json_line(&ErrorLine { code, message: format!("{error:#}"), hint });
    let is_printed = json && out.text(&line()).and_then(|()| out.flush()).is_ok();
    if !is_printed {
        // If standard error cannot be written either, there is nowhere left to report to.
        drop(out.error(error, hint));
    }
}

/// Returns the code and hint of an error from any of our crates.
fn details(error: &anyhow::Error) -> Option<ErrorDetails<'_>> {
    if let Some(CannotRun { code, hint, .. }) = error.downcast_ref() {
        return Some(ErrorDetails { code, hint });
    }
    if let Some(error) = error.downcast_ref::<tidings::Error>() {
        let code = match error.kind() {
            tidings::ErrorKind::NotFound | tidings::ErrorKind::NoSession => "not_found",
            tidings::ErrorKind::Invalid => CannotRun::USAGE,
            tidings::ErrorKind::Taken => "conflict",
            _ => "failed",
        };
        return Some(ErrorDetails { code, hint: error.hint() });
    }
    if let Some(error) = error.downcast_ref::<JournalError>() {
        return Some(ErrorDetails { code: "failed", hint: error.hint() });
    }
    if let Some(error) = error.downcast_ref::<tidings_transcript::Error>() {
        let code = match error.kind() {
            ErrorKind::NotFound => "not_found",
            ErrorKind::Ambiguous => "ambiguous",
            ErrorKind::Invalid => CannotRun::USAGE,
            _ => "failed",
        };
        return Some(ErrorDetails { code, hint: error.hint() });
    }
    match error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind) {
        Some(io::ErrorKind::NotFound) => Some(ErrorDetails { code: "not_found", hint: "check the path" }),
        Some(io::ErrorKind::PermissionDenied) => {
            Some(ErrorDetails { code: "failed", hint: "check the permissions of the path" })
        }
        Some(io::ErrorKind::StorageFull) => {
            Some(ErrorDetails { code: "failed", hint: "free space on the disk" })
        }
        _ => None,
    }
}

/// Code and hint of an error.
#[derive(Debug)]
pub struct ErrorDetails<'a> {
    /// The code, for scripts.
    pub code: &'static str,
    /// The hint; may be empty.
    pub hint: &'a str,
}

/// JSON form of an error; the order of keys does not depend on the build's features.
#[derive(Serialize)]
struct ErrorLine<'a> {
    code: &'a str,
    message: String,
    hint: &'a str,
}

fn json_line(error: &ErrorLine<'_>) -> String {
    format!("{{\"error\":{}}}\n", serde_json::to_string(error).unwrap_or_default())
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
