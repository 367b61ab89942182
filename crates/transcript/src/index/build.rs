//! Reads files into the index.

use std::io::{self, Seek as _, SeekFrom};

use fs_err::File;
use rusqlite::{OptionalExtension as _, params};

use super::files::{FileRow, FileState};
use super::line::LineTexts;
use super::signature::Signature;
use super::store::{COLUMNS, Store};
use crate::Error;
use crate::blocks::{Block, Blocks, Buffer};
use crate::cache::{Mark, Stamp};
use crate::limits::{SIGNATURE_COVERS_MAX, SIGNATURE_FILL_MAX};
use crate::roots::FileInfo;

/// Version of the meaning of a stamp; the table layout has a number of its own.
const VERSION: u32 = 1;

/// Adds files to an index, inside a transaction that the caller opens and closes.
#[derive(Debug)]
pub(super) struct Builder<'s> {
    store: &'s Store,
    /// The segment under construction.
    segment: usize,
    /// Its signatures so far, the last one open, and the number of bytes that each covers.
    signatures: Vec<(Signature, u64)>,
    /// Index of the first signature that differs from the stored one.
    changed_from: usize,
    texts: LineTexts,
    buffer: Buffer,
}

/// A range of lines of a file, covered by one signature.
#[derive(Debug, Clone, Copy)]
struct CoveredLines {
    file: i64,
    start: u64,
    stop: u64,
    line: u64,
    signature: i64,
}

/// Position of reading in a file: after a whole line.
#[derive(Debug, Clone, Copy)]
struct ReadPosition {
    mark: Mark,
    lines: u64,
}

impl<'s> Builder<'s> {
    pub(super) fn new(store: &'s Store) -> Result<Self, Error> {
        let signatures = store.young()?;
        Ok(Builder {
            store,
            segment: store.segments()?,
            changed_from: signatures.len(),
            signatures,
            texts: LineTexts::default(),
            buffer: Buffer::default(),
        })
    }

    /// Number of full segments.
    pub(super) fn segments(&self) -> usize {
        self.segment
    }

