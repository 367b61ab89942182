//! Files that an agent reads and writes through us: inside of the session's folders, and through no link.

use std::path::{Component, Path, PathBuf};

use anyhow::Context as _;
use serde_json::{Value, json};
use tidings_acp::adapter::FileRequest;
use tidings_acp::limits::FILE_BYTES_MAX;
use tidings_acp::rpc::RpcError;

/// The folders of a session.
#[derive(Debug)]
pub(super) struct Folders(Vec<PathBuf>);

impl Folders {
    /// The folders by their real paths.
    pub(super) fn open<'a>(folders: impl Iterator<Item = &'a String>) -> anyhow::Result<Self> {
        let real = |folder: &String| {
            fs_err::canonicalize(folder).with_context(|| format!("The folder `{folder}` cannot be opened"))
        };
        folders.map(real).collect::<Result<_, _>>().map(Folders)
    }

    /// The first folder, which is the working folder.
    pub(super) fn first(&self) -> &Path {
        self.0.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// A folder below one of these, by its real path.
    pub(super) fn folder(&self, path: &str) -> Result<PathBuf, RpcError> {
        let real = fs_err::canonicalize(path).map_err(|error| refused(&error.to_string()))?;
        let is_inside = self.0.iter().any(|folder| real.starts_with(folder));
        if is_inside { Ok(real) } else { Err(outside(path)) }
    }

    /// The folder that a path is in, and the parts below it.
    fn place<'a>(&self, path: &'a str) -> Result<(&Path, Vec<&'a str>), RpcError> {
        let whole = Path::new(path);
        let inside = |folder: &'_ PathBuf| whole.strip_prefix(folder).is_ok();
        let folder = self.0.iter().find(|folder| inside(folder)).ok_or_else(|| outside(path))?;
        let below = whole.strip_prefix(folder).map_err(|_| outside(path))?;
        let mut parts = Vec::new();
        for part in below.components() {
            match part {
                Component::Normal(part) => parts.push(part.to_str().ok_or_else(|| outside(path))?),
                Component::CurDir => {}
                _ => return Err(outside(path)),
            }
        }
        if parts.is_empty() || path.contains('\0') {
            return Err(outside(path));
        }
        Ok((folder, parts))
    }

    /// `fs/read_text_file`
    pub(super) fn read(&self, request: &FileRequest) -> Result<Value, RpcError> {
        let (folder, parts) = self.place(&request.path)?;
        let text = system::read(folder, &parts).map_err(|error| failed(&request.path, &error))?;
        let content = if request.line.is_none() && request.limit.is_none() {
            text
        } else {
            let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
            let first = request.line.map_or(0, |line| count(line).saturating_sub(1));
            let lines = text.split_inclusive('\n').skip(first);
            lines.take(request.limit.map_or(usize::MAX, count)).collect()
        };
        Ok(json!({"content": content}))
    }

    /// `fs/write_text_file`
    pub(super) fn write(&self, request: &FileRequest) -> Result<Value, RpcError> {
        let (folder, parts) = self.place(&request.path)?;
        if request.content.len() as u64 > FILE_BYTES_MAX {
            return Err(refused(&format!("The text is longer than {FILE_BYTES_MAX} bytes")));
        }
        system::write(folder, &parts, &request.content).map_err(|error| failed(&request.path, &error))?;
        Ok(json!({}))
    }
}

fn outside(path: &str) -> RpcError {
    let message = format!("`{path}` is not a file below the folders of the session");
    RpcError::new(RpcError::INVALID_PARAMS, message, "send an absolute path inside of them, without `..`")
}

fn refused(message: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, message, "")
}

