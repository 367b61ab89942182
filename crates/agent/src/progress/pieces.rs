//! Segmentation of streamed text into sentences and lines.

use super::limits::{OVERLAP_BYTES, PIECE_BYTES_MAX};

/// Buffer for text until a sentence or a line is complete.
#[derive(Debug, Clone, Default)]
pub(super) struct Pieces {
    held: String,
    /// Bytes of `held` that are known to contain no end.
    searched: usize,
}

/// A segment of text to search.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) end: End,
}

/// The reason why a segment ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The sentence ended, and the line goes on.
    Sentence,
    /// The line or the text ended.
    Line,
    /// The segment was too long: a phrase at its end may be incomplete.
    Cut,
}

impl Pieces {
    /// Appends text.
    pub(super) fn push(&mut self, text: &str) {
        self.held.push_str(text);
    }

    /// The next complete segment, if there is one.
    pub(super) fn next(&mut self) -> Option<Piece> {
        let bytes = self.held.as_bytes();
        while let Some(&byte) = bytes.get(self.searched) {
            let at = self.searched;
            let end = match byte {
                b'\n' | b'\r' => Some(End::Line),
                b' ' | b'\t' if at > 0 && matches!(bytes[at - 1], b'.' | b'!' | b'?') => Some(End::Sentence),
                _ => None,
            };
            if let Some(end) = end {
                return Some(self.take(at + 1, end));
            }
            self.searched += 1;
            if self.searched >= PIECE_BYTES_MAX {
                let at = boundary_before(&self.held, self.searched);
                return Some(self.take(at, End::Cut));
            }
        }
        None
    }

    /// The last segment, at the end of the text.
    pub(super) fn finish(&mut self) -> Option<Piece> {
        (!self.held.is_empty()).then(|| self.take(self.held.len(), End::Line))
    }

    /// Puts the end of a cut segment back into the buffer, from `used` on, up to the size of the overlap.
    pub(super) fn put_back(&mut self, piece: &str, used: usize) {
        let from = boundary_before(piece, piece.len().saturating_sub(OVERLAP_BYTES)).max(used);
        self.held.insert_str(0, &piece[from..]);
        self.searched = piece.len() - from;
    }

    fn take(&mut self, len: usize, end: End) -> Piece {
        let rest = self.held.split_off(len);
        self.searched = 0;
        Piece { text: std::mem::replace(&mut self.held, rest), end }
    }
}

/// The last character boundary at or before `at`.
pub(super) fn boundary_before(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
