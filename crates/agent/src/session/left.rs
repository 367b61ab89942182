//! Going on with a session whose agent has gone on without us, or reading what it said before it was gone.

use std::collections::BTreeSet;
use std::fmt;

use tidings::{Frame, Kind};
use tidings_protocol::ui::UiMessage;
use tidings_protocol::view::Block;

use crate::fold::{Fold, FoldOptions, Input, RestoreError, Snapshot};

/// Where a session was left: somebody else ran it, its agent is still there, and its carrier reads on after [`Left::end`].
#[derive(Debug, Clone)]
pub struct Left {
    /// What had been made of the agent's output.
    pub fold: Snapshot,
    /// Up to where.
    pub end: u64,
    /// Up to where the sink has the events. Those up to here are made again, for what has to be known, and not sent.
    pub stored: u64,
}

/// Keeps what whoever goes on with a session has to know.
///
/// It is called when the sink has all events so far: often enough that only frames lie between two calls, and not too many of them.
pub trait Keep: fmt::Debug + Send + Sync {
    /// What was made of the agent's output, and up to where. The output up to there is not needed any more.
    fn keep(&self, fold: Snapshot, end: u64);
}

/// Reads the last words of an agent that is gone: what it wrote after [`Left::end`], as events.
///
/// Nobody can answer it any more, so what it asked is left out.
#[derive(Debug)]
pub struct LastWords {
    fold: Fold,
    stored: u64,
    shown: Shown,
}

impl LastWords {
    /// Reads on where a session was left.
    pub fn new(left: Left) -> Result<Self, RestoreError> {
        let fold = Fold::restore(left.fold, FoldOptions::default())?;
        Ok(LastWords { shown: Shown::of(&fold), fold, stored: left.stored })
    }

    /// Reads a frame that ends there; the events that the sink does not have yet.
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

/// Questions that were shown before the session was left.
#[derive(Debug, Default)]
pub(super) struct Shown(BTreeSet<String>);

impl Shown {
    pub(super) fn of(fold: &Fold) -> Self {
        Shown(fold.open_asks().map(str::to_owned).collect())
    }

    /// Whether it was shown, and is asked again.
    pub(super) fn remove(&mut self, id: &str) -> bool {
        self.0.remove(id)
    }

    /// What was open when the session was left may have been answered by whoever left it, and then it is not asked again: the call has
    /// a result, or the turn is over.
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
