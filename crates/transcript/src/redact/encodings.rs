//! Other spellings of a secret: in JSON, in XML, in a URL and in base64.

use std::fmt::Write as _;
use std::ops::Range;

/// A text without the escapes of JSON and of most programming languages, and its positions in the original.
pub(super) struct Unescaped {
    pub(super) text: String,
    /// Positions in `text` behind each character that had a backslash.
    removed: Vec<usize>,
}

impl Unescaped {
    /// `None` if there is nothing to unescape.
    pub(super) fn new(original: &str) -> Option<Self> {
        let mut text = String::new();
        let mut removed = Vec::new();
        let mut copied = 0;
        while let Some(at) = memchr::memchr(b'\\', &original.as_bytes()[copied..]).map(|at| copied + at) {
            let plain = match original.as_bytes().get(at + 1) {
                Some(b'n') => "\n",
                Some(b'r') => "\r",
                Some(b't') => "\t",
                Some(b'"') => "\"",
                Some(b'\'') => "'",
                Some(b'/') => "/",
                Some(b'\\') => "\\",
                _ => {
                    text.push_str(&original[copied..=at]);
                    copied = at + 1;
                    continue;
                }
            };
            text.push_str(&original[copied..at]);
            text.push_str(plain);
            removed.push(text.len());
            copied = at + 2;
        }
        text.push_str(&original[copied..]);
        (!removed.is_empty()).then_some(Unescaped { text, removed })
    }

    /// The range in the original text, with the backslashes of its characters.
    pub(super) fn original(&self, at: Range<usize>) -> Range<usize> {
        let until = |position: usize| self.removed.partition_point(|behind| *behind <= position);
        at.start + until(at.start)..at.end + until(at.end)
    }
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The secret without the escapes of a URL or of XML.
pub(super) fn unescaped(secret: &str) -> String {
    let secret = match percent_decoded(secret) {
        Some(decoded) => decoded,
        None => secret.to_owned(),
    };
    if !secret.contains('&') {
        return secret;
    }
    let mut out = secret;
    for (entity, character) in ENTITIES {
        out = out.replace(entity, character);
    }
    out
}

/// The secret as a string of JSON, in XML and in a URL, if that differs from the secret itself.
pub(super) fn escaped(secret: &str) -> impl Iterator<Item = String> {
    let mut json = String::new();
    tidings_protocol::json::write_string(secret, &mut json);
    let json = json[1..json.len() - 1].to_owned();
    let mut xml = secret.to_owned();
    for (entity, character) in ENTITIES.iter().rev() {
        xml = xml.replace(character, entity);
    }
    let mut url = String::with_capacity(secret.len());
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            // Writing into a String cannot fail.
            let _ = write!(url, "%{byte:02X}");
        }
    }
    let secret = secret.to_owned();
    [json, xml, url].into_iter().filter(move |spelling| *spelling != secret)
}

/// The part of the secret's base64 form that does not depend on the text around it, for each of the three
/// positions that the secret may have in the encoded text.
pub(super) fn base64_cores(secret: &str) -> impl Iterator<Item = String> {
    (0..3).map(|before| {
        let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(secret.bytes()).collect();
        let mut out = String::new();
        for group in bytes.chunks_exact(3) {
            let bits = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
            for shift in [18, 12, 6, 0] {
                out.push(char::from(BASE64[(bits >> shift & 63) as usize]));
            }
        }
        // The first group has bytes of the text before the secret.
        out.split_off(if before == 0 { 0 } else { 4.min(out.len()) })
    })
}

/// The bytes of a base64 text, also of one without padding.
pub(super) fn base64_decoded(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let byte = match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        };
        let value = BASE64.iter().position(|digit| *digit == byte)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 255).ok()?);
        }
    }
    Some(out)
}

const ENTITIES: [(&str, &str); 5] =
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];

/// `None` if there is nothing to decode.
fn percent_decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let (mut at, mut is_changed) = (0, false);
    while let Some(byte) = bytes.get(at) {
        let digits = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        if let Some(decoded) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            out.push(decoded);
            is_changed = true;
            at += 3;
        } else {
            out.push(*byte);
            at += 1;
        }
    }
    String::from_utf8(out).ok().filter(|_| is_changed)
}
