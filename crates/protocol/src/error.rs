//! The error of a line that is not a frame or an entry.

use std::fmt;

/// Decoding error: a line that is not a frame (or entry), with the kind of fault, its offset and an excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeError {
    /// Kind of fault, for programs.
    pub kind: DecodeErrorKind,
    /// Byte offset in the line.
    pub at: usize,
    /// Bytes around the offset, made printable.
    pub excerpt: String,
}

/// The ways a line can fail to be a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// Bytes that are not UTF-8. [`crate::Frame::decode_lossy`] still reads such a line.
    Utf8,
    /// Not an object: a scalar, an array, plain text or nothing.
    NotAnObject,
    /// An object that is cut off or breaks the grammar, with what was expected instead.
    Syntax(&'static str),
    /// A whole object followed by more bytes, such as a second object glued to the first.
    /// [`crate::FrameRef::decode_glued`] reads them one by one.
    Trailing,
    /// Longer than 2 GiB.
    TooLong,
}

/// Number of bytes in an excerpt.
const EXCERPT_CHARS_MAX: usize = 40;

impl DecodeError {
    pub(crate) fn new(kind: DecodeErrorKind, line: &[u8], at: usize) -> Self {
        let at = at.min(line.len());
        let from = at.saturating_sub(EXCERPT_CHARS_MAX / 2);
        let to = (at + EXCERPT_CHARS_MAX / 2).min(line.len());
        let excerpt = String::from_utf8_lossy(&line[from..to]);
        // Control characters could steer a terminal.
        let excerpt = excerpt.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        DecodeError { kind, at, excerpt }
    }

    /// Advice on how to handle the line.
    pub fn hint(&self) -> &'static str {
        match self.kind {
            DecodeErrorKind::Utf8 => "read the line lossily; the invalid bytes become U+FFFD",
            DecodeErrorKind::NotAnObject => {
                "treat the line as noise; only lines that begin with `{` are frames"
            }
            DecodeErrorKind::Syntax(_) => {
                "keep the bytes and go on with the next line; a writer was cut off here"
            }
            DecodeErrorKind::Trailing => "two writers shared a line; read the objects one by one",
            DecodeErrorKind::TooLong => "cap the length of lines in the splitter",
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DecodeError { kind, at, excerpt } = self;
        match kind {
            DecodeErrorKind::Utf8 => write!(f, "line is not UTF-8 at byte {at}, near `{excerpt}`"),
            DecodeErrorKind::NotAnObject => write!(f, "line is not a JSON object, begins with `{excerpt}`"),
            DecodeErrorKind::Syntax(expected) => {
                write!(f, "expected {expected} at byte {at}, near `{excerpt}`")
            }
            DecodeErrorKind::Trailing => {
                write!(f, "line goes on after its object at byte {at}, near `{excerpt}`")
            }
            DecodeErrorKind::TooLong => write!(f, "line is longer than 2 GiB"),
        }
    }
}

impl std::error::Error for DecodeError {}
