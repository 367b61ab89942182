//! A matching line, with an excerpt around the match.

use std::ops::Range;

use crate::roots::{FileInfo, SessionFiles};
use crate::search::Role;

/// A matching line.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Hit<'a> {
    /// The session.
    pub session: &'a SessionFiles,
    /// The session's main file, or that of a sub-agent.
    pub file: &'a FileInfo,
    /// The line, counted from 1.
    pub line: u64,
    /// Uuid of the entry, if it has one.
    pub uuid: Option<String>,
    /// The speaker; `None` in a damaged line.
    pub role: Option<Role>,
    /// The tool that was called or that answered.
    pub tool: Option<String>,
    /// Timestamp, as written.
    pub at: Option<String>,
    /// The session's working folder, if the line contains it.
    pub cwd: Option<String>,
    /// The first match with its context.
    pub excerpt: Excerpt,
}

/// A match with some text on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The text.
    pub text: String,
    /// Range of the match in the text.
    pub matched: Range<usize>,
    /// True if there is more text before it.
    pub cut_before: bool,
    /// True if there is more text after it.
    pub cut_after: bool,
}

const BEFORE_BYTES: usize = 120;
const MATCH_BYTES: usize = 1000;
const AFTER_BYTES: usize = 240;

impl Excerpt {
    /// An excerpt of `text` around `matched`, which lies on character boundaries.
    pub(super) fn of(text: &str, matched: Range<usize>) -> Self {
        let start = char_boundary_before(text, matched.start.saturating_sub(BEFORE_BYTES));
        let match_end = char_boundary_before(text, matched.end.min(matched.start + MATCH_BYTES));
        let end = char_boundary_before(text, text.len().min(match_end + AFTER_BYTES));
        Excerpt {
            text: text[start..end].to_owned(),
            matched: matched.start - start..match_end - start,
            cut_before: start > 0,
            cut_after: end < text.len(),
        }
    }

    /// The text before the match, the match, and the text after it.
    pub fn parts(&self) -> (&str, &str, &str) {
        let Range { start, end } = self.matched;
        (&self.text[..start], &self.text[start..end], &self.text[end..])
    }
}

/// The last character boundary at or before `at`.
fn char_boundary_before(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_cut_between_characters() {
        for shift in 0..4 {
            let text = format!("{}{}needle{}", "x".repeat(shift), "é".repeat(200), "漢".repeat(200));
            let at = shift + 400;
            let excerpt = Excerpt::of(&text, at..at + 6);
            let (before, found, after) = excerpt.parts();
            assert_eq!(found, "needle");
            assert!((120..124).contains(&before.len()) && (238..241).contains(&after.len()));
            assert!(excerpt.cut_before && excerpt.cut_after);
        }
        let whole = Excerpt::of("a needle", 2..8);
        assert!(!whole.cut_before && !whole.cut_after && whole.text == "a needle");
        let long = "y".repeat(5000);
        assert_eq!(Excerpt::of(&long, 0..5000).parts().1.len(), MATCH_BYTES);
    }
}
