//! Going on with a session whose agent has gone on without us.

use std::fmt;

use crate::fold::Snapshot;

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
