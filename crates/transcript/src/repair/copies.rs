//! Entries that occur in a file more than once.

use std::collections::HashMap;

use super::plan::{RepairPlan, Treatment};
use super::survey::Survey;
use crate::Rule;
use crate::check::links::{Likeness, Link, Links};
use crate::check::names::NameId;
use crate::check::pairing::EntryTools;

const DUPLICATE: Rule = Rule::new("duplicate-line");
const CONFLICT: Rule = Rule::new("conflicting-copies");

/// Each entry once: at the position of its first copy, with the contents of its last.
#[derive(Debug, Default)]
pub(super) struct UniqueEntries {
    /// Positions are those of the first copies.
    pub(super) links: Links,
    /// Positions of the contents.
    pub(super) content: Vec<Link>,
    pub(super) tools: Vec<Option<EntryTools>>,
    pub(super) logical: Vec<Option<NameId>>,
}

/// Selects among copies: the last one, unless it has invalid UTF-8 and another has not.
pub(super) fn without_copies(survey: &mut Survey, plan: &mut RepairPlan) -> UniqueEntries {
    let links = std::mem::take(&mut survey.links);
    let mut copies: HashMap<NameId, Vec<usize>> = HashMap::new();
    for (number, link) in links.list.iter().enumerate() {
        if links.first(link.uuid) != Some(number) {
            copies.entry(link.uuid).or_default().push(number);
        }
    }
    let mut kept = UniqueEntries::default();
    let mut list = Vec::new();
    for (number, link) in
        links.list.iter().enumerate().filter(|(number, link)| links.first(link.uuid) == Some(*number))
    {
        let mut chosen = number;
        if let Some(copies) = copies.get(&link.uuid) {
            let all = || std::iter::once(&number).chain(copies);
            let intact = all().rev().find(|copy| !survey.garbled.contains(copy));
            chosen = intact.or_else(|| all().last()).copied().unwrap_or(number);
            treat(&links, number, copies, chosen, plan);
        }
        let content = links.list[chosen];
        let mut here = content;
        here.place = link.place;
        list.push(here);
        kept.content.push(content);
        kept.tools.push(survey.tools.remove(&chosen));
        kept.logical.push(survey.logical.remove(&chosen));
    }
    // Leaves refer to entry counts, which are smaller now.
    for leaf in &mut survey.leaves {
        leaf.before = list.partition_point(|link: &Link| link.place.offset < leaf.place.offset);
    }
    kept.links = Links::rebuilt(links.names, list);
    kept
}

fn treat(links: &Links, first: usize, copies: &[usize], chosen: usize, plan: &mut RepairPlan) {
    let kept = &links.list[chosen];
    let first = &links.list[first];
    if first.likeness(kept) != Likeness::Same {
        let sentence = format!("Used the contents of the copy in line {}", kept.place.line);
        plan.treat(first.place).because(CONFLICT, sentence).treatment = Treatment::Replace(kept.place);
    }
    for copy in copies.iter().map(|copy| &links.list[*copy]) {
        let line = first.place.line;
        if copy.likeness(kept) == Likeness::Same {
            let (rule, sentence) = if copy.place == kept.place && first.likeness(kept) != Likeness::Same {
                (CONFLICT, format!("Moved to line {line}, where the entry occurs first"))
            } else {
                (DUPLICATE, format!("Removed the copy of line {line}"))
            };
            plan.treat(copy.place).because(rule, sentence).treatment = Treatment::Remove;
        } else {
            let sentence = format!("Removed the copy of line {line}, which has other contents");
            plan.treat(copy.place).because(CONFLICT, sentence).treatment = Treatment::RemoveAndKeepBytes;
        }
    }
}
