//! Forests of numbered entries: cycles, children, orders. Nothing here recurses, and everything takes linear
//! time.

use super::NodeId;

/// Cuts every cycle of parents at its lowest entry, and returns those entries.
pub(super) fn break_cycles(parents: &mut [Option<NodeId>]) -> Vec<NodeId> {
    const UNSEEN: usize = usize::MAX;
    let mut cut = Vec::new();
    // The walk that visited an entry: a walk that meets itself is in a cycle.
    let mut seen = vec![UNSEEN; parents.len()];
    for start in 0..parents.len() {
        let mut at = start;
        while seen[at] == UNSEEN {
            seen[at] = start;
            let Some(parent) = parents[at] else { break };
            at = parent.index();
            if seen[at] == start {
                let lowest = lowest_of_cycle(parents, parent);
                parents[lowest.index()] = None;
                cut.push(lowest);
            }
        }
    }
    cut
}

fn lowest_of_cycle(parents: &[Option<NodeId>], member: NodeId) -> NodeId {
    let (mut lowest, mut at) = (member, member);
    while let Some(parent) = parents[at.index()] {
        if parent == member {
            break;
        }
        lowest = lowest.min(parent);
        at = parent;
    }
    lowest
}

/// The children of every entry, in ascending order.
#[derive(Debug, Clone, Default)]
pub(super) struct Children {
    starts: Vec<u32>,
    items: Vec<NodeId>,
    roots: Vec<NodeId>,
}

impl Children {
    pub(super) fn of(parents: &[Option<NodeId>]) -> Self {
        let mut starts = vec![0_u32; parents.len() + 1];
        for parent in parents.iter().flatten() {
            starts[parent.index() + 1] += 1;
        }
        for index in 0..parents.len() {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut items = vec![NodeId(0); starts.last().map_or(0, |count| *count as usize)];
        let mut roots = Vec::new();
        for (id, parent) in (0_u32..).map(NodeId).zip(parents) {
            match parent {
                Some(parent) => {
                    let slot = &mut next[parent.index()];
                    items[*slot as usize] = id;
                    *slot += 1;
                }
                None => roots.push(id),
            }
        }
        Children { starts, items, roots }
    }

    pub(super) fn get(&self, id: NodeId) -> &[NodeId] {
        &self.items[self.starts[id.index()] as usize..self.starts[id.index() + 1] as usize]
    }

    /// All entries, each after its parent, breadth first.
    pub(super) fn parents_first(&self) -> Vec<NodeId> {
        let mut order = self.roots.clone();
        let mut at = 0;
        while let Some(id) = order.get(at) {
            order.extend_from_slice(self.get(*id));
            at += 1;
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(numbers: &[Option<u32>]) -> Vec<Option<NodeId>> {
        numbers.iter().map(|number| number.map(NodeId)).collect()
    }

    #[test]
    fn f78_circles_are_cut_at_their_lowest_entry() {
        let mut parents = ids(&[None, Some(2), Some(3), Some(1), Some(3), Some(5), Some(5)]);
        assert_eq!(break_cycles(&mut parents), [NodeId(1), NodeId(5)]);
        assert_eq!(parents, ids(&[None, None, Some(3), Some(1), Some(3), None, Some(5)]));
        assert_eq!(Children::of(&parents).parents_first().len(), parents.len());
    }
}
