//! Rule: messages follow messages, not progress of a tool.

use tidings_protocol::entry::EntryKind;

use super::super::context::{Check, File, Findings};
use crate::{Position, Rule, Severity};

const RULE: Rule = Rule::new("progress-link");

/// Messages follow messages, not lines about a tool's progress, which many readers skip.
#[derive(Debug)]
pub(super) struct ProgressLink;

impl Check for ProgressLink {
    fn finish(&mut self, file: &File<'_>, found: &mut Findings) {
        let links = file.links;
        let mut first: Option<Position> = None;
        let mut count = 0_u64;
        for link in links.list.iter().filter(|link| link.kind != EntryKind::Progress) {
            let parent = link.parent.and_then(|parent| links.first(parent));
            if parent.is_some_and(|number| links.list[number].kind == EntryKind::Progress) {
                first.get_or_insert(link.place);
                count += 1;
            }
        }
        if let Some(place) = first {
            let entries = if count == 1 { "1 entry follows" } else { &format!("{count} entries follow") };
            let message = format!("{entries} `progress` lines, starting with this one");
            found.add(RULE, Severity::Note, place, None, message);
        }
    }
}
