//! One file that may be written, truncated, replaced or deleted while it is read.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use memchr::{memchr_iter, memrchr};

use super::fingerprint::{FileRange, Marks};
use crate::Error;
use crate::blocks::Buffer;
use crate::error::At as _;
use crate::limits::{BLOCK_BYTES, FOLLOW_PASSES_MAX, FOLLOW_WINDOW_BYTES};
use crate::reader::{Content, DamageKind, Line, Reader};
use crate::roots::FileId;

/// A change to a file since the last poll.
#[derive(Debug)]
pub enum Change<'a> {
    /// A complete new line.
    Line(&'a Line<'a>),
    /// The file was truncated or replaced: earlier lines are void, and its new contents follow.
    Reset,
    /// The file was deleted.
    Gone,
    /// The file cannot be read. It is polled again, and this is reported once until it can be read.
    Unreadable(&'a Error),
}

/// Position in a file up to which its lines were delivered.
///
/// A line counts once its end is written; an unfinished line is read again later, so that memory holds no
/// half line that could outlive a truncation.
///
/// The file counts as the same one while its identity, a size that does not shrink, its beginning and the
/// bytes before the position stay the same. A program that changes bytes elsewhere in the file goes
/// unnoticed.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    state: TailState,
    presence: Presence,
    generation: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Unknown,
    There,
    Gone,
}

/// Progress of reading a file.
#[derive(Debug, Clone, Default)]
struct TailState {
    id: Option<FileId>,
    /// Offset of the first line that was not delivered yet.
    offset: u64,
    /// Its line number; computed on demand, since that takes counting.
    line: Option<u64>,
    /// There is no line end between `offset` and this offset.
    seen: u64,
    marks: Marks,
}

impl Tail {
    /// Delivers the lines of a file from its beginning on. The file need not exist yet.
    pub fn from_start(path: impl Into<PathBuf>) -> Self {
        let state = TailState { line: Some(1), ..TailState::default() };
        Tail { path: path.into(), state, presence: Presence::Unknown, generation: 0 }
    }

    /// Delivers only lines that end after now; a half-written line is delivered whole.
    pub fn from_end(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let mut tail = Self::from_start(path);
        tail.skip_to(u64::MAX)?;
        Ok(tail)
    }

