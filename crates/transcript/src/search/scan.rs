//! Searching one session: its files, their blocks, their candidate lines.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::path::Path;

use fs_err::File;
use jiff::Timestamp;
use tidings_protocol::entry::EntryRef;
use tidings_protocol::json::Raw;

use super::calls::{CallNames, LineInBlock};
use super::hit::{Excerpt, Hit};
use super::query::{SearchQuery, Sidechains, ToolNames};
use super::texts::{Role, TextOrigin, ToolOf, is_blob, texts};
use super::{LineRange, Summary, Task};
use crate::Error;
use crate::blocks::{Block, Blocks, Buffer};
use crate::reader::{Content, Reader, read_line};
use crate::roots::FileInfo;

/// State of one thread, reused for every session.
#[derive(Debug)]
pub(super) struct Scan<'q> {
    query: &'q SearchQuery,
    buffer: Buffer,
    counting: Buffer,
    calls: CallNames,
    pub(super) summary: Summary,
}

/// A line with its position.
#[derive(Debug, Clone, Copy)]
struct CandidateLine<'a> {
    here: LineInBlock<'a>,
    bytes: &'a [u8],
    file: &'a FileInfo,
}

/// The first matching text of a line.
struct Match {
    role: Option<Role>,
    tool: Option<String>,
    excerpt: Excerpt,
}

impl<'q> Scan<'q> {
    pub(super) fn new(query: &'q SearchQuery) -> Self {
        Scan {
            query,
            buffer: Buffer::default(),
            counting: Buffer::default(),
            calls: CallNames::default(),
            summary: Summary::default(),
        }
    }

