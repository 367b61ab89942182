//! Compressed copies of sessions, since Claude Code deletes its own files after a while.
//!
//! An archive is a folder with the layout of a configuration folder: `projects/<project>/<session>.jsonl` is
//! stored as `projects/<project>/<session>.jsonl.zst`, and so is every other file that
//! [belongs](crate::all_files) to the session. Unpacking all of it (`zstd -dr`) gives a folder that
//! [`Roots`](crate::roots::Roots) reads. `sessions/<project>/<session>.json` holds the size and SHA-256 of
//! every copy.
//!
//! A copy is read back and compared before it is moved into place, and stored data is never lost: a file that
//! has grown replaces its copy, a truncated one does not, and the copy of a file that diverged from it moves
//! to `earlier/<n>/`.

mod checksum;
mod copy;
mod manifest;
mod remove;
mod restore;
mod unpack;
mod update;

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

use tidings_base::files;

pub use manifest::{Manifest, StoredFile};
pub use restore::{Restored, RestoredFile, Returned};
pub use update::{ArchivedFile, ArchivedSession, CopyOutcome};

use crate::error::At as _;
use crate::id_prefix::names_id;
use crate::{Error, ErrorKind};

/// A folder of compressed copies.
#[derive(Debug, Clone)]
pub struct Archive {
    folder: PathBuf,
}

/// The sessions in an archive.
#[derive(Debug, Default)]
pub struct Contents {
    /// Every session, by project and id.
    pub sessions: Vec<Manifest>,
    /// Errors about manifests that cannot be read.
    pub unreadable: Vec<Error>,
}

impl Archive {
    /// The archive in a folder, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Archive { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Lists all archived sessions; empty if there is no archive yet.
    pub fn contents(&self) -> Result<Contents, Error> {
        let mut contents = Contents::default();
        let top = self.folder.join("sessions");
        for project in folders_in(&top)? {
            for path in folders_in(&project)? {
                if path.extension() != Some(OsStr::new("json")) {
                    continue;
                }
                match Manifest::read(&path) {
                    Ok(manifest) => contents.sessions.extend(manifest),
                    Err(error) => contents.unreadable.push(error),
                }
            }
        }
        Ok(contents)
    }

    /// Finds a session by its id, or by a [prefix](crate::id_prefix) that only one session has.
    pub fn find(&self, name: &str) -> Result<Manifest, Error> {
        const HINT: &str = "`tidings sessions archive --list` lists the archived sessions";
        let mut fitting = self.contents()?.sessions;
        fitting.retain(|manifest| names_id(name, &manifest.session));
        if fitting.iter().any(|manifest| manifest.session == name) {
            fitting.retain(|manifest| manifest.session == name);
        }
        match fitting.len() {
            0 => {
                let message = format!("No such session in the archive: `{name}`");
                Err(Error::new(ErrorKind::NotFound, message, HINT))
            }
            1 => Ok(fitting.swap_remove(0)),
            count => {
                let message = format!("{count} sessions in the archive begin with `{name}`");
                Err(Error::new(ErrorKind::Ambiguous, message, "give more characters of the id"))
            }
        }
    }

    /// Locks the archive against other writers until the file is dropped.
    fn lock(&self) -> Result<File, Error> {
        let path = self.folder.join("lock");
        files::create_private_folder(&self.folder).at("create", &self.folder)?;
        let file = files::truncate_private(&path).at("write", &path)?;
        file.lock().at("lock", &path)?;
        Ok(file)
    }

    fn manifest_path(&self, project: &str, session: &str) -> PathBuf {
        self.folder.join("sessions").join(project).join(format!("{session}.json"))
    }

    /// Path of the copy of a file.
    fn stored_path(&self, relative: &Path) -> PathBuf {
        self.folder.join(with_zst(relative))
    }
}

fn with_zst(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".zst");
    PathBuf::from(name)
}

/// The paths in a folder, sorted by name; empty if it does not exist.
fn folders_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(Error::io("look into", folder, error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.at("look into", folder)?.path());
    }
    paths.sort();
    Ok(paths)
}
