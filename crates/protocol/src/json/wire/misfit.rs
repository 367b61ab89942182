use std::fmt;

use crate::json::Cursor;

/// A value that did not fit its type: where, what was wanted, what was there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misfit {
    /// The field, from the outside in: `message.content[0].text`.
    pub path: String,
    /// What the type wanted.
    pub expected: &'static str,
    /// The beginning of what was there; empty when the key is missing.
    pub found: String,
}

/// An optional field that did not fit: the typed value lacks it, its `extra` has it.
pub type Refused = Misfit;

/// How much of a value that did not fit is shown.
const EXCERPT_CHARS_MAX: usize = 60;

impl Misfit {
    /// The value under the cursor is not `expected`.
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

    /// The same, seen from the object (or list) around it.
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

/// What a read found out besides the value.
#[derive(Debug, Default)]
pub struct Reading {
    /// Optional fields that did not fit.
    pub refused: Vec<Refused>,
    /// How often a key was met that whoever reads the object had taken already.
    pub(crate) taken: usize,
}

impl Reading {
    /// Runs `read` and puts `outer` before the path of everything refused meanwhile.
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
