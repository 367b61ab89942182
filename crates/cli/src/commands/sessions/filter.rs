use std::time::SystemTime;

use clap::Args;
use jiff::Zoned;

use super::when;
use crate::error::CannotRun;

/// Which sessions are meant.
#[derive(Debug, Args)]
pub(crate) struct Filter {
    /// Only sessions whose folder has this in its path
    #[arg(long, value_name = "PART")]
    pub(crate) project: Option<String>,

    /// Only sessions that changed since then: 2026-11-14, 2026-11-14T09:30, or how long ago: 12h, 7d, 2w
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
}

impl Filter {
    /// The moment that `--since` means here and now.
    pub(crate) fn since(&self) -> Result<Option<SystemTime>, CannotRun> {
        let Some(text) = &self.since else { return Ok(None) };
        Ok(Some(when::parse(text, &Zoned::now())?.start.into()))
    }
}
