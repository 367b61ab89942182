//! A JSON string in place, decoded on demand, and the writer of strings.

use std::borrow::Cow;
use std::fmt;

use super::check::hex4;
use super::plain::plain_run;

/// A JSON string in place: still escaped, decoded on demand.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    /// Text between the quotes.
    inner: &'a str,
    escapes: Escapes,
}

/// Knowledge about escapes in a string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    None,
    Some,
    Unknown,
}

impl<'a> Text<'a> {
    #[inline]
    pub(crate) fn new(inner: &'a str, escaped: bool) -> Self {
        Text { inner, escapes: if escaped { Escapes::Some } else { Escapes::None } }
    }

    /// A string that was not searched for escapes yet.
    #[inline]
    pub(crate) fn unseen(inner: &'a str) -> Self {
        Text { inner, escapes: Escapes::Unknown }
    }

    #[inline]
    fn is_escaped(self) -> bool {
        match self.escapes {
            Escapes::None => false,
            Escapes::Some => true,
            Escapes::Unknown => plain_run(self.inner.as_bytes(), 0) < self.inner.len(),
        }
    }

    /// The decoded text. A surrogate without its partner becomes U+FFFD; [`Text::repaired`] reports it.
    #[inline]
    pub fn get(self) -> Cow<'a, str> {
        if self.is_escaped() { Cow::Owned(unescape(self.inner).0) } else { Cow::Borrowed(self.inner) }
    }

    /// The text between the quotes, as written.
    pub fn escaped(self) -> &'a str {
        self.inner
    }

    /// True if [`Text::get`] replaces a lone surrogate by U+FFFD.
    pub fn repaired(self) -> bool {
        self.is_escaped() && unescape(self.inner).1
    }

    /// Appends the decoded text to `out`, so that a stream of deltas needs one buffer.
    pub fn push_to(self, out: &mut String) {
        if self.is_escaped() {
            unescape_into(self.inner, out);
        } else {
            out.push_str(self.inner);
        }
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        if self.is_escaped() { self.get() == other } else { self.inner == other }
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.get())
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.get())
    }
}

fn unescape(inner: &str) -> (String, bool) {
    let mut out = String::with_capacity(inner.len());
    let repaired = unescape_into(inner, &mut out);
    (out, repaired)
}

/// Decodes checked text into `out`; returns whether a lone surrogate was replaced.
fn unescape_into(inner: &str, out: &mut String) -> bool {
    let mut repaired = false;
    let mut rest = inner;
    loop {
        let bytes = rest.as_bytes();
        // Checked text has neither quotes nor control characters, so a run ends at a backslash.
        let slash = plain_run(bytes, 0);
        if slash == bytes.len() {
            break;
        }
        out.push_str(&rest[..slash]);
        let mut used = slash + 2;
        out.push(match bytes.get(slash + 1) {
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let (character, length) = unicode(bytes, slash + 2);
                used = (slash + 2 + length).min(bytes.len());
                repaired |= character.is_none();
                character.unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            // A quote, a backslash or a slash represents itself.
            Some(other) if other.is_ascii() => char::from(*other),
            _ => break,
        });
        rest = &rest[used..];
    }
    out.push_str(rest);
    repaired
}

/// The character whose hex digits begin at `at`, and the number of bytes it takes after `\u`.
fn unicode(bytes: &[u8], at: usize) -> (Option<char>, usize) {
    let Some(high) = hex4(bytes, at) else {
        return (None, 4);
    };
    if !(0xD800..=0xDFFF).contains(&high) {
        return (char::from_u32(u32::from(high)), 4);
    }
    let low =
        (high < 0xDC00 && bytes.get(at + 4..at + 6) == Some(b"\\u")).then(|| hex4(bytes, at + 6)).flatten();
    match low {
        Some(low @ 0xDC00..=0xDFFF) => {
            let code = 0x10000 + ((u32::from(high) - 0xD800) << 10) + (u32::from(low) - 0xDC00);
            (char::from_u32(code), 10)
        }
        _ => (None, 4),
    }
}

/// Writes `text` as a JSON string.
///
/// U+2028 and U+2029 are escaped as in the CLI, so that no line reader splits there.
pub fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            8 => "\\b",
            0xc => "\\f",
            0..=0x1f => "",
            0xe2 if matches!(text.as_bytes().get(at + 1..at + 3), Some([0x80, 0xa8 | 0xa9])) => "",
            _ => continue,
        };
        out.push_str(&text[plain_from..at]);
        if !short.is_empty() {
            out.push_str(short);
            plain_from = at + 1;
        } else if byte == 0xe2 {
            out.push_str(if text.as_bytes()[at + 2] == 0xa8 { "\\u2028" } else { "\\u2029" });
            plain_from = at + 3;
        } else {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.push_str("\\u00");
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
            plain_from = at + 1;
        }
    }
    out.push_str(&text[plain_from..]);
    out.push('"');
}
