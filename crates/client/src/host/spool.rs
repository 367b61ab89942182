//! The spool: output of the CLI that no bridge has stored yet, on disk, in files of about equal length, each
//! named by the offset at which it begins.
//!
//! The files contain the unchanged bytes and nothing else, so that they can be read after the host has died.
//! They are not synced to the disk: a loss of power ends the CLI as well. Beside each file lies one with the
//! checksums of its appends. An append that does not match is replaced, so that altered output is never shown
//! as the agent's.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::limits::SPOOL_FILE_BYTES;

/// Output of the CLI that no bridge has stored yet.
#[derive(Debug, Default)]
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
    sums: File,
    /// The appends, by the offset in the file at which each ends. Those of an earlier version are unknown.
    appends: Vec<Append>,
    /// The append that was checked last, with its place: a long one is read in parts.
    checked: Mutex<Option<(usize, Vec<u8>)>>,
}

/// One append to a file.
#[derive(Debug, Clone, Copy)]
struct Append {
    end: u64,
    sum: u64,
}

/// Length of an append's end and checksum in their file.
const SUM_BYTES: usize = 16;

/// Replaces each byte of an append that is damaged; the last one becomes the end of a line.
const REPLACEMENT: u8 = b'?';

impl Spool {
    /// Creates an empty spool in a new folder.
    pub(crate) fn create(folder: PathBuf, bytes_max: u64) -> io::Result<Self> {
        super::folder::make_private(&folder)?;
        Ok(Spool { folder, bytes_max, ..Spool::default() })
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
            found.push(Segment::open_existing(start, path)?);
        }
        found.sort_by_key(|segment| segment.start);
        let first = found.first().map_or(0, |segment| segment.start);
        let mut spool = Spool { folder: folder.to_owned(), first, next: first, ..Spool::default() };
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
            open.read(true).write(true).create(true).truncate(true).mode(0o600);
            let (file, sums) = (open.open(&path)?, open.open(sums_path(&path))?);
            let (appends, checked) = (Vec::new(), Mutex::default());
            self.files.push_back(Segment { start: self.next, length: 0, file, path, sums, appends, checked });
        }
        if let Some(segment) = self.files.back_mut() {
            segment.file.write_all_at(bytes, segment.length)?;
            segment.sum_up(bytes)?;
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
        segment.read(from - segment.start, buffer)
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
                drop(std::fs::remove_file(sums_path(&segment.path)));
            }
        }
    }
}

impl Segment {
    /// Opens a file of a host that has ended. What its checksums say is its length, so that a file that was
    /// cut is not taken for the end of the output.
    fn open_existing(start: u64, path: PathBuf) -> io::Result<Self> {
        let file = super::folder::open(&path)?;
        let sums = super::folder::open(&sums_path(&path));
        let (sums, appends) = match sums {
            Ok(mut sums) => {
                let mut bytes = Vec::new();
                io::Read::read_to_end(&mut sums, &mut bytes)?;
                (sums, appends(&bytes))
            }
            // Hosts of earlier versions write none.
            Err(error) if error.kind() == io::ErrorKind::NotFound => (file.try_clone()?, Vec::new()),
            Err(error) => return Err(error),
        };
        let length = appends.last().map_or(0, |last| last.end).max(file.metadata()?.len());
        Ok(Segment { start, length, file, path, sums, appends, checked: Mutex::default() })
    }

    /// Stores the checksum of an append. After a failure the append is written again, at the same place.
    fn sum_up(&mut self, bytes: &[u8]) -> io::Result<()> {
        let append = Append { end: self.length + bytes.len() as u64, sum: checksum(bytes) };
        let mut entry = [0; SUM_BYTES];
        entry[..8].copy_from_slice(&append.end.to_le_bytes());
        entry[8..].copy_from_slice(&append.sum.to_le_bytes());
        self.sums.write_all_at(&entry, (self.appends.len() * SUM_BYTES) as u64)?;
        self.appends.push(append);
        Ok(())
    }

