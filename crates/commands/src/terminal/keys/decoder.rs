//! Keys from the bytes that a terminal sends.
//!
//! Terminals agree on three forms for keys that are no characters: `ESC O x`, `ESC [ … x` as in xterm, and
//! `ESC [ code ; modifiers u`, which newer ones use where the older forms are ambiguous. Alt is an ESC in
//! front of a key. Everything else that they send, such as reports of the mouse, is skipped.

use super::Key;
use super::press::{self, KeyCode, Modifiers};

const ESCAPE: u8 = 0x1b;
const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// Decoder of a terminal's input, which may arrive in any parts.
#[derive(Debug, Default)]
pub(super) struct KeyDecoder {
    /// Bytes of a key that is incomplete.
    pending: Vec<u8>,
}

/// The bytes that follow an input, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// The terminal has sent no more yet. A lone ESC at the end is the key Escape.
    None,
    /// More may be there: as many bytes were read as have room.
    MayFollow,
}

/// The meaning of the bytes at the beginning of an input.
#[derive(Debug, PartialEq, Eq)]
enum Decoded {
    /// The beginning of a key.
    Incomplete,
    /// A key without a function, a report, or bytes that are none of these.
    Skipped,
    Press(KeyCode, Modifiers),
    Paste(String),
}

impl KeyDecoder {
    /// Returns the keys that are complete with these bytes.
    pub(super) fn decode(&mut self, bytes: &[u8], rest: Rest) -> Vec<Key> {
        let mut keys = Vec::new();
        for (index, byte) in bytes.iter().enumerate() {
            self.pending.push(*byte);
            let rest = if index + 1 < bytes.len() { Rest::MayFollow } else { rest };
            match decode(&self.pending, rest) {
                Decoded::Incomplete => continue,
                Decoded::Skipped => {}
                Decoded::Press(code, held) => keys.push(press::key(code, held)),
                Decoded::Paste(text) => keys.push(press::paste(&text)),
            }
            self.pending.clear();
        }
        keys
    }
}

/// Decodes a key that may be incomplete, and is not empty.
fn decode(bytes: &[u8], rest: Rest) -> Decoded {
    match bytes {
        [ESCAPE] if rest == Rest::MayFollow => Decoded::Incomplete,
        [ESCAPE] | [ESCAPE, ESCAPE, ..] => plain(KeyCode::Escape),
        [ESCAPE, b'O' | b'['] => Decoded::Incomplete,
        [ESCAPE, b'O', last, ..] => arrow(*last).map_or(Decoded::Skipped, plain),
        [ESCAPE, b'[', ..] => sequence(bytes),
        [ESCAPE, key @ ..] => match decode(key, rest) {
            Decoded::Press(code, held) => Decoded::Press(code, Modifiers { alt: true, ..held }),
            other => other,
        },
        [b'\r', ..] => plain(KeyCode::Enter),
        [b'\t', ..] => plain(KeyCode::Tab),
        [0x7f, ..] => plain(KeyCode::Backspace),
        [0, ..] => control(' '),
        [byte @ 1..=0x1a, ..] => control((b'a' + byte - 1).into()),
        [byte @ 0x1c..=0x1f, ..] => control((b'4' + byte - 0x1c).into()),
        _ => character(bytes),
    }
}

fn plain(code: KeyCode) -> Decoded {
    Decoded::Press(code, Modifiers::default())
}

fn control(letter: char) -> Decoded {
    Decoded::Press(KeyCode::Char(letter), Modifiers { control: true, ..Modifiers::default() })
}

fn character(bytes: &[u8]) -> Decoded {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().next().map_or(Decoded::Skipped, |c| plain(KeyCode::Char(c))),
        Err(error) if error.error_len().is_none() => Decoded::Incomplete,
        Err(_) => Decoded::Skipped,
    }
}

/// The keys that end with the same letter in all forms.
fn arrow(last: u8) -> Option<KeyCode> {
    Some(match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        _ => return None,
    })
}

