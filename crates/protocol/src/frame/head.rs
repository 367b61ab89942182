//! The scan of a line: one check, and the positions of its members.

use std::ops::Range;

use super::plain_delta;
use crate::error::{DecodeError, DecodeErrorKind};
use crate::json::{Checker, Raw, SyntaxError, Text};

/// Span of a value in its line. Lines are under 2 GiB, so 32-bit offsets keep a head small.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    /// End offset; the highest bit is set if the value is a string with escapes.
    end: u32,
}

const ESCAPED: u32 = 1 << 31;

impl Span {
    /// A span from offsets, which fit 31 bits because lines are under 2 GiB.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the scanner has checked the length of the line")]
    pub(super) fn new(start: usize, end: usize, escaped: bool) -> Self {
        Span { start: start as u32, end: end as u32 | if escaped { ESCAPED } else { 0 } }
    }

    #[inline]
    pub(crate) fn raw(self, text: &str) -> Option<Raw<'_>> {
        if self.end == 0 {
            return None;
        }
        text.get(self.range()).map(Raw::new)
    }

    #[inline]
    pub(crate) fn text(self, text: &str) -> Option<Text<'_>> {
        let quoted = self.raw(text)?.as_str();
        let inner = quoted.strip_prefix('"')?;
        Some(Text::new(inner.strip_suffix('"').unwrap_or(inner), self.end & ESCAPED != 0))
    }

    /// The span from `start` to the end of this one.
    #[inline]
    pub(crate) fn since(self, start: usize) -> Self {
        Span::new(start, self.range().end, false)
    }

    #[inline]
    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..(self.end & !ESCAPED) as usize
    }
}

/// Receives the positions of members while a line is checked.
pub(crate) trait Notes {
    /// True to descend into the object under this key; its members are noted one level deeper.
    #[inline]
    fn enters(&mut self, _level: u8, _key: &[u8]) -> bool {
        false
    }

    /// A member of the object at this level; the outermost level is 0. Of duplicate keys the last one comes
    /// last.
    ///
    /// `member` is the offset of its key.
    fn note(&mut self, level: u8, key: &[u8], member: usize, value: Span);
}

/// The checked object of a line.
pub(crate) struct Scanned<'a> {
    pub(crate) text: &'a str,
    pub(crate) lone_surrogate: bool,
    /// Bytes after the object.
    pub(crate) after: &'a str,
}

/// Checks one line, which must hold exactly one object; white space around it is allowed.
#[inline]
pub(crate) fn scan<'a>(line: &'a [u8], notes: &mut impl Notes) -> Result<Scanned<'a>, DecodeError> {
    let text = std::str::from_utf8(line)
        .map_err(|error| DecodeError::new(DecodeErrorKind::Utf8, line, error.valid_up_to()))?;
    let scanned = scan_text(text, notes)?;
    if scanned.after.is_empty() {
        return Ok(scanned);
    }
    let rest = scanned.after.trim_start_matches(WHITE);
    if rest.is_empty() {
        Ok(scanned)
    } else {
        Err(DecodeError::new(DecodeErrorKind::Trailing, line, text.len() - rest.len()))
    }
}

const WHITE: [char; 4] = [' ', '\n', '\r', '\t'];

/// Same as [`scan`] for text that may continue after the object.
#[inline]
pub(crate) fn scan_text<'a>(text: &'a str, notes: &mut impl Notes) -> Result<Scanned<'a>, DecodeError> {
    let mut object = text;
    if !object.starts_with('{') {
        object = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start_matches(WHITE);
    }
    let before = text.len() - object.len();
    if !object.starts_with('{') {
        return Err(DecodeError::new(DecodeErrorKind::NotAnObject, text.as_bytes(), before));
    }
    if object.len() >= ESCAPED as usize {
        return Err(DecodeError::new(DecodeErrorKind::TooLong, &[], 0));
    }
    let mut checker = Checker::new(object.as_bytes());
    let read = match plain_delta::scan(object.as_bytes(), &mut checker, notes) {
        Ok(true) => more_members(object, &mut checker, notes),
        Ok(false) => members(object, &mut checker, notes, 0),
        Err(error) => Err(error),
    };
    read.map_err(|error| {
        DecodeError::new(DecodeErrorKind::Syntax(error.expected), text.as_bytes(), before + error.at)
    })?;
    let (text, after) = object.split_at(checker.at);
    Ok(Scanned { text, lone_surrogate: checker.checked.lone_surrogate, after })
}

/// Checks the object at the checker's position. The notes limit the recursion to one or two levels.
fn members(
    object: &str,
    checker: &mut Checker<'_>,
    notes: &mut impl Notes,
    level: u8,
) -> Result<(), SyntaxError> {
    checker.at += 1;
    checker.white();
    if checker.peek() == b'}' {
        checker.at += 1;
        return Ok(());
    }
    some_members(object, checker, notes, level)
}

/// The rest of the outermost object, after one of its members.
fn more_members(object: &str, checker: &mut Checker<'_>, notes: &mut impl Notes) -> Result<(), SyntaxError> {
    checker.white();
    match checker.peek() {
        b',' => {
            checker.at += 1;
            checker.white();
            some_members(object, checker, notes, 0)
        }
        b'}' => {
            checker.at += 1;
            Ok(())
        }
        _ => Err(checker.wanted("`,` or `}`")),
    }
}

/// Members up to the end of the object; the checker is at a key.
fn some_members(
    object: &str,
    checker: &mut Checker<'_>,
    notes: &mut impl Notes,
    level: u8,
) -> Result<(), SyntaxError> {
    loop {
        let (key_start, key_end, escaped) = checker.key()?;
        checker.white();
        let decoded;
        let key = if escaped {
            decoded = Text::new(&object[key_start..key_end], true).get().into_owned();
            decoded.as_bytes()
        } else {
            &object.as_bytes()[key_start..key_end]
        };
        let start = checker.at;
        let mut value_escaped = false;
        match checker.peek() {
            b'"' => (.., value_escaped) = checker.string()?,
            b'{' if notes.enters(level, key) => members(object, checker, notes, level + 1)?,
            _ => checker.value()?,
        }
        notes.note(level, key, key_start - 1, Span::new(start, checker.at, value_escaped));
        checker.white();
        match checker.peek() {
            b',' => {
                checker.at += 1;
                checker.white();
            }
            b'}' => {
                checker.at += 1;
                return Ok(());
            }
            _ => return Err(checker.wanted("`,` or `}`")),
        }
    }
}
