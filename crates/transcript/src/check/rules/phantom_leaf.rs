//! Rule: the leaf to resume from is an entry of the file.

use tidings_protocol::entry::EntryKind;

use super::super::context::{Check, CheckedEntry, File, Findings};
use crate::{Position, Rule, Severity};

const RULE: Rule = Rule::new("phantom-leaf");

/// The leaf to resume from is an entry of the file. It may come later in the file; leaves of summaries may be
/// in other files.
#[derive(Debug, Default)]
pub(super) struct PhantomLeaf {
    /// Leaves that were not in the file yet, the position of the line that names them, and the number of
    /// entries before it.
    ahead: Vec<(Box<str>, Position, usize)>,
}

impl Check for PhantomLeaf {
    fn entry(&mut self, seen: &CheckedEntry<'_>, file: &File<'_>, _: &mut Findings) {
        if seen.entry.kind() != EntryKind::LastPrompt {
            return;
        }
        if let Some(leaf) = seen.entry.leaf_uuid()
            && !file.links.has(&leaf)
        {
            self.ahead.push((leaf.into(), seen.place, file.links.list.len()));
        }
    }

    fn finish(&mut self, file: &File<'_>, found: &mut Findings) {
        for (leaf, place, before) in std::mem::take(&mut self.ahead) {
            if file.links.has(&leaf) {
                continue;
            }
            // The leaf itself is written after the line that names it.
            let is_last = before == file.links.list.len();
            let severity = if is_last { Severity::Note } else { Severity::Warning };
            let message = format!("No readable line contains the leaf to resume from: `{leaf}`");
            found.add(RULE, severity, place, None, message);
        }
    }
}
