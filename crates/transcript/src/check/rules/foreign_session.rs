use super::super::context::{Check, File, Found, Role, Seen, Tally, lines};
use super::super::names;
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("foreign-session");

/// All lines of a file name one session. Older versions copied the history of one session into the file of
/// the next.
#[derive(Debug, Default)]
pub(super) struct ForeignSession {
    own: Option<Box<str>>,
    foreign: Tally,
}

impl Check for ForeignSession {
    fn entry(&mut self, seen: &Seen<'_>, file: &File<'_>, _: &mut Found) {
        let Some(id) = seen.entry.session_id() else { return };
        let own = self.own.get_or_insert_with(|| match file.role {
            // A copy may have any file name; then the session of its first line counts.
            Role::Main { id: own, .. } | Role::Agent { id: own, .. } if names::uuid(own).is_some() => {
                own.into()
            }
            _ => id.as_ref().into(),
        });
        if **own != *id {
            self.foreign.count(&id, seen.place);
        }
    }

    fn finish(&mut self, _: &File<'_>, found: &mut Found) {
        for (id, count, place) in self.foreign.take() {
            let message = format!("{} of another session, `{id}`, starting here", lines(count));
            found.add(RULE, Severity::Note, place, None, message);
        }
    }
}
