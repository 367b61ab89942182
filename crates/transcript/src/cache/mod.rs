//! Derived data about session files, stored between runs so that only newly written bytes are read.
//!
//! One file holds data of several kinds. Each kind is written and decoded by one module only; this module
//! transports bytes. A module looks up the stored data of a file, reads the missing part of the file, and
//! stores the new data:
//!
//! ```no_run
//! use tidings_transcript::cache::{Cache, Kind, Known, Mark};
//! use tidings_transcript::roots::FileInfo;
//!
//! /// Raise the version when the meaning of the bytes changes; data of other versions is ignored.
//! const LINES: Kind = Kind::new("lines", 1);
//!
//! # fn count_lines(_: &FileInfo, from: u64) -> (u64, Mark) { (1, Mark::before(from + 2, b"{}")) }
//! # let file: FileInfo = unimplemented!();
//! let mut cache = Cache::open("/home/dev/.cache/tidings/sessions.cache".as_ref());
//! let (known, from) = match cache.known(&file, LINES) {
//!     // The file did not change.
//!     Known::Whole(facts) => (facts.to_vec(), None),
//!     // The file grew: the part before the offset is unchanged.
//!     Known::UpTo { facts, offset } => (facts.to_vec(), Some(offset)),
//!     // Unknown, or replaced by another file.
//!     Known::Nothing => (vec![0; 8], Some(0)),
//! };
//! if let Some(from) = from {
//!     let (more, mark) = count_lines(&file, from);
//!     let lines = u64::from_le_bytes(known.try_into().unwrap_or_default()) + more;
//!     cache.keep(&file, LINES, mark, lines.to_le_bytes().to_vec());
//! }
//! cache.save()?;
//! # Ok::<(), tidings_transcript::Error>(())
//! ```
//!
//! A cache that cannot be used is not an error: it is discarded and built anew. Two processes may use it at
//! once; the file is replaced as a whole, and data that the slower process did not have is only read once
//! more.

mod fields;
mod file;

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use fields::Fields;
use file::{CacheContents, CacheRecord};
pub(crate) use file::{Stamp, hash, replace};

use crate::Error;
use crate::roots::FileInfo;

/// A kind of derived data, with the version of its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    name: &'static str,
    version: u32,
}

impl Kind {
    /// A kind with this name and version.
    pub const fn new(name: &'static str, version: u32) -> Self {
        Kind { name, version }
    }
}

/// Stored data about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<'a> {
    /// Nothing is stored: read the whole file.
    Nothing,
    /// The file did not change since.
    Whole(&'a [u8]),
    /// The file was appended to: continue reading at `offset`, where a line begins.
    UpTo {
        /// The stored data about the part before the offset.
        facts: &'a [u8],
        /// End of that part.
        offset: u64,
    },
}

/// Position up to which a file was read: the end of the last whole line, and a hash of the bytes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mark {
    offset: u64,
    len: u64,
    hash: u64,
}

impl Mark {
    /// Number of bytes before the offset that are hashed to recognise it.
    const BYTES: usize = 256;

    /// A mark at `offset`, with the bytes right before it in the file; only the last few are used.
    pub fn before(offset: u64, bytes: &[u8]) -> Self {
        let bytes = &bytes[bytes.len().saturating_sub(Self::BYTES)..];
        Mark { offset, len: bytes.len() as u64, hash: file::hash(bytes) }
    }

    /// Offset of the next line.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Checks that the file at `path` still has the same bytes before the mark.
    pub(crate) fn is_valid(&self, path: &Path) -> bool {
        let mut bytes = Vec::with_capacity(Self::BYTES);
        let Ok(mut file) = std::fs::File::open(path) else { return false };
        let start = SeekFrom::Start(self.offset.saturating_sub(self.len));
        file.seek(start).is_ok()
            && file.take(self.len).read_to_end(&mut bytes).is_ok()
            && file::hash(&bytes) == self.hash
    }
}

