//! Files that only their owner may read, that are replaced as a whole, and that no link leads away from.
//!
//! A link is never followed when a file is opened: the check is part of opening, so that the file cannot be
//! replaced in between. A new file has a name of its own, so that two writers never share one (F110).

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

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

/// Reads a text of at most this length, as [`open`] opens it.
pub fn read_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    let mut text = String::new();
    let length = open(path)?.take(bytes_max + 1).read_to_string(&mut text)?;
    if length as u64 > bytes_max {
        let message = format!("`{}` is longer than {bytes_max} bytes", path.display());
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

/// Creates a file that only its owner may read. A file or a link with the name is an error.
pub fn create_private(path: &Path) -> io::Result<File> {
    private_options().create_new(true).open(path)
}

/// Opens a file that only its owner may read, empty.
pub fn truncate_private(path: &Path) -> io::Result<File> {
    private_options().create(true).truncate(true).open(path)
}

/// Creates a folder, and those above it, that only their owner may enter. It may exist.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Replaces a private file: readers see the old content or the new one.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut new = NewFile::beside(path)?;
    new.write_all(bytes)?;
    new.put()
}

/// The same, and the new content survives a loss of power from then on.
pub fn replace_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut new = NewFile::beside(path)?;
    new.write_all(bytes)?;
    new.put_durably()
}

/// A private file that takes the place of another one when it is complete. Dropped before, it is removed, so
/// that it does not keep a full disk full.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    path: PathBuf,
    target: PathBuf,
    is_put: bool,
}

impl NewFile {
    /// Begins a file beside `target`.
    pub fn beside(target: &Path) -> io::Result<Self> {
        loop {
            let path = name_beside(target);
            match create_private(&path) {
                Ok(file) => return Ok(NewFile { file, path, target: target.to_owned(), is_put: false }),
                // Left behind by a process with the same id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Its path until it is put.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file in the place of the other one.
    pub fn put(mut self) -> io::Result<()> {
        std::fs::rename(&self.path, &self.target)?;
        self.is_put = true;
        Ok(())
    }

    /// The same for content that survives a loss of power.
    pub fn put_durably(self) -> io::Result<()> {
        self.file.sync_all()?;
        let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        self.put()?;
        sync_folder(&folder)
    }
}

impl io::Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_put {
            // The error that is reported is the one that kept it from being put.
            drop(std::fs::remove_file(&self.path));
        }
    }
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// A name that no other writer uses: `name.PID-NUMBER.new`.
fn name_beside(target: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{}.new", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    target.with_file_name(name)
}

fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn refused(path: &Path) -> io::Error {
    let message = format!("`{}` is a link, or not a file", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

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

    #[test]
    fn a_file_is_replaced_as_a_whole_and_a_half_one_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        replace_durably(&path, b"first").unwrap();
        replace(&path, b"second").unwrap();
        assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), names()), ("second", 1));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let mut half = NewFile::beside(&path).unwrap();
        half.write_all(b"th").unwrap();
        let other = NewFile::beside(&path).unwrap();
        assert_eq!(names(), 3, "two writers have two files");
        drop((half, other));
        assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), names()), ("second", 1));
    }

    #[test]
    fn a_link_at_the_target_is_replaced_and_what_it_leads_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (elsewhere, path) = (folder.path().join("elsewhere"), folder.path().join("link"));
        std::fs::write(&elsewhere, "not ours").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert_eq!(create_private(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        replace(&path, b"ours").unwrap();
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "not ours");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "ours");
    }
}
