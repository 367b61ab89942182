//! Rule: an entry occurs in the file once.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

use super::super::Profile;
use super::super::context::{Check, CheckedEntry, File, Findings, lines};
use super::super::links::Likeness;
use crate::{Position, Rule, Severity};

const RULE: Rule = Rule::new("duplicate-line");

/// An entry occurs in the file once.
///
/// Side records (titles, modes, …) are written again and again, and the last one counts; only large ones are
/// reported.
#[derive(Debug, Default)]
pub(super) struct DuplicateLine {
    /// Large side records by fingerprint: position of the first, and the number of its copies.
    large: HashMap<u64, (Position, u64)>,
}

/// Copies of side records are reported from this size on: they made a file grow to gigabytes.
const LARGE_BYTES: u64 = 64 << 10;

impl Check for DuplicateLine {
    fn entry(&mut self, seen: &CheckedEntry<'_>, file: &File<'_>, found: &mut Findings) {
        let Some(number) = seen.link else {
            if seen.place.bytes >= LARGE_BYTES {
                let mut hasher = DefaultHasher::new();
                hasher.write(seen.entry.raw());
                self.large
                    .entry(hasher.finish())
                    .and_modify(|(_, copies)| *copies += 1)
                    .or_insert((seen.place, 0));
            }
            return;
        };
        let link = &file.links.list[number];
        if file.profile == Profile::Strict {
            return;
        }
        if let Some(first) = file.links.first(link.uuid).filter(|first| *first != number)
            && link.likeness(&file.links.list[first]) == Likeness::Same
        {
            let above = file.links.list[first].place.line;
            found.about(
                RULE,
                Severity::Warning,
                seen,
                format!("The line repeats line {above} byte for byte"),
            );
        }
    }

    fn finish(&mut self, _: &File<'_>, found: &mut Findings) {
        for (place, copies) in std::mem::take(&mut self.large).into_values().filter(|(_, copies)| *copies > 0)
        {
            let copies_repeat = if copies == 1 { "repeats" } else { "repeat" };
            let message =
                format!("{} of {} bytes further down {copies_repeat} it", lines(copies), place.bytes);
            found.add(RULE, Severity::Note, place, None, message);
        }
    }
}
