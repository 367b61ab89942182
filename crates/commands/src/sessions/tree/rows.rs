//! Layout of the tree: its rows and their depths.

use std::collections::HashMap;

use tidings_transcript::session::{Branch, BranchState, EntryRole, LaneId, NodeId, Session};

use super::Detail;

/// Deeper nesting is drawn at this depth.
const DEPTH_MAX: usize = 32;

/// Number of entries up to which they are shown instead of folded.
const FOLD_MIN: usize = 2;

/// One line of the tree.
#[derive(Debug)]
pub(super) enum Row {
    /// An entry.
    Entry(NodeId),
    /// Entries that are folded into one line.
    Fold(Vec<NodeId>),
    /// A branch; its entries follow one level deeper.
    Branch(Branch, usize),
    /// The active branch continues after other branches.
    Active,
    /// A sub-agent; its entries follow one level deeper.
    Lane(LaneId),
}

/// Returns the rows of a session's tree with their depths, from top to bottom.
pub(super) fn rows(session: &Session, detail: Detail) -> Vec<(usize, Row)> {
    let mut laid = Vec::new();
    // Sub-agents whose caller is unknown come last.
    let lost =
        |lane: &LaneId| session.lane(*lane).agent.as_ref().is_some_and(|agent| agent.started_by.is_none());
    let lost: Vec<Row> = session.lane_ids().filter(lost).map(Row::Lane).collect();
    let mut pending = vec![
        Pending { depth: 0, rows: lost.into_iter(), forks: None },
        of_lane(session, LaneId::MAIN, detail, 0),
    ];
    while let Some(top) = pending.last_mut() {
        let depth = top.depth;
        let Some(row) = top.rows.next() else {
            pending.pop();
            continue;
        };
        let deeper = (depth + 1).min(DEPTH_MAX);
        let below = match &row {
            Row::Lane(lane) => Some(of_lane(session, *lane, detail, deeper)),
            Row::Branch(branch, _) => {
                let forks = pending
                    .iter()
                    .rev()
                    .find_map(|level| level.forks.as_ref().filter(|forks| forks.lane == branch.lane));
                forks.map(|forks| Pending {
                    depth: deeper,
                    rows: of_branch(session, branch, forks, detail).into_iter(),
                    forks: None,
                })
            }
            _ => None,
        };
        laid.push((depth, row));
        pending.extend(below);
    }
    laid
}

struct Pending {
    depth: usize,
    rows: std::vec::IntoIter<Row>,
    forks: Option<Forks>,
}

/// Forks of a lane: the branches that begin at each entry.
struct Forks {
    lane: LaneId,
    at: HashMap<NodeId, Vec<(Branch, usize)>>,
}

fn of_lane(session: &Session, lane: LaneId, detail: Detail, depth: usize) -> Pending {
    let branches = session.branches(lane);
    let mut forks = Forks { lane, at: HashMap::new() };
    let mut elsewhere = Vec::new();
    for (number, branch) in branches.iter().enumerate().skip(1) {
        match branch.fork {
            Some(fork) => forks.at.entry(fork).or_default().push((*branch, number + 1)),
            None => elsewhere.push(Row::Branch(*branch, number + 1)),
        }
    }
    let mut rows =
        branches.first().map_or_else(Vec::new, |branch| of_branch(session, branch, &forks, detail));
    rows.extend(elsewhere);
    Pending { depth, rows: rows.into_iter(), forks: Some(forks) }
}

/// Returns the rows of a branch's own entries, with their sub-agents and branches.
fn of_branch(session: &Session, branch: &Branch, forks: &Forks, detail: Detail) -> Vec<Row> {
    let path = session.own_path(branch);
    let mut rows = Vec::new();
    let mut fold = Vec::new();
    for (at, id) in path.iter().enumerate() {
        if is_shown_with_call(session, *id) {
            // The row of the call shows the result.
        } else if detail == Detail::Full || is_shown(session, &path, at) {
            push_fold(&mut rows, &mut fold, session);
            rows.push(Row::Entry(*id));
        } else {
            fold.push(*id);
        }
        let lanes: Vec<Row> = session.lanes_of(*id).map(Row::Lane).collect();
        let forking = forks.at.get(id);
        if !lanes.is_empty() || forking.is_some() {
            push_fold(&mut rows, &mut fold, session);
        }
        rows.extend(lanes);
        if let Some(forking) = forking {
            rows.extend(forking.iter().map(|(branch, number)| Row::Branch(*branch, *number)));
            if branch.state == BranchState::Active && at + 1 < path.len() {
                rows.push(Row::Active);
            }
        }
    }
    push_fold(&mut rows, &mut fold, session);
    rows
}

fn push_fold(rows: &mut Vec<Row>, fold: &mut Vec<NodeId>, session: &Session) {
    let mut folded = std::mem::take(fold);
    // Text added for the model would be half of all rows, and there are many bookkeeping entries.
    folded.retain(|id| {
        let node = session.node(*id);
        let silent = matches!(node.part, EntryRole::Attachment | EntryRole::Progress | EntryRole::Injected);
        !silent && (node.part != EntryRole::Event || node.has_text())
    });
    if folded.len() <= FOLD_MIN {
        rows.extend(folded.into_iter().map(Row::Entry));
    } else {
        rows.push(Row::Fold(folded));
    }
}

/// True for a tool result that is shown with its call, since both are on the same lane.
fn is_shown_with_call(session: &Session, id: NodeId) -> bool {
    let node = session.node(id);
    let paired = |tool: &tidings_transcript::session::ToolUse| tool.call.is_some() && tool.result == Some(id);
    node.part == EntryRole::ToolResult
        && session.results_of(id).next().is_some()
        && session.results_of(id).all(paired)
}

/// True if an entry has its own row: where a turn begins or ends, a branch forks, or something fails.
fn is_shown(session: &Session, path: &[NodeId], at: usize) -> bool {
    let id = path[at];
    let node = session.node(id);
    match node.part {
        EntryRole::Prompt
        | EntryRole::Command
        | EntryRole::Interruption
        | EntryRole::Notification
        | EntryRole::Compaction
        | EntryRole::CompactSummary
        | EntryRole::Error
        | EntryRole::Other => true,
        EntryRole::Response => {
            let delegates = session.lanes_of(id).next().is_some();
            let failed = session.calls_of(id).any(|tool| tool.is_error);
            delegates || failed || node.is_orphan() || node.is_cut() || ends_turn(session, &path[at + 1..])
        }
        EntryRole::CommandOutput
        | EntryRole::ToolResult
        | EntryRole::Injected
        | EntryRole::Event
        | EntryRole::Attachment
        | EntryRole::Progress => node.is_orphan() || node.is_cut(),
    }
}

/// True if no response follows before the next prompt.
fn ends_turn(session: &Session, rest: &[NodeId]) -> bool {
    for id in rest {
        let part = session.node(*id).part;
        if part.begins_turns() || part == EntryRole::Compaction {
            return true;
        }
        if matches!(part, EntryRole::Response | EntryRole::ToolResult) {
            return false;
        }
    }
    true
}
