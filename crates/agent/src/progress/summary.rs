//! Summaries that agents write at the end of their work.

use std::sync::LazyLock;

use regex::Regex;

use super::pattern;
use super::task::shortened;

/// Numbers and a sentence that summarize the work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompletionSummary {
    /// The number of changed files.
    pub files_modified: Option<u64>,
    /// The number of tests that were run.
    pub tests_run: Option<u64>,
    /// The number of errors; "no errors" is zero.
    pub errors_found: Option<u64>,
    /// The line after "Summary:".
    pub summary: Option<String>,
}

static FILES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:(\d{1,9})[ \t]+files?[ \t]+(?:were[ \t]+|was[ \t]+)?(?:modified|changed|updated|edited)|(?:modified|changed|updated|edited)[ \t]+(\d{1,9})[ \t]+files?|files[ \t]+(?:modified|changed)\W{0,4}\s*(\d{1,9}))\b",
    )
});
static TESTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:(\d{1,9})[ \t]+tests?[ \t]+(?:were[ \t]+|was[ \t]+)?(?:run|ran|passed|executed)|(?:ran|executed)[ \t]+(\d{1,9})[ \t]+tests?|tests[ \t]+(?:run|executed)\W{0,4}\s*(\d{1,9})|all[ \t]+(\d{1,9})[ \t]+tests?[ \t]+pass(?:ed)?)\b",
    )
});
static ERRORS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:(\d{1,9}|no)[ \t]+errors?[ \t]+(?:were[ \t]+|was[ \t]+)?found|found[ \t]+(\d{1,9}|no)[ \t]+errors?|errors[ \t]+found\W{0,4}\s*(\d{1,9}|none)|without[ \t]+(any)[ \t]+errors?)\b",
    )
});
static SUMMARY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?im)^[\s*_#]*summary[\s*_]*:[\s*_]*(?P<summary>\S[^\n]*)$"));

/// Extracts the summary of a text, if it has one.
pub fn completion_summary(text: &str) -> Option<CompletionSummary> {
    let summary = CompletionSummary {
        files_modified: number(&FILES, text),
        tests_run: number(&TESTS, text),
        errors_found: number(&ERRORS, text),
        summary: SUMMARY
            .captures(text)
            .map(|found| shortened(&found["summary"]))
            .filter(|line| !line.is_empty()),
    };
    (summary != CompletionSummary::default()).then_some(summary)
}

/// The first number that a pattern finds. Words for none are zero.
fn number(pattern: &Regex, text: &str) -> Option<u64> {
    let found = pattern.captures(text)?;
    let word = found.iter().skip(1).flatten().next()?.as_str();
    Some(word.parse().unwrap_or(0))
}
