//! Filter that makes control characters visible (T8, F122).
//!
//! An agent prints text from files and the network, which may be written to deceive the user: escape
//! sequences that move the cursor, set the title or fill the clipboard, bidirectional controls, invisible
//! characters.

use std::fmt::Write as _;

use tidings_transcript::export::{is_hidden, joins_emoji};

/// Makes a text of several lines safe to show. Line breaks are kept.
pub(crate) fn text(text: &str) -> String {
    filtered(text, Purpose::Reading)
}

/// Makes every character of a text visible that could matter for a decision, including unusual spaces.
pub(super) fn exact(text: &str) -> String {
    filtered(text, Purpose::Deciding)
}

/// Makes a text safe to show on one line.
pub(super) fn one_line(text: &str) -> String {
    let text = self::text(text);
    if text.contains('\n') { text.replace('\n', " ") } else { text }
}

/// Purpose of showing a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Reading,
    Deciding,
}

fn filtered(text: &str, purpose: Purpose) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => shown.push('\n'),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\t' => shown.push_str("    "),
            // Control pictures, such as ␛ for an escape.
            '\0'..='\u{1f}' => shown.extend(char::from_u32(0x2400 + u32::from(c))),
            '\u{7f}' => shown.push('␡'),
            c if purpose == Purpose::Reading && joins_emoji(Some(before), c) => shown.push(c),
            c if is_hidden(c) || (purpose == Purpose::Deciding && is_odd_space(c)) => {
                // Writing into a String cannot fail.
                let _ = write!(shown, "⟨{:04X}⟩", u32::from(c));
            }
            c => shown.push(c),
        }
        before = c;
    }
    shown
}

fn is_odd_space(c: char) -> bool {
    c != ' ' && c.is_whitespace() || c == '\u{2800}'
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Known attacks on terminals: colours, cursor, title, clipboard, links, device control, C1, direction.
    pub(crate) const HOSTILE: [&str; 16] = [
        "\x1b[31mred\x1b[0m",
        "\x1b[2J\x1b[H",
        "\x1b]0;title\x07",
        "\x1b]52;c;ZXZpbA==\x07",
        "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
        "\x1bP+q544e\x1b\\",
        "\u{9b}31m and \u{9d}52;c;eA==\u{9c}",
        "\u{90}q\u{9c}",
        "safe\rrm -rf /",
        "a\x08\x08b",
        "ring\x07\x07",
        "\u{202e}gpj.exe",
        "\u{2066}x\u{2069}\u{200f}",
        "zero\u{200b}width\u{feff}",
        "tag\u{e0041}s",
        "line\u{2028}para\u{2029}\x0b\x0c\0\x7f",
    ];

    #[test]
    fn f122_nothing_that_steers_a_terminal_gets_through() {
        for hostile in HOSTILE {
            for shown in [text(hostile), exact(hostile), one_line(hostile)] {
                let bad = shown.chars().find(|c| (c.is_control() && *c != '\n') || is_hidden(*c));
                assert_eq!(bad, None, "{hostile:?} became {shown:?}");
            }
        }
    }

    #[test]
    fn f122_what_is_taken_out_is_seen() {
        for (hostile, shown) in [
            ("\x1b[31mred", "␛[31mred"),
            ("a\rb", "a␍b"),
            ("a\r\nb\tc", "a\nb    c"),
            ("\u{202e}gpj.exe", "⟨202E⟩gpj.exe"),
            ("\u{9b}31m", "⟨009B⟩31m"),
            ("zero\u{200b}width", "zero⟨200B⟩width"),
            ("ein Grüßchen 項目 👩\u{200d}💻 ❤\u{fe0f}", "ein Grüßchen 項目 👩\u{200d}💻 ❤\u{fe0f}"),
        ] {
            assert_eq!(text(hostile), shown);
        }
        assert_eq!(exact("a\u{a0}b ❤\u{fe0f}"), "a⟨00A0⟩b ❤⟨FE0F⟩");
    }
}
