//! The terminal of a process: its mode, its size, and what is typed.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Key;
use super::decoder::{KeyDecoder, Rest};

/// Bytes that are read at once.
const READ_BYTES: usize = 1024;

/// The mode of the terminal before raw mode, while that is on.
static MODE_BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// The terminal: standard input, or `/dev/tty` if that is a pipe.
fn terminal() -> io::Result<OwnedFd> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return stdin.as_fd().try_clone_to_owned();
    }
    Ok(File::options().read(true).write(true).open("/dev/tty")?.into())
}

pub(super) fn enable_raw_mode() -> io::Result<()> {
    let mut before = MODE_BEFORE.lock();
    if before.is_none() {
        let terminal = terminal()?;
        let mode = tcgetattr(&terminal)?;
        let mut raw = mode.clone();
        raw.make_raw();
        tcsetattr(&terminal, OptionalActions::Now, &raw)?;
        *before = Some(mode);
    }
    Ok(())
}

pub(super) fn disable_raw_mode() -> io::Result<()> {
    let mut before = MODE_BEFORE.lock();
    if let Some(mode) = before.as_ref() {
        tcsetattr(terminal()?, OptionalActions::Now, mode)?;
        *before = None;
    }
    Ok(())
}

pub(super) fn size() -> Option<(u16, u16)> {
    let size = match File::open("/dev/tty") {
        Ok(terminal) => tcgetwinsize(terminal),
        Err(_) => tcgetwinsize(io::stdout()),
    };
    size.ok().map(|size| (size.ws_col, size.ws_row))
}

/// Changes of the terminal's size.
pub(super) struct SizeChanges(Signal);

impl SizeChanges {
    pub(super) fn new() -> io::Result<Self> {
        signal(SignalKind::window_change()).map(SizeChanges)
    }

    /// Waits for the next change. Cancel safe.
    pub(super) async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// Reader of the terminal's keys.
pub(super) struct KeyReader {
    terminal: OwnedFd,
    decoder: KeyDecoder,
    bytes: [u8; READ_BYTES],
}

impl KeyReader {
    pub(super) fn open() -> io::Result<Self> {
        Ok(KeyReader { terminal: terminal()?, decoder: KeyDecoder::default(), bytes: [0; READ_BYTES] })
    }

    /// Waits for input and returns its keys; `None` if there is no input for this long.
    pub(super) fn read(&mut self, wait: Duration) -> io::Result<Option<Vec<Key>>> {
        let wait = Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
        let mut streams = [PollFd::new(&self.terminal, PollFlags::IN)];
        if retry_on_intr(|| poll(&mut streams, Some(&wait)))? == 0 {
            return Ok(None);
        }
        let is_gone = streams[0].revents().contains(PollFlags::HUP);
        let count = retry_on_intr(|| rustix::io::read(&self.terminal, &mut self.bytes))?;
        if count == 0 && is_gone {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let rest = if count == READ_BYTES { Rest::MayFollow } else { Rest::None };
        Ok(Some(self.decoder.decode(&self.bytes[..count], rest)))
    }
}
