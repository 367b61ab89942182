//! What could not be looked at, and so is missing in what a command says.

use std::error::Error as _;

use tidings_transcript::Error;

use crate::error::Exit;
use crate::output::{Output, PLAIN, YELLOW, printable};

/// Names each on standard error. What is left out of a sum, a copy or a check makes it [`Exit::NotFine`].
pub(super) fn warn<'e>(errors: impl IntoIterator<Item = &'e Error>, out: &Output) -> anyhow::Result<Exit> {
    let mut exit = Exit::Fine;
    for error in errors {
        out.note(&format!("{YELLOW}warning{PLAIN}: {}", printable(&sentence(error))))?;
        exit = Exit::NotFine;
    }
    Ok(exit)
}

/// The error and its cause.
pub(super) fn sentence(error: &Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
