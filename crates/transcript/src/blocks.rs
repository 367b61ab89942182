//! A file as blocks of whole lines: the basis of every pass over many gigabytes.

use std::io::{self, Read};

use memchr::{memchr, memrchr};

use crate::limits::{BLOCK_BYTES, LINE_BYTES_MAX, OVERSIZED_HEAD_BYTES};

/// A part of a file that ends at a line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block<'a> {
    /// One or more whole lines with their line ends; only the last line of a file may lack one.
    Lines {
        /// Offset in the file of the first line.
        offset: u64,
        /// The lines.
        bytes: &'a [u8],
    },
    /// A line over the cap. Only its first bytes are kept.
    Oversized {
        /// Offset of the line in the file.
        offset: u64,
        /// Length in bytes, line end included.
        len: u64,
        /// First bytes of the line.
        head: &'a [u8],
    },
}

/// Memory for reading, reused from file to file.
#[derive(Debug, Default)]
pub struct Buffer(Vec<u8>);

impl Buffer {
    /// Allocated bytes.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

/// Reads a source block by block in bounded memory.
#[derive(Debug)]
pub struct Blocks<'b, R> {
    source: R,
    buffer: &'b mut Vec<u8>,
    cap: usize,
    /// Offset in the file of the buffer's first byte.
    offset: u64,
    /// Number of bytes that were returned already.
    returned: usize,
    /// Number of bytes in the buffer that were read from the file.
    filled: usize,
    ended: bool,
}

impl<'b, R: Read> Blocks<'b, R> {
    /// Blocks of `source`, which is positioned at `offset`; lines of up to [`LINE_BYTES_MAX`] bytes are kept.
    pub fn new(source: R, offset: u64, buffer: &'b mut Buffer) -> Self {
        Self::with_cap(source, offset, buffer, LINE_BYTES_MAX)
    }

    /// Like [`Blocks::new`], with another cap.
    pub fn with_cap(source: R, offset: u64, buffer: &'b mut Buffer, cap: usize) -> Self {
        let buffer = &mut buffer.0;
        let size = BLOCK_BYTES.min(cap.max(1));
        if buffer.len() < size {
            // Zeroed pages from the operating system cost nothing.
            *buffer = vec![0; size];
        }
        Blocks { source, buffer, cap, offset, returned: 0, filled: 0, ended: false }
    }

    /// The next block; `None` at the end.
    #[expect(
        clippy::should_implement_trait,
        reason = "the block borrows the buffer, which an iterator cannot express"
    )]
    pub fn next(&mut self) -> io::Result<Option<Block<'_>>> {
        self.discard_returned();
        let mut searched = 0;
        loop {
            if let Some(at) = memrchr(b'\n', &self.buffer[searched..self.filled]) {
                return Ok(Some(self.return_lines(searched + at + 1)));
            }
            searched = self.filled;
            if self.ended {
                return Ok((self.filled > 0).then(|| self.return_lines(self.filled)));
            }
            if self.filled > self.cap {
                return self.pass_oversized().map(Some);
            }
            self.fill()?;
        }
    }

    /// The bytes of the block that was returned last.
    pub(crate) fn returned(&self) -> &[u8] {
        &self.buffer[..self.returned]
    }

    /// The first bytes of the oversized line that was returned last.
    pub(crate) fn head(&self) -> &[u8] {
        &self.buffer[..self.returned.min(OVERSIZED_HEAD_BYTES)]
    }

    fn discard_returned(&mut self) {
        self.buffer.copy_within(self.returned..self.filled, 0);
        self.offset += self.returned as u64;
        self.filled -= self.returned;
        self.returned = 0;
    }

    fn return_lines(&mut self, end: usize) -> Block<'_> {
        self.returned = end;
        Block::Lines { offset: self.offset, bytes: &self.buffer[..end] }
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.filled == self.buffer.len() {
            // One byte over the cap distinguishes a line that is too long from one that just fits.
            let size = (self.buffer.len() * 2).min(self.cap + 1);
            self.buffer.reserve_exact(size - self.filled);
            self.buffer.resize(size, 0);
        }
        let read = read_some(&mut self.source, &mut self.buffer[self.filled..])?;
        self.filled += read;
        self.ended = read == 0;
        Ok(())
    }

    /// Reads to the end of a line that is too long; keeps its head and the bytes after it.
    fn pass_oversized(&mut self) -> io::Result<Block<'_>> {
        let offset = self.offset;
        // The rest of the buffer is scratch space for reading.
        let head = OVERSIZED_HEAD_BYTES.min(self.buffer.len() / 2);
        let mut len = self.filled as u64;
        loop {
            let read = read_some(&mut self.source, &mut self.buffer[head..])?;
            let chunk = head..head + read;
            if let Some(at) = memchr(b'\n', &self.buffer[chunk.clone()]) {
                let after = head + at + 1;
                len += at as u64 + 1;
                self.offset = offset + len - after as u64;
                self.returned = after;
                self.filled = chunk.end;
                break;
            }
            len += read as u64;
            if read == 0 {
                self.ended = true;
                self.offset = offset + len - head as u64;
                self.returned = head;
                self.filled = head;
                break;
            }
        }
        Ok(Block::Oversized { offset, len, head: &self.buffer[..head] })
    }
}

fn read_some(source: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a few bytes per read.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(into.len()).min(self.0.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    /// Lines as (offset, length, kept).
    fn lines(text: &[u8], step: usize, cap: usize) -> Vec<(u64, u64, bool)> {
        let mut buffer = Buffer::default();
        let mut blocks = Blocks::with_cap(Slow(text, step), 0, &mut buffer, cap);
        let mut lines = Vec::new();
        while let Some(block) = blocks.next().unwrap() {
            match block {
                Block::Lines { mut offset, bytes } => {
                    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                        let start = usize::try_from(offset).unwrap();
                        assert_eq!(line, &text[start..start + line.len()]);
                        // Several lines of a block may exceed a small cap; only a line without an end is cut.
                        lines.push((offset, line.len() as u64, true));
                        offset += line.len() as u64;
                    }
                }
                Block::Oversized { offset, len, head } => {
                    assert!(text[usize::try_from(offset).unwrap()..].starts_with(head));
                    lines.push((offset, len, false));
                }
            }
        }
        lines
    }

    proptest! {
        #[test]
        fn every_byte_is_in_exactly_one_line(
            text in prop::collection::vec(prop::sample::select(&b"ab\n"[..]), 0..200),
            step in 1usize..40,
            cap in 1usize..30,
        ) {
            let found = lines(&text, step, cap);
            let mut at = 0;
            for (offset, len, kept) in found {
                prop_assert_eq!(offset, at);
                prop_assert!(kept || len > cap as u64);
                at += len;
            }
            prop_assert_eq!(at, text.len() as u64);
        }
    }
}