fn failed(path: &str, error: &std::io::Error) -> RpcError {
    let code = match error.kind() {
        std::io::ErrorKind::NotFound => RpcError::NOT_FOUND,
        _ => RpcError::INVALID_PARAMS,
    };
    RpcError::new(code, format!("`{path}`: {error}"), "links are not followed")
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io::{self, Read as _, Write as _};
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::fs::{Mode, OFlags};

    use super::FILE_BYTES_MAX;

    const COMMON: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);

    /// Opens the folder of a file, each part inside of the one before, so that nothing can be replaced in
    /// between.
    fn parent<'a>(folder: &Path, parts: &[&'a str], make: bool) -> io::Result<(OwnedFd, &'a str)> {
        let flags = COMMON | OFlags::RDONLY | OFlags::DIRECTORY;
        let mut at = rustix::fs::open(folder, flags, Mode::empty())?;
        let Some((last, folders)) = parts.split_last() else { return Err(io::ErrorKind::NotFound.into()) };
        for part in folders {
            if make {
                match rustix::fs::mkdirat(&at, *part, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            at = rustix::fs::openat(&at, *part, flags, Mode::empty())?;
        }
        Ok((at, last))
    }

    fn regular(file: File) -> io::Result<File> {
        if file.metadata()?.is_file() {
            return Ok(file);
        }
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"))
    }

    pub(super) fn read(folder: &Path, parts: &[&str]) -> io::Result<String> {
        let (at, name) = parent(folder, parts, false)?;
        let file = rustix::fs::openat(&at, name, COMMON | OFlags::RDONLY, Mode::empty())?;
        let file = regular(File::from(file))?;
        if file.metadata()?.len() > FILE_BYTES_MAX {
            return Err(io::Error::other(format!("the file is longer than {FILE_BYTES_MAX} bytes")));
        }
        let mut text = String::new();
        file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
        Ok(text)
    }

    pub(super) fn write(folder: &Path, parts: &[&str], content: &str) -> io::Result<()> {
        let (at, name) = parent(folder, parts, true)?;
        let mode = Mode::from_raw_mode(0o666);
        let file = rustix::fs::openat(&at, name, COMMON | OFlags::WRONLY | OFlags::CREATE, mode)?;
        let mut file = regular(File::from(file))?;
        file.set_len(0)?;
        file.write_all(content.as_bytes())
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;
    use std::path::Path;

    /// Without a way to open each part inside of the one before, files are not served.
    pub(super) fn read(_: &Path, _: &[&str]) -> io::Result<String> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn write(_: &Path, _: &[&str], _: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use tidings_acp::rpc::Id;

    use super::*;

    fn request(path: &Path, content: &str) -> FileRequest {
        let path = path.to_str().unwrap().to_owned();
        FileRequest { id: Id::of_text("1"), path, line: None, limit: None, content: content.to_owned() }
    }

    #[test]
    fn files_are_served_inside_of_the_folders_and_through_no_link() {
        let root = tempfile::tempdir().unwrap();
        let (inside, outside) = (root.path().join("in"), root.path().join("out"));
        fs_err::create_dir(&inside).unwrap();
        fs_err::create_dir(&outside).unwrap();
        fs_err::write(outside.join("secret"), "secret").unwrap();
        fs_err::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        fs_err::os::unix::fs::symlink(outside.join("secret"), inside.join("file-link")).unwrap();
        let folders = Folders::open([inside.to_str().unwrap().to_owned()].iter()).unwrap();

        let written = folders.write(&request(&inside.join("new/deep/file"), "one\ntwo\nthree\n"));
        assert_eq!(written.unwrap(), json!({}));
        let part =
            FileRequest { line: Some(2), limit: Some(1), ..request(&inside.join("new/deep/file"), "") };
        assert_eq!(folders.read(&part).unwrap(), json!({"content": "two\n"}));

        let refused = [
            inside.join("link/secret"),
            inside.join("file-link"),
            inside.join("../out/secret"),
            outside.join("secret"),
            inside.clone(),
            PathBuf::from("relative"),
        ];
        for path in refused {
            assert!(folders.read(&request(&path, "")).is_err(), "{path:?}");
            assert!(folders.write(&request(&path, "changed")).is_err(), "{path:?}");
        }
        assert_eq!(fs_err::read_to_string(outside.join("secret")).unwrap(), "secret");
        assert!(folders.folder(outside.to_str().unwrap()).is_err());
        assert!(folders.folder(inside.join("link").to_str().unwrap()).is_err());
    }
}