/// Decodes a sequence, which begins with `ESC [` and has at least one byte more.
fn sequence(bytes: &[u8]) -> Decoded {
    let (first, last) = (bytes[2], bytes[bytes.len() - 1]);
    let until = |is_complete: bool| if is_complete { Decoded::Skipped } else { Decoded::Incomplete };
    match first {
        b'0'..=b'9' if bytes.starts_with(PASTE_BEGIN) => match bytes.strip_suffix(PASTE_END) {
            Some(paste) => Decoded::Paste(String::from_utf8_lossy(&paste[PASTE_BEGIN.len()..]).into_owned()),
            None => Decoded::Incomplete,
        },
        b'0'..=b'9' if bytes.len() == 3 || !(0x40..=0x7e).contains(&last) => Decoded::Incomplete,
        b'0'..=b'9' => numbered(&bytes[2..bytes.len() - 1], last).unwrap_or(Decoded::Skipped),
        b'Z' => Decoded::Press(KeyCode::BackTab, Modifiers { shift: true, ..Modifiers::default() }),
        // A function key of the Linux console.
        b'[' => until(bytes.len() > 3),
        // Reports of the mouse, in two forms.
        b'M' => until(bytes.len() >= 6),
        b'<' => until(matches!(last, b'm' | b'M')),
        // Answers to questions about the terminal.
        b'?' => until(last == b'c' || last == b'u' && bytes.len() > 4),
        _ => arrow(first).map_or(Decoded::Skipped, plain),
    }
}

/// Decodes the parameters of a sequence and its last byte.
fn numbered(parameters: &[u8], last: u8) -> Option<Decoded> {
    let parameters = std::str::from_utf8(parameters).ok()?;
    let mut parts = parameters.split(';');
    let first = parts.next()?;
    let modifiers = parts.next().and_then(modifiers);
    let (held, is_release) = modifiers.unwrap_or_default();
    let pressed = |code: KeyCode, held: Modifiers| {
        if is_release { Decoded::Skipped } else { Decoded::Press(code, held) }
    };
    match last {
        b'~' => Some(pressed(edit_key(first.parse().ok()?)?, held)),
        b'u' => {
            let mut characters = first.split(':').map(|number| char::from_u32(number.parse().ok()?));
            let character = characters.next()??;
            // With Shift there is a second character, that of the keyboard's layout.
            match characters.next().flatten().filter(|_| held.shift) {
                Some(shifted) => Some(pressed(KeyCode::Char(shifted), Modifiers { shift: false, ..held })),
                None => Some(pressed(unicode_key(character, held)?, held)),
            }
        }
        _ => {
            // Some terminals leave out the first parameter: `ESC [ 5 C`.
            let alone = || Some(held_by(parameters.chars().next_back()?.to_digit(10)?));
            let held = if modifiers.is_some() { held } else { alone()? };
            Some(pressed(arrow(last)?, held))
        }
    }
}

/// The modifiers of a second parameter, `modifiers:kind`, and true if the key is released.
fn modifiers(parameter: &str) -> Option<(Modifiers, bool)> {
    const RELEASE: &str = "3";
    let mut parts = parameter.split(':');
    let held = held_by(parts.next()?.parse::<u8>().ok()?.into());
    Some((held, parts.next() == Some(RELEASE)))
}

/// The modifiers of their number, which is one more than their bits.
fn held_by(number: u32) -> Modifiers {
    let bits = number.saturating_sub(1);
    Modifiers { shift: bits & 1 != 0, alt: bits & 2 != 0, control: bits & 4 != 0 }
}

/// The key of a sequence that ends with `~`.
fn edit_key(number: u8) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        _ => return None,
    })
}