    /// Indexes the new part of a file. A file that cannot be read is removed from the index.
    pub(super) fn add(&mut self, file: &FileInfo, state: FileState<'_>) -> Result<io::Result<()>, Error> {
        let nothing = ReadPosition { mark: Mark::default(), lines: 0 };
        let (id, from) = match state {
            FileState::Same(_) => return Ok(Ok(())),
            FileState::Grown(FileRow { id, stamp, lines }) => {
                (*id, ReadPosition { mark: stamp.mark, lines: *lines })
            }
            FileState::Replaced(row) => {
                self.remove(row.id)?;
                (self.new_file(file)?, nothing)
            }
            FileState::New => (self.new_file(file)?, nothing),
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        let reached = self.read(file, id, from, &mut buffer);
        self.buffer = buffer;
        match reached? {
            Ok(reached) => {
                let mut stamp = Vec::new();
                Stamp::of(file, VERSION, reached.mark).write(&mut stamp);
                let sql = "UPDATE file SET stamp = ?2, lines = ?3 WHERE id = ?1";
                self.run(sql, params![id, stamp, reached.lines.cast_signed()]).map(Ok)
            }
            Err(error) => self.remove(id).map(|()| Err(error)),
        }
    }

    /// Removes a file. Its signatures stay, unused.
    pub(super) fn remove(&self, file: i64) -> Result<(), Error> {
        self.run("DELETE FROM part WHERE file = ?1", [file])?;
        self.run("DELETE FROM file WHERE id = ?1", [file])
    }

    /// Stores the signatures that are not stored yet.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        for at in self.changed_from..self.signatures.len() {
            let (signature, covers) = &self.signatures[at];
            self.run(
                "INSERT OR REPLACE INTO young VALUES (?1, ?2, ?3)",
                params![self.number(at), covers.cast_signed(), signature.to_bytes()],
            )?;
        }
        self.changed_from = self.signatures.len();
        Ok(())
    }

    fn read(
        &mut self,
        file: &FileInfo,
        id: i64,
        from: ReadPosition,
        buffer: &mut Buffer,
    ) -> Result<io::Result<ReadPosition>, Error> {
        let opened = File::open(&file.path).and_then(|mut source| {
            source.seek(SeekFrom::Start(from.mark.offset()))?;
            Ok(source)
        });
        let source = match opened {
            Ok(source) => source,
            Err(error) => return Ok(Err(error)),
        };
        let mut reached = from;
        let mut part: Option<CoveredLines> = self.last_part(id)?;
        let mut blocks = Blocks::new(source, from.mark.offset(), buffer);
        // A line that is too long counts once another follows: it may still be growing.
        let mut oversized: Option<u64> = None;
        loop {
            let block = match blocks.next() {
                Ok(Some(block)) => block,
                Ok(None) => break,
                Err(error) => return Ok(Err(error)),
            };
            if let Some(end) = oversized.take() {
                reached = ReadPosition { mark: Mark::before(end, b""), lines: reached.lines + 1 };
                self.extend(&mut part, id, reached, end, 0)?;
            }
            match block {
                Block::Oversized { offset, len, .. } => oversized = Some(offset + len),
                Block::Lines { offset, bytes } => {
                    let mut at = 0;
                    // The bytes after the last line end are not a whole line yet.
                    while let Some(len) = memchr::memchr(b'\n', &bytes[at..]) {
                        let line = &bytes[at..at + len];
                        at += len + 1;
                        reached.lines += 1;
                        self.extend(&mut part, id, reached, offset + at as u64, len as u64 + 1)?;
                        if let Some((signature, _)) = self.signatures.last_mut() {
                            self.texts.add(line, signature);
                        }
                    }
                    if at > 0 {
                        reached.mark = Mark::before(offset + at as u64, &bytes[..at]);
                    }
                }
            }
        }
        self.store_part(part)?;
        Ok(Ok(reached))
    }

    /// Extends `part` to `stop`, the end of line number `reached.lines`; begins another one if its signature
    /// is full.
    fn extend(
        &mut self,
        part: &mut Option<CoveredLines>,
        file: i64,
        reached: ReadPosition,
        stop: u64,
        covers: u64,
    ) -> Result<(), Error> {
        self.make_room()?;
        let last = self.signatures.len() - 1;
        let signature = self.number(last);
        self.signatures[last].1 += covers;
        self.changed_from = self.changed_from.min(last);
        match part {
            Some(part) if part.signature == signature => part.stop = stop,
            _ => {
                let start = part.map_or(0, |part| part.stop);
                self.store_part(part.take())?;
                *part = Some(CoveredLines { file, start, stop, line: reached.lines, signature });
            }
        }
        Ok(())
    }

    /// Ensures that the last signature has room.
    fn make_room(&mut self) -> Result<(), Error> {
        let has_room = |(signature, covers): &(Signature, u64)| {
            signature.set() < SIGNATURE_FILL_MAX && *covers < SIGNATURE_COVERS_MAX
        };
        if self.signatures.last().is_some_and(has_room) {
            return Ok(());
        }
        if self.signatures.len() == COLUMNS {
            let stored = self.store.add_segment(self.segment, &self.signatures);
            stored.map_err(|error| self.store.failed(&error))?;
            self.run("DELETE FROM young", [])?;
            self.segment += 1;
            self.signatures.clear();
            self.changed_from = 0;
        }
        self.signatures.push((Signature::new(), 0));
        Ok(())
    }

    /// The number of a signature of the segment.
    fn number(&self, at: usize) -> i64 {
        i64::try_from(self.segment * COLUMNS + at).unwrap_or(i64::MAX)
    }

    fn new_file(&self, file: &FileInfo) -> Result<i64, Error> {
        let path = file.path.as_os_str().as_encoded_bytes();
        // A row with an unreadable stamp may still exist.
        self.run("DELETE FROM part WHERE file = (SELECT id FROM file WHERE path = ?1)", [path])?;
        self.run("INSERT OR REPLACE INTO file (path, stamp, lines) VALUES (?1, x'', 0)", [path])?;
        Ok(self.store.connection.last_insert_rowid())
    }

    fn last_part(&self, file: i64) -> Result<Option<CoveredLines>, Error> {
        let read = || {
            let sql =
                "SELECT start, stop, line, signature FROM part WHERE file = ?1 ORDER BY start DESC LIMIT 1";
            let mut select = self.store.connection.prepare_cached(sql)?;
            let part = select.query_row([file], |row| {
                let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
                let (start, stop, line) = (number(0)?, number(1)?, number(2)?);
                Ok(CoveredLines { file, start, stop, line, signature: row.get(3)? })
            });
            part.optional()
        };
        read().map_err(|error| self.store.failed(&error))
    }

    fn store_part(&self, part: Option<CoveredLines>) -> Result<(), Error> {
        let Some(CoveredLines { file, start, stop, line, signature }) = part else { return Ok(()) };
        let numbers = params![file, start.cast_signed(), stop.cast_signed(), line.cast_signed(), signature];
        self.run("INSERT OR REPLACE INTO part VALUES (?1, ?2, ?3, ?4, ?5)", numbers)
    }

    fn run(&self, sql: &str, params: impl rusqlite::Params) -> Result<(), Error> {
        let run = || self.store.connection.prepare_cached(sql)?.execute(params);
        run().map(drop).map_err(|error| self.store.failed(&error))
    }
}
