//! The processes that keep agents while the server comes and goes.
//!
//! Each agent runs under a [host](tidings::host) of its own, in a folder of its own below the one that is given here. When a
//! server starts it [looks](Hosts::find) which hosts an earlier one left: those that live are joined, those that are
//! gone are cleared away. Beside what the host itself keeps, the server keeps `fold.json` in the folder of a host: what it had made of
//! the agent's output, and up to where. It is worth exactly as long as the host lives, so that is where it lies.

mod kept;
mod remains;

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tidings::Ids;
use tidings::host::{HostFolder, Record};
use tidings::transport::{Claim, HostHandle, NewHost, SocketTransport, Transport};
use tidings_agent::Clock;

pub(crate) use kept::{Keeper, Kept};

use crate::journal::{Fence, Key};
use crate::limits::HOST_LEAVES;

/// The hosts of a server. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub struct Hosts(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    program: PathBuf,
    args: Vec<OsString>,
    lease: Duration,
    owner: String,
    clock: Clock,
    ids: Ids,
}

/// A host that an earlier server left.
#[derive(Debug, Clone)]
pub struct Found {
    /// Where it is.
    pub folder: HostFolder,
    /// The session that it keeps.
    pub session: String,
    /// Where the agent's output begins, in the offsets that the journal keeps for the session.
    pub(crate) base: u64,
    /// Whether it is still there.
    pub is_alive: bool,
}

/// A host that was started or joined.
#[derive(Debug, Clone)]
pub(crate) struct Hosted {
    pub(crate) folder: HostFolder,
    pub(crate) handle: HostHandle,
    /// Where the agent's output begins, in the offsets that the journal keeps for the session.
    pub(crate) base: u64,
}

impl Hosts {
    /// Hosts in this folder, which is made if it is not there. `program` and `args` start one, such as `tidings host`;
    /// it ends when no server has come back for as long as the lease says.
    pub fn open(
        folder: impl Into<PathBuf>,
        program: impl Into<PathBuf>,
        args: Vec<OsString>,
        lease: Duration,
        clock: Clock,
        ids: Ids,
    ) -> io::Result<Self> {
        let folder = folder.into();
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        check_folder(&folder)?;
        // A host works elsewhere, so its folder must have a whole path.
        let folder = folder.canonicalize()?;
        let owner = ids.next();
        Ok(Hosts(Arc::new(Shared { folder, program: program.into(), args, lease, owner, clock, ids })))
    }

    /// How long a host waits for a server.
    pub fn lease(&self) -> Duration {
        self.0.lease
    }

    /// The hosts that are there. A folder is one of ours if it is private, has a record, and has the name that the record says. What
    /// is left of a host that was never begun, or only half removed, is removed; everything else is left alone.
    pub fn find(&self) -> io::Result<Vec<Found>> {
        check_folder(&self.0.folder)?;
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&self.0.folder)? {
            let entry = entry?;
            let folder = HostFolder::new(entry.path());
            let refused = match folder.record() {
                Ok(record) if entry.file_name() == record.id.as_str() => {
                    let is_alive = folder.is_alive();
                    let base = record.note.parse().unwrap_or_default();
                    found.push(Found { folder, session: record.session, base, is_alive });
                    continue;
                }
                Ok(_) => io::Error::new(io::ErrorKind::InvalidData, "the folder has another host's name"),
                Err(error) if error.kind() == io::ErrorKind::NotFound => match remains::remove(&entry) {
                    Ok(()) => continue,
                    Err(error) => error,
                },
                Err(error) => error,
            };
            tracing::warn!(folder = %folder.path().display(), error = %refused, "not a host of ours: left alone");
        }
        Ok(found)
    }

    /// A new host for a session. The journal counts on from `base`: a session has had other agents before.
    pub(crate) fn start(&self, session: &Key, fence: Fence, base: u64) -> (SocketTransport, Hosted) {
        let id = self.0.ids.next();
        let folder = HostFolder::new(self.0.folder.join(&id));
        let record = Record {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            id,
            session: session.to_string(),
            secret: self.0.ids.next(),
            started: self.0.clock.now().to_string(),
            note: base.to_string(),
        };
        let new = NewHost {
            program: self.0.program.clone(),
            args: self.0.args.clone(),
            record,
            lease: self.0.lease,
            spool_bytes_max: None,
        };
        let (transport, handle) = SocketTransport::start(folder.clone(), new, self.claim(fence));
        (transport, Hosted { folder, handle, base })
    }

    /// A host that is there.
    pub(crate) fn join(&self, found: &Found, fence: Fence, after: u64) -> (SocketTransport, Hosted) {
        let (folder, base) = (found.folder.clone(), found.base);
        let lease = Some(self.0.lease);
        let claim = self.claim(fence);
        let (transport, handle) = SocketTransport::attach(folder.clone(), claim, Some(after), lease);
        (transport, Hosted { folder, handle, base })
    }

    /// Ends a host that keeps nothing that anybody wants, and returns when it has gone: no session has two agents.
    pub(crate) async fn discard(&self, found: Found, fence: Fence) {
        if found.is_alive
            && let Ok(plan) = tidings::Options::new().plan()
        {
            let (transport, hosted) = self.join(&found, fence, 0);
            // One that lets nobody in has started nothing, or is another server's.
            if let Ok(link) = Transport::open(Box::new(transport), plan.launch).await {
                hosted.handle.release();
                let gone = async {
                    while found.folder.is_alive() {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                };
                if tokio::time::timeout(HOST_LEAVES, gone).await.is_err() {
                    tracing::error!(session = found.session, "a host does not leave");
                }
                // The connection has to stay until the host was told.
                drop(link);
            }
        }
        if !found.folder.is_alive() {
            drop(found.folder.remove());
        }
    }

    fn claim(&self, fence: Fence) -> Claim {
        Claim { owner: self.0.owner.clone(), fence: fence.number() }
    }
}

/// Refuses a folder of hosts that is a link, or that others may write to: folders in it are removed.
fn check_folder(folder: &Path) -> io::Result<()> {
    let found = std::fs::symlink_metadata(folder)?;
    let refused = |why: &str| {
        let message = format!("The folder of the agent hosts {why}: `{}`", folder.display());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
    };
    if !found.is_dir() {
        return refused("must not be a link");
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return refused("belongs to another user");
    }
    if found.mode() & 0o022 != 0 {
        return refused("can be written by others; `chmod go-w` takes that away");
    }
    Ok(())
}

impl Hosted {
    /// The agent has ended and everything is stored: the host is not needed any more. What it does not remove itself is removed here.
    pub(crate) fn clear(self) {
        self.handle.release();
        drop(tokio::spawn(async move {
            tokio::time::sleep(HOST_LEAVES).await;
            if !self.folder.is_alive() {
                drop(self.folder.remove());
            }
        }));
    }
}
