//! `tidings doctor`: what is there, what is wrong, what to do.

mod checks;
mod text;

use clap::Args;
use serde::Serialize;

use crate::commands::sessions::Place;
use crate::error::Exit;
use crate::output::Output;

/// Look at what Tidings needs: Claude Code, a login, folders, git, a port
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) place: Place,
}

const EXAMPLES: &str = "\
Examples:
  tidings doctor
  tidings doctor --json | jq '.checks[] | select(.ok | not)'

No secret is ever printed. Exit code 1 says that something is missing that cannot be done without.";

/// What was found out; scripts get it as it stands here.
#[derive(Debug, Serialize)]
struct Report {
    /// Whether everything is fine that cannot be done without.
    ok: bool,
    checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    ok: bool,
    found: String,
    hint: String,
    /// Whether nothing works without it.
    #[serde(skip)]
    need: Need,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Needed,
    Useful,
}

impl Doctor {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let checks = checks::all(&self.place)?;
        let ok = checks.iter().all(|check| check.ok || check.need == Need::Useful);
        let report = Report { ok, checks };
        if self.place.json {
            out.bytes(serde_json::to_string(&report)?.as_bytes())?;
            out.bytes(b"\n")?;
        } else {
            out.text(&text::of(&report.checks))?;
        }
        Ok(if ok { Exit::Fine } else { Exit::NotFine })
    }
}

impl Check {
    fn needed(name: &'static str) -> Self {
        Check { name, ok: true, found: String::new(), hint: String::new(), need: Need::Needed }
    }

    fn useful(name: &'static str) -> Self {
        Check { need: Need::Useful, ..Check::needed(name) }
    }

    fn found(self, found: impl Into<String>) -> Self {
        Check { found: found.into(), ..self }
    }

    /// What to know or do; may stand beside something that is fine.
    fn hint(self, hint: impl Into<String>) -> Self {
        Check { hint: hint.into(), ..self }
    }

    fn wrong(self, found: impl Into<String>, hint: impl Into<String>) -> Self {
        Check { ok: false, ..self }.found(found).hint(hint)
    }
}
