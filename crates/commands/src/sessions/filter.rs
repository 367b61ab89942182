//! Arguments that select sessions by project and time.

use std::time::SystemTime;

use clap::Args;
use jiff::Zoned;

use super::when;
use crate::error::CannotRun;

/// Arguments that select sessions.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Only sessions whose project path contains this
    #[arg(long, value_name = "PART")]
    pub(crate) project: Option<String>,

    /// Only sessions that changed since this time: 2026-11-14, 2026-11-14T09:30, or an age such as 12h, 7d,
    /// 2w
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
}

impl FilterArgs {
    /// Parses `--since` in the local time zone.
    pub(crate) fn since(&self) -> Result<Option<SystemTime>, CannotRun> {
        let Some(text) = &self.since else { return Ok(None) };
        Ok(Some(when::parse(text, &Zoned::now())?.start.into()))
    }
}
