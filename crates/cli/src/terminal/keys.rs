//! Keyboard input during a turn or while a request is pending.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Enter,
    Backspace,
    Escape,
    Tab,
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

impl Keyboard {
    /// Restores the terminal, and returns the text that was typed ahead. Enter is `\r` in it; `\n` is from a
    /// paste.
    pub(crate) fn close(mut self) -> String {
        self.stop.store(true, Ordering::Relaxed);
        let mut keys = Vec::new();
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished()) {
            keys.extend(std::iter::from_fn(|| self.keys.try_recv().ok()));
            std::thread::sleep(POLL_INTERVAL / 10);
        }
        keys.extend(std::iter::from_fn(|| self.keys.try_recv().ok()));
        let mut text = String::new();
        for key in keys {
            match key {
                Key::Char(c) => text.push(c),
                Key::Enter => text.push('\r'),
                Key::Tab => text.push('\t'),
                Key::Backspace if text.ends_with('\r') => {}
                Key::Backspace => drop(text.pop()),
                Key::Escape | Key::Interrupt | Key::Resized => {}
            }
        }
        text
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
                if keys_of(event).into_iter().any(|key| sender.blocking_send(key).is_err()) {
                    return;
                }
            }
            Err(_) => return,
        }
    }
}

/// The keys of an event; those of a paste are its characters.
fn keys_of(event: Event) -> Vec<Key> {
    match event {
        Event::Paste(text) => text.replace("\r\n", "\n").replace('\r', "\n").chars().map(Key::Char).collect(),
        event => Vec::from_iter(key(&event)),
    }
}

fn key(event: &Event) -> Option<Key> {
    match event {
        Event::Resize(..) => Some(Key::Resized),
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            let control = key.modifiers.contains(KeyModifiers::CONTROL);
            match key.code {
                KeyCode::Char('c') if control => Some(Key::Interrupt),
                KeyCode::Char(_) if control || key.modifiers.contains(KeyModifiers::ALT) => None,
                KeyCode::Char(c) => Some(Key::Char(c)),
                KeyCode::Enter => Some(Key::Enter),
                KeyCode::Backspace => Some(Key::Backspace),
                KeyCode::Esc => Some(Key::Escape),
                KeyCode::Tab => Some(Key::Tab),
                _ => None,
            }
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
