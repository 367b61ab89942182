//! The files of terminal hosts: `ID.json` describes a host, `ID.sock` is its socket. Both are in one folder
//! that only its user can read, and are gone when the host has ended.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use tidings_base::files;

use crate::host::folder::with_socket_path;
use crate::limits::RECORD_BYTES_MAX;

/// The folder with the files of terminal hosts, `terminals` in the data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalFolder(PathBuf);

/// The description of a terminal host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalRecord {
    /// The id of the host.
    pub id: String,
    /// The process of the program in the terminal.
    pub pid: u32,
    /// The start time of that process, as the operating system counts it.
    #[serde(default)]
    pub proc_start: Option<String>,
    /// The process of the host.
    pub host_pid: u32,
    /// The name of the socket in the same folder.
    pub socket: String,
    /// The working folder.
    pub cwd: String,
}

impl TerminalFolder {
    /// The folder of a server's data folder.
    pub fn new(data: &Path) -> Self {
        TerminalFolder(data.join("terminals"))
    }

    /// Creates the folder if it does not exist. One that another user could read or write is refused.
    pub(super) fn create(&self) -> io::Result<()> {
        if let Some(data) = self.0.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(data)?;
        }
        match DirBuilder::new().mode(0o700).create(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.check(),
        }
    }

    fn check(&self) -> io::Result<()> {
        let found = std::fs::symlink_metadata(&self.0)?;
        let is_ours = found.uid() == rustix::process::geteuid().as_raw();
        if !found.is_dir() || !is_ours || found.mode() & 0o077 != 0 {
            let message = "the folder `terminals` belongs to another user, or other users may read it";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        Ok(())
    }

    /// The hosts that are described here. Whether one still runs shows when it is connected to.
    pub fn list(&self) -> Vec<TerminalRecord> {
        if self.check().is_err() {
            return Vec::new();
        }
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.filter_map(|entry| read(&entry.path())).collect()
    }

    /// The host whose terminal a process runs in.
    pub fn find(&self, pid: u32, proc_start: Option<&str>) -> Option<TerminalRecord> {
        self.list().into_iter().find(|record| {
            let is_same_start = match (&record.proc_start, proc_start) {
                (Some(left), Some(right)) => left == right,
                _ => true,
            };
            record.pid == pid && is_same_start
        })
    }

    /// True if the host runs.
    pub fn is_alive(&self, record: &TerminalRecord) -> bool {
        self.connect(record).is_ok()
    }

    pub(super) fn connect(&self, record: &TerminalRecord) -> io::Result<UnixStream> {
        if !is_name(&record.socket, ".sock") {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        with_socket_path(&self.0, &record.socket, |path| UnixStream::connect(path))
    }

    /// Binds the socket of a new host.
    pub(super) fn listen(&self, id: &str) -> io::Result<UnixListener> {
        let name = format!("{id}.sock");
        let listener = with_socket_path(&self.0, &name, |path| UnixListener::bind(path))?;
        std::fs::set_permissions(self.0.join(name), Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// Stores the description, as a whole.
    pub(super) fn write(&self, record: &TerminalRecord) -> io::Result<()> {
        files::replace(&self.0.join(format!("{}.json", record.id)), &serde_json::to_vec(record)?)
    }

    /// Removes the files of a host.
    pub(super) fn remove(&self, id: &str) {
        for name in ["json", "sock"] {
            // It may not exist.
            drop(std::fs::remove_file(self.0.join(format!("{id}.{name}"))));
        }
    }

    /// Removes what killed hosts left behind.
    pub(super) fn clean(&self) {
        for record in self.list() {
            if !self.is_alive(&record) {
                self.remove(&record.id);
            }
        }
    }
}

/// Reads a description. Symbolic links are not followed.
fn read(path: &Path) -> Option<TerminalRecord> {
    let name = path.file_name()?.to_str()?;
    if !is_name(name, ".json") {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(RECORD_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let record: TerminalRecord = serde_json::from_slice(&bytes).ok()?;
    (name.strip_suffix(".json") == Some(record.id.as_str())).then_some(record)
}

/// True if it is a name with this ending, and no path.
fn is_name(name: &str, ending: &str) -> bool {
    let is_plain = |stem: &str| {
        !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    name.strip_suffix(ending).is_some_and(is_plain)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn record(id: &str) -> TerminalRecord {
        TerminalRecord {
            id: id.to_owned(),
            pid: 7,
            proc_start: Some("11".to_owned()),
            host_pid: 6,
            socket: format!("{id}.sock"),
            cwd: "/srv".to_owned(),
        }
    }

    #[test]
    fn a_host_is_found_by_its_process_and_links_are_not_followed() {
        let data = tempfile::tempdir().unwrap();
        let folder = TerminalFolder::new(data.path());
        assert_eq!(folder.list(), []);
        folder.create().unwrap();
        folder.create().unwrap();
        folder.write(&record("one")).unwrap();
        assert_eq!(folder.find(7, Some("11")), Some(record("one")));
        assert_eq!(folder.find(7, Some("12")), None, "another process has the number now");
        assert_eq!(folder.find(8, None), None);
        let elsewhere = data.path().join("two.json");
        std::fs::write(&elsewhere, serde_json::to_vec(&record("two")).unwrap()).unwrap();
        symlink(&elsewhere, folder.0.join("two.json")).unwrap();
        std::fs::write(folder.0.join("three.json"), serde_json::to_vec(&record("four")).unwrap()).unwrap();
        assert_eq!(folder.list(), [record("one")]);
        let _listener = folder.listen("one").unwrap();
        assert!(folder.is_alive(&record("one")));
        let outside = TerminalRecord { socket: "../x.sock".to_owned(), ..record("one") };
        assert!(folder.connect(&outside).is_err());
        let mode = |name: &str| folder.0.join(name).metadata().unwrap().mode() & 0o777;
        assert_eq!((mode("one.json"), mode("one.sock"), mode("")), (0o600, 0o600, 0o700));
        folder.remove("one");
        assert_eq!(folder.list(), []);
        std::fs::set_permissions(&folder.0, Permissions::from_mode(0o755)).unwrap();
        assert!(folder.create().is_err());
    }
}
