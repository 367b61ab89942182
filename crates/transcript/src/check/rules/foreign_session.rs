//! Rule: all lines of a file name one session.

use super::super::context::{Check, CheckedEntry, File, FileRole, Findings, Occurrences, lines};
use super::super::names;
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("foreign-session");

/// All lines of a file name one session. Older versions copied the history of one session into the file of
/// the next.
#[derive(Debug, Default)]
pub(super) struct ForeignSession {
    own: Option<Box<str>>,
    foreign: Occurrences,
}

impl Check for ForeignSession {
    fn entry(&mut self, seen: &CheckedEntry<'_>, file: &File<'_>, _: &mut Findings) {
        let Some(id) = seen.entry.session_id() else { return };
        let own = self.own.get_or_insert_with(|| match file.role {
            // A copy may have any file name; then the session of its first line counts.
            FileRole::Main { id: own, .. } | FileRole::Agent { id: own, .. }
                if names::uuid(own).is_some() =>
            {
                own.into()
            }
            _ => id.as_ref().into(),
        });
        if **own != *id {
            self.foreign.count(&id, seen.place);
        }
    }

    fn finish(&mut self, _: &File<'_>, found: &mut Findings) {
        for (id, count, place) in self.foreign.take() {
            let message = format!("{} of another session, `{id}`, starting here", lines(count));
            found.add(RULE, Severity::Note, place, None, message);
        }
    }
}
