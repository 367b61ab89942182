//! Summaries of test runs.

use std::sync::LazyLock;

use regex::Regex;

use super::pattern;

/// The result of a test run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestSummary {
    /// The test runner.
    pub runner: TestRunner,
    /// The number of passed tests.
    pub passed: u64,
    /// The number of failed tests.
    pub failed: u64,
    /// The number of skipped tests.
    pub skipped: u64,
}

impl TestSummary {
    /// The number of all tests, including skipped ones.
    pub fn total(&self) -> u64 {
        self.passed.saturating_add(self.failed).saturating_add(self.skipped)
    }
}

/// A program that runs tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TestRunner {
    /// `cargo test`, whose results are added up, and `cargo nextest`.
    Cargo,
    /// `pytest`.
    Pytest,
    /// Jest and Vitest.
    Jest,
    /// `go test -v`.
    Go,
}

static CARGO: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*test result: \w+\. (?P<passed>\d{1,9}) passed; (?P<failed>\d{1,9}) failed; (?P<skipped>\d{1,9}) ignored",
    )
});
static NEXTEST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*Summary \[[^\]]*\]\s+\d[\d/]* tests? run: (?P<counts>.+)$"));
static PYTEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^=*\s*(?P<counts>\d{1,9} (?:passed|failed|skipped|errors?|xfailed|xpassed|deselected|warnings?)\b.*) in [\d.]+\s?s\b",
    )
});
static JEST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*Tests:?\s+(?P<counts>\d{1,9} (?:passed|failed|skipped|todo)\b.*)$"));
static GO: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*--- (?P<word>PASS|FAIL|SKIP): "));
static COUNT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?P<number>\d{1,9}) (?P<word>[a-z]+)"));
static STYLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\x1b\[[0-9;]*m"));

/// Extracts the result of the test run in a command's output, if there was one. Several summaries of one
/// runner, as of `cargo test` in a workspace, are added up.
pub fn test_summary(output: &str) -> Option<TestSummary> {
    let mut sum: Option<TestSummary> = None;
    for line in output.lines() {
        let line = STYLE.replace_all(line, "");
        let Some(found) = in_line(&line) else { continue };
        let sum = sum.get_or_insert(TestSummary { passed: 0, failed: 0, skipped: 0, ..found });
        if sum.runner == found.runner {
            sum.passed = sum.passed.saturating_add(found.passed);
            sum.failed = sum.failed.saturating_add(found.failed);
            sum.skipped = sum.skipped.saturating_add(found.skipped);
        }
    }
    sum
}

fn in_line(line: &str) -> Option<TestSummary> {
    let summary = |runner| TestSummary { runner, passed: 0, failed: 0, skipped: 0 };
    if let Some(found) = CARGO.captures(line) {
        let number = |name: &str| found[name].parse().unwrap_or(0);
        let (passed, failed, skipped) = (number("passed"), number("failed"), number("skipped"));
        return Some(TestSummary { runner: TestRunner::Cargo, passed, failed, skipped });
    }
    if let Some(found) = GO.captures(line) {
        let go = summary(TestRunner::Go);
        return Some(match &found["word"] {
            "PASS" => TestSummary { passed: 1, ..go },
            "FAIL" => TestSummary { failed: 1, ..go },
            _ => TestSummary { skipped: 1, ..go },
        });
    }
    let counted = [(&NEXTEST, TestRunner::Cargo), (&PYTEST, TestRunner::Pytest), (&JEST, TestRunner::Jest)];
    counted.into_iter().find_map(|(pattern, runner)| {
        let found = pattern.captures(line)?;
        let mut sum = summary(runner);
        for count in COUNT.captures_iter(&found["counts"]) {
            let number: u64 = count["number"].parse().unwrap_or(0);
            match &count["word"] {
                "passed" | "xpassed" => sum.passed += number,
                "failed" | "error" | "errors" => sum.failed += number,
                "skipped" | "xfailed" | "todo" => sum.skipped += number,
                _ => {}
            }
        }
        Some(sum)
    })
}
