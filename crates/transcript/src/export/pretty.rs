//! JSON values and inputs of tools on several lines.

use tidings_protocol::json::{Raw, Text};

/// Deeper values are not indented any further: a page is only so wide.
const INDENT_MAX: usize = 24;

/// A JSON value on several lines, with its spelling and the order of keys preserved.
///
/// Works on the text instead of a tree, so that no depth overflows the stack.
pub(super) fn pretty(value: Raw<'_>) -> String {
    let text = value.as_str();
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut depth = 0_usize;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => {
                let mut end = text.len();
                while let Some((inside, character)) = characters.next() {
                    if character == '\\' {
                        characters.next();
                    } else if character == '"' {
                        end = inside + 1;
                        break;
                    }
                }
                out.push_str(&text[at..end]);
            }
            '{' | '[' => {
                out.push(character);
                while characters.peek().is_some_and(|(_, next)| next.is_ascii_whitespace()) {
                    characters.next();
                }
                if let Some((_, close @ ('}' | ']'))) = characters.peek().copied() {
                    characters.next();
                    out.push(close);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(',');
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            character if character.is_ascii_whitespace() => {}
            character => out.push(character),
        }
    }
    out
}

/// The input of a tool for display: one member per line, and text without escapes.
pub(super) fn readable(input: Raw<'_>) -> String {
    if !input.is_object() {
        return pretty(input);
    }
    readable_members(input.members())
}

/// Like [`readable`], for a selection of members.
pub(super) fn readable_members<'a>(members: impl Iterator<Item = (Text<'a>, Raw<'a>)>) -> String {
    let mut out = String::new();
    for (key, value) in members {
        if !out.is_empty() {
            out.push('\n');
        }
        key.push_to(&mut out);
        match value.text().map(Text::get) {
            Some(text) if text.contains('\n') => {
                out.push(':');
                for line in text.trim_end().lines() {
                    out.push_str("\n  ");
                    out.push_str(line);
                }
            }
            Some(text) => {
                out.push_str(": ");
                out.push_str(&text);
            }
            None => {
                out.push_str(": ");
                out.push_str(&pretty(value));
            }
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth.min(INDENT_MAX) {
        out.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_spread_over_lines_and_stays_the_same() {
        let text = r#"{"a":[1.0,{ },[]],"b {,":"x\",y","c":null}"#;
        let shown = pretty(Raw::parse(text).unwrap());
        assert_eq!(
            shown,
            "{\n  \"a\": [\n    1.0,\n    {},\n    []\n  ],\n  \"b {,\": \"x\\\",y\",\n  \"c\": null\n}"
        );
        assert_eq!(pretty(Raw::parse(&shown).unwrap()), shown);
    }

    #[test]
    fn an_input_reads_without_escapes() {
        let input = r#"{"prompt":"Look\n\nat \"it\"\n","limit":5,"deep":{"a":[]},"path":"/a"}"#;
        let shown = readable(Raw::parse(input).unwrap());
        assert_eq!(shown, "prompt:\n  Look\n  \n  at \"it\"\nlimit: 5\ndeep: {\n  \"a\": []\n}\npath: /a");
        assert_eq!(readable(Raw::parse("[1]").unwrap()), "[\n  1\n]");
    }

    #[test]
    fn depth_costs_no_stack() {
        let text = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(pretty(Raw::parse(&text).unwrap()).ends_with(']'));
    }
}
