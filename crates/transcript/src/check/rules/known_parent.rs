//! Rule: the parent of an entry is in the file.

use std::collections::HashSet;

use super::super::context::{Check, CheckedEntry, File, Findings, MissingItem};
use super::super::names::NameId;
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("known-parent");

/// The parent is an entry that exists, anywhere in the file.
#[derive(Debug, Default)]
pub(super) struct KnownParent {
    /// Logical parents of compaction boundaries, by the number of the boundary.
    logical: Vec<(usize, Box<str>)>,
}

impl Check for KnownParent {
    fn entry(&mut self, seen: &CheckedEntry<'_>, _: &File<'_>, _: &mut Findings) {
        if let (Some(number), Some(parent)) = (seen.link, seen.entry.logical_parent_uuid()) {
            self.logical.push((number, parent.into()));
        }
    }

    fn finish(&mut self, file: &File<'_>, found: &mut Findings) {
        let links = file.links;
        let mut lanes = HashSet::new();
        for link in &links.list {
            let is_first_of_lane = lanes.insert(link.lane);
            let Some(parent) = link.parent.filter(|parent| is_phantom(*parent, file)) else { continue };
            // The first entry of a lane is not cut off from anything in the file.
            let lenient = if is_first_of_lane { Severity::Note } else { Severity::Warning };
            let message = format!("No readable line contains the parent: `{}`", links.names.text(parent));
            let uuid = links.names.text(link.uuid);
            let missing = MissingItem::Entry(links.names.text(parent).into());
            let severity = file.profile.severity(lenient);
            found.add_pending(missing, RULE, severity, link.place, &uuid, message);
        }
        for (number, parent) in std::mem::take(&mut self.logical) {
            if !links.has(&parent) && !file.session.has_entry(&parent) {
                let link = &links.list[number];
                let uuid = links.names.text(link.uuid);
                let message = format!(
                    "No readable line contains the logical parent of the compaction boundary: `{parent}`"
                );
                let missing = MissingItem::Entry(parent);
                found.add_pending(missing, RULE, Severity::Note, link.place, &uuid, message);
            }
        }
    }
}

fn is_phantom(parent: NameId, file: &File<'_>) -> bool {
    file.links.first(parent).is_none() && !file.session.has_entry(&file.links.names.text(parent))
}
