//! The indexed files, and how each differs from the file on disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::store::Store;
use crate::Error;
use crate::cache::{Fields, Stamp};
use crate::roots::FileInfo;

/// The indexed files, by path.
#[derive(Debug, Default)]
pub(super) struct Files(HashMap<Vec<u8>, FileRow>);

/// An indexed file.
#[derive(Debug, Clone)]
pub(super) struct FileRow {
    pub(super) id: i64,
    pub(super) stamp: Stamp,
    /// Number of whole lines that were read.
    pub(super) lines: u64,
}

/// State of a file compared with the index.
#[derive(Debug, Clone, Copy)]
pub(super) enum FileState<'a> {
    /// Unchanged.
    Same(&'a FileRow),
    /// Only appended to.
    Grown(&'a FileRow),
    /// Replaced by another file.
    Replaced(&'a FileRow),
    /// Not indexed.
    New,
}

impl FileState<'_> {
    /// Number of bytes that are not indexed yet.
    pub(super) fn pending(&self, file: &FileInfo) -> u64 {
        match self {
            FileState::Same(_) => 0,
            FileState::Grown(row) => file.bytes.saturating_sub(row.stamp.mark.offset()),
            FileState::Replaced(_) | FileState::New => file.bytes,
        }
    }
}

impl Files {
    pub(super) fn load(store: &Store) -> Result<Self, Error> {
        let read = || {
            let mut select = store.connection.prepare_cached("SELECT id, path, stamp, lines FROM file")?;
            let mut rows = select.query([])?;
            let mut files = HashMap::new();
            while let Some(row) = rows.next()? {
                // An unreadable stamp leaves the file unknown, so that it is read again.
                let Some(stamp) = Stamp::read(&mut Fields::new(row.get_ref(2)?.as_blob()?)) else { continue };
                let lines = row.get::<_, i64>(3)?.cast_unsigned();
                files.insert(row.get(1)?, FileRow { id: row.get(0)?, stamp, lines });
            }
            Ok(Files(files))
        };
        read().map_err(|error| store.failed(&error))
    }

    /// The state of a file; a changed file is opened, to see whether it only grew.
    pub(super) fn state(&self, file: &FileInfo) -> FileState<'_> {
        match self.0.get(file.path.as_os_str().as_encoded_bytes()) {
            None => FileState::New,
            Some(row) if row.stamp.is_of(file) => FileState::Same(row),
            Some(row) if row.stamp.may_be_beginning_of(file) && row.stamp.mark.is_valid(&file.path) => {
                FileState::Grown(row)
            }
            Some(row) => FileState::Replaced(row),
        }
    }

    /// The files below `folders` that are not among the `existing` ones.
    pub(super) fn missing<'a>(
        &self,
        folders: &[PathBuf],
        existing: impl Iterator<Item = &'a Path>,
    ) -> Vec<i64> {
        let existing: std::collections::HashSet<&[u8]> =
            existing.map(|path| path.as_os_str().as_encoded_bytes()).collect();
        let below = |path: &[u8]| {
            folders.iter().any(|folder| {
                let rest = path.strip_prefix(folder.as_os_str().as_encoded_bytes());
                rest.is_some_and(|rest| rest.first().is_some_and(|byte| matches!(byte, b'/' | b'\\')))
            })
        };
        let gone = self.0.iter().filter(|(path, _)| below(path) && !existing.contains(path.as_slice()));
        gone.map(|(_, row)| row.id).collect()
    }
}
