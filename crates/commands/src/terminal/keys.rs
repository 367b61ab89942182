//! Keyboard input.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEventKind, KeyModifiers, poll, read,
};
use crossterm::execute;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// A key that has a function here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    Char(char),
    /// Text of a bracketed paste, with `\n` as its line break.
    Paste(String),
    Enter,
    /// Alt-Enter, Shift-Enter or Ctrl-J: a line break in a text.
    Newline,
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
    /// Ctrl with a letter, except for those above and below.
    Ctrl(char),
    /// Alt with a letter; Alt with an arrow or Backspace is the letter that does the same.
    Alt(char),
    /// Ctrl-C.
    Interrupt,
    /// The terminal was resized.
    Resized,
}

/// Reader of single keys in raw mode. The terminal is restored on drop, and if the program panics.
pub(crate) struct Keyboard {
    keys: Receiver<Key>,
    stop: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

/// Capacity of the queue of keys; further ones stay in the terminal's buffer.
const KEYS_MAX: usize = 64;

/// Interval in which the reader checks whether it should stop.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

impl Keyboard {
    /// Switches the terminal to raw mode and starts the reader.
    pub(crate) fn open() -> io::Result<Self> {
        restore_on_panic();
        enable_raw_mode()?;
        execute!(io::stderr(), EnableBracketedPaste)?;
        let (sender, keys) = channel(KEYS_MAX);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let reader = std::thread::spawn(move || forward(&sender, &stopped));
        Ok(Keyboard { keys, stop, reader: Some(reader) })
    }

    /// Waits for the next key; never returns once the terminal is gone.
    pub(crate) async fn next(&mut self) -> Key {
        match self.keys.recv().await {
            Some(key) => key,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.keys.close();
        if let Some(reader) = self.reader.take() {
            // It ends within its poll interval; a panic of it was shown already.
            drop(reader.join());
        }
        restore();
    }
}

fn restore() {
    // Fails only if the terminal is gone.
    drop(execute!(io::stderr(), DisableBracketedPaste));
    drop(disable_raw_mode());
}

/// Reads keys until it is stopped. Then it has passed on all keys that were read from the terminal: those
/// that are left would be lost for the next reader.
fn forward(sender: &Sender<Key>, stopped: &AtomicBool) {
    loop {
        match poll(POLL_INTERVAL) {
            Ok(false) if stopped.load(Ordering::Relaxed) => return,
            Ok(false) => {}
            Ok(true) => {
                let Ok(event) = read() else { return };
                if key(event).is_some_and(|key| sender.blocking_send(key).is_err()) {
                    return;
                }
            }
            Err(_) => return,
        }
    }
}

fn key(event: Event) -> Option<Key> {
    match event {
        Event::Resize(..) => Some(Key::Resized),
        Event::Paste(text) => Some(Key::Paste(text.replace("\r\n", "\n").replace('\r', "\n"))),
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            let control = key.modifiers.contains(KeyModifiers::CONTROL);
            let alt = key.modifiers.contains(KeyModifiers::ALT);
            let shift = key.modifiers.contains(KeyModifiers::SHIFT);
            Some(match key.code {
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
                KeyCode::Esc => Key::Escape,
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
                _ => return None,
            })
        }
        _ => None,
    }
}

fn restore_on_panic() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
    });
}
