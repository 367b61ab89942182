//! Copying the files of a session into the archive.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tidings_base::files;

use super::copy::{self, Sum};
use super::{Archive, Manifest, StoredFile, with_zst};
use crate::Error;
use crate::all_files::{AllFiles, Belonging, config_folder};
use crate::error::At as _;
use crate::list::{ListFilter, list};
use crate::roots::SessionFiles;

/// The result of archiving a session.
#[derive(Debug)]
pub struct ArchivedSession {
    /// The session's id.
    pub session: String,
    /// All files of the session.
    pub files: Vec<ArchivedFile>,
    /// Errors about files that could not be read or copied.
    pub failed: Vec<Error>,
    /// Size of all copies in bytes.
    pub stored_bytes: u64,
}

/// The result of archiving a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedFile {
    /// Path below the configuration folder.
    pub path: PathBuf,
    /// Size in bytes.
    pub bytes: u64,
    /// Effect on the copy.
    pub done: CopyOutcome,
}

/// Effect on the copy of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyOutcome {
    /// The copy was created.
    New,
    /// The file has not changed.
    Unchanged,
    /// The file has grown, and the copy was replaced.
    Grown,
    /// The file was truncated; the copy still holds the lost part.
    CutShort,
    /// The file diverged from its copy; the earlier copy is stored beside the new one.
    Diverged,
}

impl Archive {
    /// Creates or updates copies of all files of a session. `now` is recorded with them.
    ///
    /// Waits while another process or thread copies a session of this archive.
    pub fn keep(&self, session: &SessionFiles, now: Timestamp) -> Result<ArchivedSession, Error> {
        let _lock = self.lock()?;
        let project = session.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let manifest_path = self.manifest_path(&project, &session.id);
        // An unreadable manifest is rebuilt from the copies themselves.
        let known = Manifest::read(&manifest_path).ok().flatten();
        let listed = list(std::slice::from_ref(session), &ListFilter::default()).pop().map(|(_, row)| row);
        let (title, cwd) = listed.map_or((None, None), |row| (row.title, row.cwd));
        let mut manifest = Manifest {
            format: Manifest::FORMAT,
            session: session.id.clone(),
            project,
            root: config_folder(session),
            title,
            cwd,
            archived: now.to_string(),
            files: known.as_ref().map(|known| known.files.clone()).unwrap_or_default(),
        };
        let mut all_files = AllFiles::of(session);
        let mut kept = ArchivedSession {
            session: session.id.clone(),
            files: Vec::new(),
            failed: std::mem::take(&mut all_files.unreadable),
            stored_bytes: 0,
        };
        for file in &all_files.files {
            match self.keep_file(file, manifest.file(&file.relative)) {
                Ok((stored, done)) => {
                    let (path, bytes) = (file.relative.clone(), file.bytes);
                    kept.files.push(ArchivedFile { path, bytes, done });
                    manifest.files.retain(|known| known.path != stored.path);
                    manifest.files.push(stored);
                }
                Err(error) => kept.failed.push(error),
            }
        }
        kept.stored_bytes = manifest.stored_bytes();
        let changed = kept.files.iter().any(|file| file.done != CopyOutcome::Unchanged);
        if changed || known.is_none() {
            manifest.files.sort_by(|a, b| a.path.cmp(&b.path));
            manifest.write(&manifest_path)?;
        }
        Ok(kept)
    }

    fn keep_file(
        &self,
        file: &Belonging,
        known: Option<&StoredFile>,
    ) -> Result<(StoredFile, CopyOutcome), Error> {
        let copy = self.stored_path(&file.relative);
        let modified = Timestamp::try_from(file.modified).unwrap_or_default().to_string();
        let is_there = copy.is_file();
        if let Some(known) = known
            && is_there
            && known.seen_bytes == file.bytes
            && known.seen_modified == modified
        {
            return Ok((known.clone(), CopyOutcome::Unchanged));
        }
        let (sum, stored_bytes, done) = if is_there {
            self.update_copy(file, &copy, known)?
        } else {
            let (sum, stored_bytes) = copy::compress(&file.path, &copy)?;
            (sum, stored_bytes, CopyOutcome::New)
        };
        let stored = StoredFile {
            path: file.relative.clone(),
            bytes: sum.bytes,
            sha256: sum.sha256,
            stored_bytes,
            seen_bytes: file.bytes,
            seen_modified: modified,
        };
        Ok((stored, done))
    }

    fn update_copy(
        &self,
        file: &Belonging,
        copy: &Path,
        known: Option<&StoredFile>,
    ) -> Result<(Sum, u64, CopyOutcome), Error> {
        let had = match known {
            Some(known) => Sum { bytes: known.bytes, sha256: known.sha256.clone() },
            None => copy::sum_of_copy(copy)?,
        };
        let beginning = copy::sum_of_beginning(&file.path, had.bytes)?;
        if beginning == had {
            let (sum, stored_bytes) = copy::compress(&file.path, copy)?;
            return Ok((sum, stored_bytes, CopyOutcome::Grown));
        }
        if beginning.bytes < had.bytes && copy::sum_of_copy_beginning(copy, beginning.bytes)? == beginning {
            let stored_bytes = std::fs::metadata(copy).at("look at", copy)?.len();
            return Ok((had, stored_bytes, CopyOutcome::CutShort));
        }
        // The new copy is complete before the earlier one is moved: the disk may be full.
        let (sum, stored_bytes, part) = copy::prepare(&file.path, copy)?;
        self.set_aside(&file.relative)?;
        part.put().at("write", copy)?;
        Ok((sum, stored_bytes, CopyOutcome::Diverged))
    }

    /// Puts a copy into the first of the folders `earlier/1`, `earlier/2`, … that has room for it. It also
    /// stays in place until another one replaces it.
    fn set_aside(&self, relative: &Path) -> Result<(), Error> {
        let copy = self.stored_path(relative);
        let mut number = 1u64;
        let target = loop {
            let target = self.folder().join("earlier").join(number.to_string()).join(with_zst(relative));
            if !target.exists() {
                break target;
            }
            number += 1;
        };
        if let Some(folder) = target.parent() {
            files::create_private_folder(folder).at("create", folder)?;
        }
        // Not every file system supports hard links.
        let placed = std::fs::hard_link(&copy, &target)
            .or_else(|_| std::fs::copy(&copy, &target).map(drop))
            .inspect_err(|_| drop(std::fs::remove_file(&target)));
        placed.at("move", &copy)
    }
}
