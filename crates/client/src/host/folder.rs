//! The folder of a host: `host.json` says what it is, `socket` is the way to it, `spool` is what it keeps, `files` are
//! arguments of the CLI that go by a file, `exit.json` says how the CLI ended, `log` is what the host complained about.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::spool::Spool;
use crate::limits::RECORD_BYTES_MAX;
use crate::transport::Exit;

/// The longest path of a socket that every system takes.
const SOCKET_PATH_BYTES_MAX: usize = 100;

/// The folder of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFolder(PathBuf);

/// What a host is, as it stands in its folder.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the program that started it, for people.
    pub program: String,
    /// Names the host.
    pub id: String,
    /// The session that it was started for.
    pub session: String,
    /// Shown by whoever wants to be its bridge, which proves that it may read this.
    pub secret: String,
    /// When it was started.
    pub started: String,
    /// Whatever whoever started it wants to find again.
    #[serde(default)]
    pub note: String,
}

/// How a CLI ended, as it stands in its host's folder.
#[derive(Debug, Serialize, Deserialize)]
struct LeftExit {
    code: Option<i32>,
    signal: Option<i32>,
}

/// What a host that is gone left behind.
#[derive(Debug)]
pub struct Remains {
    spool: Spool,
    exit: Option<Exit>,
}

impl HostFolder {
    /// The folder at this path, which must be absolute: a host works elsewhere.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        HostFolder(path.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Makes the folder, for nobody else to look into.
    pub fn create(&self, record: &Record) -> io::Result<()> {
        make_private(&self.0)?;
        self.write("host.json", &serde_json::to_vec(record)?)
    }

    /// What the host is. A folder that somebody else could have put there is refused.
    pub fn record(&self) -> io::Result<Record> {
        let found = std::fs::symlink_metadata(&self.0)?;
        let mine = found.uid() == rustix::process::geteuid().as_raw();
        if !found.is_dir() || !mine || found.mode() & 0o077 != 0 {
            let message = "the folder belongs to somebody else, or others may look into it";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        self.read("host.json")
    }

    /// Listens for bridges.
    pub(crate) fn listen(&self) -> io::Result<UnixListener> {
        let listener = self.reach(|path| UnixListener::bind(path))?;
        std::fs::set_permissions(self.socket(), Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// Connects to the host. Fails at once if there is none any more.
    pub(crate) fn connect(&self) -> io::Result<UnixStream> {
        self.reach(|path| UnixStream::connect(path))
    }

    /// Whether a host listens here.
    pub fn is_alive(&self) -> bool {
        self.connect().is_ok()
    }

    /// Whether something was started here.
    pub fn has_spool(&self) -> bool {
        self.spool().is_dir()
    }

    /// What a host left, after it has gone.
    pub fn remains(&self) -> io::Result<Remains> {
        let spool = Spool::left_in(&self.spool())?;
        let exit = self.read::<LeftExit>("exit.json").ok();
        Ok(Remains { spool, exit: exit.map(|exit| Exit { code: exit.code, signal: exit.signal }) })
    }

    /// Removes the folder with everything in it.
    pub fn remove(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(crate) fn leave_exit(&self, exit: Exit) -> io::Result<()> {
        let exit = LeftExit { code: exit.code, signal: exit.signal };
        self.write("exit.json", &serde_json::to_vec(&exit)?)
    }

    pub(crate) fn log(&self) -> io::Result<File> {
        OpenOptions::new().append(true).create(true).mode(0o600).open(self.0.join("log"))
    }

    pub(crate) fn spool(&self) -> PathBuf {
        self.0.join("spool")
    }

    /// Writes a file that an argument of the CLI names.
    pub(crate) fn argument_file(&self, name: &str, contents: &str) -> io::Result<PathBuf> {
        let folder = self.0.join("files");
        if !folder.exists() {
            make_private(&folder)?;
        }
        // Names are ours, but they come over a socket: none of them leads out of the folder.
        let name = Path::new(name).file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let path = folder.join(name);
        write_new(&path, contents.as_bytes())?;
        Ok(path)
    }

    fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }

    /// Calls with a path of the socket that is short enough for the system.
    fn reach<T>(&self, call: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        let path = self.socket();
        if path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
            return call(&path);
        }
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd as _;
            // An open folder has a short name as well.
            let folder = File::open(&self.0)?;
            call(Path::new(&format!("/proc/self/fd/{}/socket", folder.as_raw_fd())))
        }
        #[cfg(not(target_os = "linux"))]
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path of the socket is too long for this system: choose a shorter folder",
        ))
    }

    fn write(&self, name: &str, contents: &[u8]) -> io::Result<()> {
        // Written aside and put in place, so that nobody reads half of it.
        let aside = self.0.join(format!("{name}.new"));
        write_new(&aside, contents)?;
        std::fs::rename(aside, self.0.join(name))
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> io::Result<T> {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        File::open(self.0.join(name))?.take(RECORD_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

impl Remains {
    /// How the CLI ended, if the host lived to see it.
    pub fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// Where what is left begins and ends.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.spool.first()..self.spool.next()
    }

    /// Reads from a place on, as much as fits; nothing at the end.
    pub fn read(&self, from: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.spool.read(from, buffer)
    }
}

pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}

fn write_new(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut open = OpenOptions::new();
    open.write(true).create_new(true).mode(0o600).open(path)?.write_all(contents)
}

/// The secret is not shown.
impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record")
            .field("id", &self.id)
            .field("session", &self.session)
            .field("started", &self.started)
            .finish_non_exhaustive()
    }
}
