//! The list of the archived files of one session.

use std::io::{Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::copy;
use crate::error::At as _;
use crate::limits::MANIFEST_BYTES_MAX;
use crate::{Error, ErrorKind};

/// The archived files of one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the manifest format.
    pub format: u32,
    /// The session's id.
    pub session: String,
    /// Name of the project's folder.
    pub project: String,
    /// The configuration folder that the session was copied from.
    pub root: Option<PathBuf>,
    /// Title of the session when it was copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Folder that the session worked in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Time of the last copy, in ISO 8601.
    pub archived: String,
    /// The copies.
    pub files: Vec<StoredFile>,
}

/// The copy of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    /// Path below the configuration folder; with `.zst` appended, the path in the archive.
    pub path: PathBuf,
    /// Size of the original in bytes, when it was copied.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
    /// Size of the copy in bytes.
    pub stored_bytes: u64,
    /// Size of the original when it was last examined …
    pub seen_bytes: u64,
    /// … and the time of its last change, in ISO 8601.
    pub seen_modified: String,
}

impl Manifest {
    pub(super) const FORMAT: u32 = 1;

    /// Size of all originals in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Size of all copies in bytes.
    pub fn stored_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.stored_bytes).sum()
    }

    /// Time of the last change to an original.
    pub fn modified(&self) -> Option<SystemTime> {
        let times = self.files.iter().filter_map(|file| file.seen_modified.parse::<Timestamp>().ok());
        times.max().map(SystemTime::from)
    }

    pub(super) fn read(path: &Path) -> Result<Option<Self>, Error> {
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", path, error)),
        };
        let mut text = String::new();
        file.take(MANIFEST_BYTES_MAX).read_to_string(&mut text).at("read", path)?;
        let invalid = |why: String| {
            let message = format!("`{}` is not a manifest of an archived session: {why}", path.display());
            Error::new(ErrorKind::Invalid, message, "archive the session again; existing copies are reused")
        };
        let manifest: Manifest = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        if manifest.format != Self::FORMAT {
            return Err(invalid(format!("its format is {}", manifest.format)));
        }
        let names = [&manifest.session, &manifest.project];
        let stays_inside = names.iter().all(|name| is_inside(Path::new(name)))
            && manifest.files.iter().all(|file| is_inside(&file.path));
        if !stays_inside {
            return Err(invalid("it contains a path outside of the archive".to_owned()));
        }
        Ok(Some(manifest))
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(self).map_err(std::io::Error::from).at("write", path)?;
        let mut file = copy::begin(path)?;
        file.write_all(&text).and_then(|()| file.put_durably()).at("write", path)
    }

    pub(super) fn file(&self, path: &Path) -> Option<&StoredFile> {
        self.files.iter().find(|file| file.path == path)
    }
}

/// Checks that a path stays below the folder that it is joined to.
fn is_inside(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}
