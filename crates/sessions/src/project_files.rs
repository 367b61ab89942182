//! Reads the files of a project for people who look at it. No link is followed, in any part of a path: each
//! part is opened inside of the one before, so that nothing can be replaced in between.

use std::io::{self, Read as _};
use std::path::{Component, Path};

use tidings_agent::permissions::{is_sensitive_file, is_sensitive_folder};
use tidings_api::{Code, FileItem, FileKind, FileList, FileText, Scope};

use crate::limits::{FILE_ITEMS_MAX, FILE_SHOWN_BYTES_MAX, FOLDER_ENTRIES_MAX};
use crate::{Caller, Error};

/// The folder in which `git` stores a repository. Its configuration can contain credentials.
const REPOSITORY: &str = ".git";

/// Lists a folder below the folder of a project.
pub fn list(caller: &Caller, project: &Path, path: &str) -> Result<FileList, Error> {
    let path = checked(caller, project, path, is_sensitive_folder)?;
    let (mut items, mut more) =
        system::entries(&project.join(&path)).map_err(|error| failed(&path, &error))?;
    for item in &mut items {
        let at = project.join(&path).join(&item.name);
        let at = at.to_string_lossy();
        item.sensitive = match item.kind {
            FileKind::Folder => is_sensitive_folder(&at),
            FileKind::File | FileKind::Link | FileKind::Other => is_sensitive_file(&at),
        };
    }
    items.sort_by_cached_key(|item| (item.kind != FileKind::Folder, item.name.to_lowercase()));
    more |= items.len() > FILE_ITEMS_MAX;
    items.truncate(FILE_ITEMS_MAX);
    Ok(FileList { path, items, more })
}

/// Reads the beginning of a file below the folder of a project.
pub fn read(caller: &Caller, project: &Path, path: &str) -> Result<FileText, Error> {
    let path = checked(caller, project, path, is_sensitive_file)?;
    let read = || {
        let file = system::open(&project.join(&path))?;
        let about = file.metadata()?;
        let mut bytes = Vec::new();
        file.take(FILE_SHOWN_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok((about.len().max(bytes.len() as u64), bytes))
    };
    let (length, bytes) = read().map_err(|error| failed(&path, &error))?;
    let cut = length > bytes.len() as u64;
    Ok(FileText { path, bytes: length, text: text_of(bytes, cut), cut })
}

/// Reads a whole file of at most `bytes_max` bytes below the folder of a project.
pub(crate) fn read_whole(
    caller: &Caller,
    project: &Path,
    path: &str,
    bytes_max: usize,
) -> Result<Vec<u8>, Error> {
    let path = checked(caller, project, path, is_sensitive_file)?;
    let mut bytes = Vec::new();
    let read = system::open(&project.join(&path))
        .and_then(|file| file.take(bytes_max as u64 + 1).read_to_end(&mut bytes));
    read.map_err(|error| failed(&path, &error))?;
    if bytes.len() > bytes_max {
        let message = format!("`{path}` is longer than {bytes_max} bytes");
        return Err(Error::new(Code::TooLarge, message, "name a part of it"));
    }
    Ok(bytes)
}

/// Opens a file by its absolute path, if no part of the path is a link.
pub(crate) fn open(path: &Path) -> io::Result<std::fs::File> {
    system::open(path)
}

/// The text of a file; none if it is not text. At a cut, half a character is left out.
fn text_of(mut bytes: Vec<u8>, cut: bool) -> Option<String> {
    if let Err(error) = std::str::from_utf8(&bytes)
        && cut
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// A path below a project in its one spelling, if the caller may see what it names.
fn checked(
    caller: &Caller,
    project: &Path,
    path: &str,
    is_sensitive: fn(&str) -> bool,
) -> Result<String, Error> {
    let mut parts = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(part) if !part.eq_ignore_ascii_case(REPOSITORY) => {
                parts.push(part.to_string_lossy());
            }
            Component::CurDir => {}
            Component::Normal(_) => {
                let message = format!("`{path}` is in the folder of the repository itself");
                return Err(Error::new(Code::Forbidden, message, "choose a file of the project"));
            }
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                let message = format!("`{path}` is not a path below the folder of the session");
                return Err(Error::new(Code::Invalid, message, "send a relative path without `..`"));
            }
        }
    }
    let path = parts.join("/");
    if path.contains('\0') {
        return Err(Error::new(Code::Invalid, "The path contains a NUL character", "send another path"));
    }
    // A sensitive folder on the way counts too.
    let ends = path.match_indices('/').map(|(end, _)| &path[..end]);
    let whole = |path: &str| project.join(path).to_string_lossy().into_owned();
    let is_secret = ends.map(whole).any(|folder| is_sensitive_folder(&folder)) || is_sensitive(&whole(&path));
    if is_secret && !path.is_empty() && !caller.scopes.has(Scope::Admin) {
        let message = format!("Files of credentials need the scope `admin`: `{path}`");
        return Err(Error::new(Code::Forbidden, message, "pair the device again with more scopes"));
    }
    Ok(path)
}