    /// Searches one session.
    pub(super) fn task<'f>(
        &mut self,
        task: &Task<'f>,
        each: &mut impl FnMut(Hit<'f>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for (file, parts) in &task.files {
            let left_out = self.query.options.sidechains == Sidechains::LeaveOut
                && task.session.main.as_ref() != Some(*file);
            if left_out || self.is_too_old(file) {
                continue;
            }
            self.calls.forget();
            let mut buffer = std::mem::take(&mut self.buffer);
            let searched = self.file(task, file, parts, &mut buffer, each);
            self.buffer = buffer;
            match searched {
                Ok(flow) => flow?,
                Err(error) => self.summary.unreadable.push(Error::io("read", &file.path, error)),
            }
        }
        ControlFlow::Continue(())
    }

    /// Skips files that are older than the filter. Lines are written before the last change of their file; an
    /// extra day allows for clocks that differ.
    fn is_too_old(&self, file: &FileInfo) -> bool {
        const SLACK: jiff::SignedDuration = jiff::SignedDuration::from_hours(24);
        let modified = Timestamp::try_from(file.modified);
        match (self.query.options.since, modified) {
            (Some(since), Ok(modified)) => modified.saturating_add(SLACK).is_ok_and(|time| time < since),
            _ => false,
        }
    }

    fn file<'f>(
        &mut self,
        task: &Task<'f>,
        file: &'f FileInfo,
        parts: &[LineRange],
        buffer: &mut Buffer,
        each: &mut impl FnMut(Hit<'f>) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        let mut source = File::open(&file.path)?;
        self.summary.files += 1;
        for part in parts {
            if part.bytes.start > 0 {
                source.seek(SeekFrom::Start(part.bytes.start))?;
            }
            let limited = (&mut source).take(part.bytes.end - part.bytes.start);
            let mut lines = LineCounter { offset: part.bytes.start, line: part.line };
            let mut blocks = Blocks::new(limited, part.bytes.start, buffer);
            while let Some(block) = blocks.next()? {
                let (offset, bytes) = match block {
                    Block::Lines { offset, bytes } => (offset, bytes),
                    Block::Oversized { len, .. } => {
                        self.summary.bytes += len;
                        self.summary.oversized += 1;
                        continue;
                    }
                };
                self.summary.bytes += bytes.len() as u64;
                for (start, end) in self.query.prefilter.lines(bytes) {
                    let here = LineInBlock {
                        path: &file.path,
                        block_offset: offset,
                        block: bytes,
                        line_start: start,
                    };
                    let Some(mut hit) =
                        self.line(task, CandidateLine { here, bytes: &bytes[start..end], file })
                    else {
                        continue;
                    };
                    hit.file = file;
                    hit.line = lines.number(here, &mut self.counting)?;
                    if each(hit).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The hit in a line, without its line number.
    fn line<'f>(&mut self, task: &Task<'f>, line: CandidateLine<'_>) -> Option<Hit<'f>> {
        let place = crate::Position { line: 0, offset: 0, bytes: line.bytes.len() as u64 };
        match read_line(line.bytes, place, true) {
            Content::Blank => None,
            Content::Entry(entry) => {
                let found = self.entry(&entry, line)?;
                self.hit(task, Some(&entry), found, line)
            }
            Content::Damaged(damage) => {
                // Whole entries in it first, since they have more details.
                for saved in &damage.salvaged {
                    let entry = saved.entry.as_ref();
                    if let Some(found) = self.entry(&entry, line) {
                        return self.hit(task, Some(&entry), found, line);
                    }
                }
                if !self.query.options.roles.is_empty() || self.query.options.tool.is_some() {
                    return None;
                }
                let found = damaged_texts(line.bytes, |text| {
                    self.query.pattern.find(text).map(|at| (text.to_owned(), at))
                });
                let (text, at) = found?;
                let found = Match { role: None, tool: None, excerpt: Excerpt::of(&text, at) };
                self.hit(task, None, found, line)
            }
        }
    }

    fn entry(&mut self, entry: &EntryRef<'_>, line: CandidateLine<'_>) -> Option<Match> {
        let query = self.query;
        if query.options.sidechains == Sidechains::LeaveOut && entry.is_sidechain() {
            return None;
        }
        let mut found = None;
        let _ = texts(entry, |origin, text| {
            if is_blob(text.escaped()) {
                return ControlFlow::Continue(());
            }
            let decoded = text.get();
            let Some(at) = query.pattern.find(&decoded) else { return ControlFlow::Continue(()) };
            match self.fitting(entry, origin, line, &decoded, at) {
                None => ControlFlow::Continue(()),
                fitting => {
                    found = fitting;
                    ControlFlow::Break(())
                }
            }
        });
        found.or_else(|| self.changed_input(entry))
    }

    /// The match in an input that ran in place of the one in this entry.
    fn changed_input(&self, entry: &EntryRef<'_>) -> Option<Match> {
        let options = &self.query.options;
        if options.changed_inputs.is_empty()
            || !(options.roles.is_empty() || options.roles.contains(&Role::Assistant))
        {
            return None;
        }
        entry.tool_calls().into_iter().find_map(|call| {
            let excerpt = self.query.changed(&call.id)?.clone();
            let fits = options.tool.as_deref().is_none_or(|tool| tool == &*call.name);
            fits.then(|| Match { role: Some(Role::Assistant), tool: Some(call.name.into_owned()), excerpt })
        })
    }

    /// Accepts the match if its role and tool match the filters.
    fn fitting(
        &mut self,
        entry: &EntryRef<'_>,
        origin: TextOrigin<'_>,
        line: CandidateLine<'_>,
        text: &str,
        at: Range<usize>,
    ) -> Option<Match> {
        let options = &self.query.options;
        let mut role = origin.role;
        if role == Role::User && entry.get("isCompactSummary").and_then(Raw::bool) == Some(true) {
            role = Role::System;
        }
        if !options.roles.is_empty() && !options.roles.contains(&role) {
            return None;
        }
        let wanted = options.tool.is_some() || options.tools == ToolNames::LookUp;
        let tool = match origin.tool {
            ToolOf::Named(name) if wanted => Some(name.get().into_owned()),
            ToolOf::Called(id) if wanted => self.calls.name_of(&id.get(), line.here),
            _ => None,
        };
        if options.tool.is_some() && options.tool != tool {
            return None;
        }
        Some(Match { role: Some(role), tool, excerpt: Excerpt::of(text, at) })
    }

    fn hit<'f>(
        &self,
        task: &Task<'f>,
        entry: Option<&EntryRef<'_>>,
        found: Match,
        line: CandidateLine<'_>,
    ) -> Option<Hit<'f>> {
        let options = &self.query.options;
        let own = |text: Option<std::borrow::Cow<'_, str>>| text.map(std::borrow::Cow::into_owned);
        let at = own(entry.and_then(EntryRef::timestamp));
        let cwd = own(entry.and_then(EntryRef::cwd));
        if options.since.is_some() || options.until.is_some() {
            let time =
                at.as_deref().and_then(time_of).or_else(|| Timestamp::try_from(line.file.modified).ok())?;
            if options.since.is_some_and(|since| time < since)
                || options.until.is_some_and(|until| time >= until)
            {
                return None;
            }
        }
        if let Some(project) = &options.project {
            let fits = |cwd: &str| cwd.to_lowercase().contains(&project.to_lowercase());
            if !cwd.as_deref().is_some_and(fits) && !task.project().is_some_and(fits) {
                return None;
            }
        }
        Some(Hit {
            session: task.session,
            file: task.files.first()?.0,
            line: 0,
            uuid: own(entry.and_then(EntryRef::uuid)),
            role: found.role,
            tool: found.tool,
            at,
            cwd,
            excerpt: found.excerpt,
        })
    }
}

/// The texts of a damaged line: the line itself, then each of its strings decoded.
pub(crate) fn damaged_texts<T>(line: &[u8], mut each: impl FnMut(&str) -> Option<T>) -> Option<T> {
    let raw = String::from_utf8_lossy(line);
    if let Some(found) = each(&raw) {
        return Some(found);
    }
    let mut from = 0;
    let mut at = 0;
    let bytes = raw.as_bytes();
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        let stop = at + found;
        if bytes[stop] == b'\\' {
            at = stop + 2;
            continue;
        }
        if let Some(found) = decoded(&raw[from..stop]).and_then(|text| each(&text)) {
            return Some(found);
        }
        (at, from) = (stop + 1, stop + 1);
    }
    decoded(&raw[from..]).and_then(|text| each(&text))
}

