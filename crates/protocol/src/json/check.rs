//! The grammar check: one forward pass, without recursion.

use std::fmt;

use super::plain::plain_run;

/// Syntax error in JSON text: its offset, and what the grammar expects there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyntaxError {
    /// Byte offset of the first byte that does not fit.
    pub at: usize,
    /// Token that the grammar expects at that offset.
    pub expected: &'static str,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.at)
    }
}

impl std::error::Error for SyntaxError {}

/// Checks that `text` is exactly one JSON value (white space around it is allowed).
///
/// Depth is bounded only by the length of the text: no recursion, a bit per open bracket.
pub fn check(text: &str) -> Result<(), SyntaxError> {
    let mut checker = Checker::new(text.as_bytes());
    checker.value()?;
    checker.finish()
}

/// Findings of a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Checked {
    /// True if a `\uD8xx` or `\uDCxx` escape is not part of a pair.
    pub(crate) lone_surrogate: bool,
}

/// A grammar check in one forward pass over valid UTF-8.
pub(crate) struct Checker<'a> {
    bytes: &'a [u8],
    pub(crate) at: usize,
    pub(crate) checked: Checked,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Checker { bytes, at: 0, checked: Checked::default() }
    }

    /// Checks that only white space follows.
    pub(crate) fn finish(&mut self) -> Result<(), SyntaxError> {
        self.white();
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.wanted("the end of the line")) }
    }

    pub(crate) fn wanted(&self, expected: &'static str) -> SyntaxError {
        SyntaxError { at: self.at, expected }
    }

    #[inline]
    pub(crate) fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn white(&mut self) {
        // Nearly always there is none.
        if self.peek() <= b' ' {
            self.some_white();
        }
    }

    #[inline(never)]
    fn some_white(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    /// Checks one value with everything inside it.
    #[inline]
    pub(crate) fn value(&mut self) -> Result<(), SyntaxError> {
        // Most values are strings.
        if self.peek() == b'"' { self.string().map(|_| ()) } else { self.other_value() }
    }

    fn other_value(&mut self) -> Result<(), SyntaxError> {
        let mut open = Brackets::default();
        loop {
            self.white();
            match self.peek() {
                b'"' => {
                    self.string()?;
                }
                b'{' => {
                    self.at += 1;
                    self.white();
                    if self.peek() == b'}' {
                        self.at += 1;
                    } else {
                        self.key()?;
                        open.push(true);
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    self.white();
                    if self.peek() == b']' {
                        self.at += 1;
                    } else {
                        open.push(false);
                        continue;
                    }
                }
                b'-' | b'0'..=b'9' => self.number()?,
                b't' => self.literal(b"true")?,
                b'f' => self.literal(b"false")?,
                b'n' => self.literal(b"null")?,
                _ => return Err(self.wanted("a value")),
            }
            // A value ended: close brackets until another value is expected.
            loop {
                let Some(object) = open.top() else { return Ok(()) };
                self.white();
                match (self.peek(), object) {
                    (b',', true) => {
                        self.at += 1;
                        self.white();
                        self.key()?;
                        break;
                    }
                    (b',', false) => {
                        self.at += 1;
                        break;
                    }
                    (b'}', true) | (b']', false) => {
                        self.at += 1;
                        open.pop();
                    }
                    (_, true) => return Err(self.wanted("`,` or `}`")),
                    (_, false) => return Err(self.wanted("`,` or `]`")),
                }
            }
        }
    }

    /// Checks a key and its colon. Returns the span between the quotes and whether it has escapes.
    #[inline]
    pub(crate) fn key(&mut self) -> Result<(usize, usize, bool), SyntaxError> {
        if self.peek() != b'"' {
            return Err(self.wanted("a key in double quotes"));
        }
        let span = self.string()?;
        self.white();
        if self.peek() != b':' {
            return Err(self.wanted("`:`"));
        }
        self.at += 1;
        Ok(span)
    }

    /// Checks a string; `at` is its opening quote. Returns the span between the quotes and whether it has
    /// escapes.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<(usize, usize, bool), SyntaxError> {
        let start = self.at + 1;
        self.at = plain_run(self.bytes, start);
        if self.peek() == b'"' {
            self.at += 1;
            return Ok((start, self.at - 1, false));
        }
        self.escaped_string(start)
    }

    /// Checks the rest of a string whose first plain run did not end at the closing quote.
    fn escaped_string(&mut self, start: usize) -> Result<(usize, usize, bool), SyntaxError> {
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok((start, self.at - 1, true));
                }
                Some(b'\\') => {
                    match self.bytes.get(self.at + 1) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
                        Some(b'u') => self.unicode_escape()?,
                        _ => {
                            self.at += 1;
                            return Err(self.wanted("an escape character"));
                        }
                    }
                    self.at = plain_run(self.bytes, self.at);
                }
                Some(_) => return Err(self.wanted("a control character written as an escape")),
                None => return Err(self.wanted("the closing `\"` of a string")),
            }
        }
    }

    fn unicode_escape(&mut self) -> Result<(), SyntaxError> {
        let Some(unit) = hex4(self.bytes, self.at + 2) else {
            self.at += 2;
            return Err(self.wanted("four hex digits"));
        };
        self.at += 6;
        match unit {
            0xD800..=0xDBFF => {
                let low = (self.bytes.get(self.at..self.at + 2) == Some(b"\\u"))
                    .then(|| hex4(self.bytes, self.at + 2))
                    .flatten();
                if matches!(low, Some(0xDC00..=0xDFFF)) {
                    self.at += 6;
                } else {
                    self.checked.lone_surrogate = true;
                }
            }
            0xDC00..=0xDFFF => self.checked.lone_surrogate = true,
            _ => {}
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        if self.peek() == b'-' {
            self.at += 1;
        }
        match self.peek() {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.digits(),
            _ => return Err(self.wanted("a digit")),
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.some_digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.some_digits()?;
        }
        Ok(())
    }

    fn some_digits(&mut self) -> Result<(), SyntaxError> {
        if !self.peek().is_ascii_digit() {
            return Err(self.wanted("a digit"));
        }
        self.digits();
        Ok(())
    }

    #[inline]
    fn digits(&mut self) {
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
    }

    #[inline]
    fn literal(&mut self, word: &'static [u8]) -> Result<(), SyntaxError> {
        if self.bytes.get(self.at..self.at + word.len()) == Some(word) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.wanted("a value"))
        }
    }
}

/// Open brackets, one bit each: set for an object, clear for an array.
#[derive(Default)]
struct Brackets {
    /// The innermost (up to) 64 brackets.
    bits: u64,
    depth: usize,
    /// Full words of the outer ones; empty at any usual depth.
    outer: Vec<u64>,
}

impl Brackets {
    #[inline]
    fn push(&mut self, object: bool) {
        if self.depth != 0 && self.depth.is_multiple_of(64) {
            self.outer.push(self.bits);
        }
        self.bits = (self.bits << 1) | u64::from(object);
        self.depth += 1;
    }

    #[inline]
    fn pop(&mut self) {
        self.bits >>= 1;
        self.depth -= 1;
        if self.depth != 0 && self.depth.is_multiple_of(64) {
            self.bits = self.outer.pop().unwrap_or(0);
        }
    }

    #[inline]
    fn top(&self) -> Option<bool> {
        (self.depth != 0).then_some(self.bits & 1 == 1)
    }
}

/// UTF-16 code unit written as four hex digits at `at`.
pub(super) fn hex4(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0u16, |unit, digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            b'A'..=b'F' => digit - b'A' + 10,
            _ => return None,
        };
        Some(unit << 4 | u16::from(value))
    })
}
