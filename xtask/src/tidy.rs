//! Rules of the project that neither the compiler nor clippy checks, one file each.
//!
//! A new rule is a new file here and a line in one of the three tables.

mod comment_width;
mod dependency_direction;
mod duplicates;
mod early_returns;
mod file_size;
mod findings;
mod licences;
mod lint_attributes;
mod machine_paths;
mod module_cycles;
mod pins;
mod protocol_dependencies;
mod protocol_purity;
mod recipes;
mod side_effects;
mod skipped_tests;
mod type_names;

use crate::Outcome;
use crate::graph::Graph;
use crate::repo::{self, TextFile};
use std::fmt;

/// Rules for one file at a time.
const FILE_RULES: &[fn(&TextFile) -> Vec<Finding>] = &[
    comment_width::check,
    early_returns::check,
    file_size::check,
    lint_attributes::check,
    machine_paths::check,
    protocol_purity::check,
    side_effects::check,
    skipped_tests::check,
];

/// Rules for all files together.
type TreeRule = fn(&[TextFile]) -> Vec<Finding>;

const TREE_RULES: &[TreeRule] =
    &[findings::check, module_cycles::check, pins::check, recipes::check, type_names::check];

/// Rules for the dependency graph.
const GRAPH_RULES: &[fn(&Graph) -> Vec<Finding>] =
    &[dependency_direction::check, duplicates::check, licences::check, protocol_dependencies::check];

/// Runs every rule and prints every finding; returns `false` if one of them is a violation.
pub(crate) fn run() -> Outcome {
    let files = repo::files()?;
    let graph = Graph::load()?;
    let mut found: Vec<Finding> = FILE_RULES.iter().flat_map(|rule| files.iter().flat_map(rule)).collect();
    found.extend(TREE_RULES.iter().flat_map(|rule| rule(&files)));
    found.extend(GRAPH_RULES.iter().flat_map(|rule| rule(&graph)));
    found.sort_by(|a, b| (a.level, &a.path, a.line).cmp(&(b.level, &b.path, b.line)));
    for finding in &found {
        println!("{finding}");
    }
    let violations = found.iter().filter(|finding| finding.level == Level::Violation).count();
    println!(
        "tidy: {} rules, {} files, {} packages, {} notes, {violations} violations",
        FILE_RULES.len() + TREE_RULES.len() + GRAPH_RULES.len(),
        files.len(),
        graph.packages.len(),
        found.len() - violations,
    );
    Ok(violations == 0)
}

/// Notes sort first, so that the violations are the last lines on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// A remark, which does not fail the run.
    Note,
    Violation,
}

/// A finding of a rule: its location, the problem and the advice.
#[derive(Debug)]
pub(crate) struct Finding {
    level: Level,
    path: String,
    line: usize,
    problem: String,
    advice: String,
}

impl Finding {
    fn violation(path: &str, line: usize, problem: impl Into<String>, advice: impl Into<String>) -> Self {
        let (problem, advice) = (problem.into(), advice.into());
        Self { level: Level::Violation, path: path.to_owned(), line, problem, advice }
    }

    fn note(path: &str, line: usize, problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { level: Level::Note, ..Self::violation(path, line, problem, advice) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Note => "note",
            Level::Violation => "violation",
        };
        write!(f, "{}:{}: {level}: {}\n  hint: {}", self.path, self.line, self.problem, self.advice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_says_where_what_and_what_to_do() {
        let finding = Finding::violation("a/b.rs", 7, "`x` is bad", "use `y`");
        assert_eq!(finding.to_string(), "a/b.rs:7: violation: `x` is bad\n  hint: use `y`");
    }
}
