//! The exclusive right to write one session.
//!
//! Claude Code locks nothing: two processes that continue one session write one file, and mix two
//! conversations. So every process of ours that starts an agent takes the lock of its session first,
//! whichever command it runs. The locks are in the configuration folder of Claude Code, `tidings/locks`,
//! beside the files that they protect: servers with several data folders share them.
//!
//! A lock is a lock of the operating system on a file, held by the process that owns the agent; an agent
//! under a [host](crate::host) is the host's. It ends with that process, however that ends. The file
//! describes its [holder](SessionHolder). If a holder was killed, its agent may live on for a moment: until
//! that has ended, too, the session is not free.

mod agent;
mod holder;
#[cfg(test)]
mod tests;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) use self::agent::{AgentLock, LockRequest, LockedSession};
pub use self::holder::{SessionHolder, SessionOwner};
use crate::error::Error;
use crate::limits::{DYING_AGENT_WAIT, LOCK_LOOK_EVERY, LOCK_RECORD_WAIT, RECORD_BYTES_MAX};
use crate::process_identity::ProcessIdentity;

/// The folder of the locks, in the configuration folder of Claude Code.
const FOLDER: &str = "tidings/locks";

/// Characters of a file name that are taken from a session id. Ids of Claude Code are UUIDs; those of other
/// agents may be anything.
const NAME_CHARS_MAX: usize = 40;

/// The lock of a session, until it is dropped.
#[derive(Debug)]
pub struct SessionLock {
    file: File,
    path: PathBuf,
    session: String,
    holder: SessionHolder,
}

/// Processes that hold a session although they have no lock of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OtherWriters {
    /// A `claude` that describes itself as the one that has the session open.
    Refused,
    /// The agent itself runs already, and is one of them.
    Ignored,
}

/// The result of one attempt to take a lock.
enum Attempt {
    Taken(SessionLock),
    Held(Box<SessionHolder>),
    /// The holder was killed, and its agent has not ended yet.
    Dying(Box<SessionHolder>),
    /// The file was removed at this moment.
    Again,
}

impl SessionLock {
    /// Takes the lock of a session before its agent is started. Fails with
    /// [`ErrorKind::Taken`](crate::ErrorKind::Taken) if another process writes the session.
    ///
    /// Blocks for a few seconds if the last holder was killed and its agent is about to end.
    pub fn take(config_dir: &Path, session_id: &str, owner: &SessionOwner) -> Result<Self, Error> {
        Self::take_within(config_dir, session_id, owner, OtherWriters::Refused, DYING_AGENT_WAIT)
    }

    /// Takes the lock of a session whose agent runs already.
    pub fn take_for_running(
        config_dir: &Path,
        session_id: &str,
        owner: &SessionOwner,
    ) -> Result<Self, Error> {
        Self::take_within(config_dir, session_id, owner, OtherWriters::Ignored, Duration::ZERO)
    }

    fn take_within(
        config_dir: &Path,
        session_id: &str,
        owner: &SessionOwner,
        others: OtherWriters,
        wait: Duration,
    ) -> Result<Self, Error> {
        let end = Instant::now() + wait;
        loop {
            match attempt(config_dir, session_id, owner, others)
                .map_err(|error| no_lock(config_dir, error))?
            {
                Attempt::Taken(lock) => return Ok(lock),
                Attempt::Held(holder) => return Err(holder.refusal()),
                Attempt::Dying(holder) if Instant::now() >= end => return Err(holder.refusal()),
                Attempt::Dying(_) => std::thread::sleep(LOCK_LOOK_EVERY),
                Attempt::Again => {}
            }
        }
    }

    /// The process that writes a session now, as far as it can be known without taking the lock.
    pub fn holder(config_dir: &Path, session_id: &str) -> Option<SessionHolder> {
        let locked = || {
            let file = File::open(path_of(config_dir, session_id)).ok()?;
            let holder = read_record(&file)?;
            // Another process that only looks must not stand in the way of one that takes the lock, so the
            // lock itself is tried only where processes cannot be told apart.
            let is_held = match &holder.process.start {
                Some(_) => holder.is_alive(),
                None => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
            };
            is_held.then_some(holder)
        };
        locked().or_else(|| other_writer(config_dir, session_id))
    }

    /// The session whose lock it is.
    pub fn session_id(&self) -> &str {
        &self.session
    }

