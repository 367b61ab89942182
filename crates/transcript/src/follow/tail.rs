//! One file that is being written, truncated, replaced or deleted while it is read.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use memchr::{memchr_iter, memrchr};

use super::mark::{Mark, Marks};
use crate::Error;
use crate::blocks::Buffer;
use crate::error::At as _;
use crate::limits::{BLOCK_BYTES, FOLLOW_PASSES_MAX, FOLLOW_WINDOW_BYTES};
use crate::reader::{Content, DamageKind, Line, Reader};
use crate::roots::FileId;

/// What has become of a file since it was last looked at.
#[derive(Debug)]
pub enum Change<'a> {
    /// A line that is whole now.
    Line(&'a Line<'a>),
    /// The file was truncated or replaced: what was given so far is void, and what follows is its new content.
    Reset,
    /// The file is not there any more.
    Gone,
    /// The file cannot be read. It is looked at again, and this is told once until it can be.
    Unreadable(&'a Error),
}

/// A place in a file up to which its lines have been given.
///
/// A line counts once its end is written; what has no end yet is left where it is and read again later, so that
/// there is no half line in memory that could outlive a truncation.
///
/// Whether the file is still the one that was read is told by its identity, its size, and by what stands at its
/// beginning and before the place that was reached. A program that changes bytes further inside, without changing
/// any of these, goes unnoticed.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    state: State,
    presence: Presence,
    generation: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Unknown,
    There,
    Gone,
}

/// How far a file was read.
#[derive(Debug, Clone, Default)]
struct State {
    id: Option<FileId>,
    /// Where the first line begins that was not given yet.
    offset: u64,
    /// Its number; unknown until somebody needs it, since it takes counting.
    line: Option<u64>,
    /// There is no line end between `offset` and here.
    seen: u64,
    marks: Marks,
}

impl Tail {
    /// Gives the lines of a file from its beginning on. The file need not exist yet.
    pub fn from_start(path: impl Into<PathBuf>) -> Self {
        let state = State { line: Some(1), ..State::default() };
        Tail { path: path.into(), state, presence: Presence::Unknown, generation: 0 }
    }

    /// Gives only what is written from now on; a line that is half written now is given whole.
    pub fn from_end(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let mut tail = Self::from_start(path);
        tail.skip_to(u64::MAX)?;
        Ok(tail)
    }

    /// Gives the last lines first: as many that `counts` says yes to as `count` says, and those between them.
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

    /// Whether the file was not there when it was last looked at.
    pub fn is_gone(&self) -> bool {
        self.presence == Presence::Gone
    }

    /// How many times the file was truncated or replaced.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Looks at the file and tells `each` what changed, in order, until it breaks off; it is then asked for the
    /// rest the next time.
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
        // Somebody rewrites the file faster than it can be read; the next look begins where this one stopped.
        Ok(ControlFlow::Continue(()))
    }

    /// One pass over what is new. The order of the steps matters: the new marks are taken first and the old ones
    /// are checked after that, so that a rewrite at any moment is noticed by one of the checks.
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
            let told = self.state.offset > 0;
            self.state = State { line: Some(1), ..State::default() };
            if told {
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
        Ok(if self.state.marks.hold(file)? { Pass::Done } else { Pass::Replaced })
    }

    fn continues(&self, file: &mut File, id: FileId, len: u64) -> io::Result<bool> {
        let same = self.state.id.is_none_or(|known| known == id);
        Ok(same && len >= self.state.seen && self.state.marks.hold(file)?)
    }

    /// Gives the lines up to `end`, which follows a line end.
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

    /// Leaves out what stands before `place`, or before the last line end of the file if that comes first.
    fn skip_to(&mut self, place: u64) -> Result<(), Error> {
        let path = self.path.clone();
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io("read", &path, error)),
        };
        let metadata = file.metadata().at("read", &path)?;
        let len = metadata.len().min(place);
        let offset = last_line_end(&mut file, 0, len).at("read", &path)?.unwrap_or(0);
        let marks = Marks::take(&mut file, offset).at("read", &path)?;
        let line = (offset == 0).then_some(1);
        self.state = State { id: Some(FileId::of(&metadata)), offset, line, seen: offset, marks };
        self.presence = Presence::There;
        Ok(())
    }
}

/// Of a line that is too long the place covers the line end, too.
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

/// What follows the last line end between two places.
fn last_line_end(file: &mut File, from: u64, to: u64) -> io::Result<Option<u64>> {
    let mut end = to;
    let mut block = vec![0; FOLLOW_WINDOW_BYTES];
    while end > from {
        let start = end.saturating_sub(block.len() as u64).max(from);
        let mark = Mark { start, len: end - start };
        let bytes = mark.read(file, &mut block)?;
        if let Some(at) = memrchr(b'\n', bytes) {
            return Ok(Some(start + at as u64 + 1));
        }
        end = start;
    }
    Ok(None)
}

/// The first beginning of a line at `place` or before it.
fn line_start(file: &mut File, place: u64) -> io::Result<u64> {
    Ok(last_line_end(file, 0, place)?.unwrap_or(0))
}

fn count_lines(file: &mut File, to: u64) -> io::Result<u64> {
    let mut block = vec![0; BLOCK_BYTES];
    let (mut lines, mut at) = (0, 0);
    while at < to {
        let mark = Mark { start: at, len: (to - at).min(block.len() as u64) };
        let bytes = mark.read(file, &mut block)?;
        if bytes.is_empty() {
            break;
        }
        lines += memchr_iter(b'\n', bytes).count() as u64;
        at += bytes.len() as u64;
    }
    Ok(lines)
}
