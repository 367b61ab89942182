//! What rules are told, and where they say what they found.

use std::collections::BTreeMap;
use std::path::Path;

use tidings_protocol::entry::{Dialect, EntryKind, EntryRef};
use tidings_protocol::json::{Raw, Text};

use super::Profile;
use super::links::Links;
use super::session::SessionFacts;
use crate::{Finding, Place, Rule, Severity};

/// A rule: one file, one struct with what it has to remember.
pub(super) trait Check {
    /// An entry, in the order of the file.
    fn entry(&mut self, _seen: &Seen<'_>, _file: &File<'_>, _found: &mut Found) {}

    /// The file is over.
    fn finish(&mut self, _file: &File<'_>, _found: &mut Found) {}
}

/// An entry and what all rules want to know of it.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    pub(super) entry: EntryRef<'a>,
    /// Its members, looked up once for all rules.
    pub(super) members: Vec<(Text<'a>, Raw<'a>)>,
    pub(super) dialect: Dialect,
    pub(super) place: Place,
    /// Its number in [`Links`], if it has a place in the tree.
    pub(super) link: Option<usize>,
}

/// The file that is being checked, as far as it was read.
#[derive(Debug)]
pub(super) struct File<'a> {
    pub(super) profile: Profile,
    pub(super) dialect: Dialect,
    pub(super) role: Role<'a>,
    pub(super) links: &'a Links,
    /// The session's other files that were read before.
    pub(super) session: &'a SessionFacts,
}

/// Which file of a session it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Role<'a> {
    /// The conversation itself; outputs that were too large for a line lie in `tool_results`.
    Main { id: &'a str, tool_results: Option<&'a Path> },
    /// A sub-agent's.
    Agent { id: &'a str, tool_results: Option<&'a Path> },
    /// Nobody said.
    Alone,
}

impl Role<'_> {
    pub(super) fn tool_results(&self) -> Option<&Path> {
        match self {
            Role::Main { tool_results, .. } | Role::Agent { tool_results, .. } => *tool_results,
            Role::Alone => None,
        }
    }
}

impl<'a> Seen<'a> {
    /// The value of a key; of duplicate keys the last counts.
    pub(super) fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.members.iter().rev().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    /// Whether a key is not there, or there for nothing.
    pub(super) fn is_missing(&self, key: &str) -> bool {
        self.get(key).is_none_or(|value| value.is_null() || value.as_str() == "\"\"")
    }

    /// The tool's whole output, of an entry that has one.
    pub(super) fn tool_use_result(&self) -> Option<Raw<'a>> {
        if self.entry.kind() == EntryKind::User { self.get("toolUseResult") } else { None }
    }

    /// Whether this is a further copy of an entry that stands further up.
    pub(super) fn is_copy(&self, links: &Links) -> bool {
        self.link.is_some_and(|number| links.first(links.list[number].uuid) != Some(number))
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) findings: Vec<Finding>,
    /// Findings that hold unless another file of the session has what is missing.
    pub(super) pending: Vec<(Missing, Finding)>,
}

/// The name of something that a file refers to and does not have.
#[derive(Debug)]
pub(super) enum Missing {
    /// The uuid of an entry.
    Entry(Box<str>),
    /// The id of a tool call.
    Call(Box<str>),
    /// The id of a tool call that has no result.
    Result(Box<str>),
}

impl Found {
    pub(super) fn add(
        &mut self,
        rule: Rule,
        severity: Severity,
        place: Place,
        uuid: Option<&str>,
        message: impl Into<String>,
    ) {
        let uuid = uuid.map(str::to_owned);
        self.findings.push(Finding { rule, severity, place, message: message.into(), uuid });
    }

    /// Something that is not in this file, and may be in another file of the session.
    pub(super) fn unless_elsewhere(
        &mut self,
        missing: Missing,
        rule: Rule,
        severity: Severity,
        place: Place,
        uuid: &str,
        message: String,
    ) {
        let finding = Finding { rule, severity, place, message, uuid: Some(uuid.to_owned()) };
        self.pending.push((missing, finding));
    }

    /// About an entry.
    pub(super) fn about(
        &mut self,
        rule: Rule,
        severity: Severity,
        seen: &Seen<'_>,
        message: impl Into<String>,
    ) {
        self.add(rule, severity, seen.place, seen.entry.uuid().as_deref(), message);
    }
}

/// How often something was seen, and where first: for remarks that would else be repeated on every line.
#[derive(Debug, Default)]
pub(super) struct Tally {
    seen: BTreeMap<Box<str>, (u64, Place)>,
}

impl Tally {
    pub(super) fn count(&mut self, what: &str, place: Place) {
        match self.seen.get_mut(what) {
            Some((count, _)) => *count += 1,
            None => drop(self.seen.insert(what.into(), (1, place))),
        }
    }

    /// What was seen, how often, and where first.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (Box<str>, u64, Place)> {
        std::mem::take(&mut self.seen).into_iter().map(|(what, (count, place))| (what, count, place))
    }
}

/// `1 line`, `2 lines`.
pub(super) fn lines(count: u64) -> String {
    format!("{count} {}", if count == 1 { "line" } else { "lines" })
}
