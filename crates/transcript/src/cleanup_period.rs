//! The deadline after which Claude Code deletes session files.

use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The period for which Claude Code keeps sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CleanupPeriod {
    /// Days after the last change.
    pub days: u64,
    /// True if the period comes from the settings, false for the default.
    pub configured: bool,
}

impl CleanupPeriod {
    /// The default of Claude Code.
    pub const DEFAULT: CleanupPeriod = CleanupPeriod { days: 30, configured: false };

    /// Reads `cleanupPeriodDays` from the settings in a configuration folder.
    ///
    /// Settings in other places (of a project, or of an organisation) can override it and are not read.
    pub fn of(config_folder: &Path) -> Self {
        const BYTES_MAX: u64 = 1 << 20;
        let mut text = String::new();
        let read = crate::open::regular(&config_folder.join("settings.json"))
            .and_then(|file| file.take(BYTES_MAX).read_to_string(&mut text));
        let days = read.ok().and_then(|_| {
            let settings: serde_json::Value = serde_json::from_str(&text).ok()?;
            settings.get("cleanupPeriodDays")?.as_u64()
        });
        days.map_or(Self::DEFAULT, |days| CleanupPeriod { days, configured: true })
    }

    /// Earliest time at which a file last changed at `modified` may be deleted; `None` if the calendar does
    /// not reach that far.
    pub fn until(self, modified: SystemTime) -> Option<SystemTime> {
        modified.checked_add(Duration::from_secs(self.days.checked_mul(24 * 60 * 60)?))
    }
}
