//! The folder of a host: `host.json` is its record, `socket` its socket, `spool` the stored output, `files`
//! the arguments of the CLI that are passed as files, `exit.json` the exit status of the CLI, `log` the
//! stderr of the host.

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

/// The longest path of a socket that every system supports.
const SOCKET_PATH_BYTES_MAX: usize = 100;

/// The folder of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFolder(PathBuf);

/// The record of a host in its folder.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the program that started it, for display.
    pub program: String,
    /// The id of the host.
    pub id: String,
    /// The session that it was started for.
    pub session: String,
    /// The secret that a bridge must present, which proves that it may read this record.
    pub secret: String,
    /// The time of its start.
    pub started: String,
    /// Data of the program that started it.
    #[serde(default)]
    pub note: String,
}

/// The exit status of a CLI, as stored in its host's folder.
#[derive(Debug, Serialize, Deserialize)]
struct ExitRecord {
    code: Option<i32>,
    signal: Option<i32>,
}

/// The folder contents of a host that has ended.
#[derive(Debug)]
pub struct HostRemnant {
    spool: Spool,
    exit: Option<Exit>,
}

impl HostFolder {
    /// A folder at this path, which must be absolute: a host has another working folder.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        HostFolder(path.into())
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Creates the folder, with access for the owner only.
    pub fn create(&self, record: &Record) -> io::Result<()> {
        make_private(&self.0)?;
        self.write("host.json", &serde_json::to_vec(record)?)
    }

    /// Reads the record. A folder that another user could have created is refused.
    pub fn record(&self) -> io::Result<Record> {
        let found = std::fs::symlink_metadata(&self.0)?;
        let mine = found.uid() == rustix::process::geteuid().as_raw();
        if !found.is_dir() || !mine || found.mode() & 0o077 != 0 {
            let message = "the folder belongs to another user, or other users may read it";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        self.read("host.json")
    }

    /// Binds the socket.
    pub(crate) fn listen(&self) -> io::Result<UnixListener> {
        let listener = with_socket_path(&self.0, "socket", |path| UnixListener::bind(path))?;
        std::fs::set_permissions(self.socket(), Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// Connects to the host. Fails at once if it has ended.
    pub(crate) fn connect(&self) -> io::Result<UnixStream> {
        with_socket_path(&self.0, "socket", |path| UnixStream::connect(path))
    }

    /// True if a host listens here.
    pub fn is_alive(&self) -> bool {
        self.connect().is_ok()
    }

    /// True if a CLI was started here.
    pub fn has_spool(&self) -> bool {
        self.spool().is_dir()
    }

    /// Opens what a host left behind after it has ended.
    pub fn remains(&self) -> io::Result<HostRemnant> {
        let spool = Spool::open_existing(&self.spool())?;
        let exit = self.read::<ExitRecord>("exit.json").ok();
        Ok(HostRemnant { spool, exit: exit.map(|exit| Exit { code: exit.code, signal: exit.signal }) })
    }

    /// Removes the folder with all its contents.
    pub fn remove(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(crate) fn write_exit(&self, exit: Exit) -> io::Result<()> {
        let exit = ExitRecord { code: exit.code, signal: exit.signal };
        self.write("exit.json", &serde_json::to_vec(&exit)?)
    }

    pub(crate) fn log(&self) -> io::Result<File> {
        OpenOptions::new().append(true).create(true).mode(0o600).open(self.0.join("log"))
    }

    pub(crate) fn spool(&self) -> PathBuf {
        self.0.join("spool")
    }

    /// Writes a file for an argument of the CLI.
    pub(crate) fn argument_file(&self, name: &str, contents: &str) -> io::Result<PathBuf> {
        let folder = self.0.join("files");
        if !folder.exists() {
            make_private(&folder)?;
        }
        // The names are ours, but they come over a socket: none may lead out of the folder.
        let name = Path::new(name).file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let path = folder.join(name);
        write_new(&path, contents.as_bytes())?;
        Ok(path)
    }

    fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }

    fn write(&self, name: &str, contents: &[u8]) -> io::Result<()> {
        // Written to another file and renamed, so that readers never see half of it.
        let temporary = self.0.join(format!("{name}.new"));
        write_new(&temporary, contents)?;
        std::fs::rename(temporary, self.0.join(name))
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> io::Result<T> {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        File::open(self.0.join(name))?.take(RECORD_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

impl HostRemnant {
    /// The exit status of the CLI, if the host stored it.
    pub fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// The offsets at which the stored output begins and ends.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.spool.first()..self.spool.next()
    }

    /// Reads output from an offset on, as much as fits; 0 at the end.
    pub fn read(&self, from: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.spool.read(from, buffer)
    }
}

/// Calls a function with a path of a socket that is short enough for the system.
pub(super) fn with_socket_path<T>(
    folder: &Path,
    name: &str,
    call: impl FnOnce(&Path) -> io::Result<T>,
) -> io::Result<T> {
    let path = folder.join(name);
    if path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        return call(&path);
    }
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;
        // An open folder also has a short path.
        let folder = File::open(folder)?;
        call(Path::new(&format!("/proc/self/fd/{}/{name}", folder.as_raw_fd())))
    }
    #[cfg(not(target_os = "linux"))]
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "the path of the socket is too long for this system: choose a shorter folder",
    ))
}

pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}

fn write_new(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut open = OpenOptions::new();
    open.write(true).create_new(true).mode(0o600).open(path)?.write_all(contents)
}

/// Omits the secret.
impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record")
            .field("id", &self.id)
            .field("session", &self.session)
            .field("started", &self.started)
            .finish_non_exhaustive()
    }
}
