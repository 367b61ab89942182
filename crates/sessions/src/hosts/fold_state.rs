//! The state of the fold, stored in the folder of the agent host.

use std::io;

use serde::{Deserialize, Serialize};
use tidings::host::HostFolder;
use tidings_agent::fold::Snapshot;
use tidings_agent::session::SnapshotStore;
use tidings_base::files;

use super::AttachedHost;

/// State of the fold over an agent's output, and the offset up to which the output is in it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FoldState {
    pub(crate) end: u64,
    pub(crate) fold: Snapshot,
}

/// Stores the fold state in the folder of the host, and acknowledges the output that is in it, which the host
/// may then drop.
#[derive(Debug)]
pub(crate) struct FoldStore(pub(crate) AttachedHost);

impl SnapshotStore for FoldStore {
    fn store(&self, fold: Snapshot, end: u64) {
        match (FoldState { end, fold }).write(&self.0.folder) {
            Ok(()) => self.0.handle.ack(end),
            // Otherwise the host keeps more output, and when its spool is full the agent waits.
            Err(error) => tracing::warn!(%error, "failed to store the fold state of a session"),
        }
    }
}

impl FoldState {
    /// Reads the state from the folder of a host. If there is none, the host still has all output from the
    /// beginning.
    pub(crate) fn read(folder: &HostFolder, handle: i64) -> io::Result<Self> {
        let path = folder.path().join("fold.json");
        match files::open(&path) {
            Ok(file) => Ok(serde_json::from_reader(io::BufReader::new(file))?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(FoldState { end: 0, fold: Snapshot::empty(handle) })
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the state. It is not synchronised with the disk: a loss of power ends the host as well.
    fn write(&self, folder: &HostFolder) -> io::Result<()> {
        files::replace(&folder.path().join("fold.json"), &serde_json::to_vec(self)?)
    }
}
