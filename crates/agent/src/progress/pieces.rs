//! A stream of text, cut into sentences and lines.

use super::limits::{OVERLAP_BYTES, PIECE_BYTES_MAX};

/// Text on its way in, until a sentence or a line is whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Pieces {
    held: String,
    /// How much of `held` is known to hold no end.
    searched: usize,
}

/// A stretch of text to look through.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) end: End,
}

/// Why a piece ends where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The sentence ended, and the line goes on.
    Sentence,
    /// The line ended, or the text did.
    Line,
    /// It got too long: what touches the end may be half of something.
    Cut,
}

impl Pieces {
    /// Takes more text in.
    pub(super) fn push(&mut self, text: &str) {
        self.held.push_str(text);
    }

    /// The next whole piece, if there is one.
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

    /// The last piece, which nothing follows.
    pub(super) fn finish(&mut self) -> Option<Piece> {
        (!self.held.is_empty()).then(|| self.take(self.held.len(), End::Line))
    }

    /// Puts the end of a piece that was cut back in front, from `used` on or as much of it as is worth keeping.
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

/// The last place at or before `at` that lies between two characters.
pub(super) fn boundary_before(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
