//! Keyboard input.
//!
//! On Linux the program reads the terminal itself (`tty`, `decoder`). Elsewhere the library crossterm does
//! (`library`), which knows what is special about the terminals of macOS and Windows, and brings eight
//! packages.

#[cfg(target_os = "linux")]
mod decoder;
#[cfg(not(target_os = "linux"))]
mod library;
mod press;
#[cfg(target_os = "linux")]
mod tty;

#[cfg(not(target_os = "linux"))]
use library::{self as platform, LibraryKeys as KeyReader, LibrarySizes as SizeChanges};
#[cfg(target_os = "linux")]
use tty::{self as platform, KeyReader, SizeChanges};

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

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
    sizes: SizeChanges,
    stop: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

/// Capacity of the queue of keys; further ones stay in the terminal's buffer.
const KEYS_MAX: usize = 64;

/// Interval in which the reader checks whether it should stop.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Codes that let the terminal mark pasted text, so that its line breaks are not taken for the key Enter.
const PASTES_ON: &[u8] = b"\x1b[?2004h";
const PASTES_OFF: &[u8] = b"\x1b[?2004l";

impl Keyboard {
    /// Switches the terminal to raw mode and starts the reader.
    pub(crate) fn open() -> io::Result<Self> {
        restore_on_panic();
        let sizes = SizeChanges::new()?;
        let reader = KeyReader::open()?;
        platform::enable_raw_mode()?;
        write(PASTES_ON)?;
        let (sender, keys) = channel(KEYS_MAX);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let reader = std::thread::spawn(move || forward(reader, &sender, &stopped));
        Ok(Keyboard { keys, sizes, stop, reader: Some(reader) })
    }

    /// Waits for the next key; never returns once the terminal is gone. Nothing is lost if it is cancelled.
    pub(crate) async fn next(&mut self) -> Key {
        tokio::select! {
            Some(key) = self.keys.recv() => key,
            () = self.sizes.next() => Key::Resized,
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

/// Columns and rows of the terminal, if there is one.
pub(crate) fn size() -> Option<(u16, u16)> {
    platform::size()
}

fn restore() {
    // Fails only if the terminal is gone.
    drop(write(PASTES_OFF));
    drop(platform::disable_raw_mode());
}

fn write(code: &[u8]) -> io::Result<()> {
    let mut terminal = io::stderr();
    terminal.write_all(code)?;
    terminal.flush()
}

/// Reads keys until it is stopped. Then it has passed on all keys that were read from the terminal: those
/// that are left would be lost for the next reader.
fn forward(mut reader: KeyReader, sender: &Sender<Key>, stopped: &AtomicBool) {
    loop {
        match reader.read(POLL_INTERVAL) {
            Ok(None) if stopped.load(Ordering::Relaxed) => return,
            Ok(None) => {}
            Ok(Some(keys)) => {
                if keys.into_iter().any(|key| sender.blocking_send(key).is_err()) {
                    return;
                }
            }
            Err(_) => return,
        }
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