/// A string with its escapes decoded; `None` if it has none. A truncated escape is left out.
fn decoded(piece: &str) -> Option<String> {
    let last = memchr::memrchr(b'\\', piece.as_bytes())?;
    let decode = |piece: &str| {
        let quoted = format!("\"{piece}\"");
        let text = Raw::parse(&quoted).ok()?.text()?;
        Some(text.get().into_owned())
    };
    decode(piece).or_else(|| decode(&piece[..last]))
}

/// The first working folder in a file.
pub(super) fn first_cwd(path: &Path) -> Option<String> {
    const LINES_MAX: usize = 100;
    let mut buffer = Buffer::default();
    let mut reader = Reader::new(File::open(path).ok()?, &mut buffer);
    for _ in 0..LINES_MAX {
        if let Content::Entry(entry) = reader.next().ok()??.content
            && let Some(cwd) = entry.cwd()
        {
            return Some(cwd.into_owned());
        }
    }
    None
}

pub(super) fn time_of(text: &str) -> Option<Timestamp> {
    match text.parse::<i64>() {
        Ok(millis) => Timestamp::from_millisecond(millis).ok(),
        Err(_) => text.parse().ok(),
    }
}

/// Counts lines, but only in files that have hits.
struct LineCounter {
    /// Offset of line number `line`.
    offset: u64,
    line: u64,
}

impl LineCounter {
    fn number(&mut self, here: LineInBlock<'_>, buffer: &mut Buffer) -> io::Result<u64> {
        if self.offset < here.block_offset {
            let mut file = File::open(here.path)?;
            file.seek(SeekFrom::Start(self.offset))?;
            let mut blocks = Blocks::new(file.take(here.block_offset - self.offset), self.offset, buffer);
            while let Some(block) = blocks.next()? {
                self.line += match block {
                    Block::Lines { bytes, .. } => count(bytes),
                    Block::Oversized { .. } => 1,
                };
            }
            self.offset = here.block_offset;
        }
        let counted = usize::try_from(self.offset - here.block_offset).unwrap_or(0);
        self.line += count(&here.block[counted..here.line_start]);
        self.offset = here.block_offset + here.line_start as u64;
        Ok(self.line)
    }
}

fn count(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
