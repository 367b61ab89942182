//! Rule: no two entries of a session have the same uuid.

use super::super::Profile;
use super::super::context::{Check, CheckedEntry, File, Findings};
use super::super::links::Likeness;
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("unique-uuid");

/// No two entries of a session have the same uuid. In the lenient profile, `duplicate-line` and
/// `conflicting-copies` distinguish harmless copies from the others.
#[derive(Debug)]
pub(super) struct UniqueUuid;

impl Check for UniqueUuid {
    fn entry(&mut self, seen: &CheckedEntry<'_>, file: &File<'_>, found: &mut Findings) {
        let Some(number) = seen.link.filter(|_| file.profile == Profile::Strict) else { return };
        let link = &file.links.list[number];
        if let Some(first) = file.links.first(link.uuid).filter(|first| *first != number) {
            let first = &file.links.list[first];
            let same = match link.likeness(first) {
                Likeness::Same => ", with identical contents",
                Likeness::SaysTheSame => ", with other metadata",
                Likeness::Different => ", with other contents",
            };
            let message = format!("The uuid was used in line {} already{same}", first.place.line);
            found.about(RULE, Severity::Error, seen, message);
        } else if seen.entry.uuid().is_some_and(|uuid| file.session.has_entry(&uuid)) {
            found.about(
                RULE,
                Severity::Error,
                seen,
                "The uuid was used in another file of the session already",
            );
        }
    }
}
