//! Files that only their owner may read, in a folder that only the owner may write.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use fs_err as fs;
use sha2::{Digest as _, Sha256};
use tidings_api::Code;
use tidings_base::files;
use tidings_journal::limits::PRIVATE_FILE_BYTES_MAX;

use crate::Error;

/// Creates the folder, or checks that it is not a link and that only its owner may write to it.
pub fn private_folder(path: &Path) -> Result<(), Error> {
    let made = files::create_private_folder(path);
    let found = std::fs::symlink_metadata(path);
    let (Ok(()), Ok(found)) = (made, found) else {
        let message = format!("Failed to create the folder `{}`", path.display());
        return Err(Error::new(Code::Internal, message, "name another folder with --data"));
    };
    if found.is_symlink() || !found.is_dir() {
        let message = format!("The data folder must not be a link: `{}`", path.display());
        return Err(Error::new(Code::Forbidden, message, "name the folder that it points to"));
    }
    check_owner(&found, path, 0o022)
}

/// Creates the data folder, or checks its owner and rights, and that it contains no links.
pub fn data_folder(path: &Path) -> Result<(), Error> {
    private_folder(path)?;
    let failed = |error: io::Error| {
        Error::new(Code::Internal, error.to_string(), "check the permissions of the folder")
    };
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_symlink() {
            let message = format!("The data folder must not contain links: `{}`", entry.path().display());
            let hint = "replace it by the file that it points to, or remove it";
            return Err(Error::new(Code::Forbidden, message, hint));
        }
    }
    Ok(())
}

/// Creates a file that must not exist yet.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = files::create_private(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Replaces a file as a whole: readers see the old content or the new one.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |error: io::Error| {
        let message = format!("Failed to write `{}`: {error}", path.display());
        Error::new(Code::Unavailable, message, "check the free disk space")
    };
    // Both contents are right until the file is replaced.
    let before = fs::read(path).map_or_else(|_| String::new(), |before| checksum(&before));
    let sums = format!("{before}\n{}\n", checksum(bytes));
    files::replace_durably(&sum_path(path), sums.as_bytes()).map_err(failed)?;
    files::replace_durably(path, bytes).map_err(failed)
}

/// Reads a private file; `None` if it does not exist. Refuses a file that other users may read or write.
pub fn read(path: &Path) -> Result<Option<String>, Error> {
    let failed = |error: io::Error| Error::new(Code::Internal, error.to_string(), "move it away");
    let file = match files::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let found = file.metadata().map_err(failed)?;
    if found.len() > PRIVATE_FILE_BYTES_MAX {
        let message = format!("Not a file of this program: `{}`", path.display());
        return Err(Error::new(Code::Internal, message, "move it away"));
    }
    check_owner(&found, path, 0o077)?;
    let mut text = String::new();
    let read = file.take(PRIVATE_FILE_BYTES_MAX).read_to_string(&mut text);
    check_sum(path, if read.is_ok() { text.as_bytes() } else { b"" })?;
    read.map_err(failed)?;
    Ok(Some(text))
}

/// Refuses a file that is not as the server wrote it. What it grants could be more than a person granted.
fn check_sum(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    // Files of earlier versions, and files that people wrote, have none.
    let Ok(sums) = files::read_text(&sum_path(path), PRIVATE_FILE_BYTES_MAX) else {
        return Ok(());
    };
    if sums.lines().any(|sum| sum == checksum(bytes)) {
        return Ok(());
    }
    let message = format!("Damaged, or changed by another program: `{}`", path.display());
    let hint =
        "restore it from a backup; if you changed it yourself, remove the file with the same name and `.sum`";
    Err(Error::new(Code::Internal, message, hint))
}

/// The file with the checksums of the contents that are right.
fn sum_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sum");
    PathBuf::from(name)
}

fn checksum(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.first_chunk::<8>().map_or_else(String::new, |bytes| format!("{:016x}", u64::from_be_bytes(*bytes)))
}

/// Refuses a file or folder of another user, or one that grants these mode bits.
#[cfg(unix)]
fn check_owner(found: &std::fs::Metadata, path: &Path, others: u32) -> Result<(), Error> {
    use std::os::unix::fs::MetadataExt as _;
    let refused = |message: String, hint: &'static str| Err(Error::new(Code::Forbidden, message, hint));
    if found.uid() != rustix::process::geteuid().as_raw() {
        return refused(
            format!("Owned by another user: `{}`", path.display()),
            "name another folder with --data",
        );
    }
    if found.mode() & others != 0 {
        return refused(
            format!("Accessible to other users: `{}`", path.display()),
            "remove their permissions with `chmod go-rwx`",
        );
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_: &std::fs::Metadata, _: &Path, _: u32) -> Result<(), Error> {
    Ok(())
}
