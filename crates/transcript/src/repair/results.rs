//! Lost results of tool calls.

use std::collections::{HashMap, HashSet};

use tidings_protocol::entry::EntryKind;

use super::copies::UniqueEntries;
use super::plan::{MissingResult, RepairPlan};
use super::survey::Survey;
use super::{links, orphans, synthetic};
use crate::Rule;
use crate::check::links::LaneKey;
use crate::check::names::NameId;
use crate::check::pairing::{CallRef, Pairing};

pub(super) const RULE: Rule = Rule::new("tool-result-missing");

/// The synthesised results.
#[derive(Debug, Default)]
pub(super) struct StandIns {
    /// Uuids without an entry that a stand-in has now, with its call.
    pub(super) claimed: HashMap<NameId, usize>,
    /// The last stand-in after an entry.
    pub(super) after: HashMap<usize, StandIn>,
    /// Entries that follow a stand-in now.
    pub(super) follow: HashMap<usize, StandIn>,
    /// The synthesised uuids.
    new: HashSet<String>,
}

/// A new entry in place of a lost result.
#[derive(Debug, Clone)]
pub(super) struct StandIn {
    pub(super) uuid: String,
    /// The call that it follows.
    pub(super) call: usize,
}

/// Plans a result for every call that lost its own, and text for every result that lost its call.
///
/// The model answered the lost result, so the uuid of the result is often still known: it is the missing
/// parent of an entry further down. Then the new entry takes that uuid, and the chain is complete again.
/// Otherwise it gets a uuid derived from the call's, and the children of the call are linked to it.
pub(super) fn restore(kept: &mut UniqueEntries, survey: &Survey, plan: &mut RepairPlan) -> StandIns {
    let mut pairing = Pairing::default();
    let mut is_result = vec![false; kept.links.list.len()];
    for (number, tools) in kept.tools.iter_mut().enumerate() {
        if let Some(tools) = tools.take() {
            is_result[number] = tools.is_result();
            pairing.add(tools, number, &kept.links);
        }
    }
    let unpaired = pairing.finish(&kept.links);
    orphans::into_text(unpaired.lost_calls, &kept.links, survey, plan);
    let mut lost = unpaired.lost_results;
    lost.retain(|call| !survey.hidden.answered.contains(call.id.as_bytes()));
    let mut made = StandIns::default();
    if lost.is_empty() {
        return made;
    }
    let mut turns = Turns::of(kept, &is_result, survey);
    let before = kept.links.before();
    let mut by_response = HashMap::new();
    let mut by_call = HashMap::new();
    for call in lost {
        let (after, uuid) = match turns.orphan_after(call.link) {
            Some((orphan, parent)) => {
                made.claimed.insert(parent, call.link);
                (before[orphan].unwrap_or(call.link), kept.links.names.text(parent))
            }
            None => (turns.last_of(call.link), unused_name(&call, kept, &mut made)),
        };
        let stand_in = StandIn { uuid: uuid.clone(), call: call.link };
        let link = &kept.links.list[call.link];
        by_response.extend(link.response.map(|response| (response, stand_in.clone())));
        by_call.insert(call.link, stand_in.clone());
        made.after.insert(after, stand_in);
        let sentence =
            format!("Added an error in place of the lost result of the {} call `{}`", call.tool, call.id);
        let result = MissingResult { call: kept.content[call.link].place, id: call.id, uuid, sentence };
        plan.treat(kept.links.list[after].place).results.push(result);
    }
    relink_children(kept, &is_result, &by_response, &by_call, &mut made);
    made
}

fn unused_name(call: &CallRef, kept: &UniqueEntries, made: &mut StandIns) -> String {
    let names = &kept.links.names;
    let of = |attempt| synthetic::uuid(&names.text(kept.links.list[call.link].uuid), &call.id, attempt);
    let unused = (0..=u8::MAX).map(of).find(|uuid| names.find(uuid).is_none() && !made.new.contains(uuid));
    let uuid = unused.unwrap_or_else(|| of(0));
    made.new.insert(uuid.clone());
    uuid
}

