//! Literals that every match of a pattern contains: they make both the scan and the index fast.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

use super::query::Case;
use crate::limits::ALTERNATIVES_MAX;

/// Alternatives; every matching text contains one of them. An empty list means that nothing is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Literals {
    pub(crate) any_of: Vec<String>,
    pub(crate) case: Case,
}

impl Literals {
    pub(super) fn of_text(text: &str, case: Case) -> Self {
        Literals { any_of: vec![text.to_owned()], case }
    }

    /// These alternatives and others. If nothing is known of a match, nothing is known of either.
    pub(super) fn or_any_of<'t>(&self, others: impl Iterator<Item = &'t String>) -> Self {
        let mut either = self.clone();
        if !either.any_of.is_empty() {
            either.any_of.extend(others.cloned());
        }
        either
    }
}

/// The literals of a regular expression. An invalid one has none: compiling it reports the error.
pub(super) fn of_regex(pattern: &str, case: Case) -> Literals {
    let none = Literals { any_of: Vec::new(), case };
    // Ignoring case would turn letters into classes, so the pattern is parsed with case.
    let Ok(hir) = ParserBuilder::new().multi_line(true).build().parse(pattern) else { return none };
    // The depth of parsed trees is bounded: the parser rejects deeper nesting.
    Literals { any_of: required(&hir).unwrap_or_default(), ..none }
}

/// Literals such that every match contains one of them.
fn required(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Literal(literal) => {
            let text = String::from_utf8(literal.0.to_vec()).ok()?;
            (!text.is_empty()).then(|| vec![text])
        }
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        HirKind::Concat(parts) => parts.iter().filter_map(required).max_by_key(|found| worth(found)),
        HirKind::Alternation(parts) => {
            let found: Vec<String> = parts.iter().map(required).collect::<Option<Vec<_>>>()?.concat();
            (found.len() <= ALTERNATIVES_MAX).then_some(found)
        }
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => None,
    }
}

/// Ranks a set of literals: the shortest one decides how many lines pass.
fn worth(literals: &[String]) -> (usize, std::cmp::Reverse<usize>) {
    (literals.iter().map(String::len).min().unwrap_or(0), std::cmp::Reverse(literals.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_match_of_a_regex_contains_one_of_its_literals() {
        let check = |pattern: &str, expected: &[&str]| {
            assert_eq!(of_regex(pattern, Case::Sensitive).any_of, expected, "{pattern}");
        };
        check("quartz", &["quartz"]);
        check(r"zebra\w+-quartz\d*", &["-quartz"]);
        check(r"(error|warning): \d+", &["error", "warning"]);
        check(r"(?:ab){2}c?", &["ab"]);
        check(r"(?:ab)*c", &["c"]);
        check(r"a|b*", &[]);
        check(r"\w+", &[]);
        check(r"(?i)quartz", &[]);
        check(r"(", &[]);
    }
}
