use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use serde::{Deserialize, Serialize};
use tidings::host::HostFolder;
use tidings_agent::fold::Snapshot;
use tidings_agent::session::SnapshotStore;

use super::Hosted;

/// What had been made of an agent's output, and up to where.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) end: u64,
    pub(crate) fold: Snapshot,
}

/// Keeps it in the folder of the host, and lets the host forget what is in it.
#[derive(Debug)]
pub(crate) struct Keeper(pub(crate) Hosted);

impl SnapshotStore for Keeper {
    fn keep(&self, fold: Snapshot, end: u64) {
        match (Kept { end, fold }).write(&self.0.folder) {
            Ok(()) => self.0.handle.ack(end),
            // The host keeps more then, and in the end the agent waits.
            Err(error) => tracing::warn!(%error, "how far a session is could not be kept"),
        }
    }
}

impl Kept {
    /// What was kept in the folder of a host. Where nothing was, the host still has everything from the beginning on.
    pub(crate) fn read(folder: &HostFolder, handle: i64) -> io::Result<Self> {
        let path = folder.path().join("fold.json");
        let found = std::fs::symlink_metadata(&path);
        if found.is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "`fold.json` is a link, or not a file",
            ));
        }
        match std::fs::read(path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Kept { end: 0, fold: Snapshot::empty(handle) })
            }
            Err(error) => Err(error),
        }
    }

    /// It is not synchronised with the disk: a loss of power ends the host as well.
    fn write(&self, folder: &HostFolder) -> io::Result<()> {
        let aside = folder.path().join("fold.json.new");
        // What an earlier write left is removed and not written over: it may be a link.
        drop(std::fs::remove_file(&aside));
        let mut open = std::fs::OpenOptions::new();
        let mut file = open.write(true).create_new(true).mode(0o600).open(&aside)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        std::fs::rename(aside, folder.path().join("fold.json"))
    }
}
