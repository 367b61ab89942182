//! Adoption of a session whose agent kept running without this process, and reading the rest of the output of
//! an agent that has ended.

use std::collections::BTreeSet;
use std::fmt;

use tidings::{Frame, Kind};
use tidings_protocol::ui::UiMessage;
use tidings_protocol::view::Block;

use crate::fold::{Fold, FoldOptions, Input, RestoreError, Snapshot};

/// The point at which another process stopped driving a session. Its agent still runs, and its transport
/// continues after [`Checkpoint::end`].
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// State of the fold at that point.
    pub fold: Snapshot,
    /// Offset in the agent's output that the state covers.
    pub end: u64,
    /// Offset up to which the sink has stored the events. Events up to it are computed again to restore
    /// state, and not sent.
    pub stored: u64,
}

/// Storage for the snapshots from which a session is adopted.
///
/// It is called when the sink has taken all events so far, and often enough that only a limited number of
/// frames lie between two calls.
pub trait SnapshotStore: fmt::Debug + Send + Sync {
    /// Stores the state of the fold, and the offset in the agent's output that it covers. Output before the
    /// offset is no longer needed.
    fn store(&self, fold: Snapshot, end: u64);
}

/// Reader for the rest of the output of an agent that has ended: turns what it wrote after
/// [`Checkpoint::end`] into events.
///
/// Requests in it are left out, because they can no longer be answered.
#[derive(Debug)]
pub struct RemainingOutput {
    fold: Fold,
    stored: u64,
    shown: ShownRequests,
}

impl RemainingOutput {
    /// Creates a reader that continues from a checkpoint.
    pub fn new(checkpoint: Checkpoint) -> Result<Self, RestoreError> {
        let fold = Fold::restore(checkpoint.fold, FoldOptions::default())?;
        Ok(RemainingOutput { shown: ShownRequests::of(&fold), fold, stored: checkpoint.stored })
    }

    /// Reads a frame that ends at offset `end`, and returns the events that the sink has not stored.
    pub fn read(&mut self, frame: &Frame, end: u64) -> Vec<UiMessage> {
        let mut events = Vec::new();
        self.shown.forget_answered(&mut self.fold, frame, &mut events);
        self.fold.step(Input::Frame(&frame.as_ref()), &mut events);
        if end <= self.stored {
            events.clear();
        }
        events
    }
}

/// Requests that were shown before the session was adopted.
#[derive(Debug, Default)]
pub(super) struct ShownRequests(BTreeSet<String>);

impl ShownRequests {
    pub(super) fn of(fold: &Fold) -> Self {
        ShownRequests(fold.open_asks().map(str::to_owned).collect())
    }

    /// Removes a request that is asked again; true if it was shown before.
    pub(super) fn remove(&mut self, id: &str) -> bool {
        self.0.remove(id)
    }

    /// Forgets requests that the previous process answered. The agent does not ask about them again: the call
    /// has a result, or the turn is over.
    pub(super) fn forget_answered(&mut self, fold: &mut Fold, frame: &Frame, events: &mut Vec<UiMessage>) {
        if self.0.is_empty() {
            return;
        }
        let answered: Vec<String> = match frame.kind() {
            Kind::Result => self.0.iter().cloned().collect(),
            Kind::User => frame
                .content_blocks()
                .filter_map(|block| match block {
                    Block::ToolResult { tool_use_id, .. } => Some(tool_use_id.get().into_owned()),
                    _ => None,
                })
                .collect(),
            _ => return,
        };
        for id in answered {
            if self.0.remove(&id) {
                fold.forget_ask(&id, events);
            }
        }
    }
}
