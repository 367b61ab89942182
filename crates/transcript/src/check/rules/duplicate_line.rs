use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

use super::super::Profile;
use super::super::context::{Check, File, Found, Seen, lines};
use super::super::links::Likeness;
use crate::{Place, Rule, Severity};

const RULE: Rule = Rule::new("duplicate-line");

/// No entry stands in the file twice.
///
/// Side records (titles, modes, …) are written again and again, and the last one counts; only large ones are worth
/// a remark.
#[derive(Debug, Default)]
pub(super) struct DuplicateLine {
    /// Large side records by fingerprint: the first, and how many copies follow in how many bytes.
    large: HashMap<u64, (Place, u64)>,
}

/// From this size on copies of side records are remarked on: a file grew to gigabytes by them.
const LARGE_BYTES: u64 = 64 << 10;

impl Check for DuplicateLine {
    fn entry(&mut self, seen: &Seen<'_>, file: &File<'_>, found: &mut Found) {
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

    fn finish(&mut self, _: &File<'_>, found: &mut Found) {
        for (place, copies) in std::mem::take(&mut self.large).into_values().filter(|(_, copies)| *copies > 0)
        {
            let copies_say = if copies == 1 { "says" } else { "say" };
            let message = format!(
                "{} of {} bytes further down {copies_say} the same again",
                lines(copies),
                place.bytes
            );
            found.add(RULE, Severity::Note, place, None, message);
        }
    }
}
