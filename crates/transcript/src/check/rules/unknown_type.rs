//! Rule: the type of an entry is known.

use tidings_protocol::entry::EntryKind;

use super::super::Profile;
use super::super::context::{Check, CheckedEntry, File, Findings, Occurrences, lines};
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("unknown-type");

/// The type is known to this version. A newer CLI may write others, and nothing of them is lost.
#[derive(Debug, Default)]
pub(super) struct UnknownType {
    unknown: Occurrences,
}

impl Check for UnknownType {
    fn entry(&mut self, seen: &CheckedEntry<'_>, file: &File<'_>, _: &mut Findings) {
        // In the strict profile, `shape-matches-type` reports it.
        if seen.entry.kind() == EntryKind::Unknown
            && file.profile == Profile::Lenient
            && let Some(name) = seen.entry.type_name()
        {
            self.unknown.count(&name, seen.place);
        }
    }

    fn finish(&mut self, _: &File<'_>, found: &mut Findings) {
        for (name, count, place) in self.unknown.take() {
            let message = format!("{} of an unknown type, `{name}`, starting with this one", lines(count));
            found.add(RULE, Severity::Note, place, None, message);
        }
    }
}