/// Derived data about files, by path and kind.
#[derive(Debug, Default)]
pub struct Cache {
    /// Path of the stored cache; `None` for a cache in memory only.
    path: Option<PathBuf>,
    /// Read on the first lookup: a status line often needs none.
    loaded: OnceLock<CacheContents>,
    /// Changes since loading; `None` for removed records.
    changed: BTreeMap<RecordKey, Option<CacheRecord>>,
}

impl Cache {
    /// An empty cache that is not stored.
    pub fn none() -> Self {
        Cache::default()
    }

    /// The cache stored at `path`; an empty one if there is no usable one.
    pub fn open(path: &Path) -> Self {
        Cache { path: Some(path.to_owned()), ..Cache::default() }
    }

    /// Looks up the data stored about a file in its current state. A changed file is opened, to see whether
    /// it only grew.
    pub fn known(&self, file: &FileInfo, kind: Kind) -> Known<'_> {
        let key = RecordKey::new(&file.path, kind);
        let (stamp, facts) = match self.changed.get(&key) {
            Some(Some(record)) => (&record.stamp, &record.facts[..]),
            Some(None) => return Known::Nothing,
            None => match self.loaded().find(&key) {
                Some(found) => found,
                None => return Known::Nothing,
            },
        };
        if stamp.version != kind.version {
            Known::Nothing
        } else if stamp.is_of(file) {
            Known::Whole(facts)
        } else if stamp.may_be_beginning_of(file) && stamp.mark.is_valid(&file.path) {
            Known::UpTo { facts, offset: stamp.mark.offset }
        } else {
            Known::Nothing
        }
    }

    /// Stores data about a file that was read up to `mark`.
    ///
    /// `file` is its state *before* it was read, so that bytes written meanwhile show as a change.
    pub fn keep(&mut self, file: &FileInfo, kind: Kind, mark: Mark, facts: Vec<u8>) {
        let record = CacheRecord { stamp: Stamp::of(file, kind.version, mark), facts };
        self.changed.insert(RecordKey::new(&file.path, kind), Some(record));
    }

    /// Removes the data of files below `folders` that are not among the `existing` ones, so that the cache
    /// does not grow without bound. Data about other folders stays.
    pub fn forget_missing<'a>(&mut self, folders: &[PathBuf], existing: impl Iterator<Item = &'a Path>) {
        let mut existing: Vec<&[u8]> = existing.map(|path| path.as_os_str().as_encoded_bytes()).collect();
        existing.sort_unstable();
        let below = |path: &[u8]| {
            folders.iter().any(|folder| {
                let rest = path.strip_prefix(folder.as_os_str().as_encoded_bytes());
                rest.is_some_and(|rest| rest.starts_with(b"/") || rest.starts_with(b"\\"))
            })
        };
        let missing = |key: &&[u8]| {
            let path = RecordKey::path(key);
            existing.binary_search(&path).is_err() && below(path)
        };
        let gone: Vec<RecordKey> =
            self.loaded().keys().filter(missing).map(|key| RecordKey(key.into())).collect();
        self.changed.extend(gone.into_iter().map(|key| (key, None)));
    }

    /// Writes the cache to disk if it changed.
    pub fn save(&mut self) -> Result<(), Error> {
        match &self.path {
            Some(path) if !self.changed.is_empty() => {
                let loaded = self.loaded().with(&self.changed);
                self.changed.clear();
                loaded.write(path)?;
                self.loaded = OnceLock::from(loaded);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn loaded(&self) -> &CacheContents {
        self.loaded.get_or_init(|| self.path.as_deref().map(CacheContents::read).unwrap_or_default())
    }
}

/// A path and the name of a kind: the key of a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RecordKey(Box<[u8]>);

impl RecordKey {
    fn new(path: &Path, kind: Kind) -> Self {
        // Paths do not contain NUL bytes.
        RecordKey([path.as_os_str().as_encoded_bytes(), b"\0", kind.name.as_bytes()].concat().into())
    }

    fn path(key: &[u8]) -> &[u8] {
        memchr::memchr(0, key).map_or(key, |end| &key[..end])
    }
}

#[cfg(test)]
mod tests;
