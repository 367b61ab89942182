//! Segmentation of streamed text into sentences and lines.

use super::limits::{OVERLAP_BYTES, SEGMENT_BYTES_MAX};

/// Buffer for text until a sentence or a line is complete.
#[derive(Debug, Clone, Default)]
pub(super) struct Segments {
    held: String,
    /// Bytes of `held` that are known to contain no end.
    searched: usize,
}

/// A segment of text to search.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) text: String,
    pub(super) end: SegmentEnd,
}

/// The reason why a segment ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SegmentEnd {
    /// The sentence ended, and the line goes on.
    Sentence,
    /// The line or the text ended.
    Line,
    /// The segment was too long: a phrase at its end may be incomplete.
    Cut,
}

impl Segments {
    /// Appends text.
    pub(super) fn push(&mut self, text: &str) {
        self.held.push_str(text);
    }

    /// The next complete segment, if there is one.
    pub(super) fn next(&mut self) -> Option<Segment> {
        let bytes = self.held.as_bytes();
        while let Some(&byte) = bytes.get(self.searched) {
            let at = self.searched;
            let end = match byte {
                b'\n' | b'\r' => Some(SegmentEnd::Line),
                b' ' | b'\t' if at > 0 && matches!(bytes[at - 1], b'.' | b'!' | b'?') => {
                    Some(SegmentEnd::Sentence)
                }
                _ => None,
            };
            if let Some(end) = end {
                return Some(self.take(at + 1, end));
            }
            self.searched += 1;
            if self.searched >= SEGMENT_BYTES_MAX {
                let at = boundary_before(&self.held, self.searched);
                return Some(self.take(at, SegmentEnd::Cut));
            }
        }
        None
    }

    /// The last segment, at the end of the text.
    pub(super) fn finish(&mut self) -> Option<Segment> {
        (!self.held.is_empty()).then(|| self.take(self.held.len(), SegmentEnd::Line))
    }

    /// Puts the end of a cut segment back into the buffer, from `used` on, up to the size of the overlap.
    pub(super) fn put_back(&mut self, segment: &str, used: usize) {
        let from = boundary_before(segment, segment.len().saturating_sub(OVERLAP_BYTES)).max(used);
        self.held.insert_str(0, &segment[from..]);
        self.searched = segment.len() - from;
    }

    fn take(&mut self, len: usize, end: SegmentEnd) -> Segment {
        let rest = self.held.split_off(len);
        self.searched = 0;
        Segment { text: std::mem::replace(&mut self.held, rest), end }
    }
}

/// The last character boundary at or before `at`.
pub(super) fn boundary_before(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
