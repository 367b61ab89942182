//! `tidings doctor`: checks the environment, and gives hints for what is wrong.

mod checks;
mod text;

use clap::Args;
use serde::Serialize;
use tidings_commands::error::Exit;
use tidings_commands::output::Output;
use tidings_commands::sessions::RootArgs;

/// Check what Tidings needs, and report how to fix what is missing
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) root: RootArgs,
}

const EXAMPLES: &str = "\
Examples:
  tidings doctor
  tidings doctor --json | jq '.checks[] | select(.ok | not)'

Checks Claude Code, the login, folders, git, the server's settings and its port. Secrets are never printed. \
Exit code 1 means that a required check failed.";

/// Result of all checks; also the JSON output.
#[derive(Debug, Serialize)]
struct DoctorReport {
    /// True if every required check passed.
    ok: bool,
    checks: Vec<DoctorCheck>,
}

/// Result of one check.
#[derive(Debug, Serialize)]
struct DoctorCheck {
    name: &'static str,
    ok: bool,
    found: String,
    hint: String,
    /// Effect of a failure on the whole report.
    #[serde(skip)]
    need: Need,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Needed,
    Useful,
    /// It was not checked.
    Skipped,
}

impl DoctorArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let checks = checks::all(&self.root)?;
        let ok = checks.iter().all(|check| check.ok || check.need == Need::Useful);
        let report = DoctorReport { ok, checks };
        if self.root.json {
            out.bytes(serde_json::to_string(&report)?.as_bytes())?;
            out.bytes(b"\n")?;
        } else {
            out.text(&text::of(&report.checks))?;
        }
        Ok(if ok { Exit::Success } else { Exit::Failure })
    }
}

impl DoctorCheck {
    fn needed(name: &'static str) -> Self {
        DoctorCheck { name, ok: true, found: String::new(), hint: String::new(), need: Need::Needed }
    }

    fn useful(name: &'static str) -> Self {
        DoctorCheck { need: Need::Useful, ..DoctorCheck::needed(name) }
    }

    fn found(self, found: impl Into<String>) -> Self {
        DoctorCheck { found: found.into(), ..self }
    }

    /// A check that was left out, which is no success.
    fn skipped(self, reason: impl Into<String>) -> Self {
        DoctorCheck { need: Need::Skipped, ..self }.found(reason)
    }

    /// Adds a hint, which a check that passed may have too.
    fn hint(self, hint: impl Into<String>) -> Self {
        DoctorCheck { hint: hint.into(), ..self }
    }

    fn wrong(self, found: impl Into<String>, hint: impl Into<String>) -> Self {
        DoctorCheck { ok: false, ..self }.found(found).hint(hint)
    }
}
