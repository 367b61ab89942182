//! Splits a stream of bytes into lines. No I/O: the caller reads bytes and pushes them.

/// Default cap on the length of a line, in bytes. Images and documents travel inside lines.
pub const LINE_BYTES_MAX: usize = 64 << 20;

/// Number of bytes kept of a line over the cap, to recognise it by.
pub const OVERSIZED_HEAD_BYTES: usize = 4096;

/// Capacity in bytes above which an empty buffer is freed.
const BUFFER_BYTES_KEPT: usize = 1 << 20;

/// One line with its line end: all lines concatenated give back the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Line<'a> {
    /// A line that begins like a JSON object. It may still fail to decode.
    Json(&'a [u8]),
    /// Any other text: a banner, a log line, a lone scalar.
    Noise(&'a [u8]),
    /// White space only.
    Blank(&'a [u8]),
    /// A line over the cap. Only its first bytes are kept; reading continues with the next line.
    Oversized {
        /// Length with the line end.
        len: u64,
        /// First bytes of the line.
        head: &'a [u8],
    },
}

impl<'a> Line<'a> {
    /// Classifies a line by its first byte that is neither white space nor part of a byte order mark.
    pub fn of(line: &'a [u8]) -> Self {
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii_start();
        match text.first() {
            None => Line::Blank(line),
            Some(b'{') => Line::Json(line),
            Some(_) => Line::Noise(line),
        }
    }
}

/// Splits a stream of bytes into lines at LF only: U+2028 and the like are text.
#[derive(Debug, Clone)]
pub struct Splitter {
    buffer: Vec<u8>,
    /// Offset of the next line in the buffer.
    start: usize,
    /// Offset up to which no line end was found.
    searched: usize,
    cap: usize,
    /// Bytes dropped from the current line because it is over the cap; the buffer keeps its head.
    dropped: u64,
}

impl Default for Splitter {
    fn default() -> Self {
        Splitter::new(LINE_BYTES_MAX)
    }
}

impl Splitter {
    /// A splitter that keeps lines of up to `cap` bytes, line end included.
    pub fn new(cap: usize) -> Self {
        Splitter { buffer: Vec::new(), start: 0, searched: 0, cap, dropped: 0 }
    }

    /// Appends bytes. Pull all lines before the next push, or the buffer grows.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            if self.buffer.capacity() > BUFFER_BYTES_KEPT {
                self.buffer.shrink_to(BUFFER_BYTES_KEPT);
            }
        } else {
            self.buffer.drain(..self.start);
        }
        self.searched -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole line.
    #[expect(
        clippy::should_implement_trait,
        reason = "the line borrows the splitter, which an iterator cannot say"
    )]
    pub fn next(&mut self) -> Option<Line<'_>> {
        if let Some(found) = memchr::memchr(b'\n', &self.buffer[self.searched..]) {
            let end = self.searched + found + 1;
            return Some(self.take(end));
        }
        self.searched = self.buffer.len();
        self.drop_excess();
        None
    }

    /// Bytes after the last line end; call it at the end of input.
    pub fn finish(&mut self) -> Option<Line<'_>> {
        let end = self.buffer.len();
        if self.start == end && self.dropped == 0 {
            return None;
        }
        Some(self.take(end))
    }

    /// Number of buffered bytes: at most the cap plus the last push.
    pub fn buffered(&self) -> usize {
        self.buffer.len() - self.start
    }

    fn take(&mut self, end: usize) -> Line<'_> {
        let start = std::mem::replace(&mut self.start, end);
        self.searched = end;
        let dropped = std::mem::take(&mut self.dropped);
        let line = &self.buffer[start..end];
        let len = dropped + line.len() as u64;
        if len > self.cap as u64 {
            return Line::Oversized { len, head: &line[..line.len().min(OVERSIZED_HEAD_BYTES)] };
        }
        Line::of(line)
    }

    /// Keeps only the head of a line that is already over the cap.
    fn drop_excess(&mut self) {
        let length = self.buffer.len() - self.start;
        if self.dropped + length as u64 > self.cap as u64 {
            let keep = self.start + length.min(OVERSIZED_HEAD_BYTES);
            self.dropped += (self.buffer.len() - keep) as u64;
            self.buffer.truncate(keep);
            self.searched = keep;
        }
    }
}
