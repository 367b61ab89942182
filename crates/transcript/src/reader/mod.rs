//! A session file line by line: each line is an entry, damaged or blank, and has a position.
//!
//! ```
//! use tidings_transcript::blocks::Buffer;
//! use tidings_transcript::reader::{Content, Reader};
//!
//! let file = b"{\"type\":\"user\",\"uuid\":\"u-1\",\"message\":\"Hi\"}\n{\"type\":\"assi";
//! let mut buffer = Buffer::default();
//! let mut reader = Reader::new(&file[..], &mut buffer);
//! let (mut entries, mut damaged) = (0, 0);
//! while let Some(line) = reader.next()? {
//!     match line.content {
//!         Content::Entry(entry) => entries += usize::from(entry.text() == "Hi"),
//!         Content::Damaged(damage) => damaged += usize::from(damage.reason.contains("cut off")),
//!         Content::Blank => {}
//!     }
//! }
//! assert_eq!((entries, damaged), (1, 1));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Memory is bounded whatever the size of the file, and a damaged line does not affect the others.

mod damage;
#[cfg(feature = "analysis")]
mod entry_lines;
mod salvage;

use std::io::{self, Read};
use std::ops::Range;

use memchr::memchr;
use tidings_protocol::entry::EntryRef;

pub use damage::{Damage, DamageKind, Salvaged};
#[cfg(feature = "analysis")]
pub use entry_lines::EntryLines;
#[cfg(feature = "analysis")]
pub(crate) use salvage::read as read_line;

use crate::blocks::{Block, Blocks, Buffer};
use crate::{Finding, Position};

/// One line of a session file.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    /// Position in the file.
    pub place: Position,
    /// Its bytes without the line end; the first few of a line that is too long.
    pub bytes: &'a [u8],
    /// Parsed contents.
    pub content: Content<'a>,
}

/// The contents of a line.
#[derive(Debug, Clone)]
pub enum Content<'a> {
    /// A whole entry.
    Entry(EntryRef<'a>),
    /// Anything else; contains the whole entries that could be salvaged.
    Damaged(Damage),
    /// White space only.
    Blank,
}

impl Line<'_> {
    /// The finding about the line, if it is damaged.
    pub fn finding(&self) -> Option<Finding> {
        match &self.content {
            Content::Damaged(damage) => Some(damage.finding(self.place)),
            Content::Entry(_) | Content::Blank => None,
        }
    }
}

/// Reads lines from a source.
#[derive(Debug)]
pub struct Reader<'b, R> {
    blocks: Blocks<'b, R>,
    /// The rest of the current block.
    rest: Range<usize>,
    /// Offset in the file of the current block.
    block_offset: u64,
    line: u64,
}

impl<'b, R: Read> Reader<'b, R> {
    /// The lines of a file from its beginning.
    pub fn new(source: R, buffer: &'b mut Buffer) -> Self {
        Self::resume(source, 0, 1, buffer)
    }

    /// The lines from `offset` on; `source` is positioned there, at the start of line number `line`.
    pub fn resume(source: R, offset: u64, line: u64, buffer: &'b mut Buffer) -> Self {
        Reader {
            blocks: Blocks::new(source, offset, buffer),
            rest: 0..0,
            block_offset: offset,
            line: line - 1,
        }
    }

    /// The next line; `None` at the end.
    #[expect(
        clippy::should_implement_trait,
        reason = "the line borrows the buffer, which an iterator cannot express"
    )]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line += 1;
        if self.rest.is_empty() {
            match self.blocks.next()? {
                None => return Ok(None),
                Some(Block::Lines { offset, bytes }) => {
                    self.block_offset = offset;
                    self.rest = 0..bytes.len();
                }
                Some(Block::Oversized { offset, len, .. }) => {
                    let bytes = len - u64::from(self.blocks.returned().ends_with(b"\n"));
                    let place = Position { line: self.line, offset, bytes };
                    let content = Content::Damaged(Damage::oversized(len));
                    return Ok(Some(Line { place, bytes: self.blocks.head(), content }));
                }
            }
        }
        let start = self.rest.start;
        let rest = &self.blocks.returned()[self.rest.clone()];
        let end = memchr(b'\n', rest);
        let bytes = &rest[..end.unwrap_or(rest.len())];
        self.rest.start += end.map_or(rest.len(), |end| end + 1);
        let place =
            Position { line: self.line, offset: self.block_offset + start as u64, bytes: bytes.len() as u64 };
        Ok(Some(Line { place, bytes, content: salvage::read(bytes, place, end.is_none()) }))
    }
}
