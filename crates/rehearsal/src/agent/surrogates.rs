//! Lone surrogates: JSON can express them, Rust strings cannot hold them.
//!
//! Inside the stand-in each is represented by a private character (the last 2,048 of Unicode, which are
//! unused); in input and output it is the original escape.

use std::borrow::Cow;
use std::fmt::Write as _;

const PRIVATE: u32 = 0x10_f800;
const SURROGATES: std::ops::RangeInclusive<u32> = 0xd800..=0xdfff;

/// Replaces lone surrogate escapes in JSON text by private characters, so that it parses.
pub(super) fn replace_lone_surrogates(json: &str) -> Cow<'_, str> {
    if !json.contains("\\ud") && !json.contains("\\uD") {
        return Cow::Borrowed(json);
    }
    let mut lifted = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        lifted.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match unit(rest) {
            Some(high @ 0xd800..=0xdbff) => match unit(&rest[6..]) {
                Some(0xdc00..=0xdfff) => 12,
                _ => lone(high, &mut lifted),
            },
            Some(low @ 0xdc00..=0xdfff) => lone(low, &mut lifted),
            _ => rest.char_indices().nth(2).map_or(rest.len(), |(next, _)| next),
        };
        if taken != LONE {
            lifted.push_str(&rest[..taken]);
        }
        rest = &rest[if taken == LONE { 6 } else { taken }..];
    }
    lifted.push_str(rest);
    Cow::Owned(lifted)
}

/// Restores the CLI's spelling: surrogates and characters that end lines elsewhere become escapes.
pub(super) fn restore_surrogates(json: String) -> String {
    let odd = |c: char| {
        matches!(c, '\u{7f}' | '\u{85}' | '\u{200d}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
            || c as u32 >= PRIVATE
    };
    if !json.contains(odd) {
        return json;
    }
    let mut lowered = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if odd(c) {
            let code = c as u32;
            let code = if code >= PRIVATE { code - PRIVATE + SURROGATES.start() } else { code };
            let _ = write!(lowered, "\\u{code:04x}");
        } else {
            lowered.push(c);
        }
    }
    lowered
}

/// Marks a replaced escape; no escape has this length.
const LONE: usize = 0;

fn lone(unit: u32, lifted: &mut String) -> usize {
    lifted.extend(char::from_u32(unit - SURROGATES.start() + PRIVATE));
    LONE
}

/// UTF-16 code unit of the `\uXXXX` at the start of a text.
fn unit(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_survive_the_way_in_and_out() {
        for json in [r#""x\ud83dy""#, r#""\udc00""#, r#""a\\ud83d""#, r#""\ud83d\n\u2028""#, r#""pl\"ain""#] {
            let value: serde_json::Value = serde_json::from_str(&replace_lone_surrogates(json)).unwrap();
            assert_eq!(restore_surrogates(value.to_string()), json);
        }
        let pair: String =
            serde_json::from_str(&replace_lone_surrogates(r#""\ud83d\ude00 \ud83d""#)).unwrap();
        assert!(pair.starts_with('😀'));
    }
}
