//! Fast path for the most frequent frame, in the exact spelling of the CLI.
//!
//! In a streamed answer nine of ten frames are deltas, and the CLI writes them all alike. Comparing the
//! constant parts is cheaper than parsing them. Every byte is still compared or checked, and a line with any
//! other spelling takes the general path.

use super::head::{Notes, Span};
use crate::json::{Checker, SyntaxError};

const EVENT: &[u8] = br#"{"type":"stream_event","event":"#;
const INDEX: &[u8] = br#"{"type":"content_block_delta","index":"#;
const DELTA: &[u8] = br#","delta":"#;
const KIND: &[u8] = br#"{"type":"#;

/// The kinds of delta, quoted, and the keys of their text.
const KINDS: [(&[u8], &[u8]); 4] = [
    (br#""text_delta""#, b"text"),
    (br#""input_json_delta""#, b"partial_json"),
    (br#""thinking_delta""#, b"thinking"),
    (br#""signature_delta""#, b"signature"),
];

/// Reads up to the end of `event` and leaves the checker after it; `false`, without moving the checker, for a
/// line with another spelling.
#[inline]
pub(super) fn scan(
    bytes: &[u8],
    checker: &mut Checker<'_>,
    notes: &mut impl Notes,
) -> Result<bool, SyntaxError> {
    let Some(parts) = parts(bytes) else { return Ok(false) };
    let start = std::mem::replace(&mut checker.at, parts.text);
    let (.., escaped) = checker.string()?;
    let end = checker.at;
    if bytes.get(end..end + 2) != Some(b"}}") {
        checker.at = start;
        return Ok(false);
    }
    checker.at = end + 2;
    // The members in the order in which the general path notes them: inner ones before outer ones.
    let event = EVENT.len();
    notes.enters(0, b"event");
    notes.enters(1, b"delta");
    notes.note(2, b"type", parts.delta + 1, Span::new(parts.kind, parts.kind_end, false));
    notes.note(2, parts.key, parts.kind_end + 1, Span::new(parts.text, end, escaped));
    notes.note(1, b"type", event + 1, Span::new(event + 8, event + INDEX.len() - 9, false));
    notes.note(1, b"index", event + INDEX.len() - 8, Span::new(event + INDEX.len(), parts.index_end, false));
    notes.note(1, b"delta", parts.index_end + 1, Span::new(parts.delta, end + 1, false));
    notes.note(0, b"type", 1, Span::new(8, EVENT.len() - 9, false));
    notes.note(0, b"event", EVENT.len() - 8, Span::new(event, end + 2, false));
    Ok(true)
}

/// Offsets of the parts of a delta.
struct DeltaOffsets {
    index_end: usize,
    /// Offset of the delta object.
    delta: usize,
    kind: usize,
    kind_end: usize,
    key: &'static [u8],
    /// Offset of the opening quote of its text.
    text: usize,
}

#[inline]
fn parts(bytes: &[u8]) -> Option<DeltaOffsets> {
    let rest = bytes.strip_prefix(EVENT)?.strip_prefix(INDEX)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // A number has at least one digit and no leading zero.
    if digits == 0 || (digits > 1 && rest[0] == b'0') {
        return None;
    }
    let index_end = bytes.len() - rest.len() + digits;
    let rest = rest[digits..].strip_prefix(DELTA)?;
    let delta = bytes.len() - rest.len();
    let rest = rest.strip_prefix(KIND)?;
    let kind = bytes.len() - rest.len();
    let (name, key) = KINDS.iter().find(|(name, _)| rest.starts_with(name))?;
    let kind_end = kind + name.len();
    let rest = rest[name.len()..].strip_prefix(b",\"")?.strip_prefix(*key)?.strip_prefix(b"\":")?;
    let text = bytes.len() - rest.len();
    rest.starts_with(b"\"").then_some(DeltaOffsets { index_end, delta, kind, kind_end, key, text })
}
