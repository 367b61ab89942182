//! Warnings about files that could not be read, and so are missing in a command's result.

use std::error::Error as _;

use tidings_transcript::Error;

use crate::error::Exit;
use crate::output::{Output, PLAIN, YELLOW, printable};

/// Prints a warning for each error. Returns [`Exit::Failure`] if there are any, since the result is
/// incomplete.
pub(super) fn warn<'e>(errors: impl IntoIterator<Item = &'e Error>, out: &Output) -> anyhow::Result<Exit> {
    let mut exit = Exit::Success;
    for error in errors {
        out.note(&format!("{YELLOW}warning{PLAIN}: {}", printable(&sentence(error))))?;
        exit = Exit::Failure;
    }
    Ok(exit)
}

/// Formats an error with its cause.
pub(super) fn sentence(error: &Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
