//! The spool: output of the CLI that no bridge has stored yet, on disk, in files of about equal length, each
//! named by the offset at which it begins.
//!
//! The files contain the unchanged bytes and nothing else, so that they can be read after the host has died.
//! They are not synced to the disk: a loss of power ends the CLI as well.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::limits::SPOOL_FILE_BYTES;

/// Output of the CLI that no bridge has stored yet.
#[derive(Debug)]
pub(crate) struct Spool {
    folder: PathBuf,
    files: VecDeque<Segment>,
    /// Everything before this offset is stored elsewhere.
    first: u64,
    /// The offset after the last byte.
    next: u64,
    bytes_max: u64,
    /// The last append, for a bridge that keeps up: it need not be read back from the file.
    last: Vec<u8>,
}

#[derive(Debug)]
struct Segment {
    start: u64,
    length: u64,
    file: File,
    path: PathBuf,
}

impl Spool {
    /// Creates an empty spool in a new folder.
    pub(crate) fn create(folder: PathBuf, bytes_max: u64) -> io::Result<Self> {
        super::folder::make_private(&folder)?;
        Ok(Spool { folder, files: VecDeque::new(), first: 0, next: 0, bytes_max, last: Vec::new() })
    }

    /// Opens the spool of a host that has ended. It cannot be written to.
    pub(crate) fn open_existing(folder: &Path) -> io::Result<Self> {
        let mut found = Vec::new();
        if folder.is_symlink() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the spool is a link"));
        }
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let Some(start) = path.file_name().and_then(|name| name.to_str()?.parse::<u64>().ok()) else {
                continue;
            };
            let file = super::folder::open(&path)?;
            found.push(Segment { start, length: file.metadata()?.len(), file, path });
        }
        found.sort_by_key(|segment| segment.start);
        let first = found.first().map_or(0, |segment| segment.start);
        let mut spool = Spool {
            folder: folder.to_owned(),
            files: VecDeque::new(),
            first,
            next: first,
            bytes_max: 0,
            last: Vec::new(),
        };
        for segment in found {
            // A file that does not follow the one before it is useless.
            if segment.start == spool.next {
                spool.next += segment.length;
                spool.files.push_back(segment);
            }
        }
        Ok(spool)
    }

    /// The first offset that is kept.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The offset after the last byte.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// True if more may be written. The next append may exceed the limit once.
    pub(crate) fn has_room(&self) -> bool {
        self.next - self.first < self.bytes_max
    }

    /// Appends bytes. If it fails nothing was written, and it can be retried.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.files.back().is_none_or(|segment| segment.length >= SPOOL_FILE_BYTES) {
            let path = self.folder.join(format!("{:020}", self.next));
            let mut open = OpenOptions::new();
            let file = open.read(true).write(true).create(true).truncate(true).mode(0o600).open(&path)?;
            self.files.push_back(Segment { start: self.next, length: 0, file, path });
        }
        if let Some(segment) = self.files.back_mut() {
            segment.file.write_all_at(bytes, segment.length)?;
            segment.length += bytes.len() as u64;
            self.next += bytes.len() as u64;
            self.last.clear();
            self.last.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Everything from an offset on, if it is within the last append.
    pub(crate) fn last_from(&self, from: u64) -> Option<&[u8]> {
        let behind = usize::try_from(self.next.checked_sub(from)?).ok()?;
        self.last.get(self.last.len().checked_sub(behind)?..)
    }

    /// Reads from an offset on, within one file.
    pub(crate) fn read(&self, from: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let after = self.files.partition_point(|segment| segment.start <= from);
        let Some(segment) = after.checked_sub(1).and_then(|index| self.files.get(index)) else {
            return Ok(0);
        };
        let inside = from - segment.start;
        let left = usize::try_from(segment.length.saturating_sub(inside)).unwrap_or(usize::MAX);
        let length = buffer.len().min(left);
        segment.file.read_at(&mut buffer[..length], inside)
    }

    /// Removes everything up to an offset that was written.
    pub(crate) fn forget(&mut self, offset: u64) {
        self.first = self.first.max(offset.min(self.next));
        while self.files.front().is_some_and(|segment| {
            segment.length >= SPOOL_FILE_BYTES && segment.start + segment.length <= self.first
        }) {
            if let Some(segment) = self.files.pop_front() {
                // A file that cannot be removed only takes space until the host ends.
                drop(std::fs::remove_file(&segment.path));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_all(spool: &Spool, mut from: u64) -> Vec<u8> {
        let mut all = Vec::new();
        let mut buffer = [0; 777];
        while from < spool.next() {
            let count = spool.read(from, &mut buffer).unwrap();
            assert!(count > 0, "nothing at {from} of {}", spool.next());
            all.extend_from_slice(&buffer[..count]);
            from += count as u64;
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// For any sequence of appends and removals, the spool returns what was written, also after
        /// reopening; and the files are no longer than the kept bytes and one file.
        #[test]
        fn a_spool_gives_back_what_was_written(steps in prop::collection::vec((0_usize..400_000, 0_u64..100), 1..20)) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("spool");
            let mut spool = Spool::create(path.clone(), 2 << 20).unwrap();
            let mut written = Vec::new();
            for (length, share) in steps {
                let chunk: Vec<u8> = (written.len()..written.len() + length).map(|at| u8::try_from(at % 251).unwrap()).collect();
                spool.append(&chunk).unwrap();
                written.extend_from_slice(&chunk);
                let forgotten = spool.first() + (spool.next() - spool.first()) * share / 100;
                spool.forget(forgotten);
                let first = usize::try_from(spool.first()).unwrap();
                prop_assert_eq!(read_all(&spool, spool.first()), &written[first..]);
                for from in [written.len() - length, written.len() - length / 2, written.len()] {
                    prop_assert_eq!(spool.last_from(from as u64), Some(&written[from..]));
                }
                prop_assert_eq!(spool.last_from(written.len() as u64 + 1), None);
                if length < written.len() {
                    prop_assert_eq!(spool.last_from((written.len() - length) as u64 - 1), None);
                }
                let files: u64 = std::fs::read_dir(&path).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
                prop_assert!(files <= spool.next() - spool.first() + SPOOL_FILE_BYTES + 400_000);
                prop_assert_eq!(spool.has_room(), spool.next() - spool.first() < 2 << 20);
            }
            let left = Spool::open_existing(&path).unwrap();
            prop_assert_eq!(left.next(), spool.next());
            let first = usize::try_from(left.first()).unwrap();
            prop_assert_eq!(read_all(&left, left.first()), &written[first..]);
        }
    }

    /// An offset that was never written cannot be forgotten in advance.
    #[test]
    fn forgetting_ends_at_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::create(folder.path().join("spool"), 100).unwrap();
        spool.append(b"hello\n").unwrap();
        spool.forget(1000);
        assert_eq!((spool.first(), spool.next()), (6, 6));
        spool.append(b"world\n").unwrap();
        assert_eq!(read_all(&spool, 6), b"world\n");
        spool.forget(2);
        assert_eq!(spool.first(), 6);
    }
}
