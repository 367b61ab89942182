//! Reading files of the data folder. A link is never followed: the check is part of opening the file, so that
//! the file cannot be replaced in between.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// Opens a file for reading. A link, and everything that is not a regular file, is refused.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        // Without `NONBLOCK`, opening a pipe would wait for its writer.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    #[cfg(not(unix))]
    if path.symlink_metadata()?.is_symlink() {
        return Err(refused(path));
    }
    let file = match options.open(path) {
        // The error of the system says that there are too many links.
        Err(_) if path.is_symlink() => return Err(refused(path)),
        opened => opened?,
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused(path)) }
}

/// Reads a text of at most this length.
pub fn read_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    let mut text = String::new();
    let length = open(path)?.take(bytes_max + 1).read_to_string(&mut text)?;
    if length as u64 > bytes_max {
        let message = format!("`{}` is longer than {bytes_max} bytes", path.display());
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

fn refused(path: &Path) -> io::Error {
    let message = format!("`{}` is a link, or not a file", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn k2_neither_a_link_nor_a_pipe_nor_a_folder_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "mine").unwrap();
        std::fs::create_dir(path("folder")).unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        std::os::unix::fs::symlink(path("missing"), path("dangling")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(path("pipe")).status();
        assert_eq!(read_text(&path("file"), 4).unwrap(), "mine");
        assert_eq!(read_text(&path("file"), 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        let pipe = made.is_ok_and(|made| made.success()).then_some("pipe");
        for name in ["link", "dangling", "folder"].into_iter().chain(pipe) {
            let refused = open(&path(name)).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied, "{name}: {refused}");
        }
        assert_eq!(open(&path("missing")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
