use crate::error::{DecodeError, DecodeErrorKind};
use crate::json::{Checker, Raw, Text};

/// Where a value stands in the line. Lines are under 4 GiB, so that a head stays small.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    #[inline]
    pub(crate) fn raw(self, text: &str) -> Option<Raw<'_>> {
        if self.end == 0 {
            return None;
        }
        text.get(self.start as usize..self.end as usize).map(Raw::new)
    }

    #[inline]
    pub(crate) fn text(self, text: &str) -> Option<Text<'_>> {
        self.raw(text)?.text()
    }
}

/// The object of a line, found and checked.
pub(crate) struct Scanned<'a> {
    pub(crate) text: &'a str,
    pub(crate) lone_surrogate: bool,
    /// Bytes behind the object.
    pub(crate) after: &'a str,
}

/// Checks one line and shows `each` top-level key (decoded) and the span of its value in the object's text.
#[inline]
pub(crate) fn scan(line: &[u8], each: impl FnMut(&str, Span)) -> Result<Scanned<'_>, DecodeError> {
    let text = std::str::from_utf8(line)
        .map_err(|error| DecodeError::new(DecodeErrorKind::Utf8, line, error.valid_up_to()))?;
    let scanned = scan_text(text, each)?;
    let rest = scanned.after.trim_start_matches(WHITE);
    if rest.is_empty() {
        Ok(scanned)
    } else {
        Err(DecodeError::new(DecodeErrorKind::Trailing, line, text.len() - rest.len()))
    }
}

const WHITE: [char; 4] = [' ', '\n', '\r', '\t'];

/// The same for text that may go on behind the object.
#[inline]
pub(crate) fn scan_text(text: &str, mut each: impl FnMut(&str, Span)) -> Result<Scanned<'_>, DecodeError> {
    let object = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start_matches(WHITE);
    let before = text.len() - object.len();
    if !object.starts_with('{') {
        return Err(DecodeError::new(DecodeErrorKind::NotAnObject, text.as_bytes(), before));
    }
    if u32::try_from(object.len()).is_err() {
        return Err(DecodeError::new(DecodeErrorKind::TooLong, &[], 0));
    }
    let mut checker = Checker::new(object.as_bytes());
    members(object, &mut checker, &mut each).map_err(|error| {
        DecodeError::new(DecodeErrorKind::Syntax(error.expected), text.as_bytes(), before + error.at)
    })?;
    let (text, after) = object.split_at(checker.at);
    Ok(Scanned { text, lone_surrogate: checker.checked.lone_surrogate, after })
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the caller made sure that the text is under 4 GiB")]
fn members(
    object: &str,
    checker: &mut Checker<'_>,
    each: &mut impl FnMut(&str, Span),
) -> Result<(), crate::json::SyntaxError> {
    checker.at = 1;
    checker.white();
    if checker.peek() == b'}' {
        checker.at += 1;
        return Ok(());
    }
    loop {
        let (key_start, key_end, escaped) = checker.key()?;
        checker.white();
        let start = checker.at;
        checker.value()?;
        let span = Span { start: start as u32, end: checker.at as u32 };
        let key = &object[key_start..key_end];
        if escaped {
            each(&Text::new(key, true).get(), span);
        } else {
            each(key, span);
        }
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
