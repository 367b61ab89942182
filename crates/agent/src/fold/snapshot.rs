//! A fold written down, so that a server that starts again goes on where it was.

use serde::{Deserialize, Serialize};

use super::{Fold, FoldOptions, State};
use crate::progress::ProgressParser;

/// The shape of what is written; another one cannot be read.
const VERSION: u32 = 1;

/// Everything that a fold remembers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    version: u32,
    handle: i64,
    state: State,
}

/// A snapshot was written by a version of this crate that remembers other things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("The snapshot has version {found}, and this program reads version {VERSION}")]
pub struct RestoreError {
    /// The version it has.
    pub found: u32,
}

impl Snapshot {
    /// Of a session that nothing is known of.
    pub fn empty(handle: i64) -> Self {
        Snapshot { version: VERSION, handle, state: State::default() }
    }
}

impl Fold {
    /// Everything that it remembers.
    pub fn save(&self) -> Snapshot {
        Snapshot { version: VERSION, handle: self.handle, state: self.state.clone() }
    }

    /// Goes on where a snapshot was taken.
    pub fn restore(snapshot: Snapshot, options: FoldOptions) -> Result<Self, RestoreError> {
        if snapshot.version != VERSION {
            return Err(RestoreError { found: snapshot.version });
        }
        // Half a sentence about progress is no loss.
        Ok(Self {
            handle: snapshot.handle,
            options,
            parser: ProgressParser::default(),
            state: snapshot.state,
        })
    }
}
