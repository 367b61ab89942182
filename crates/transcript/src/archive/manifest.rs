use std::io::{Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::copy::create_private;
use crate::error::At as _;
use crate::limits::MANIFEST_BYTES_MAX;
use crate::{Error, ErrorKind};

/// What an archive holds of one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this description.
    pub format: u32,
    /// The session's id.
    pub session: String,
    /// The name of its project's folder.
    pub project: String,
    /// The configuration folder that it was copied from.
    pub root: Option<PathBuf>,
    /// When it was last copied, in ISO 8601.
    pub archived: String,
    /// The copies.
    pub files: Vec<StoredFile>,
}

/// The copy of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    /// Where it lay below the configuration folder; with `.zst` added, where it is in the archive.
    pub path: PathBuf,
    /// The size of what was copied.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
    /// The size of the copy.
    pub stored_bytes: u64,
    /// The original when it was last looked at: its size …
    pub seen_bytes: u64,
    /// … and when it was last changed, in ISO 8601.
    pub seen_modified: String,
}

impl Manifest {
    pub(super) const FORMAT: u32 = 1;

    /// The size of everything that was copied.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// The size of the copies.
    pub fn stored_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.stored_bytes).sum()
    }

    /// When the originals were last changed.
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
            let message = format!("`{}` does not describe a session of the archive: {why}", path.display());
            Error::new(
                ErrorKind::Invalid,
                message,
                "archive the session again; copies that are there are taken over",
            )
        };
        let manifest: Manifest = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        if manifest.format != Self::FORMAT {
            return Err(invalid(format!("its format is {}", manifest.format)));
        }
        let names = [&manifest.session, &manifest.project];
        let stays_inside = names.iter().all(|name| is_inside(Path::new(name)))
            && manifest.files.iter().all(|file| is_inside(&file.path));
        if !stays_inside {
            return Err(invalid("a path in it leads elsewhere".to_owned()));
        }
        Ok(Some(manifest))
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(self).map_err(std::io::Error::from).at("write", path)?;
        let (mut file, part) = create_private(path)?;
        file.write_all(&text).and_then(|()| file.sync_all()).at("write", path)?;
        part.put(path)
    }

    pub(super) fn file(&self, path: &Path) -> Option<&StoredFile> {
        self.files.iter().find(|file| file.path == path)
    }
}

/// Whether a path stays below the folder that it is joined to.
fn is_inside(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}
