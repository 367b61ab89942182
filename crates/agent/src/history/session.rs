//! A whole session from disk as events.

use tidings_protocol::ui::UiMessage;
use tidings_transcript::Error;
use tidings_transcript::session::{LaneId, NodeId, Session, View};

use super::Replay;
use crate::fold::FoldOptions;

/// Gives the events of a session to `each`, with those of sub-agents where they were started: of the branch that ends at
/// `leaf`, or of the active one.
///
/// Nothing but one entry and its events is held at a time.
pub fn replay_session<E: From<Error>>(
    session: &Session,
    leaf: Option<NodeId>,
    handle: i64,
    options: FoldOptions,
    mut each: impl FnMut(&[UiMessage]) -> Result<(), E>,
) -> Result<(), E> {
    let mut replay = Replay::new(handle, options);
    let mut events = Vec::new();
    // Sub-agents are opened at the call that started them; a list of what is left to read takes the place of recursion.
    let leaf = leaf.or_else(|| session.active_leaf(LaneId::MAIN));
    let mut left = vec![Left::of(session, LaneId::MAIN, leaf)];
    while let Some(lane) = left.last_mut() {
        let Some(node) = lane.nodes.next() else {
            left.pop();
            continue;
        };
        let entry = session.entry(node)?;
        replay.entry(&entry.as_ref(), lane.agent.as_deref(), &mut events);
        if !events.is_empty() {
            each(&events)?;
            events.clear();
        }
        let depth = left.len();
        for started in session.lanes_of(node) {
            // A lane that claims to have started itself would never end.
            if left.iter().all(|lane| lane.id != started) && depth <= session.lanes().len() {
                left.push(Left::of(session, started, session.active_leaf(started)));
            }
        }
        // Of several that one call started, the first comes first.
        left[depth..].reverse();
    }
    replay.finish(&mut events);
    each(&events)
}

/// A lane and what is left of it.
struct Left {
    id: LaneId,
    agent: Option<String>,
    nodes: std::vec::IntoIter<NodeId>,
}

impl Left {
    fn of(session: &Session, id: LaneId, leaf: Option<NodeId>) -> Self {
        let path = leaf.map(|leaf| session.path(leaf, View::Unified));
        let agent = session
            .lane(id)
            .agent
            .as_ref()
            .and_then(|agent| agent.tool_use_id.as_deref().or(agent.id.as_deref()).map(str::to_owned));
        Left { id, agent, nodes: path.unwrap_or_default().into_iter() }
    }
}
