//! The user's terminal in raw mode.

use std::io::{self, Write as _};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tidings::host::terminal::TerminalSize;

/// Switches off what the program in the terminal may have switched on: the alternate screen, mouse, focus and
/// theme reports, bracketed paste, key protocols, attributes and a scroll region.
const RESET: &[u8] =
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?2031l\
\x1b[>4m\x1b[<u\x1b[?1l\x1b>\x1b[r\x1b[?1049l\x1b[0m\x1b[?25h\x1b[0 q";

/// The terminal in raw mode. Dropping it restores the terminal, also in a panic.
pub(super) struct RawTerminal {
    saved: Termios,
}

impl RawTerminal {
    pub(super) fn enter() -> io::Result<Self> {
        let saved = tcgetattr(io::stdin())?;
        let raw = RawTerminal { saved };
        raw.apply()?;
        Ok(raw)
    }

    /// Sets raw mode, once more after another program had the terminal.
    pub(super) fn apply(&self) -> io::Result<()> {
        let mut raw = self.saved.clone();
        raw.make_raw();
        Ok(tcsetattr(io::stdin(), OptionalActions::Drain, &raw)?)
    }

    /// Gives the terminal back for a while.
    pub(super) fn restore(&self) {
        // Nothing can be done about a terminal that is gone.
        drop(write(RESET));
        let _ = tcsetattr(io::stdin(), OptionalActions::Drain, &self.saved);
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        self.restore();
    }
}

/// Writes bytes to the terminal.
pub(super) fn write(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// The size of the terminal.
pub(super) fn size() -> Option<TerminalSize> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    let is_known = size.ws_row > 0 && size.ws_col > 0;
    is_known.then_some(TerminalSize { rows: size.ws_row, cols: size.ws_col })
}
