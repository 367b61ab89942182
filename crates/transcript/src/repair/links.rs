//! Missing parents and leaves, and cycles of parents.

use tidings_protocol::entry::EntryKind;

use super::copies::UniqueEntries;
use super::edit::NewParent;
use super::plan::RepairPlan;
use super::results::StandIns;
use super::survey::Survey;
use crate::Rule;
use crate::check::cycles::find_cycles;
use crate::check::links::LaneKey;
use crate::check::names::NameId;

const PARENT: Rule = Rule::new("known-parent");
const CYCLE: Rule = Rule::new("parent-cycle");
const LEAF: Rule = Rule::new("phantom-leaf");

/// Returns true if no entry has the uuid of a parent.
pub(super) fn is_phantom(parent: NameId, kept: &UniqueEntries, survey: &Survey) -> bool {
    kept.links.first(parent).is_none() && !is_hidden(parent, kept, survey)
}

fn is_hidden(name: NameId, kept: &UniqueEntries, survey: &Survey) -> bool {
    !survey.hidden.uuids.is_empty() && survey.hidden.uuids.contains(kept.links.names.text(name).as_bytes())
}

/// Plans new parents and leaves for missing ones.
///
/// An entry with a missing parent follows the preceding entry in its lane. A cycle is cut at its first entry,
/// which then follows the preceding entry in its lane, unless that depends on the cycle itself; then it
/// becomes a root.
pub(super) fn plan_links(kept: &UniqueEntries, survey: &Survey, made: &StandIns, plan: &mut RepairPlan) {
    let list = &kept.links.list;
    let text = |number: usize| kept.links.names.text(list[number].uuid);
    let before = kept.links.before();
    // An entry, or the stand-in after it; and the parent to use in the search for cycles.
    let end_of = |number: usize| match made.after.get(&number) {
        Some(stand_in) => (stand_in.uuid.clone(), stand_in.call),
        None => (text(number), number),
    };
    let known = |name: NameId| !is_phantom(name, kept, survey) || made.claimed.contains_key(&name);
    let mut parents = kept.links.parents();
    for (number, link) in list.iter().enumerate() {
        if let Some(stand_in) = made.follow.get(&number) {
            parents[number] = Some(stand_in.call);
            let record = plan.treat(link.place);
            record.because(super::results::RULE, "Linked to the result that replaces the lost one");
            record.edit.parent = Some(NewParent::Entry(stand_in.uuid.clone()));
        } else if let Some(call) = link.parent.and_then(|parent| made.claimed.get(&parent)) {
            parents[number] = Some(*call);
        } else if let Some(parent) = link.parent.filter(|parent| !known(*parent)) {
            let (new, sentence) = match before[number] {
                Some(before) => {
                    let (uuid, parent) = end_of(before);
                    parents[number] = Some(parent);
                    let line = list[before].place.line;
                    (NewParent::Entry(uuid), format!("Linked to line {line} instead of a missing parent"))
                }
                None => (NewParent::Nothing, "Made a root, since its parent is missing".to_owned()),
            };
            let sentence = format!("{sentence}: `{}`", kept.links.names.text(parent));
            plan.treat(link.place).because(PARENT, sentence).edit.parent = Some(new);
        }
        if let Some(parent) = kept.logical[number].filter(|parent| !known(*parent))
            && let Some(before) = before[number]
        {
            let line = list[before].place.line;
            let sentence = format!(
                "Linked the boundary to line {line}, since its logical parent is missing: `{}`",
                kept.links.names.text(parent)
            );
            plan.treat(link.place).because(PARENT, sentence).edit.logical_parent = Some(end_of(before).0);
        }
    }
    let found = find_cycles(&parents);
    for (cycle, entries) in found.cycles.iter().enumerate() {
        let first = entries[0];
        // Cycles are cut in order, so that earlier ones are resolved.
        let safe = before[first].map(|before| (before, end_of(before)));
        let safe = safe.filter(|(_, (_, parent))| found.leads[*parent].is_none_or(|leads| leads < cycle));
        let (new, sentence) = match safe {
            Some((before, (uuid, _))) => {
                let line = list[before].place.line;
                (NewParent::Entry(uuid), format!("Cut a cycle of parents: linked to line {line}"))
            }
            None => (NewParent::Nothing, "Cut a cycle of parents: made a root".to_owned()),
        };
        plan.treat(list[first].place).because(CYCLE, sentence).edit.parent = Some(new);
    }
    leaves(kept, survey, made, plan);
}

/// Plans leaves to resume from: for the last mark of the file its last message, for an earlier one the
/// message before it. If there is no such message, the last entry is used.
fn leaves(kept: &UniqueEntries, survey: &Survey, made: &StandIns, plan: &mut RepairPlan) {
    let list = &kept.links.list;
    // For every entry, the last message up to it.
    let messages = list.iter().enumerate().scan(None, |last, (number, link)| {
        if link.lane == LaneKey::Main && matches!(link.kind, EntryKind::User | EntryKind::Assistant) {
            *last = Some(number);
        }
        Some(*last)
    });
    let messages: Vec<Option<usize>> = messages.collect();
    for (number, leaf) in survey.leaves.iter().enumerate() {
        let name = kept.links.names.text(leaf.name);
        if kept.links.first(leaf.name).is_some()
            || is_hidden(leaf.name, kept, survey)
            || made.claimed.contains_key(&leaf.name)
        {
            continue;
        }
        let is_last = number + 1 == survey.leaves.len();
        let end = if is_last { list.len() } else { leaf.before };
        let message = end.checked_sub(1).and_then(|last| messages[last]);
        let Some(message) = message.or(list.len().checked_sub(1)) else { continue };
        let sentence = format!(
            "Set the leaf to line {}, since the old one is missing: `{name}`",
            list[message].place.line
        );
        plan.treat(leaf.place).because(LEAF, sentence).edit.leaf =
            Some(kept.links.names.text(list[message].uuid));
    }
}