    /// Begins with the last `count` lines for which `counts` returns true, and the lines between them.
    pub fn from_last(
        path: impl Into<PathBuf>,
        count: usize,
        buffer: &mut Buffer,
        mut counts: impl FnMut(&Line<'_>) -> bool,
    ) -> Result<Self, Error> {
        let mut tail = Self::from_end(path)?;
        let path = tail.path.clone();
        let end = tail.state.offset;
        if count == 0 || end == 0 {
            return Ok(tail);
        }
        let mut file = File::open(&path).at("read", &path)?;
        let mut window = BLOCK_BYTES as u64;
        loop {
            let from = line_start(&mut file, end.saturating_sub(window)).at("read", &path)?;
            file.seek(SeekFrom::Start(from)).at("read", &path)?;
            let mut reader = Reader::resume((&mut file).take(end - from), from, 1, buffer);
            let mut last = std::collections::VecDeque::new();
            while let Some(line) = reader.next().at("read", &path)? {
                if counts(&line) {
                    if last.len() == count {
                        last.pop_front();
                    }
                    last.push_back(line.place.offset);
                }
            }
            if last.len() == count || from == 0 {
                tail.skip_to(last.front().copied().unwrap_or(0))?;
                return Ok(tail);
            }
            window = window.saturating_mul(8);
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the file did not exist at the last poll.
    pub fn is_gone(&self) -> bool {
        self.presence == Presence::Gone
    }

    /// Number of times the file was truncated or replaced.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Polls the file and calls `each` for every change, in order, until it breaks; the rest follows at the
    /// next poll.
    pub fn poll(
        &mut self,
        buffer: &mut Buffer,
        each: &mut dyn FnMut(Change<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let was = std::mem::replace(&mut self.presence, Presence::Gone);
                let known = was == Presence::There;
                return Ok(if known { each(Change::Gone) } else { ControlFlow::Continue(()) });
            }
            Err(error) => return Err(Error::io("read", &self.path, error)),
        };
        self.presence = Presence::There;
        for _ in 0..FOLLOW_PASSES_MAX {
            match self.pass(&mut file, buffer, each).at("read", &self.path)? {
                Pass::Done => return Ok(ControlFlow::Continue(())),
                Pass::Stopped => return Ok(ControlFlow::Break(())),
                Pass::Replaced => {}
            }
        }
        // The file is rewritten faster than it can be read; the next poll continues here.
        Ok(ControlFlow::Continue(()))
    }

    /// One pass over the new lines. The order of the steps matters: the new marks are taken first and the old
    /// ones are checked after that, so that one of the checks notices a rewrite at any moment.
    fn pass(
        &mut self,
        file: &mut File,
        buffer: &mut Buffer,
        each: &mut dyn FnMut(Change<'_>) -> ControlFlow<()>,
    ) -> io::Result<Pass> {
        let metadata = file.metadata()?;
        let (id, len) = (FileId::of(&metadata), metadata.len());
        let marks = Marks::take(file, len)?;
        if !self.continues(file, id, len)? {
            let had_lines = self.state.offset > 0;
            self.state = TailState { line: Some(1), ..TailState::default() };
            if had_lines {
                self.generation += 1;
                if each(Change::Reset).is_break() {
                    return Ok(Pass::Stopped);
                }
            }
        }
        self.state.id = Some(id);
        let end = last_line_end(file, self.state.seen, len)?.unwrap_or(self.state.offset);
        if end > self.state.offset {
            if self.give(file, end, buffer, each)?.is_break() {
                self.state.seen = self.state.offset;
                self.state.marks = Marks::take(file, self.state.seen)?;
                return Ok(Pass::Stopped);
            }
            self.state.offset = end;
        }
        self.state.seen = len;
        self.state.marks = marks;
        Ok(if self.state.marks.match_file(file)? { Pass::Done } else { Pass::Replaced })
    }

    fn continues(&self, file: &mut File, id: FileId, len: u64) -> io::Result<bool> {
        let same = self.state.id.is_none_or(|known| known == id);
        Ok(same && len >= self.state.seen && self.state.marks.match_file(file)?)
    }

    /// Delivers the lines up to `end`, which follows a line end.
    fn give(
        &mut self,
        file: &mut File,
        end: u64,
        buffer: &mut Buffer,
        each: &mut dyn FnMut(Change<'_>) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        let first = match self.state.line {
            Some(line) => line,
            None => count_lines(file, self.state.offset)? + 1,
        };
        file.seek(SeekFrom::Start(self.state.offset))?;
        let mut reader = Reader::resume(file.take(end - self.state.offset), self.state.offset, first, buffer);
        let mut number = first;
        let mut given = ControlFlow::Continue(());
        while let Some(line) = reader.next()? {
            number = line.place.line + 1;
            given = each(Change::Line(&line));
            if given.is_break() {
                self.state.offset = line.place.offset + line.place.bytes + line_end_bytes(&line);
                break;
            }
        }
        self.state.line = Some(number);
        Ok(given)
    }

    /// Skips to `offset`, or to the last line end of the file if that comes first.
    fn skip_to(&mut self, offset: u64) -> Result<(), Error> {
        let path = self.path.clone();
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io("read", &path, error)),
        };
        let metadata = file.metadata().at("read", &path)?;
        let len = metadata.len().min(offset);
        let offset = last_line_end(&mut file, 0, len).at("read", &path)?.unwrap_or(0);
        let marks = Marks::take(&mut file, offset).at("read", &path)?;
        let line = (offset == 0).then_some(1);
        self.state = TailState { id: Some(FileId::of(&metadata)), offset, line, seen: offset, marks };
        self.presence = Presence::There;
        Ok(())
    }
}

/// For a line that is too long, the range already covers the line end.
fn line_end_bytes(line: &Line<'_>) -> u64 {
    match &line.content {
        Content::Damaged(damage) if damage.kind == DamageKind::Oversized => 0,
        _ => 1,
    }
}

enum Pass {
    Done,
    Stopped,
    Replaced,
}

/// Offset after the last line end between two offsets.
fn last_line_end(file: &mut File, from: u64, to: u64) -> io::Result<Option<u64>> {
    let mut end = to;
    let mut block = vec![0; FOLLOW_WINDOW_BYTES];
    while end > from {
        let start = end.saturating_sub(block.len() as u64).max(from);
        let mark = FileRange { start, len: end - start };
        let bytes = mark.read(file, &mut block)?;
        if let Some(at) = memrchr(b'\n', bytes) {
            return Ok(Some(start + at as u64 + 1));
        }
        end = start;
    }
    Ok(None)
}

/// The first start of a line at or before `offset`.
fn line_start(file: &mut File, offset: u64) -> io::Result<u64> {
    Ok(last_line_end(file, 0, offset)?.unwrap_or(0))
}

fn count_lines(file: &mut File, to: u64) -> io::Result<u64> {
    let mut block = vec![0; BLOCK_BYTES];
    let (mut lines, mut at) = (0, 0);
    while at < to {
        let mark = FileRange { start: at, len: (to - at).min(block.len() as u64) };
        let bytes = mark.read(file, &mut block)?;
        if bytes.is_empty() {
            break;
        }
        lines += memchr_iter(b'\n', bytes).count() as u64;
        at += bytes.len() as u64;
    }
    Ok(lines)
}
