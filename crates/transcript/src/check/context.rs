//! The context that rules read from, and the collection that they report to.

use std::collections::BTreeMap;
use std::path::Path;

use tidings_protocol::entry::{Dialect, EntryKind, EntryRef};
use tidings_protocol::json::{Raw, Text};

use super::Profile;
use super::links::Links;
use super::session::SessionFacts;
use crate::{Finding, Position, Rule, Severity};

/// A rule: one file, one struct with its state.
pub(super) trait Check {
    /// Handles an entry, in the order of the file.
    fn entry(&mut self, _seen: &CheckedEntry<'_>, _file: &File<'_>, _found: &mut Findings) {}

    /// Handles the end of the file.
    fn finish(&mut self, _file: &File<'_>, _found: &mut Findings) {}
}

/// An entry with the data that all rules need.
#[derive(Debug)]
pub(super) struct CheckedEntry<'a> {
    pub(super) entry: EntryRef<'a>,
    /// Its members, parsed once for all rules.
    pub(super) members: Vec<(Text<'a>, Raw<'a>)>,
    pub(super) dialect: Dialect,
    pub(super) place: Position,
    /// Its number in [`Links`], if it is part of the tree.
    pub(super) link: Option<usize>,
}

/// The file that is being checked, as far as it was read.
#[derive(Debug)]
pub(super) struct File<'a> {
    pub(super) profile: Profile,
    pub(super) dialect: Dialect,
    pub(super) role: FileRole<'a>,
    pub(super) links: &'a Links,
    /// Facts from the session's files that were read before.
    pub(super) session: &'a SessionFacts,
}

/// The role of a file in its session.
#[derive(Debug, Clone, Copy)]
pub(super) enum FileRole<'a> {
    /// The main conversation; outputs that were too large for a line lie in `tool_results`.
    Main { id: &'a str, tool_results: Option<&'a Path> },
    /// The conversation of a sub-agent.
    Agent { id: &'a str, tool_results: Option<&'a Path> },
    /// A file without a known session.
    Alone,
}

impl FileRole<'_> {
    pub(super) fn tool_results(&self) -> Option<&Path> {
        match self {
            FileRole::Main { tool_results, .. } | FileRole::Agent { tool_results, .. } => *tool_results,
            FileRole::Alone => None,
        }
    }
}

impl<'a> CheckedEntry<'a> {
    /// The value of a key; the last one if the key is repeated.
    pub(super) fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.members.iter().rev().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    /// Returns true if a key is absent or `null`.
    pub(super) fn is_missing(&self, key: &str) -> bool {
        self.get(key).is_none_or(|value| value.is_null() || value.as_str() == "\"\"")
    }

    /// The complete tool output of an entry that has one.
    pub(super) fn tool_use_result(&self) -> Option<Raw<'a>> {
        if self.entry.kind() == EntryKind::User { self.get("toolUseResult") } else { None }
    }

    /// Returns true for a repeated copy of an earlier entry.
    pub(super) fn is_copy(&self, links: &Links) -> bool {
        self.link.is_some_and(|number| links.first(links.list[number].uuid) != Some(number))
    }
}

/// The findings about a file.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) findings: Vec<Finding>,
    /// Findings that hold unless another file of the session contains the missing item.
    pub(super) pending: Vec<(MissingItem, Finding)>,
}

/// The name of an item that a file refers to and does not contain.
#[derive(Debug)]
pub(super) enum MissingItem {
    /// The uuid of an entry.
    Entry(Box<str>),
    /// The id of a tool call.
    Call(Box<str>),
    /// The id of a tool call that has no result.
    Result(Box<str>),
}

impl Findings {
    pub(super) fn add(
        &mut self,
        rule: Rule,
        severity: Severity,
        place: Position,
        uuid: Option<&str>,
        message: impl Into<String>,
    ) {
        let uuid = uuid.map(str::to_owned);
        self.findings.push(Finding { rule, severity, place, message: message.into(), uuid });
    }

    /// Reports an item that is not in this file and may be in another file of the session.
    pub(super) fn add_pending(
        &mut self,
        missing: MissingItem,
        rule: Rule,
        severity: Severity,
        place: Position,
        uuid: &str,
        message: String,
    ) {
        let finding = Finding { rule, severity, place, message, uuid: Some(uuid.to_owned()) };
        self.pending.push((missing, finding));
    }

    /// Reports a finding about an entry.
    pub(super) fn about(
        &mut self,
        rule: Rule,
        severity: Severity,
        seen: &CheckedEntry<'_>,
        message: impl Into<String>,
    ) {
        self.add(rule, severity, seen.place, seen.entry.uuid().as_deref(), message);
    }
}

/// Counts repeated observations, with the position of the first, so that each is reported once instead of on
/// every line.
#[derive(Debug, Default)]
pub(super) struct Occurrences {
    seen: BTreeMap<Box<str>, (u64, Position)>,
}

impl Occurrences {
    pub(super) fn count(&mut self, what: &str, place: Position) {
        match self.seen.get_mut(what) {
            Some((count, _)) => *count += 1,
            None => drop(self.seen.insert(what.into(), (1, place))),
        }
    }

    /// The counted observations, with number and first position.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (Box<str>, u64, Position)> {
        std::mem::take(&mut self.seen).into_iter().map(|(what, (count, place))| (what, count, place))
    }
}

/// `1 line`, `2 lines`.
pub(super) fn lines(count: u64) -> String {
    format!("{count} {}", if count == 1 { "line" } else { "lines" })
}