/// Links the entries that continue from the call itself, past its result, to the result.
fn relink_children(
    kept: &UniqueEntries,
    is_result: &[bool],
    by_response: &HashMap<NameId, StandIn>,
    by_call: &HashMap<usize, StandIn>,
    made: &mut StandIns,
) {
    let list = &kept.links.list;
    let parents = kept.links.parents();
    // True if an entry is a message or leads to one: entries of hooks beside a call need not move.
    let mut leads_on = vec![false; list.len()];
    for (number, link) in list.iter().enumerate() {
        let mut at = matches!(link.kind, EntryKind::User | EntryKind::Assistant).then_some(number);
        while let Some(here) = at.filter(|here| !leads_on[*here]) {
            leads_on[here] = true;
            at = parents[here];
        }
    }
    for (number, link) in list.iter().enumerate() {
        let Some(parent) = parents[number].filter(|_| leads_on[number] && !is_result[number]) else {
            continue;
        };
        let response = list[parent].response;
        if response.is_some() && response == link.response {
            continue;
        }
        let result =
            response.and_then(|response| by_response.get(&response)).or_else(|| by_call.get(&parent));
        made.follow.extend(result.map(|stand_in| (number, stand_in.clone())));
    }
}

/// Sections of a lane from one prompt or response to the next.
struct Turns {
    /// The turn of each entry.
    of: Vec<usize>,
    /// The last block or result of each turn.
    last: Vec<usize>,
    /// Entries of each turn, and the first of the next, with a missing parent. It may have been a result.
    orphans: Vec<Vec<(usize, NameId)>>,
    /// The first entry that has this parent.
    first_child: HashMap<NameId, usize>,
}

impl Turns {
    fn of(kept: &UniqueEntries, is_result: &[bool], survey: &Survey) -> Self {
        let mut turns =
            Turns { of: Vec::new(), last: Vec::new(), orphans: Vec::new(), first_child: HashMap::new() };
        // The current turn of each lane, and the response in it.
        let mut current: HashMap<LaneKey, (usize, Option<NameId>)> = HashMap::new();
        for (number, link) in kept.links.list.iter().enumerate() {
            let lost_parent = link.parent.filter(|parent| links::is_phantom(*parent, kept, survey));
            // The parent of a result is its call, not another result.
            let orphan = lost_parent.filter(|_| !is_result[number]).map(|parent| (number, parent));
            if let Some(parent) = lost_parent {
                turns.first_child.entry(parent).or_insert(number);
            }
            let running = current.get(&link.lane).copied();
            let goes_on = match link.kind {
                EntryKind::User => !is_result[number],
                EntryKind::Assistant => {
                    link.response.is_some() && running.is_none_or(|(_, response)| response != link.response)
                }
                _ => false,
            };
            if let Some((before, _)) = running {
                turns.orphans[before].extend(orphan);
            }
            let turn = match running {
                Some((turn, _)) if !goes_on => turn,
                _ => {
                    turns.last.push(number);
                    turns.orphans.push(Vec::new());
                    current.insert(link.lane, (turns.last.len() - 1, link.response));
                    turns.last.len() - 1
                }
            };
            turns.of.push(turn);
            if is_result[number] || link.kind == EntryKind::Assistant {
                turns.last[turn] = number;
            }
        }
        turns
    }

    fn last_of(&self, number: usize) -> usize {
        self.last[self.of[number]]
    }

    /// The first entry after this one, up to the beginning of the next turn, with a missing parent, and that
    /// parent; each once. A uuid that an earlier entry refers to was not a result of this call.
    fn orphan_after(&mut self, number: usize) -> Option<(usize, NameId)> {
        let first_child = &self.first_child;
        let orphans = &mut self.orphans[self.of[number]];
        let fits = |(orphan, parent): &(usize, NameId)| *orphan > number && first_child[parent] == *orphan;
        let at = orphans.iter().position(fits)?;
        Some(orphans.remove(at))
    }
}
