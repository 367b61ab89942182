//! A value that did not fit its type: where it is, and what was expected.

use std::fmt;

use crate::json::Cursor;

/// A value that did not fit its type: its path, the expected type, and an excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misfit {
    /// Path of the field, outermost first: `message.content[0].text`.
    pub path: String,
    /// Description of the expected type.
    pub expected: &'static str,
    /// Beginning of the value; empty when the key is missing.
    pub found: String,
}

/// An optional field that did not fit: absent from the typed value, present in its `extra`.
pub type Refused = Misfit;

/// Maximum length of the excerpt, in characters.
const EXCERPT_CHARS_MAX: usize = 60;

impl Misfit {
    /// The value at the cursor is not `expected`.
    pub fn here(cursor: &mut Cursor<'_>, expected: &'static str) -> Self {
        let raw = cursor.raw().as_str();
        let mut found: String = raw.chars().take(EXCERPT_CHARS_MAX).collect();
        if found.len() < raw.len() {
            found.push('…');
        }
        Misfit { path: String::new(), expected, found }
    }

    pub(crate) fn missing(key: &str) -> Self {
        Misfit { path: key.to_owned(), expected: "a value", found: String::new() }
    }

    /// The same misfit with the key of the surrounding object or list added to its path.
    #[must_use]
    pub(crate) fn within(mut self, outer: &str) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{outer}{dot}{}", self.path);
        self
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path.is_empty(), self.found.is_empty()) {
            (false, true) => write!(f, "`{}` is missing", self.path),
            (false, false) => {
                write!(f, "`{}` should be {}, found `{}`", self.path, self.expected, self.found)
            }
            (true, _) => write!(f, "expected {}, found `{}`", self.expected, self.found),
        }
    }
}

impl std::error::Error for Misfit {}

/// Findings of a read besides the value.
#[derive(Debug, Default)]
pub struct Reading {
    /// Optional fields that did not fit.
    pub refused: Vec<Refused>,
    /// Number of members skipped because the caller had already read their keys.
    pub(crate) taken: usize,
}

impl Reading {
    /// Runs `read` and prefixes `outer` to the path of every field refused by it.
    pub(crate) fn within<T>(
        &mut self,
        outer: impl Fn() -> String,
        read: impl FnOnce(&mut Self) -> Result<T, Misfit>,
    ) -> Result<T, Misfit> {
        let before = self.refused.len();
        let result = read(self);
        for refused in self.refused.iter_mut().skip(before) {
            *refused = refused.clone().within(&outer());
        }
        result.map_err(|misfit| misfit.within(&outer()))
    }
}
