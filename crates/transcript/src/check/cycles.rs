//! Cycles of entries that are each other's ancestors.

/// Cycles of entries that are each other's ancestors.
#[derive(Debug, Default)]
pub(crate) struct Cycles {
    /// Each cycle from its first entry on, sorted by that entry.
    pub(crate) cycles: Vec<Vec<usize>>,
    /// For every entry, the cycle in which its chain of parents ends.
    pub(crate) leads: Vec<Option<usize>>,
}

/// Marks entries that no walk has reached.
const NOT_SEEN: usize = usize::MAX;

/// Finds the cycles, given the parent of every entry. Every entry is visited once.
pub(crate) fn find_cycles(parents: &[Option<usize>]) -> Cycles {
    let mut cycles: Vec<Vec<usize>> = Vec::new();
    let mut leads: Vec<Option<usize>> = vec![None; parents.len()];
    // The walk that first reached an entry.
    let mut walk = vec![NOT_SEEN; parents.len()];
    for start in 0..parents.len() {
        let mut path = Vec::new();
        let mut next = Some(start);
        let mut end = None;
        while let Some(at) = next {
            if walk[at] == start {
                end = Some(cycles.len());
                cycles.push(cycle_from(at, parents));
                break;
            }
            if walk[at] != NOT_SEEN {
                end = leads[at];
                break;
            }
            walk[at] = start;
            path.push(at);
            next = parents[at];
        }
        for at in path {
            leads[at] = end;
        }
    }
    in_order(cycles, leads)
}

/// The cycle that contains `at`, from its first entry on.
fn cycle_from(at: usize, parents: &[Option<usize>]) -> Vec<usize> {
    let mut cycle = vec![at];
    let mut next = parents[at];
    while let Some(here) = next.filter(|here| *here != at) {
        cycle.push(here);
        next = parents[here];
    }
    let lowest = cycle.iter().enumerate().min_by_key(|(_, number)| **number).map_or(0, |(place, _)| place);
    cycle.rotate_left(lowest);
    cycle
}

fn in_order(cycles: Vec<Vec<usize>>, leads: Vec<Option<usize>>) -> Cycles {
    let mut order: Vec<(usize, Vec<usize>)> = cycles.into_iter().enumerate().collect();
    order.sort_by_key(|(_, cycle)| cycle[0]);
    let mut place = vec![0; order.len()];
    for (now, (before, _)) in order.iter().enumerate() {
        place[*before] = now;
    }
    let leads = leads.into_iter().map(|cycle| cycle.map(|cycle| place[cycle])).collect();
    Cycles { cycles: order.into_iter().map(|(_, cycle)| cycle).collect(), leads }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn f78_every_ring_is_found_once_whatever_the_parents_are(
            parents in prop::collection::vec(prop::option::of(0usize..40), 40),
        ) {
            let found = find_cycles(&parents);
            for (start, led) in found.leads.iter().enumerate() {
                // A walk with more steps than entries ends in a cycle, or has ended before.
                let far = (0..=parents.len()).try_fold(start, |at, _| parents[at]);
                let cycle = far.map(|at| found.cycles.iter().position(|cycle| cycle.contains(&at)).unwrap());
                prop_assert_eq!(*led, cycle);
            }
            for cycle in &found.cycles {
                prop_assert_eq!(cycle[0], *cycle.iter().min().unwrap());
                for (at, here) in cycle.iter().enumerate() {
                    prop_assert_eq!(parents[*here], Some(cycle[(at + 1) % cycle.len()]));
                }
            }
            prop_assert!(found.cycles.is_sorted_by_key(|cycle| cycle[0]));
        }
    }
}
