//! Removes folders of hosts that have no record: the host never started there, or its folder was removed in
//! part.

use std::fs::{self, DirEntry};
use std::io;

/// Names of the files that a host and its server put into the folder of the host.
const HOST_FILES: [&str; 9] = [
    "host.json",
    "host.json.new",
    "socket",
    "spool",
    "files",
    "exit.json",
    "log",
    "fold.json",
    "fold.json.new",
];

/// Removes a folder that has a host's name and contains only a host's files. Anything else is an error, and
/// nothing is removed.
pub(super) fn remove(entry: &DirEntry) -> io::Result<()> {
    let refused = |why: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    if !entry.file_type()?.is_dir() {
        return refused("it is a link, or not a folder");
    }
    if entry.file_name().to_str().is_none_or(|name| uuid::Uuid::parse_str(name).is_err()) {
        return refused("its name is not one that a server gives to a host");
    }
    for inner in fs::read_dir(entry.path())? {
        if inner?.file_name().to_str().is_none_or(|name| !HOST_FILES.contains(&name)) {
            return refused("there is something in it that is not a host's");
        }
    }
    fs::remove_dir_all(entry.path())
}
