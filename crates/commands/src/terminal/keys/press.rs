//! A pressed key with its modifiers, before its function is known.

use super::Key;

/// A key of the keyboard, as far as keys have a function here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyCode {
    Char(char),
    Enter,
    Backspace,
    Delete,
    Escape,
    Tab,
    BackTab,
    Left,
    Right,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
}

/// Modifiers that are held together with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Modifiers {
    pub(super) shift: bool,
    pub(super) alt: bool,
    pub(super) control: bool,
}

/// The function of a key.
pub(super) fn key(code: KeyCode, held: Modifiers) -> Key {
    let Modifiers { shift, alt, control } = held;
    match code {
        KeyCode::Char('c') if control => Key::Interrupt,
        KeyCode::Char('j') if control => Key::Newline,
        KeyCode::Char('h') if control => Key::Backspace,
        KeyCode::Char(c) if control => Key::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) if alt => Key::Alt(c),
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter if alt || shift => Key::Newline,
        KeyCode::Enter => Key::Enter,
        KeyCode::Backspace if alt => Key::Ctrl('w'),
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Escape => Key::Escape,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Left if control || alt => Key::Alt('b'),
        KeyCode::Right if control || alt => Key::Alt('f'),
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
    }
}

/// The text of a paste as a key. Terminals send the key Enter for a line break.
pub(super) fn paste(text: &str) -> Key {
    Key::Paste(text.replace("\r\n", "\n").replace('\r', "\n"))
}
