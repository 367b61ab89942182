//! Counts of a check.

use std::collections::BTreeMap;

use tidings_protocol::entry::Dialect;

use crate::{Finding, Rule, Severity};

/// Counts of a check. Every line is an entry, damaged or blank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CheckReport {
    /// Files that were read.
    pub files: u64,
    /// All lines: `entries + damaged + blank`.
    pub lines: u64,
    /// Lines that are an entry.
    pub entries: u64,
    /// Lines that are damaged.
    pub damaged: u64,
    /// Lines of white space.
    pub blank: u64,
    /// Entries salvaged from damaged lines.
    pub salvaged: u64,
    /// Findings that are errors.
    pub errors: u64,
    /// Findings that are warnings.
    pub warnings: u64,
    /// Findings that are notes.
    pub notes: u64,
    /// Entries of the tree by dialect.
    pub dialects: BTreeMap<Dialect, u64>,
    /// Findings by rule.
    pub rules: BTreeMap<Rule, u64>,
}

impl CheckReport {
    /// Adds the counts of another report.
    pub fn add(&mut self, other: &CheckReport) {
        self.files += other.files;
        self.lines += other.lines;
        self.entries += other.entries;
        self.damaged += other.damaged;
        self.blank += other.blank;
        self.salvaged += other.salvaged;
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.notes += other.notes;
        for (dialect, count) in &other.dialects {
            *self.dialects.entry(*dialect).or_default() += count;
        }
        for (rule, count) in &other.rules {
            *self.rules.entry(*rule).or_default() += count;
        }
    }

    /// `real`, `seed`, `rewrite`; `mixed` where entries differ, `unknown` where there are none.
    pub fn dialect(&self) -> &'static str {
        let mut known = self.dialects.keys().filter(|dialect| **dialect != Dialect::Unknown);
        match (known.next(), known.next()) {
            (None, _) => Dialect::Unknown.as_str(),
            (Some(only), None) => only.as_str(),
            (Some(_), Some(_)) => "mixed",
        }
    }

    /// Counts a finding.
    pub fn count(&mut self, finding: &Finding) {
        match finding.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Note => self.notes += 1,
        }
        *self.rules.entry(finding.rule).or_default() += 1;
    }
}
