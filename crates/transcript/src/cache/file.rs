//! The cache file: a head, a checksum, and the records in order of their keys.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::time::UNIX_EPOCH;

use tidings_base::files;

use super::{Fields, Mark, RecordKey};
use crate::Error;
use crate::error::At as _;
use crate::limits::CACHE_BYTES_MAX;
use crate::roots::{FileId, FileInfo};

/// First bytes of the file; another layout gets another number.
const MAGIC: &[u8; 16] = b"tidings cache 1\n";

/// The state of a file when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(super) version: u32,
    pub(crate) mark: Mark,
    id: FileId,
    bytes: u64,
    /// Nanoseconds since 1970.
    modified: u64,
}

impl Stamp {
    pub(crate) fn of(file: &FileInfo, version: u32, mark: Mark) -> Self {
        Stamp { version, mark, id: file.id, bytes: file.bytes, modified: nanos(file) }
    }

    /// Checks that the file did not change since.
    pub(crate) fn is_of(&self, file: &FileInfo) -> bool {
        self.bytes == file.bytes && self.modified == nanos(file) && self.id == file.id
    }

    /// Checks that the file may only have been appended to. A file that changed at the same size was
    /// rewritten.
    pub(crate) fn may_be_beginning_of(&self, file: &FileInfo) -> bool {
        self.id == file.id && self.bytes < file.bytes && self.mark.offset <= file.bytes
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let Stamp { version, mark, id, bytes, modified } = self;
        let Mark { offset, len, hash } = mark;
        for number in [u64::from(*version), id.device, id.inode, *bytes, *offset, *len] {
            Fields::write_number(out, number);
        }
        out.extend_from_slice(&modified.to_le_bytes());
        out.extend_from_slice(&hash.to_le_bytes());
    }

    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let version = u32::try_from(fields.number()?).ok()?;
        let id = FileId { device: fields.number()?, inode: fields.number()? };
        let (bytes, offset, len) = (fields.number()?, fields.number()?, fields.number()?);
        let modified = u64::from_le_bytes(*fields.array()?);
        let mark = Mark { offset, len, hash: u64::from_le_bytes(*fields.array()?) };
        Some(Stamp { version, mark, id, bytes, modified })
    }
}

fn nanos(file: &FileInfo) -> u64 {
    let since = file.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// A record that is not on disk yet.
#[derive(Debug)]
pub(super) struct CacheRecord {
    pub(super) stamp: Stamp,
    pub(super) facts: Vec<u8>,
}

/// The contents of a cache file.
#[derive(Debug, Default)]
pub(super) struct CacheContents {
    /// The whole file; `records` points into it.
    file: Vec<u8>,
    /// Sorted by key.
    records: Vec<RecordRange>,
}

#[derive(Debug)]
struct RecordRange {
    key: Range<usize>,
    stamp: Stamp,
    facts: Range<usize>,
}

impl CacheContents {
    /// The cache at `path`, or an empty one.
    pub(super) fn read(path: &Path) -> Self {
        let small = std::fs::metadata(path).is_ok_and(|file| file.len() <= CACHE_BYTES_MAX);
        let bytes = if small { std::fs::read(path).ok() } else { None };
        bytes.and_then(Self::parse).unwrap_or_default()
    }

    fn parse(file: Vec<u8>) -> Option<Self> {
        let mut head = Fields::new(&file);
        if head.array()? != MAGIC {
            return None;
        }
        let sum = u64::from_le_bytes(*head.array()?);
        if sum != hash(head.rest()) {
            return None;
        }
        let mut fields = head;
        let mut records: Vec<RecordRange> = Vec::new();
        while !fields.is_empty() {
            let key = place(&file, fields.bytes()?);
            let stamp = Stamp::read(&mut fields)?;
            let facts = place(&file, fields.bytes()?);
            if records.last().is_some_and(|last| file[last.key.clone()] >= file[key.clone()]) {
                return None;
            }
            records.push(RecordRange { key, stamp, facts });
        }
        Some(CacheContents { file, records })
    }

    pub(super) fn find(&self, key: &RecordKey) -> Option<(&Stamp, &[u8])> {
        let at = self.records.binary_search_by(|record| self.file[record.key.clone()].cmp(&key.0)).ok()?;
        let record = &self.records[at];
        Some((&record.stamp, &self.file[record.facts.clone()]))
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.records.iter().map(|record| &self.file[record.key.clone()])
    }

    /// The same contents with changes; `None` removes a record.
    pub(super) fn with(&self, changed: &BTreeMap<RecordKey, Option<CacheRecord>>) -> Self {
        let mut records: BTreeMap<&[u8], (&Stamp, &[u8])> = BTreeMap::new();
        for record in &self.records {
            records.insert(&self.file[record.key.clone()], (&record.stamp, &self.file[record.facts.clone()]));
        }
        for (key, change) in changed {
            match change {
                Some(record) => drop(records.insert(&key.0, (&record.stamp, &record.facts))),
                None => drop(records.remove(&*key.0)),
            }
        }
        let mut file = Vec::with_capacity(self.file.len() + 4096);
        file.extend_from_slice(MAGIC);
        file.extend_from_slice(&[0; 8]);
        for (key, (stamp, facts)) in records {
            Fields::write_bytes(&mut file, key);
            stamp.write(&mut file);
            Fields::write_bytes(&mut file, facts);
        }
        let body = MAGIC.len() + 8;
        let sum = hash(&file[body..]);
        file[MAGIC.len()..body].copy_from_slice(&sum.to_le_bytes());
        Self::parse(file).unwrap_or_default()
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), Error> {
        replace(path, &self.file)
    }
}

/// Replaces the file at `path` as a whole: readers see the old one or the new one.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let doing = "store the cache at";
    if let Some(folder) = path.parent() {
        files::create_private_folder(folder).at(doing, path)?;
    }
    files::replace(path, bytes).at(doing, path)
}

fn place(file: &[u8], part: &[u8]) -> Range<usize> {
    let start = part.as_ptr() as usize - file.as_ptr() as usize;
    start..start + part.len()
}

/// A fast checksum that detects damage, eight bytes at a time. It does not protect against deliberate
/// manipulation.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(PRIME).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(bytes.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(mix(hash, u64::from_le_bytes(last)), PRIME)
}