fn failed(path: &str, error: &io::Error) -> Error {
    let message = format!("Failed to read `{path}`: {error}");
    match error.kind() {
        io::ErrorKind::NotFound => Error::new(Code::NotFound, message, "list the folder again"),
        _ => Error::new(Code::Unprocessable, message, "links are not followed; choose another file"),
    }
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::{Component, Path};

    use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

    use super::{FOLDER_ENTRIES_MAX, FileItem, FileKind, REPOSITORY};

    /// Opens a path that has no link in it.
    fn walk(path: &Path, last: OFlags) -> io::Result<OwnedFd> {
        let common = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mut at = rustix::fs::open("/", common | OFlags::DIRECTORY, Mode::empty())?;
        let mut parts = path.components().filter_map(|part| match part {
            Component::Normal(part) => Some(part),
            _ => None,
        });
        let mut next = parts.next();
        while let Some(part) = next {
            next = parts.next();
            let flags = if next.is_some() { OFlags::DIRECTORY } else { last };
            at = rustix::fs::openat(&at, part, common | flags, Mode::empty())?;
        }
        Ok(at)
    }

    pub(super) fn open(path: &Path) -> io::Result<File> {
        let file = File::from(walk(path, OFlags::empty())?);
        if file.metadata()?.is_file() {
            return Ok(file);
        }
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"))
    }

    /// The entries of a folder; true if some were left out.
    pub(super) fn entries(path: &Path) -> io::Result<(Vec<FileItem>, bool)> {
        let folder = walk(path, OFlags::DIRECTORY)?;
        let (mut items, mut looked) = (Vec::new(), 0);
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | "..") || name.eq_ignore_ascii_case(REPOSITORY) {
                continue;
            }
            looked += 1;
            if looked > FOLDER_ENTRIES_MAX {
                return Ok((items, true));
            }
            // A file that was removed in between is left out.
            let Ok(about) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let kind = match FileType::from_raw_mode(about.st_mode) {
                FileType::Directory => FileKind::Folder,
                FileType::RegularFile => FileKind::File,
                FileType::Symlink => FileKind::Link,
                _ => FileKind::Other,
            };
            let bytes = (kind == FileKind::File).then(|| u64::try_from(about.st_size).unwrap_or_default());
            items.push(FileItem { name: name.to_owned(), kind, bytes, sensitive: false });
        }
        Ok((items, false))
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use super::{FOLDER_ENTRIES_MAX, FileItem, FileKind, REPOSITORY};

    /// Refuses a path with a link in it.
    fn check(path: &Path) -> io::Result<()> {
        if path.ancestors().any(Path::is_symlink) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a part of the path is a link"));
        }
        Ok(())
    }

    pub(super) fn open(path: &Path) -> io::Result<File> {
        check(path)?;
        tidings_base::files::open(path)
    }

    /// The entries of a folder; true if some were left out.
    pub(super) fn entries(path: &Path) -> io::Result<(Vec<FileItem>, bool)> {
        check(path)?;
        let mut items = Vec::new();
        for entry in path.read_dir()?.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.eq_ignore_ascii_case(REPOSITORY) {
                continue;
            }
            if items.len() == FOLDER_ENTRIES_MAX {
                return Ok((items, true));
            }
            let Ok(about) = entry.path().symlink_metadata() else { continue };
            let kind = match about.file_type() {
                kind if kind.is_dir() => FileKind::Folder,
                kind if kind.is_file() => FileKind::File,
                kind if kind.is_symlink() => FileKind::Link,
                _ => FileKind::Other,
            };
            let bytes = (kind == FileKind::File).then(|| about.len());
            items.push(FileItem { name, kind, bytes, sensitive: false });
        }
        Ok((items, false))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn with(scope: Scope) -> Caller {
        Caller { scopes: [scope].into_iter().collect(), ..Caller::admin("test") }
    }

    #[test]
    fn no_path_leads_out_of_the_project() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let project = root.join("project");
        std::fs::create_dir_all(project.join("src")).unwrap();
        std::fs::create_dir_all(project.join(".git")).unwrap();
        std::fs::create_dir_all(root.join("outside")).unwrap();
        std::fs::write(root.join("outside/notes.txt"), "hidden").unwrap();
        std::fs::write(project.join("src/main.rs"), "fn main() {}").unwrap();
        std::fs::write(project.join(".git/config"), "[user]").unwrap();
        symlink(root.join("outside"), project.join("out")).unwrap();
        symlink(root.join("outside/notes.txt"), project.join("notes.txt")).unwrap();
        let admin = Caller::admin("test");
        assert_eq!(read(&admin, &project, "src/main.rs").unwrap().text.unwrap(), "fn main() {}");
        assert_eq!(read(&admin, &project, "./src//main.rs").unwrap().path, "src/main.rs");
        let listed = list(&admin, &project, "").unwrap();
        let names: Vec<_> = listed.items.iter().map(|item| (item.name.as_str(), item.kind)).collect();
        assert_eq!(
            names,
            [("src", FileKind::Folder), ("notes.txt", FileKind::Link), ("out", FileKind::Link)]
        );
        for path in [
            "../outside/notes.txt",
            "/etc/passwd",
            "out/notes.txt",
            "notes.txt",
            ".git/config",
            "src/..",
            "src",
            "missing",
            "a\0b",
            "",
        ] {
            assert!(read(&admin, &project, path).is_err(), "{path}");
        }
        for path in ["..", "/", "out", ".git", "src/../..", "src/main.rs", "missing"] {
            assert!(list(&admin, &project, path).is_err(), "{path}");
        }
        // The project itself was replaced.
        std::fs::rename(&project, root.join("before")).unwrap();
        symlink(root.join("outside"), &project).unwrap();
        assert!(list(&admin, &project, "").is_err());
        assert!(read(&admin, &project, "notes.txt").is_err());
    }

    #[test]
    fn a_file_of_credentials_needs_the_scope_admin() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(project.join("home/.ssh")).unwrap();
        std::fs::write(project.join("home/.ssh/config"), "Host").unwrap();
        std::fs::write(project.join(".env"), "KEY=1").unwrap();
        std::fs::write(project.join("token.rs"), "struct Token;").unwrap();
        for path in [".env", "home/.ssh/config"] {
            let refused = read(&with(Scope::Always), &project, path).unwrap_err();
            assert_eq!(refused.code(), Code::Forbidden, "{path}");
            assert!(read(&with(Scope::Admin), &project, path).unwrap().text.is_some(), "{path}");
        }
        assert_eq!(list(&with(Scope::Read), &project, "home/.ssh").unwrap_err().code(), Code::Forbidden);
        let listed = list(&with(Scope::Read), &project, "").unwrap();
        assert!(listed.items.iter().any(|item| item.name == ".env" && item.sensitive));
        assert!(listed.items.iter().any(|item| item.name == "home" && !item.sensitive));
    }

    #[test]
    fn a_long_file_is_cut_between_characters_and_a_binary_one_has_no_text() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().canonicalize().unwrap();
        let long = "aé".repeat(usize::try_from(FILE_SHOWN_BYTES_MAX).unwrap());
        std::fs::write(project.join("long.txt"), &long).unwrap();
        std::fs::write(project.join("picture.png"), b"\x89PNG\0").unwrap();
        let found = read(&Caller::admin("test"), &project, "long.txt").unwrap();
        assert!(found.cut && found.bytes == long.len() as u64);
        assert!(long.starts_with(&found.text.unwrap()));
        assert_eq!(read(&Caller::admin("test"), &project, "picture.png").unwrap().text, None);
    }
}
