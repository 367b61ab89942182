//! Parsing one line: an entry, or the entries salvaged from it.

use std::borrow::Cow;

use memchr::memmem;
use tidings_protocol::entry::{Entry, EntryKind, EntryRef};
use tidings_protocol::{DecodeError, DecodeErrorKind};

use super::{Content, Damage, DamageKind, Salvaged};
use crate::Position;
use crate::limits::SALVAGE_PASSES_MAX;

/// Reads a line without its line end; `last` if it is the unterminated last line of the file.
#[inline]
pub(crate) fn read(line: &[u8], place: Position, last: bool) -> Content<'_> {
    match EntryRef::decode(line) {
        Ok(entry) => Content::Entry(entry),
        Err(_) if line.trim_ascii().is_empty() => Content::Blank,
        Err(error) => Content::Damaged(examine(line, place, last, &error)),
    }
}

#[cold]
fn examine(line: &[u8], place: Position, last: bool, error: &DecodeError) -> Damage {
    let salvaged = salvage(line, place);
    let whole_line = |saved: &Salvaged| saved.place.offset == place.offset;
    let kind = if line.contains(&0) {
        DamageKind::Nul
    } else if error.kind == DecodeErrorKind::Utf8 && salvaged.len() == 1 && whole_line(&salvaged[0]) {
        DamageKind::Utf8
    } else if !salvaged.is_empty() {
        DamageKind::Glued
    } else if !line.trim_ascii_start().starts_with(b"{") {
        DamageKind::NotAnObject
    } else if ends_early(line, error) {
        if last { DamageKind::TornTail } else { DamageKind::Cut }
    } else if error.kind == DecodeErrorKind::Utf8 {
        DamageKind::Utf8
    } else {
        DamageKind::Syntax
    };
    Damage { kind, reason: reason(kind, line, error), salvaged }
}

fn reason(kind: DamageKind, line: &[u8], error: &DecodeError) -> String {
    match kind {
        DamageKind::TornTail => format!("The last line is cut off after {} bytes", line.len()),
        DamageKind::Cut => format!("The line is cut off after {} bytes", line.len()),
        DamageKind::Glued => "Another record begins before the line ends".to_owned(),
        DamageKind::Nul => {
            let count = memchr::memchr_iter(0, line).count();
            format!("{count} of {} bytes are NUL", line.len())
        }
        DamageKind::Utf8 => format!("The line is not valid UTF-8 from byte {} on", error.at),
        DamageKind::NotAnObject => "The line is not a JSON object".to_owned(),
        DamageKind::Syntax | DamageKind::Oversized => format!("The line is not valid JSON: {error}"),
    }
}

/// Returns true if parsing fails only because the line ends: at its end, or in a character or word that it
/// cuts.
fn ends_early(line: &[u8], error: &DecodeError) -> bool {
    const LONGEST_TOKEN: usize = 6;
    let text = line.trim_ascii_end();
    error.at + LONGEST_TOKEN >= text.len()
}

/// Whole entries in a damaged line, in order.
fn salvage(line: &[u8], place: Position) -> Vec<Salvaged> {
    let mut found = Vec::new();
    let mut budget = line.len().saturating_mul(SALVAGE_PASSES_MAX);
    // NUL bytes are never part of JSON, so they separate records.
    for piece in line.split(|byte| *byte == 0).filter(|piece| !piece.is_empty()) {
        let at = piece.as_ptr() as usize - line.as_ptr() as usize;
        let here = Position { offset: place.offset + at as u64, bytes: piece.len() as u64, ..place };
        salvage_piece(piece, here, &mut budget, &mut found);
    }
    found
}

fn salvage_piece(piece: &[u8], place: Position, budget: &mut usize, found: &mut Vec<Salvaged>) {
    if let Ok(entry) = Entry::decode_lossy(piece) {
        found.push(Salvaged { place, entry });
        return;
    }
    // Invalid bytes become characters of the same length, so that offsets stay correct.
    let text = match std::str::from_utf8(piece) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(replaced(piece)),
    };
    for start in memmem::find_iter(text.as_bytes(), b"{\"") {
        if *budget == 0 {
            return;
        }
        let records = records_to_the_end(&text[start..], budget);
        if records.is_empty() {
            continue;
        }
        for (from, len) in records {
            let (from, end) = (start + from, start + from + len);
            let Ok(entry) = Entry::decode_lossy(&piece[from..end]) else { continue };
            let place = Position { offset: place.offset + from as u64, bytes: len as u64, ..place };
            found.push(Salvaged { place, entry });
        }
        return;
    }
}

/// Records that fill `text` from its beginning on; the last may be truncated. Empty if there is anything
/// else.
///
/// Objects inside a truncated record do not qualify: they are followed by a comma or a bracket.
fn records_to_the_end(text: &str, budget: &mut usize) -> Vec<(usize, usize)> {
    let mut records = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = text[at..].trim_start();
        at = text.len() - rest.len();
        if rest.is_empty() {
            break;
        }
        match EntryRef::decode_first(rest) {
            Ok((entry, after)) => {
                let len = rest.len() - after.len();
                *budget = budget.saturating_sub(len);
                if !looks_like_a_record(&entry) {
                    return Vec::new();
                }
                records.push((at, len));
                at += len;
            }
            Err(error) => {
                *budget = budget.saturating_sub(error.at);
                // A further record that is truncated in its turn.
                let cut = rest.starts_with("{\"") && ends_early(rest.as_bytes(), &error);
                return if cut { records } else { Vec::new() };
            }
        }
    }
    records
}

/// Every record names a session, a message or itself; content blocks and tool inputs do not.
fn looks_like_a_record(entry: &EntryRef<'_>) -> bool {
    entry.kind() != EntryKind::Unknown
        && (entry.session_id().is_some()
            || entry.uuid().is_some()
            || entry.leaf_uuid().is_some()
            || entry.get("messageId").is_some())
}

/// The text with one `?` for each invalid UTF-8 byte.
fn replaced(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}
