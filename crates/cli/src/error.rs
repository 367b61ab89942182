//! How a run ends: an exit code, and for errors a sentence and a hint.

use std::fmt;
use std::io;
use std::process::ExitCode;

use serde::Serialize;
use tidings_bridge::journal::JournalError;
use tidings_transcript::ErrorKind;

use crate::output::Output;

/// How a command that could run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Fine,
    /// What was checked is not fine.
    NotFine,
    /// The exit code is part of what was asked for, as when another program is played.
    Code(u8),
}

impl Exit {
    /// The first of the two that is not fine.
    pub(crate) fn and(self, other: Exit) -> Exit {
        if self == Exit::Fine { other } else { self }
    }
}

/// A command that could not run.
#[derive(Debug)]
pub(crate) struct CannotRun {
    /// Stable, for scripts.
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) hint: &'static str,
}

impl CannotRun {
    /// The code of errors that another command line would not have.
    pub(crate) const USAGE: &str = "usage";
    /// The code when only a person may decide, and none is there.
    pub(crate) const NEEDS_A_PERSON: &str = "needs_a_person";
}

impl fmt::Display for CannotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CannotRun {}

/// Shows an error and turns the result into the exit code. A broken pipe is success: the reader had enough.
pub(crate) fn finish(result: anyhow::Result<Exit>, json: bool, out: &mut Output) -> ExitCode {
    let result = result.and_then(|exit| {
        out.flush()?;
        Ok(exit)
    });
    match result {
        Ok(Exit::Fine) => ExitCode::SUCCESS,
        Ok(Exit::NotFine) => ExitCode::from(1),
        Ok(Exit::Code(code)) => ExitCode::from(code),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            show(&error, json, out);
            ExitCode::from(match cannot_run(&error).map(|cannot| cannot.code) {
                Some(CannotRun::USAGE) => 2,
                Some(CannotRun::NEEDS_A_PERSON) => 4,
                _ => 3,
            })
        }
    }
}

/// What can be done about an error; empty if nobody knows.
pub(crate) fn hint(error: &anyhow::Error) -> &str {
    cannot_run(error).map_or("", |cannot| cannot.hint)
}

fn show(error: &anyhow::Error, json: bool, out: &mut Output) {
    let cannot = cannot_run(error);
    let (code, hint) = cannot.as_ref().map_or(("failed", ""), |cannot| (cannot.code, cannot.hint));
    let line = || json_line(&ErrorLine { code, message: format!("{error:#}"), hint });
    let is_told = json && out.text(&line()).and_then(|()| out.flush()).is_ok();
    if !is_told {
        // Nobody is left to tell if even this cannot be written.
        drop(out.error(error, hint));
    }
}

/// What scripts and people get to know of an error, whichever crate it is from.
fn cannot_run(error: &anyhow::Error) -> Option<Cannot<'_>> {
    if let Some(CannotRun { code, hint, .. }) = error.downcast_ref() {
        return Some(Cannot { code, hint });
    }
    if let Some(error) = error.downcast_ref::<tidings::Error>() {
        let code = match error.kind() {
            tidings::ErrorKind::NotFound | tidings::ErrorKind::NoSession => "not_found",
            tidings::ErrorKind::Invalid => CannotRun::USAGE,
            _ => "failed",
        };
        return Some(Cannot { code, hint: error.hint() });
    }
    if let Some(error) = error.downcast_ref::<tidings_bridge::Error>() {
        let code = match error.code() {
            tidings_bridge::Code::Invalid => CannotRun::USAGE,
            code => code.as_str(),
        };
        return Some(Cannot { code, hint: error.hint() });
    }
    if let Some(error) = error.downcast_ref::<JournalError>() {
        return Some(Cannot { code: "failed", hint: error.hint() });
    }
    if let Some(error) = error.downcast_ref::<tidings_transcript::Error>() {
        let code = match error.kind() {
            ErrorKind::NotFound => "not_found",
            ErrorKind::Ambiguous => "ambiguous",
            ErrorKind::Invalid => CannotRun::USAGE,
            _ => "failed",
        };
        return Some(Cannot { code, hint: error.hint() });
    }
    match error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind) {
        Some(io::ErrorKind::NotFound) => {
            Some(Cannot { code: "not_found", hint: "see whether the path is right" })
        }
        Some(io::ErrorKind::PermissionDenied) => {
            Some(Cannot { code: "failed", hint: "see who may read and write there" })
        }
        Some(io::ErrorKind::StorageFull) => Some(Cannot { code: "failed", hint: "make room on the disk" }),
        _ => None,
    }
}

struct Cannot<'a> {
    code: &'static str,
    hint: &'a str,
}

/// An error for scripts; the keys stay in this order whatever features a build has.
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
