//! Escaping of text for HTML.

use super::super::sanitize::safe_text;

/// Appends escaped text to a page, for an element or an attribute in double quotes.
pub(super) fn text(text: &str, out: &mut String) {
    let safe = safe_text(text);
    let mut from = 0;
    for (at, byte) in safe.bytes().enumerate() {
        let entity = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            _ => continue,
        };
        out.push_str(&safe[from..at]);
        out.push_str(entity);
        from = at + 1;
    }
    out.push_str(&safe[from..]);
}

/// Like [`text`], as a string of its own.
pub(super) fn escaped(from: &str) -> String {
    let mut out = String::with_capacity(from.len());
    text(from, &mut out);
    out
}
