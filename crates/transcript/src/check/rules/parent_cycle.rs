use super::super::context::{Check, File, Found};
use super::super::links::Links;
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("parent-cycle");

/// Whoever follows the parents comes to an end.
#[derive(Debug)]
pub(super) struct ParentCycle;

impl Check for ParentCycle {
    fn finish(&mut self, file: &File<'_>, found: &mut Found) {
        let links = file.links;
        let parents: Vec<Option<usize>> =
            links.list.iter().map(|link| link.parent.and_then(|parent| links.first(parent))).collect();
        for cycle in cycles(&parents) {
            let message = match cycle[..] {
                [_] => "The entry is its own parent".to_owned(),
                _ => format!(
                    "The parents go round in a ring of {} entries: {}",
                    cycle.len(),
                    ring(&cycle, links)
                ),
            };
            let link = &links.list[cycle[0]];
            found.add(RULE, Severity::Error, link.place, Some(&links.names.text(link.uuid)), message);
        }
    }
}

/// The rings, each from its first entry on, by what follows what.
pub(crate) fn cycles(parents: &[Option<usize>]) -> Vec<Vec<usize>> {
    /// Not a number of any walk.
    const NOT_SEEN: usize = usize::MAX;
    let mut cycles = Vec::new();
    // The walk on which an entry was first seen.
    let mut walk = vec![NOT_SEEN; parents.len()];
    for start in 0..parents.len() {
        let mut at = start;
        while walk[at] == NOT_SEEN {
            walk[at] = start;
            let Some(parent) = parents[at] else { break };
            at = parent;
            if walk[at] == start {
                cycles.push(ring_from(at, parents));
            }
        }
    }
    cycles.sort_unstable();
    cycles
}

/// The ring that `at` is in, from its first entry on.
fn ring_from(at: usize, parents: &[Option<usize>]) -> Vec<usize> {
    let mut ring = vec![at];
    let mut next = parents[at];
    while let Some(here) = next.filter(|here| *here != at) {
        ring.push(here);
        next = parents[here];
    }
    let lowest = ring.iter().enumerate().min_by_key(|(_, number)| **number).map_or(0, |(place, _)| place);
    ring.rotate_left(lowest);
    ring
}

/// The lines of a ring; of a long one, the first few.
fn ring(cycle: &[usize], links: &Links) -> String {
    const SHOWN_MAX: usize = 8;
    let shown: Vec<String> = cycle
        .iter()
        .take(SHOWN_MAX)
        .map(|number| format!("line {}", links.list[*number].place.line))
        .collect();
    format!("{}{}", shown.join(" → "), if cycle.len() > SHOWN_MAX { " → …" } else { "" })
}
