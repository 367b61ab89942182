//! Facts about session files, kept from run to run so that only what was written since is read.
//!
//! One file holds facts of several kinds, each kind written and understood by one module only: this one carries bytes.
//! A kind asks for what is known of a file, reads what is missing, and hands the new facts in:
//!
//! ```no_run
//! use tidings_transcript::cache::{Cache, Kind, Known, Mark};
//! use tidings_transcript::roots::FileInfo;
//!
//! /// Raise the version when the meaning of the bytes changes; facts of other versions are not seen again.
//! const LINES: Kind = Kind::new("lines", 1);
//!
//! # fn count_lines(_: &FileInfo, from: u64) -> (u64, Mark) { (1, Mark::before(from + 2, b"{}")) }
//! # let file: FileInfo = unimplemented!();
//! let mut cache = Cache::open("/home/dev/.cache/tidings/sessions.cache".as_ref());
//! let (known, from) = match cache.known(&file, LINES) {
//!     // Nothing was written since.
//!     Known::Whole(facts) => (facts.to_vec(), None),
//!     // The file grew: what stands before the offset is as it was.
//!     Known::UpTo { facts, offset } => (facts.to_vec(), Some(offset)),
//!     // Never seen, or another file by now.
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
//! A cache that cannot be used is no error: it is forgotten and built anew. Two processes may use it at once; the file
//! is replaced as a whole, and what the slower one did not know is only read once more.

mod fields;
mod file;

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use fields::Fields;
use file::{Loaded, Record};
pub(crate) use file::{Stamp, hash, replace};

use crate::Error;
use crate::roots::FileInfo;

/// A kind of facts, with the version of how they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    name: &'static str,
    version: u32,
}

impl Kind {
    /// Facts of that name and version.
    pub const fn new(name: &'static str, version: u32) -> Self {
        Kind { name, version }
    }
}

/// What is known of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<'a> {
    /// Nothing: read all of it.
    Nothing,
    /// Everything: the file is as it was.
    Whole(&'a [u8]),
    /// The file was appended to: read on from `offset`, where a line begins.
    UpTo {
        /// The facts about what stands before.
        facts: &'a [u8],
        /// Where they end.
        offset: u64,
    },
}

/// Where reading a file came to: the end of the last whole line, and how to recognise the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mark {
    offset: u64,
    len: u64,
    hash: u64,
}

impl Mark {
    /// How many bytes before a place tell whether it is still the same place.
    const BYTES: usize = 256;

    /// The place `offset`, with what stands right before it in the file; only the last few bytes are looked at.
    pub fn before(offset: u64, bytes: &[u8]) -> Self {
        let bytes = &bytes[bytes.len().saturating_sub(Self::BYTES)..];
        Mark { offset, len: bytes.len() as u64, hash: file::hash(bytes) }
    }

    /// Where the next line begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether the file at `path` still has the same bytes before the place.
    pub(crate) fn still_stands(&self, path: &Path) -> bool {
        let mut bytes = Vec::with_capacity(Self::BYTES);
        let Ok(mut file) = std::fs::File::open(path) else { return false };
        let start = SeekFrom::Start(self.offset.saturating_sub(self.len));
        file.seek(start).is_ok()
            && file.take(self.len).read_to_end(&mut bytes).is_ok()
            && file::hash(&bytes) == self.hash
    }
}

/// Facts about files, by path and kind.
#[derive(Debug, Default)]
pub struct Cache {
    /// Where it is stored; nowhere for one that is not.
    path: Option<PathBuf>,
    /// Read when something is asked for: a status line often has nothing to ask.
    loaded: OnceLock<Loaded>,
    /// What came or went since; `None` for what went.
    changed: BTreeMap<Key, Option<Record>>,
}

impl Cache {
    /// A cache that knows nothing and is stored nowhere.
    pub fn none() -> Self {
        Cache::default()
    }

    /// The cache stored at `path`; an empty one if there is none, or none that can be used.
    pub fn open(path: &Path) -> Self {
        Cache { path: Some(path.to_owned()), ..Cache::default() }
    }

    /// What is known of a file as it stands now. A file that changed is looked into, to see how.
    pub fn known(&self, file: &FileInfo, kind: Kind) -> Known<'_> {
        let key = Key::new(&file.path, kind);
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
        } else if stamp.may_be_beginning_of(file) && stamp.mark.still_stands(&file.path) {
            Known::UpTo { facts, offset: stamp.mark.offset }
        } else {
            Known::Nothing
        }
    }

    /// Keeps facts about a file that was read up to `mark`.
    ///
    /// `file` is how it stood *before* it was read: what was written meanwhile then shows as a change.
    pub fn keep(&mut self, file: &FileInfo, kind: Kind, mark: Mark, facts: Vec<u8>) {
        let record = Record { stamp: Stamp::of(file, kind.version, mark), facts };
        self.changed.insert(Key::new(&file.path, kind), Some(record));
    }

    /// Forgets the files below `folders` that are not among the `existing` ones, so that the cache does not grow for
    /// ever. What is known of other folders stays.
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
            let path = Key::path(key);
            existing.binary_search(&path).is_err() && below(path)
        };
        let gone: Vec<Key> = self.loaded().keys().filter(missing).map(|key| Key(key.into())).collect();
        self.changed.extend(gone.into_iter().map(|key| (key, None)));
    }

    /// Stores the cache if anything in it changed.
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

    fn loaded(&self) -> &Loaded {
        self.loaded.get_or_init(|| self.path.as_deref().map(Loaded::read).unwrap_or_default())
    }
}

/// A path and the name of a kind: what facts are found by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key(Box<[u8]>);

impl Key {
    fn new(path: &Path, kind: Kind) -> Self {
        // No path holds a NUL byte.
        Key([path.as_os_str().as_encoded_bytes(), b"\0", kind.name.as_bytes()].concat().into())
    }

    fn path(key: &[u8]) -> &[u8] {
        memchr::memchr(0, key).map_or(key, |end| &key[..end])
    }
}

#[cfg(test)]
mod tests;
