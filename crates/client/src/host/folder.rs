//! The folder of a host: `host.json` is its record, `socket` its socket, `spool` the stored output, `files`
//! the arguments of the CLI that are passed as files, `exit.json` the exit status of the CLI, `log` the
//! stderr of the host.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tidings_base::files;

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
    /// The terminal, of a host that holds one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalProcess>,
}

/// The processes of a host that holds a terminal; zero until the program was started.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TerminalProcess {
    /// The program in the terminal.
    pub pid: u32,
    /// The start time of that process, as the operating system counts it.
    #[serde(default)]
    pub proc_start: Option<String>,
    /// The host.
    pub host_pid: u32,
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

    /// Creates the folder, with access for the owner only, and binds the socket. The record comes last: a
    /// host that has one and cannot be connected to has ended.
    pub(crate) fn create(&self, record: &Record) -> io::Result<UnixListener> {
        // A link in the place of the folder of all hosts would have this one made elsewhere.
        if self.0.parent().is_some_and(Path::is_symlink) {
            return Err(refused("the folder of the hosts is a link"));
        }
        make_private(&self.0)?;
        let bound = || {
            let listener = with_socket_path(&self.0, "socket", |path| UnixListener::bind(path))?;
            std::fs::set_permissions(self.0.join("socket"), Permissions::from_mode(0o600))?;
            self.write_record(record)?;
            Ok(listener)
        };
        bound().inspect_err(|_| drop(self.remove()))
    }

    /// Stores the record, as a whole.
    pub(super) fn write_record(&self, record: &Record) -> io::Result<()> {
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
        std::fs::symlink_metadata(self.spool()).is_ok_and(|found| found.is_dir())
    }

    /// Opens what a host left behind after it has ended.
    pub fn remains(&self) -> io::Result<HostRemnant> {
        let spool = Spool::open_existing(&self.spool())?;
        Ok(HostRemnant { spool, exit: self.read("exit.json").ok() })
    }

    /// Removes the folder with all its contents.
    pub fn remove(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(crate) fn write_exit(&self, exit: Exit) -> io::Result<()> {
        self.write("exit.json", &serde_json::to_vec(&exit)?)
    }

    pub(crate) fn log(&self) -> io::Result<File> {
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(self.0.join("log"))
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

    fn write(&self, name: &str, contents: &[u8]) -> io::Result<()> {
        files::replace(&self.0.join(name), contents)
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> io::Result<T> {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        open(&self.0.join(name))?.take(RECORD_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

/// Refuses a folder of hosts that is a link, or that others may write to, since folders in it are removed.
pub fn check_folder_of_hosts(folder: &Path) -> io::Result<()> {
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

/// Opens a file or folder for reading; a link is not followed.
pub(super) fn open(path: &Path) -> io::Result<File> {
    // Without `NONBLOCK`, opening a pipe would wait for its writer.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn refused(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, message)
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
        let folder = open(folder)?;
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn record() -> Record {
        let text = String::new;
        let (program, id, session, secret) = (text(), text(), text(), text());
        Record { program, id, session, secret, started: text(), note: text(), terminal: None }
    }

    #[test]
    fn k2_no_link_in_the_folder_of_a_host_is_followed() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        for name in ["hosts", "mine", "mine/spool"] {
            std::fs::create_dir(path(name)).unwrap();
        }
        std::fs::write(path("mine/host.json"), serde_json::to_vec(&record()).unwrap()).unwrap();
        std::fs::write(path("mine/spool/0"), "my letters").unwrap();
        let host = HostFolder::new(path("hosts/a"));
        let _listener = host.create(&record()).unwrap();
        assert!(host.record().is_ok());
        std::fs::remove_file(path("hosts/a/host.json")).unwrap();
        for (name, target) in [
            ("host.json", "mine/host.json"),
            ("log", "mine/log"),
            ("spool", "mine/spool"),
            ("exit.json", "mine/host.json"),
        ] {
            symlink(path(target), path("hosts/a").join(name)).unwrap();
        }
        assert!(
            host.record().is_err() && host.log().is_err() && host.remains().is_err() && !host.has_spool()
        );
        assert!(!path("mine/log").exists(), "nothing was written behind a link");
        host.remove().unwrap();
        assert!(path("mine/spool/0").exists(), "nothing was removed behind a link");

        // The folder of all hosts is a link.
        symlink(path("mine"), path("linked")).unwrap();
        let linked = HostFolder::new(path("linked/b"));
        assert_eq!(linked.create(&record()).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert!(!path("mine/b").exists());
    }
}
