//! Selection of the lines of a block that have to be decoded.
//!
//! Most text stands in the file unchanged; characters that may be escaped are left out of the literals here
//! (quotes, backslashes, slashes, control characters). Any other character can only be hidden by a `\u`
//! escape, and few programs write needless ones: every line that has one is decoded.

use memchr::memmem;
use regex::bytes::{Regex, RegexBuilder};

use super::literals::Literals;
use super::query::Case;

#[derive(Debug)]
pub(super) enum Prefilter {
    /// Nothing is known, so every line must be decoded.
    Nothing,
    Literal(Box<memmem::Finder<'static>>),
    AnyOf(Regex),
}

impl Prefilter {
    pub(super) fn new(literals: &Literals) -> Self {
        let runs: Vec<&str> = literals.any_of.iter().map(|literal| longest_plain_run(literal)).collect();
        if runs.is_empty() || runs.contains(&"") {
            return Prefilter::Nothing;
        }
        if let [run] = runs[..]
            && literals.case == Case::Sensitive
        {
            return Prefilter::Literal(Box::new(memmem::Finder::new(run.as_bytes()).into_owned()));
        }
        let escaped: Vec<String> = runs.into_iter().map(regex::escape).collect();
        let regex =
            RegexBuilder::new(&escaped.join("|")).case_insensitive(literals.case == Case::Ignore).build();
        regex.map_or(Prefilter::Nothing, Prefilter::AnyOf)
    }

    /// The lines of `block` that must be decoded, as ranges in it, without their line ends.
    pub(super) fn lines<'a>(&'a self, block: &'a [u8]) -> CandidateLines<'a> {
        CandidateLines { prefilter: self, block, from: 0, literal: None, escape: None }
    }

    #[inline]
    fn find(&self, block: &[u8], from: usize) -> usize {
        let found = match self {
            Prefilter::Nothing => (from < block.len()).then_some(0),
            Prefilter::Literal(finder) => finder.find(&block[from..]),
            Prefilter::AnyOf(regex) => regex.find(&block[from..]).map(|found| found.start()),
        };
        found.map_or(block.len(), |at| from + at)
    }
}

/// The iterator of [`Prefilter::lines`].
pub(super) struct CandidateLines<'a> {
    prefilter: &'a Prefilter,
    block: &'a [u8],
    from: usize,
    /// Offset of the next literal, if it is known.
    literal: Option<usize>,
    /// Offset of the next escape that may hide one.
    escape: Option<usize>,
}

impl Iterator for CandidateLines<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        let (block, from) = (self.block, self.from);
        let literal = match self.literal {
            Some(at) if at >= from => at,
            _ => self.prefilter.find(block, from),
        };
        let escape = match self.escape {
            Some(at) if at >= from => at,
            _ => hiding_escape(block, from),
        };
        (self.literal, self.escape) = (Some(literal), Some(escape));
        let at = literal.min(escape);
        if at == block.len() {
            return None;
        }
        let start = from + memchr::memrchr(b'\n', &block[from..at]).map_or(0, |end| end + 1);
        let end = memchr::memchr(b'\n', &block[at..]).map_or(block.len(), |end| at + end);
        self.from = (end + 1).min(block.len());
        Some((start, end))
    }
}

/// The longest part of a literal that is never escaped, apart from `\u` escapes.
fn longest_plain_run(literal: &str) -> &str {
    let differs = |c: char| matches!(c, '"' | '\\' | '/' | char::REPLACEMENT_CHARACTER) || c.is_control();
    literal.split(differs).max_by_key(|run| run.len()).unwrap_or_default()
}

/// Offset of the first `\u` escape from `from` on for anything but a control character; the end if there is
/// none.
fn hiding_escape(block: &[u8], from: usize) -> usize {
    for at in memmem::find_iter(&block[from..], b"\\u") {
        let at = from + at;
        match block.get(at + 2..at + 6) {
            Some([b'0', b'0', b'0' | b'1', _]) => {}
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => return at,
            _ => {}
        }
    }
    block.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(prefilter: &Prefilter, block: &str) -> Vec<String> {
        let lines = prefilter.lines(block.as_bytes());
        lines.map(|(start, end)| block[start..end].to_owned()).collect()
    }

    #[test]
    fn lines_with_the_literal_or_with_a_hiding_escape_are_decoded_once_each() {
        let block = "one\ntwo two\n\\u0041\n\\u001b\n\\u00e9 two\n\\\\user\n\nlast two";
        let literals = Literals::of_text("two", Case::Sensitive);
        assert_eq!(
            decoded(&Prefilter::new(&literals), block),
            ["two two", "\\u0041", "\\u00e9 two", "last two"]
        );
        let literals = Literals::of_text("TWO", Case::Ignore);
        assert_eq!(
            decoded(&Prefilter::new(&literals), block),
            ["two two", "\\u0041", "\\u00e9 two", "last two"]
        );
        let literals = Literals::of_text("\n\"/", Case::Sensitive);
        assert_eq!(decoded(&Prefilter::new(&literals), block), block.lines().collect::<Vec<_>>());
    }

    #[test]
    fn the_literal_is_what_no_writer_escapes() {
        let check = |literal, run| assert_eq!(longest_plain_run(literal), run);
        check("zebrafinch-quartz", "zebrafinch-quartz");
        check("src/main.rs", "main.rs");
        check("say \"hello\"\n", "hello");
        check("\\\\\"", "");
        check("naïve\tidea", "naïve");
    }
}
