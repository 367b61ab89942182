//! Agent hosts: processes that keep agents running across server restarts.
//!
//! Each agent runs under a [host](tidings::host) of its own, in a folder of its own below the one that is
//! given here. When a server starts it [searches](Hosts::find) for hosts that an earlier server left: it
//! adopts the agents of live hosts and removes the folders of dead ones. Besides the host's own files the
//! server stores `fold.json` in the folder of a host: the state of its fold over the agent's output, and the
//! offset up to which the output is in it. It is useful exactly as long as the host lives.

mod fold_state;
mod orphans;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tidings::Ids;
use tidings::host::{HostFolder, Record, check_folder_of_hosts};
use tidings::transport::{Claim, HostHandle, NewHost, SocketTransport, Transport};
use tidings_agent::Clock;
use tidings_base::files;
use tidings_journal::{Fence, Key};

pub(crate) use fold_state::{FoldState, FoldStore};

use crate::limits::HOST_END_WAIT;

/// The hosts of a server. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub struct Hosts(Arc<HostsInner>);

#[derive(Debug)]
struct HostsInner {
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
pub struct FoundHost {
    /// The folder of the host.
    pub folder: HostFolder,
    /// The session that it keeps.
    pub session: String,
    /// The offset of the agent's first byte of output, as the journal counts them for the session.
    pub(crate) base: u64,
    /// True if the host still runs.
    pub is_alive: bool,
}

/// A host that was started or attached to.
#[derive(Debug, Clone)]
pub(crate) struct AttachedHost {
    pub(crate) folder: HostFolder,
    pub(crate) handle: HostHandle,
    /// The offset of the agent's first byte of output, as the journal counts them for the session.
    pub(crate) base: u64,
}

impl Hosts {
    /// Opens a folder of hosts, and creates it if necessary. `program` and `args` start a host, such as
    /// `tidings host`; the host ends when no server has attached for the time of the lease.
    pub fn open(
        folder: impl Into<PathBuf>,
        program: impl Into<PathBuf>,
        args: Vec<OsString>,
        lease: Duration,
        clock: Clock,
        ids: Ids,
    ) -> io::Result<Self> {
        let folder = folder.into();
        files::create_private_folder(&folder)?;
        check_folder_of_hosts(&folder)?;
        // A host runs in another working directory, so its folder must be absolute.
        let folder = folder.canonicalize()?;
        let owner = ids.next();
        Ok(Hosts(Arc::new(HostsInner { folder, program: program.into(), args, lease, owner, clock, ids })))
    }

    /// Time that a host waits for a server.
    pub fn lease(&self) -> Duration {
        self.0.lease
    }

    /// Returns the existing hosts. A folder is a host's if it is private, has a record, and has the name that
    /// the record says. Folders of hosts that never started or were removed in part are removed; everything
    /// else is left alone.
    pub fn find(&self) -> io::Result<Vec<FoundHost>> {
        check_folder_of_hosts(&self.0.folder)?;
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&self.0.folder)? {
            let entry = entry?;
            let folder = HostFolder::new(entry.path());
            let refused = match folder.record() {
                Ok(record) if entry.file_name() == record.id.as_str() => {
                    let is_alive = folder.is_alive();
                    if record.terminal.is_some() {
                        // It is a session of `tidings claude`, which needs no server.
                        if !is_alive {
                            remove(&folder);
                        }
                        continue;
                    }
                    let base = record.note.parse().unwrap_or_default();
                    found.push(FoundHost { folder, session: record.session, base, is_alive });
                    continue;
                }
                Ok(_) => io::Error::new(io::ErrorKind::InvalidData, "the folder has another host's name"),
                Err(error) if error.kind() == io::ErrorKind::NotFound => match orphans::remove(&entry) {
                    Ok(()) => continue,
                    Err(error) => error,
                },
                Err(error) => error,
            };
            tracing::warn!(folder = %folder.path().display(), error = %refused, "ignoring a folder that is not a host's");
        }
        Ok(found)
    }

    /// Starts a host for a session. Its offsets start at `base`, since the session may have had other agents
    /// before.
    pub(crate) fn start(&self, session: &Key, fence: Fence, base: u64) -> (SocketTransport, AttachedHost) {
        let id = self.0.ids.next();
        let folder = HostFolder::new(self.0.folder.join(&id));
        let record = Record {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            id,
            session: session.to_string(),
            secret: self.0.ids.next(),
            started: self.0.clock.now().to_string(),
            note: base.to_string(),
            terminal: None,
        };
        let new = NewHost {
            program: self.0.program.clone(),
            args: self.0.args.clone(),
            record,
            lease: self.0.lease,
            spool_bytes_max: None,
        };
        let (transport, handle) = SocketTransport::start(folder.clone(), new, self.claim(fence));
        (transport, AttachedHost { folder, handle, base })
    }

    /// Attaches to an existing host.
    pub(crate) fn attach(
        &self,
        found: &FoundHost,
        fence: Fence,
        after: u64,
    ) -> (SocketTransport, AttachedHost) {
        let (folder, base) = (found.folder.clone(), found.base);
        let lease = Some(self.0.lease);
        let claim = self.claim(fence);
        let (transport, handle) = SocketTransport::attach(folder.clone(), claim, Some(after), lease);
        (transport, AttachedHost { folder, handle, base })
    }

    /// Ends a host whose agent is not needed, and returns after it has ended: a session never has two agents.
    pub(crate) async fn discard(&self, found: FoundHost, fence: Fence) {
        if found.is_alive
            && let Ok(plan) = tidings::Options::new().plan()
        {
            let (transport, hosted) = self.attach(&found, fence, 0);
            // A host that refuses the connection has started nothing, or belongs to another server.
            if let Ok(link) = Transport::open(Box::new(transport), plan.launch).await {
                hosted.handle.release();
                let gone = async {
                    while found.folder.is_alive() {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                };
                if tokio::time::timeout(HOST_END_WAIT, gone).await.is_err() {
                    tracing::error!(session = found.session, "an agent host did not end in time");
                }
                // The connection has to stay open until the host has received the release.
                drop(link);
            }
        }
        if !found.folder.is_alive() {
            remove(&found.folder);
        }
    }

    fn claim(&self, fence: Fence) -> Claim {
        Claim { owner: self.0.owner.clone(), fence: fence.number() }
    }
}

/// Removes the folder of a host, unless the folder that it lies in was replaced.
fn remove(host: &HostFolder) {
    let Some(hosts) = host.path().parent() else { return };
    let removed = check_folder_of_hosts(hosts).and_then(|()| host.remove());
    if let Err(error) = removed
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(folder = %host.path().display(), %error, "failed to remove the folder of a host");
    }
}

impl AttachedHost {
    /// Releases the host after its agent has ended and everything is stored. Removes the files that the host
    /// leaves.
    pub(crate) fn clear(self) {
        self.handle.release();
        drop(tokio::spawn(async move {
            tokio::time::sleep(HOST_END_WAIT).await;
            if !self.folder.is_alive() {
                remove(&self.folder);
            }
        }));
    }
}
