//! Text as it is typed into the input line of the CLI.

use std::ops::RangeInclusive;

/// The marks around pasted text. Between them line breaks do not send the prompt.
const PASTE: [&str; 2] = ["\x1b[200~", "\x1b[201~"];

/// Characters without a width that could hide the first visible one.
const INVISIBLE: [RangeInclusive<char>; 10] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{fe00}'..='\u{fe0f}',
];

/// The text of a prompt as the CLI will get it: without control characters, and without anything invisible
/// before its first character. May be empty.
///
/// The first character decides what the CLI takes the text for, so check it in the result.
pub fn typed_text(text: &str) -> String {
    let text = PASTE
        .iter()
        .fold(text.replace("\r\n", "\n").replace('\r', "\n"), |text, mark| text.replace(mark, ""));
    // The CLI itself takes a tab for four spaces.
    let text = text.replace('\t', "    ");
    let kept = text.chars().filter(|char| *char == '\n' || !char.is_control());
    let kept: String = kept.collect();
    let kept = kept.trim_start_matches(|char: char| char.is_whitespace() || is_invisible(char)).trim_end();
    let mut typed = kept.to_owned();
    if wants_space(kept) {
        typed.push(' ');
    }
    typed
}

/// The keys that paste a prompt.
pub(super) fn paste(text: &str) -> Vec<u8> {
    let [begin, end] = PASTE;
    format!("{begin}{}{end}", typed_text(text)).into_bytes()
}

fn is_invisible(char: char) -> bool {
    let is_other = matches!(char, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{3164}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}');
    is_other || INVISIBLE.iter().any(|range| range.contains(&char))
}

/// True if Enter right after the text would do something else than send it: `\` begins a new line, and a name
/// of a file or a command opens a menu.
fn wants_space(text: &str) -> bool {
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    text.ends_with('\\')
        || last.contains('@')
        || (text.starts_with('/') && !text.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_removed_and_line_breaks_stay() {
        for (text, typed) in [
            ("one\r\ntwo\rthree\n\tfour", "one\ntwo\nthree\n    four"),
            ("a\x1b[201~b\x1b[200~c", "abc"),
            ("a\x1b[20\x1b[201~1~b", "a[201~b"),
            ("stop\x03\x04\x1a\x1b\x7f\u{9b}201~ it", "stop201~ it"),
            ("  \n\t spaces  \n", "spaces"),
            ("\u{200b}\u{feff}\x00 !ls", "!ls"),
            ("\u{e0021}\u{2066}\u{fe0f}/clear", "/clear "),
            ("\x1b\x07", ""),
        ] {
            assert_eq!(typed_text(text), typed, "{text:?}");
        }
    }

    #[test]
    fn enter_after_the_text_sends_it() {
        for (text, typed) in [
            ("a\\", "a\\ "),
            ("see @src/main", "see @src/main "),
            ("mail a@b now", "mail a@b now"),
            ("/compact", "/compact "),
            ("/compact all of it", "/compact all of it"),
        ] {
            assert_eq!(typed_text(text), typed);
        }
    }

    #[test]
    fn a_text_cannot_leave_the_paste() {
        let keys = String::from_utf8(paste("x\x1b[201~\ry\x1b\x1b[201~[201~z")).unwrap();
        assert_eq!(keys.matches('\x1b').count(), 2, "{keys:?}");
        assert!(keys.ends_with("\x1b[201~") && !keys.contains('\r'), "{keys:?}");
    }
}
