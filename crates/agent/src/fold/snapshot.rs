//! Snapshots of a fold, so that a restarted server continues where it was.

use serde::{Deserialize, Serialize};

use super::{Fold, FoldOptions, State};
use crate::progress::ProgressParser;

/// Version of the format; other versions cannot be read.
const VERSION: u32 = 1;

/// The complete state of a fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    version: u32,
    handle: i64,
    state: State,
}

/// A snapshot has a format version that this program cannot read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("The snapshot has version {found}, and this program reads version {VERSION}")]
pub struct RestoreError {
    /// The version of the snapshot.
    pub found: u32,
}

impl Snapshot {
    /// Creates the snapshot of a new session.
    pub fn empty(handle: i64) -> Self {
        Snapshot { version: VERSION, handle, state: State::default() }
    }
}

impl Fold {
    /// Takes a snapshot.
    pub fn save(&self) -> Snapshot {
        Snapshot { version: VERSION, handle: self.handle, state: self.state.clone() }
    }

    /// Creates a fold from a snapshot.
    pub fn restore(snapshot: Snapshot, options: FoldOptions) -> Result<Self, RestoreError> {
        if snapshot.version != VERSION {
            return Err(RestoreError { found: snapshot.version });
        }
        // The parser's buffer is not part of a snapshot: losing half a sentence about progress is harmless.
        Ok(Self {
            handle: snapshot.handle,
            options,
            parser: ProgressParser::default(),
            state: snapshot.state,
        })
    }
}