    /// Reads from an offset of the file on, within one append.
    fn read(&self, from: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let place = self.appends.partition_point(|append| append.end <= from);
        let start = place.checked_sub(1).and_then(|before| self.appends.get(before)).map_or(0, |it| it.end);
        let Some(append) = self.appends.get(place) else {
            let left = usize::try_from(self.length.saturating_sub(from)).unwrap_or(usize::MAX);
            let length = buffer.len().min(left);
            return self.file.read_at(&mut buffer[..length], from);
        };
        let mut checked = self.checked.lock();
        if checked.as_ref().is_none_or(|(known, _)| *known != place) {
            *checked = Some((place, self.checked_append(start, *append)?));
        }
        let bytes = checked.as_ref().map_or(&[][..], |(_, bytes)| bytes);
        let rest = bytes.get(usize::try_from(from - start).map_err(io::Error::other)?..).unwrap_or_default();
        let length = buffer.len().min(rest.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        if length == rest.len() {
            *checked = None;
        }
        Ok(length)
    }

    /// Reads one append, or what takes its place.
    fn checked_append(&self, start: u64, append: Append) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(append.end - start).map_err(io::Error::other)?];
        let is_right = self.file.read_exact_at(&mut bytes, start).is_ok() && checksum(&bytes) == append.sum;
        if !is_right {
            bytes.fill(REPLACEMENT);
            if let Some(last) = bytes.last_mut() {
                *last = b'\n';
            }
        }
        Ok(bytes)
    }
}

/// Appends of a file, up to the first entry that is not possible.
fn appends(bytes: &[u8]) -> Vec<Append> {
    let (entries, _) = bytes.as_chunks::<SUM_BYTES>();
    let mut appends: Vec<Append> = Vec::new();
    for entry in entries {
        let number = |at: usize| entry[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (append, before) =
            (Append { end: number(0), sum: number(8) }, appends.last().map_or(0, |it| it.end));
        if append.end < before || append.end - before > APPEND_BYTES_MAX {
            break;
        }
        appends.push(append);
    }
    appends
}

/// The longest append: a read from the CLI is far shorter.
const APPEND_BYTES_MAX: u64 = 64 << 20;

fn sums_path(path: &Path) -> PathBuf {
    path.with_extension("sums")
}

/// FNV-1a: it finds accidents, and the host stays small.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
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
                let files = std::fs::read_dir(&path).unwrap().map(Result::unwrap);
                let files = files.filter(|file| file.path().extension().is_none());
                let files: u64 = files.map(|file| file.metadata().unwrap().len()).sum();
                prop_assert!(files <= spool.next() - spool.first() + SPOOL_FILE_BYTES + 400_000);
                prop_assert_eq!(spool.has_room(), spool.next() - spool.first() < 2 << 20);
            }
            let left = Spool::open_existing(&path).unwrap();
            prop_assert_eq!(left.next(), spool.next());
            let first = usize::try_from(left.first()).unwrap();
            prop_assert_eq!(read_all(&left, left.first()), &written[first..]);
        }
    }

    /// A flipped bit, and a file that was cut, cost the append that they are in and nothing else, and what
    /// takes its place is not a line of the CLI.
    #[test]
    fn k30_damage_to_a_spool_is_never_shown_as_output() {
        for damage in ["flip", "cut"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("spool");
            let mut spool = Spool::create(path.clone(), 1 << 20).unwrap();
            for line in ["{\"a\":1}\n", "{\"b\":2}\n", "{\"c\":3}\n"] {
                spool.append(line.as_bytes()).unwrap();
            }
            let file = path.join(format!("{:020}", 0));
            let mut bytes = std::fs::read(&file).unwrap();
            if damage == "flip" {
                bytes[13] ^= 1;
            } else {
                bytes.truncate(20);
            }
            std::fs::write(&file, bytes).unwrap();
            let left = Spool::open_existing(&path).unwrap();
            let expected: &[u8] = match damage {
                "flip" => b"{\"a\":1}\n???????\n{\"c\":3}\n",
                _ => b"{\"a\":1}\n{\"b\":2}\n???????\n",
            };
            assert_eq!(read_all(&left, 0), expected, "{damage}");
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
