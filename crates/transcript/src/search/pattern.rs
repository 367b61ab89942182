//! The exact matcher, applied to decoded text.

use std::ops::Range;

use memchr::memmem;
use regex::{Regex, RegexBuilder};

use super::query::{Case, Options, Syntax};
use crate::{Error, ErrorKind};

/// The exact matcher, applied to decoded text.
#[derive(Debug)]
pub(super) enum Pattern {
    Literal(Box<memmem::Finder<'static>>),
    Regex(Regex),
}

impl Pattern {
    pub(super) fn new(options: &Options) -> Result<Self, Error> {
        if options.pattern.is_empty() {
            let hint = "give a word; `.` with --regex matches every line with text";
            return Err(Error::new(ErrorKind::Invalid, "The pattern is empty", hint));
        }
        if options.syntax == Syntax::Literal && options.case == Case::Sensitive {
            let finder = memmem::Finder::new(options.pattern.as_bytes()).into_owned();
            return Ok(Pattern::Literal(Box::new(finder)));
        }
        let pattern = match options.syntax {
            Syntax::Literal => regex::escape(&options.pattern),
            Syntax::Regex => options.pattern.clone(),
        };
        let built = RegexBuilder::new(&pattern)
            .case_insensitive(options.case == Case::Ignore)
            .multi_line(true)
            .build();
        built.map(Pattern::Regex).map_err(|error| {
            let hint = "leave out --regex to search for the text as it is";
            let reason = match error {
                // Its own text is a drawing of several lines; the last one states the error.
                regex::Error::Syntax(text) => {
                    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
                }
                other => other.to_string(),
            };
            let message = format!("Not a regular expression ({reason}): `{}`", options.pattern);
            Error::new(ErrorKind::Invalid, message, hint)
        })
    }

    /// Range of the first match.
    #[inline]
    pub(super) fn find(&self, text: &str) -> Option<Range<usize>> {
        match self {
            Pattern::Literal(finder) => finder.find(text.as_bytes()).map(|at| at..at + finder.needle().len()),
            Pattern::Regex(regex) => regex.find(text).map(|found| found.range()),
        }
    }
}
