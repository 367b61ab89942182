//! The environment of the stand-in: pipes, folders, clock, ids and signals.

use std::fmt;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use super::ids::Ids;

/// Environment of the stand-in: its pipes, folders, clock and ids.
///
/// The stand-in reads no environment variables, prints nothing by itself and never exits, so a test can run
/// many at once.
pub struct World {
    /// Output of the host.
    pub stdin: Box<dyn Read + Send>,
    /// Input of the host.
    pub stdout: Box<dyn Write + Send>,
    /// Error messages.
    pub stderr: Box<dyn Write + Send>,
    /// The working directory.
    pub cwd: PathBuf,
    /// Folder of the session files: `CLAUDE_CONFIG_DIR`, or `.claude` in the home directory.
    pub config_dir: PathBuf,
    /// Milliseconds since 1970.
    pub clock: Box<dyn FnMut() -> u64 + Send>,
    /// Generator of ids.
    pub ids: Ids,
    /// The process id to show.
    pub pid: u32,
    /// True if stdout is a terminal.
    pub terminal: bool,
    /// Maximum number of retries of a failed request: `CLAUDE_CODE_MAX_RETRIES`, 10 unless set.
    pub retries_max: u32,
    /// Session state events for the host.
    pub states: States,
    /// Signals that the process received.
    pub signals: Option<Receiver<Signal>>,
    /// Sends a signal to the process, for the fault `signal`.
    pub raise: Box<dyn FnMut(i32) + Send>,
}

impl World {
    /// Environment for a stand-in inside a test process: its stderr is discarded, its clock steps, its ids
    /// are the same in every run, and an SDK drives it.
    pub fn new(
        stdin: impl Read + Send + 'static,
        stdout: impl Write + Send + 'static,
        cwd: impl Into<PathBuf>,
        config_dir: impl Into<PathBuf>,
    ) -> Self {
        World {
            stdin: Box::new(stdin),
            stdout: Box::new(stdout),
            stderr: Box::new(std::io::sink()),
            cwd: cwd.into(),
            config_dir: config_dir.into(),
            clock: stepping_clock(),
            ids: Ids::seeded(7),
            pid: 7,
            terminal: false,
            retries_max: 1,
            states: States::ForSdk,
            signals: None,
            raise: Box::new(|_| {}),
        }
    }
}

/// Setting for `session_state_changed` frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum States {
    /// They are not sent.
    #[default]
    Hidden,
    /// Sent to every host: `CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS`, also if the other is set.
    Shown,
    /// Sent to an SDK only: `CLAUDE_CODE_SDK_READS_SESSION_STATE`.
    ForSdk,
}

/// A signal that the stand-in handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM: exit at once, with code 143.
    Terminate,
    /// SIGINT: interrupt the turn, then exit.
    Interrupt,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("cwd", &self.cwd)
            .field("config_dir", &self.config_dir)
            .finish_non_exhaustive()
    }
}

/// A clock that advances one millisecond per call, so that a seeded run gives the same bytes each time.
pub fn stepping_clock() -> Box<dyn FnMut() -> u64 + Send> {
    // 2026-01-01T00:00:00Z
    let mut now_ms = 1_767_225_600_000;
    Box::new(move || {
        now_ms += 1;
        now_ms
    })
}

/// `2026-11-15T00:35:04.625Z`
pub(super) fn timestamp(ms: u64) -> String {
    let (days, rest) = (ms / 86_400_000, ms % 86_400_000);
    // Days to a date with March as the first month, so that the leap day is the last of its year.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
    let (second, millisecond) = (rest / 1_000 % 60, rest % 1_000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_dates() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(timestamp(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(timestamp(1_794_702_338_193), "2026-11-15T00:25:38.193Z");
    }
}
