//! A complete session from disk as events.

use jiff::Timestamp;
use tidings_protocol::ui::UiMessage;
use tidings_transcript::Error;
use tidings_transcript::session::{LaneId, NodeId, Session, View};

use super::Replay;
use crate::fold::FoldOptions;

/// Passes the events of a session to `each`, with the time of their entry if it has one, and those of
/// sub-agents at the calls that started them. The branch is the one that ends at `leaf`, or the active one.
///
/// Only one entry and its events are held in memory at a time.
pub fn replay_session<E: From<Error>>(
    session: &Session,
    leaf: Option<NodeId>,
    handle: i64,
    options: FoldOptions,
    mut each: impl FnMut(&[UiMessage], Option<Timestamp>) -> Result<(), E>,
) -> Result<(), E> {
    let mut replay = Replay::new(handle, options);
    let (mut events, mut at) = (Vec::new(), None);
    // Sub-agents are inserted at the call that started them. A stack of lanes replaces recursion.
    let leaf = leaf.or_else(|| session.active_leaf(LaneId::MAIN));
    let mut stack = vec![RemainingLane::of(session, LaneId::MAIN, leaf)];
    while let Some(lane) = stack.last_mut() {
        let Some(node) = lane.nodes.next() else {
            stack.pop();
            continue;
        };
        let entry = session.entry(node)?;
        replay.entry(&entry.as_ref(), lane.agent.as_deref(), &mut events);
        if !events.is_empty() {
            at = session.node(node).at.or(at);
            each(&events, at)?;
            events.clear();
        }
        let depth = stack.len();
        for started in session.lanes_of(node) {
            // A lane that claims to have started itself would loop for ever.
            if stack.iter().all(|lane| lane.id != started) && depth <= session.lanes().len() {
                stack.push(RemainingLane::of(session, started, session.active_leaf(started)));
            }
        }
        // Lanes started by the same call are read in order.
        stack[depth..].reverse();
    }
    replay.finish(&mut events);
    each(&events, at)
}

/// A lane, with its entries that were not read yet.
struct RemainingLane {
    id: LaneId,
    agent: Option<String>,
    nodes: std::vec::IntoIter<NodeId>,
}

impl RemainingLane {
    fn of(session: &Session, id: LaneId, leaf: Option<NodeId>) -> Self {
        let path = leaf.map(|leaf| session.path(leaf, View::Unified));
        let agent = session
            .lane(id)
            .agent
            .as_ref()
            .and_then(|agent| agent.tool_use_id.as_deref().or(agent.id.as_deref()).map(str::to_owned));
        RemainingLane { id, agent, nodes: path.unwrap_or_default().into_iter() }
    }
}
