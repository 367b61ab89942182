//! The terminal through the library crossterm.

use std::io;
use std::time::Duration;

use crossterm::event::{self, Event, KeyEventKind, KeyModifiers, poll};
pub(super) use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

use super::Key;
use super::press::{self, KeyCode, Modifiers};

pub(super) fn size() -> Option<(u16, u16)> {
    crossterm::terminal::size().ok()
}

/// Changes of the terminal's size, which the library reports among the keys.
pub(super) struct LibrarySizes;

impl LibrarySizes {
    #[expect(clippy::unnecessary_wraps, reason = "it can fail on Linux")]
    pub(super) fn new() -> io::Result<Self> {
        Ok(LibrarySizes)
    }

    pub(super) async fn next(&mut self) {
        std::future::pending::<()>().await;
    }
}

/// Reader of the terminal's keys.
pub(super) struct LibraryKeys;

impl LibraryKeys {
    #[expect(clippy::unnecessary_wraps, reason = "it can fail on Linux")]
    pub(super) fn open() -> io::Result<Self> {
        Ok(LibraryKeys)
    }

    /// Waits for input and returns its keys; `None` if there is no input for this long.
    #[expect(clippy::unused_self, reason = "the reader of Linux has a state")]
    pub(super) fn read(&mut self, wait: Duration) -> io::Result<Option<Vec<Key>>> {
        Ok(if poll(wait)? { Some(key(event::read()?).into_iter().collect()) } else { None })
    }
}

fn key(event: Event) -> Option<Key> {
    match event {
        Event::Resize(..) => Some(Key::Resized),
        Event::Paste(text) => Some(press::paste(&text)),
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            let held = Modifiers {
                shift: key.modifiers.contains(KeyModifiers::SHIFT),
                alt: key.modifiers.contains(KeyModifiers::ALT),
                control: key.modifiers.contains(KeyModifiers::CONTROL),
            };
            Some(press::key(code(key.code)?, held))
        }
        _ => None,
    }
}

fn code(code: event::KeyCode) -> Option<KeyCode> {
    Some(match code {
        event::KeyCode::Char(c) => KeyCode::Char(c),
        event::KeyCode::Enter => KeyCode::Enter,
        event::KeyCode::Backspace => KeyCode::Backspace,
        event::KeyCode::Delete => KeyCode::Delete,
        event::KeyCode::Esc => KeyCode::Escape,
        event::KeyCode::Tab => KeyCode::Tab,
        event::KeyCode::BackTab => KeyCode::BackTab,
        event::KeyCode::Left => KeyCode::Left,
        event::KeyCode::Right => KeyCode::Right,
        event::KeyCode::Up => KeyCode::Up,
        event::KeyCode::Down => KeyCode::Down,
        event::KeyCode::PageUp => KeyCode::PageUp,
        event::KeyCode::PageDown => KeyCode::PageDown,
        event::KeyCode::Home => KeyCode::Home,
        event::KeyCode::End => KeyCode::End,
        _ => return None,
    })
}
