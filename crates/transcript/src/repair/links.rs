//! Parents and leaves that no entry bears, and parents that go round in a ring.

use tidings_protocol::entry::EntryKind;

use super::copies::Kept;
use super::edit::NewParent;
use super::plan::Plan;
use super::results::Made;
use super::survey::Survey;
use crate::Rule;
use crate::check::links::Lane;
use crate::check::names::{self, Name};
use crate::check::rings::rings;

const PARENT: Rule = Rule::new("known-parent");
const CYCLE: Rule = Rule::new("parent-cycle");
const LEAF: Rule = Rule::new("phantom-leaf");

/// Whether no entry bears the name of a parent.
pub(super) fn is_phantom(parent: Option<Name>, kept: &Kept, survey: &Survey) -> bool {
    parent.is_some_and(|parent| kept.links.first(parent).is_none() && !is_hidden(parent, kept, survey))
}

fn is_hidden(name: Name, kept: &Kept, survey: &Survey) -> bool {
    !survey.hidden.is_empty()
        && names::uuid(&kept.links.names.text(name)).is_some_and(|uuid| survey.hidden.contains(&uuid))
}

/// Plans new parents and leaves where the old ones lead nowhere.
///
/// An entry whose parent nobody bears follows the entry before it in its lane. A ring is cut at its first entry, which
/// then follows the entry before it in its lane, unless that hangs on the ring itself; then it becomes a root.
pub(super) fn mend(kept: &Kept, survey: &Survey, made: &Made, plan: &mut Plan) {
    let list = &kept.links.list;
    let text = |number: usize| kept.links.names.text(list[number].uuid);
    let before = kept.links.before();
    // An entry, or what was made up behind it.
    let end_of = |number: usize| made.after.get(&number).cloned().unwrap_or_else(|| text(number));
    let known = |name: Name| {
        kept.links.first(name).is_some()
            || is_hidden(name, kept, survey)
            || made.names.contains(&kept.links.names.text(name))
    };
    let mut parents = kept.links.parents();
    for (number, link) in list.iter().enumerate() {
        if let Some(uuid) = made.follow.get(&number) {
            plan.treat(link.place)
                .because(super::results::RULE, "Hung on the result that took the place of the lost one")
                .edit
                .parent = Some(NewParent::Entry(uuid.clone()));
        } else if let Some(parent) = link.parent.filter(|parent| !known(*parent)) {
            parents[number] = before[number];
            let new = before[number].map_or(NewParent::Nothing, |before| NewParent::Entry(end_of(before)));
            let sentence = match before[number] {
                Some(before) => format!(
                    "Linked to line {} instead of a parent that is not there",
                    list[before].place.line
                ),
                None => "Made a root, since its parent is not there".to_owned(),
            };
            let sentence = format!("{sentence}: `{}`", kept.links.names.text(parent));
            plan.treat(link.place).because(PARENT, sentence).edit.parent = Some(new);
        }
        if let Some(parent) = kept.logical[number].filter(|parent| !known(*parent))
            && let Some(before) = before[number]
        {
            let line = list[before].place.line;
            let sentence = format!(
                "The boundary follows line {line} now; what it followed is not there: `{}`",
                kept.links.names.text(parent)
            );
            plan.treat(link.place).because(PARENT, sentence).edit.logical_parent = Some(end_of(before));
        }
    }
    let found = rings(&parents);
    for (ring, entries) in found.rings.iter().enumerate() {
        let first = entries[0];
        // Rings are cut in order, so that an earlier one is none any more.
        let safe = before[first].filter(|before| found.leads[*before].is_none_or(|leads| leads < ring));
        let sentence = match safe {
            Some(before) => format!("Cut a ring of parents: linked to line {}", list[before].place.line),
            None => "Cut a ring of parents: made a root".to_owned(),
        };
        plan.treat(list[first].place).because(CYCLE, sentence).edit.parent =
            Some(safe.map_or(NewParent::Nothing, |before| NewParent::Entry(end_of(before))));
    }
    leaves(kept, survey, made, plan);
}

/// The leaf to resume from: for the last mark of the file its last message, for an earlier one the message before it.
fn leaves(kept: &Kept, survey: &Survey, made: &Made, plan: &mut Plan) {
    let list = &kept.links.list;
    // For every entry the last message up to it.
    let messages = list.iter().enumerate().scan(None, |last, (number, link)| {
        if link.lane == Lane::Main && matches!(link.kind, EntryKind::User | EntryKind::Assistant) {
            *last = Some(number);
        }
        Some(*last)
    });
    let messages: Vec<Option<usize>> = messages.collect();
    for (number, leaf) in survey.leaves.iter().enumerate() {
        let name = kept.links.names.text(leaf.name);
        if kept.links.first(leaf.name).is_some()
            || is_hidden(leaf.name, kept, survey)
            || made.names.contains(&name)
        {
            continue;
        }
        let is_last = number + 1 == survey.leaves.len();
        let end = if is_last { list.len() } else { leaf.before };
        let Some(message) = end.checked_sub(1).and_then(|last| messages[last]) else { continue };
        let sentence =
            format!("Resumes from line {} now; the leaf is not there: `{name}`", list[message].place.line);
        plan.treat(leaf.place).because(LEAF, sentence).edit.leaf =
            Some(kept.links.names.text(list[message].uuid));
    }
}
