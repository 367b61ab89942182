//! Rule: an entry is not older than its parent.

use super::super::context::{Check, File, Findings};
use crate::limits::CLOCK_SLACK_MILLIS;
use crate::{Position, Rule, Severity};

const RULE: Rule = Rule::new("clock-order");

/// An entry is not older than its parent. File order and parents determine the tree, so a violation loses no
/// data.
#[derive(Debug)]
pub(super) struct ClockOrder;

impl Check for ClockOrder {
    fn finish(&mut self, file: &File<'_>, found: &mut Findings) {
        let links = file.links;
        let mut first: Option<Position> = None;
        let (mut count, mut most) = (0_u64, 0);
        for link in &links.list {
            let parent = link.parent.and_then(|parent| links.first(parent)).map(|number| &links.list[number]);
            let (Some(at), Some(before)) = (link.at_millis, parent.and_then(|parent| parent.at_millis))
            else {
                continue;
            };
            let back = before.saturating_sub(at);
            if back > CLOCK_SLACK_MILLIS {
                first.get_or_insert(link.place);
                count += 1;
                most = most.max(back);
            }
        }
        if let Some(place) = first {
            let entries = if count == 1 { "1 entry is" } else { &format!("{count} entries are") };
            let message = format!(
                "{entries} older than the parent, by up to {} s, starting with this one",
                most / 1000
            );
            found.add(RULE, Severity::Note, place, None, message);
        }
    }
}
