//! Sanitised text from files: it cannot control a terminal or reorder a line.

use std::borrow::Cow;

/// The text reduced to visible characters, line ends and tabs.
///
/// Terminal colours are removed, since tools print them everywhere; other control characters and
/// [hidden](is_hidden) ones become U+FFFD, so that a reader sees that they were there.
pub fn safe_text(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_unsafe) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = after_colour(rest) {
            rest = after;
            continue;
        }
        let mut characters = rest.chars();
        let found = characters.next().unwrap_or_default();
        rest = characters.as_str();
        if joins_emoji(out.chars().next_back(), found) {
            out.push(found);
        } else if found != '\r' || !rest.starts_with('\n') {
            // A carriage return before a line feed is a Windows line end; alone it would overwrite the line.
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Like [`safe_text`], as one line.
pub(crate) fn safe_line(text: &str) -> String {
    let safe = safe_text(text);
    let mut out = String::with_capacity(safe.len());
    for word in safe.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// The beginning of a text as one line of at most `chars` characters.
pub(crate) fn short_line(text: &str, chars: usize) -> String {
    // A character has at most four bytes, and white space at the front is skipped.
    let text = text.trim_start();
    let head = &text[..super::cut::floor(text, chars.saturating_mul(8))];
    let line = safe_line(head);
    match line.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None if head.len() < text.len() => format!("{line}…"),
        None => line,
    }
}

/// Returns true for links to web pages and mail, which have no effect by themselves.
pub(super) fn is_safe_link(url: &str) -> bool {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    // Browsers ignore tabs and line ends inside a scheme, so the scheme must not contain any.
    matches!(scheme.as_deref(), Some("http" | "https" | "mailto"))
}

/// Returns true for characters that are invisible, reorder others or control how others look: the category
/// `Cf` of Unicode, its default ignorable characters, line separators, and control characters after ASCII.
///
/// ```
/// use tidings_transcript::export::is_hidden;
///
/// assert!(is_hidden('\u{200b}') && is_hidden('\u{202e}') && is_hidden('\u{e0041}'));
/// assert!(!is_hidden('a') && !is_hidden('é') && !is_hidden('\n'));
/// ```
pub fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns true for a hidden character that is part of an emoji such as 👩‍💻 or ❤️, after the character
/// before it.
pub fn joins_emoji(before: Option<char>, character: char) -> bool {
    let follows_picture = before.is_some_and(|before| {
        let is_picture = matches!(before,
            '\u{203c}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}');
        is_picture && !is_hidden(before)
    });
    match character {
        '\u{fe0f}' => follows_picture,
        '\u{200d}' => follows_picture || before == Some('\u{fe0f}'),
        _ => false,
    }
}

fn is_unsafe(character: char) -> bool {
    !matches!(character, '\n' | '\t') && (character.is_control() || is_hidden(character))
}

/// The text after a colour sequence (`ESC [ … m`), if it begins with one.
fn after_colour(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("\u{1b}[")?;
    let end =
        inside.find(|character: char| !character.is_ascii_digit() && !matches!(character, ';' | ':'))?;
    inside[end..].strip_prefix('m')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EMOJI_JOINERS: [char; 2] = ['\u{200d}', '\u{fe0f}'];

    #[test]
    fn f122_nothing_steers_a_terminal() {
        for (text, expected) in [
            ("a\tb\r\nc\n", "a\tb\nc\n"),
            ("\u{1b}[1;31merror\u{1b}[0m", "error"),
            ("\u{1b}[2J\u{1b}]52;c;aGk=\u{7}", "\u{fffd}[2J\u{fffd}]52;c;aGk=\u{fffd}"),
            ("50 %\rdone", "50 %\u{fffd}done"),
            ("\u{9b}31m\u{0}\u{7f}", "\u{fffd}31m\u{fffd}\u{fffd}"),
            ("user\u{202e}txt.exe\u{2069}", "user\u{fffd}txt.exe\u{fffd}"),
            ("שלום, سلام, 漢字, 👩‍👩‍👧", "שלום, سلام, 漢字, 👩‍👩‍👧"),
            ("\u{1b}[31", "\u{fffd}[31"),
        ] {
            assert_eq!(safe_text(text), expected);
        }
    }

    #[test]
    fn k32_every_hidden_character_is_seen() {
        for (text, expected) in [
            ("zero\u{200b}width\u{feff}", "zero\u{fffd}width\u{fffd}"),
            ("soft\u{ad}hyphen, word\u{2060}joiner", "soft\u{fffd}hyphen, word\u{fffd}joiner"),
            (
                "tag\u{e0041}s, \u{600}\u{8e2}\u{110bd}\u{13430}",
                "tag\u{fffd}s, \u{fffd}\u{fffd}\u{fffd}\u{fffd}",
            ),
            ("a\u{200d}b\u{fe0f}", "a\u{fffd}b\u{fffd}"),
            ("👩\u{200d}💻 ❤\u{fe0f}\u{200d}🔥", "👩\u{200d}💻 ❤\u{fe0f}\u{200d}🔥"),
            ("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}\u{fffd}"),
            ("\u{202e}\u{200d}", "\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(safe_text(text), expected);
        }
    }

    #[test]
    fn lines_are_short() {
        assert_eq!(short_line("  a\n b\tc ", 10), "a b c");
        assert_eq!(short_line("abcdef", 6), "abcdef");
        assert_eq!(short_line("abcdefg", 6), "abcdef…");
        assert_eq!(short_line("éééé", 2), "éé…");
    }

    proptest! {
        #[test]
        fn f122_only_what_is_visible_is_left(text in "\\PC*|[\\x00-\\x1f\\x7f-\\u{9f}\\u{202a}-\\u{202e}a\\[m;0-9]*") {
            let safe = safe_text(&text).into_owned();
            // Parts of emoji stay.
            let rest = safe.replace(EMOJI_JOINERS, "");
            prop_assert!(!rest.contains(is_unsafe));
            prop_assert_eq!(safe_text(&safe).into_owned(), safe.clone());
            prop_assert!(!short_line(&text, 20).contains('\n'));
        }
    }
}
