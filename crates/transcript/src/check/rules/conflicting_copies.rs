//! Rule: entries with one uuid have the same message.

use super::super::Profile;
use super::super::context::{Check, CheckedEntry, File, Findings};
use super::super::links::Likeness;
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("conflicting-copies");

/// Entries with one uuid have the same message. Forks and compactions of some versions write an entry again
/// with other metadata, which is harmless: the last copy counts.
#[derive(Debug)]
pub(super) struct ConflictingCopies;

impl Check for ConflictingCopies {
    fn entry(&mut self, seen: &CheckedEntry<'_>, file: &File<'_>, found: &mut Findings) {
        let Some(number) = seen.link.filter(|_| file.profile == Profile::Lenient) else { return };
        let link = &file.links.list[number];
        let Some(first) = file.links.first(link.uuid).filter(|first| *first != number) else { return };
        let first = &file.links.list[first];
        let above = first.place.line;
        let (severity, message) = match link.likeness(first) {
            Likeness::Same => return,
            Likeness::SaysTheSame => {
                (Severity::Warning, format!("The entry of line {above} is repeated here with other metadata"))
            }
            Likeness::Different => {
                (Severity::Error, format!("The entry of line {above} is repeated here with other contents"))
            }
        };
        found.about(RULE, severity, seen, message);
    }
}