    /// Adds the agent that was started to the description of the holder.
    pub(crate) fn set_agent(&mut self, pid: u32) -> io::Result<()> {
        self.holder.agent = Some(ProcessIdentity::of(pid));
        self.write_record()
    }

    fn write_record(&mut self) -> io::Result<()> {
        let record = serde_json::to_vec(&self.holder)?;
        self.file.rewind()?;
        self.file.write_all(&record)?;
        // A reader meanwhile sees the end of the record before, and reads again.
        self.file.set_len(record.len() as u64)
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        // Removed while it is locked: a process that waits for this file notices that it is another one now.
        drop(std::fs::remove_file(&self.path));
        // A child process that is being started may have the file open for a moment.
        drop(self.file.unlock());
    }
}

fn attempt(
    config_dir: &Path,
    session_id: &str,
    owner: &SessionOwner,
    others: OtherWriters,
) -> io::Result<Attempt> {
    let path = path_of(config_dir, session_id);
    let file = open(&path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(held(&file)),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    if !is_same_file(&file, &path) {
        return Ok(Attempt::Again);
    }
    let is_alive = |before: &SessionHolder| before.agent.as_ref().is_some_and(ProcessIdentity::is_alive);
    let before = read_record(&file).filter(is_alive);
    if let Some(before) = before.filter(|_| others == OtherWriters::Refused) {
        return Ok(Attempt::Dying(Box::new(before)));
    }
    let other = match others {
        OtherWriters::Refused => other_writer(config_dir, session_id),
        OtherWriters::Ignored => None,
    };
    if let Some(other) = other {
        return Ok(Attempt::Held(Box::new(other)));
    }
    let holder = SessionHolder::new(owner.clone());
    let mut lock = SessionLock { file, path, session: session_id.to_owned(), holder };
    lock.write_record()?;
    Ok(Attempt::Taken(lock))
}

/// The holder of a locked file. One that has just locked it may not have described itself yet.
fn held(file: &File) -> Attempt {
    let end = Instant::now() + LOCK_RECORD_WAIT;
    loop {
        match read_record(file) {
            Some(holder) => return Attempt::Held(Box::new(holder)),
            None if Instant::now() >= end => return Attempt::Held(Box::new(SessionHolder::unknown())),
            None => std::thread::sleep(LOCK_LOOK_EVERY),
        }
    }
}

/// The `claude` outside of our processes that has a session open.
#[cfg(feature = "sessions")]
fn other_writer(config_dir: &Path, session_id: &str) -> Option<SessionHolder> {
    let all = tidings_transcript::running::list(config_dir);
    let found = all.into_iter().find(|process| process.session_id == session_id)?;
    Some(SessionHolder::claude(found.pid, found.proc_start))
}

/// Without the files of sessions such processes are not known.
#[cfg(not(feature = "sessions"))]
fn other_writer(_config_dir: &Path, _session_id: &str) -> Option<SessionHolder> {
    None
}

/// The file of a lock. An id comes from users, and must not lead out of the folder.
fn path_of(config_dir: &Path, session_id: &str) -> PathBuf {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    // A UUID has several spellings.
    let id = uuid::Uuid::try_parse(session_id).map_or_else(|_| session_id.to_owned(), |id| id.to_string());
    let mut name = String::new();
    for c in id.chars().take(NAME_CHARS_MAX) {
        match c {
            c if is_plain(c) => name.push(c),
            c => name.extend(format!("_{:x}", u32::from(c)).chars()),
        }
    }
    config_dir.join(FOLDER).join(format!("{name}.lock"))
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        tidings_base::files::create_private_folder(folder)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

/// True if the path still leads to the file: a holder removes it when it ends.
#[cfg(unix)]
fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
    let (Ok(opened), Ok(there)) = (file.metadata(), std::fs::symlink_metadata(path)) else { return false };
    identity(opened) == identity(there)
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn is_same_file(_file: &File, path: &Path) -> bool {
    path.exists()
}

fn read_record(mut file: &File) -> Option<SessionHolder> {
    let mut bytes = Vec::new();
    file.rewind().ok()?;
    file.take(RECORD_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn no_lock(config_dir: &Path, source: io::Error) -> Error {
    let message = format!("Failed to lock the session in `{}`", config_dir.display());
    let hint = "check that the configuration folder of Claude Code can be written";
    Error::new(crate::ErrorKind::Storage, message, hint).caused_by(source)
}