/// The key of a sequence that ends with `u`: a character, or a key of the numeric keypad, which has a number
/// in a private range of Unicode. Other keys in that range have no function.
fn unicode_key(character: char, held: Modifiers) -> Option<KeyCode> {
    const KEYPAD: u32 = 57399;
    const KEYPAD_CHARACTERS: &[u8] = b"0123456789./*-+";
    let number = u32::from(character);
    if let Some(c) = number.checked_sub(KEYPAD).and_then(|index| KEYPAD_CHARACTERS.get(index as usize)) {
        return Some(KeyCode::Char((*c).into()));
    }
    Some(match number {
        0x1b => KeyCode::Escape,
        0x0d | 57414 => KeyCode::Enter,
        0x09 if held.shift => KeyCode::BackTab,
        0x09 => KeyCode::Tab,
        0x7f => KeyCode::Backspace,
        57415 => KeyCode::Char('='),
        57416 => KeyCode::Char(','),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57426 => KeyCode::Delete,
        57358..=57454 => return None,
        _ => KeyCode::Char(character),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(input: &[u8]) -> Vec<Key> {
        KeyDecoder::default().decode(input, Rest::None)
    }

    #[test]
    fn each_form_of_a_key_has_its_function() {
        for (input, expected) in [
            ("a", Key::Char('a')),
            ("ß", Key::Char('ß')),
            ("🦀", Key::Char('🦀')),
            ("\r", Key::Enter),
            ("\n", Key::Newline),
            ("\x1b\r", Key::Newline),
            ("\x1b[13;2u", Key::Newline),
            ("\x1b[13u", Key::Enter),
            ("\x1b[57414u", Key::Enter),
            ("\t", Key::Tab),
            ("\x1b[Z", Key::BackTab),
            ("\x1b[9;2u", Key::BackTab),
            ("\x7f", Key::Backspace),
            ("\x08", Key::Backspace),
            ("\x1b\x7f", Key::Ctrl('w')),
            ("\x1b[3~", Key::Delete),
            ("\x1b", Key::Escape),
            ("\x1b\x1b", Key::Escape),
            ("\x1b[27u", Key::Escape),
            ("\x1b[A", Key::Up),
            ("\x1bOA", Key::Up),
            ("\x1b[1;2B", Key::Down),
            ("\x1b[D", Key::Left),
            ("\x1b[1;5D", Key::Alt('b')),
            ("\x1b[5C", Key::Alt('f')),
            ("\x1b\x1b", Key::Escape),
            ("\x1b[1;3C", Key::Alt('f')),
            ("\x1b[H", Key::Home),
            ("\x1b[7~", Key::Home),
            ("\x1bOF", Key::End),
            ("\x1b[4~", Key::End),
            ("\x1b[5~", Key::PageUp),
            ("\x1b[6;5~", Key::PageDown),
            ("\x03", Key::Interrupt),
            ("\x1b[99;5u", Key::Interrupt),
            ("\x12", Key::Ctrl('r')),
            ("\x1bf", Key::Alt('f')),
            ("\0", Key::Ctrl(' ')),
            ("\x1f", Key::Ctrl('7')),
            ("\x1b[97:65;2u", Key::Char('A')),
            ("\x1b[57404u", Key::Char('5')),
        ] {
            assert_eq!(keys(input.as_bytes()), [expected], "{input:?}");
        }
    }

    #[test]
    fn what_has_no_function_is_skipped_and_the_next_key_is_read() {
        for input in [
            "\x1bOP",
            "\x1b[11~",
            "\x1b[[A",
            "\x1b[2~",
            "\x1b[I",
            "\x1b[O",
            "\x1b[M !!",
            "\x1b[<0;20;10M",
            "\x1b[<0;20;10m",
            "\x1b[32;30;40M",
            "\x1b[20;10R",
            "\x1b[?1u",
            "\x1b[?64;1c",
            "\x1b[97;1:3u",
            "\x1b[1;1:3A",
            "\x1b[57441u",
            "\x1b[999999999999~",
            "\x1b[4294967295u",
        ] {
            assert_eq!(keys(format!("{input}x").as_bytes()), [Key::Char('x')], "{input:?}");
        }
        assert_eq!(keys(b"\xffx\xc3"), [Key::Char('x')]);
    }

    #[test]
    fn a_paste_is_one_key() {
        let paste = "\x1b[200~one\rtwo\r\n\x1b[A three ü\x1b[201~x";
        let expected = [Key::Paste("one\ntwo\n\x1b[A three ü".to_owned()), Key::Char('x')];
        assert_eq!(keys(paste.as_bytes()), expected);
    }

    #[test]
    fn keys_may_arrive_in_any_parts() {
        let input = "aü\x1b[1;5D\x1bOH\x1b[200~p\r\x1b[201~\x1b[13;2u🦀".as_bytes();
        let whole = keys(input);
        assert_eq!(whole.len(), 7);
        for size in 1..input.len() {
            let mut decoder = KeyDecoder::default();
            let parts = input.chunks(size).flat_map(|part| decoder.decode(part, Rest::MayFollow));
            assert_eq!(parts.collect::<Vec<_>>(), whole, "{size}");
        }
    }

    #[test]
    fn an_escape_at_the_end_of_a_full_read_waits_for_the_rest() {
        let mut decoder = KeyDecoder::default();
        assert_eq!(decoder.decode(b"a\x1b", Rest::MayFollow), [Key::Char('a')]);
        assert_eq!(decoder.decode(b"[A", Rest::None), [Key::Up]);
        assert_eq!(decoder.decode(b"\x1b", Rest::None), [Key::Escape]);
    }
}
