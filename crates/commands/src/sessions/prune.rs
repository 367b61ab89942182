//! `tidings sessions prune`: removes old sessions, after showing them.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use jiff::{Timestamp, Zoned};
use serde::Serialize;
use tidings_transcript::archive::Archive;
use tidings_transcript::prune::{Choice, KeepReason, Plan, PrunedSession};
use tidings_transcript::roots::SessionFiles;

use super::{RootArgs, archive, running, unreadable, when};
use crate::confirm::confirm;
use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{DIM, Output, PLAIN, RED, YELLOW, printable};

/// Remove old sessions after showing them
///
/// Removes each session with all of its files: sub-agents, tool results, file history, tasks and logs.
/// Running sessions are never removed; sessions that changed within the last hour only if they are named.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PruneArgs {
    /// Only these sessions: ids, unique prefixes of ids, or files
    #[arg(value_name = "ID")]
    ids: Vec<OsString>,

    /// Only sessions that did not change for this time, such as 90d or 12w, or since a day
    #[arg(long, value_name = "AGE")]
    older_than: Option<String>,

    /// Only sessions larger than this: 500K, 100M, 2G
    #[arg(long, value_name = "SIZE", value_parser = human::size)]
    larger_than: Option<u64>,

    /// Only sessions whose project path contains this
    #[arg(long, value_name = "PART")]
    project: Option<String>,

    /// Remove without confirmation
    #[arg(short, long, conflicts_with = "dry_run")]
    yes: bool,

    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,

    /// Store a compressed copy of each session first, like `sessions archive`
    #[arg(long)]
    archive_first: bool,

    /// Archive folder for --archive-first [default: that of `sessions archive`]
    #[arg(short, long, value_name = "DIR", requires = "archive_first")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Without --yes it asks for confirmation on a terminal; without a terminal it lists the sessions and exits with 4.

Examples:
  tidings sessions prune --older-than 90d --dry-run
  tidings sessions prune --larger-than 100M --archive-first
  tidings sessions prune --project old-demo --older-than 4w --yes

Exit codes: 0 success, 1 some sessions were not removed or could not be read (they are listed), 2 wrong usage, \
3 the command could not run, 4 confirmation is needed and there is no terminal";

/// JSON line of a session.
#[derive(Serialize)]
struct PruneLine<'a> {
    session: &'a str,
    project: String,
    modified: Option<String>,
    title: Option<String>,
    files: usize,
    bytes: u64,
    /// `removed`, `would-remove`, `running`, `fresh` or `failed`.
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl PruneArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let (plan, looked) = self.plan(root, out)?;
        spared(&plan, root, out)?;
        let sessions = human::plural(plan.remove.len() as u64, "session");
        let sum = format!("{sessions}, {}", human::bytes(plan.bytes()));
        if !self.yes {
            self.show(&plan, root, out)?;
            if plan.remove.is_empty() || self.dry_run {
                out.note(&format!("{sum} would be removed"))?;
                return Ok(looked);
            }
            out.flush()?;
            if !confirm(&format!("Remove {sum}?"))? {
                out.note("Nothing was removed")?;
                return Ok(Exit::Failure);
            }
        }
        let removed = self.remove(&plan, root, out)?;
        Ok(removed.and(looked))
    }

    /// Selects the sessions to remove; `Failure` if some could not be read.
    fn plan(&self, root: &RootArgs, out: &Output) -> anyhow::Result<(Plan, Exit)> {
        let roots = root.roots()?;
        let mut named = HashSet::new();
        for id in &self.ids {
            named.extend(roots.find_copies(id)?.iter().map(SessionFiles::dir));
        }
        let choice = Choice {
            named,
            before: match &self.older_than {
                Some(age) => Some(when::parse(age, &Zoned::now())?.start.into()),
                None => None,
            },
            larger_than: self.larger_than,
            project: self.project.clone(),
        };
        if choice == Choice::default() {
            return Err(CannotRun {
                code: CannotRun::USAGE,
                message: "This would remove every session".to_owned(),
                hint: "select sessions by ids, --older-than, --larger-than or --project",
            }
            .into());
        }
        let found = roots.scan()?;
        // Unreadable files do not matter if the sessions are named.
        let missing = if self.ids.is_empty() { &found.unreadable[..] } else { &[] };
        let looked = unreadable::warn(missing, out)?;
        let now = Timestamp::now().into();
        Ok((Plan::new(found.sessions, &choice, &running::ids(&roots), now), looked))
    }

    fn show(&self, plan: &Plan, root: &RootArgs, out: &mut Output) -> anyhow::Result<()> {
        for doomed in &plan.remove {
            let line = PruneLine { outcome: "would-remove", ..doomed_line(doomed) };
            if !root.json {
                out.text(&line.text(""))?;
            } else if self.dry_run {
                out.json(&line)?;
            }
        }
        Ok(())
    }

    fn remove(&self, plan: &Plan, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let archive = if self.archive_first { Some(archive::store(self.output.as_deref())?) } else { None };
        let (mut count, mut bytes) = (0, 0);
        for doomed in &plan.remove {
            let mut line = PruneLine { outcome: "removed", ..doomed_line(doomed) };
            let removed = keep(archive.as_ref(), doomed).and_then(|()| Ok(doomed.remove()?));
            match removed {
                Ok(_) => {
                    count += 1;
                    bytes += line.bytes;
                }
                Err(error) => {
                    line.outcome = "failed";
                    line.error = Some(format!("{error:#}"));
                }
            }
            if root.json {
                out.json(&line)?;
            } else if let Some(error) = &line.error {
                out.text(&line.text(&format!("  {RED}failed{PLAIN}: {}", printable(error))))?;
            } else {
                out.text(&line.text("  removed"))?;
            }
        }
        if !root.json {
            let sessions = human::plural(count, "session");
            out.note(&format!("{sessions} removed, {} freed", human::bytes(bytes)))?;
        }
        Ok(if count == plan.remove.len() as u64 { Exit::Success } else { Exit::Failure })
    }
}

/// Prints the sessions that match but are not removed.
fn spared(plan: &Plan, root: &RootArgs, out: &mut Output) -> anyhow::Result<()> {
    let reasons = [
        (KeepReason::Running, "running", "running"),
        (KeepReason::Fresh, "fresh", "changed within the last hour"),
    ];
    for (reason, outcome, explanation) in reasons {
        let staying = || plan.spared.iter().filter(|(_, why)| *why == reason).map(|(session, _)| session);
        if root.json {
            for session in staying() {
                let line = PruneLine { outcome, ..line(session, session.files().count(), session.bytes()) };
                out.json(&line)?;
            }
        } else if let Some(first) = staying().next() {
            let more = match staying().count() - 1 {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            out.note(&format!("{YELLOW}kept{PLAIN}: {}{more}, {explanation}", printable(&first.id)))?;
        }
    }
    Ok(())
}

/// Copies a session to the archive; fails if a file could not be copied, so that the session is not removed.
fn keep(archive: Option<&Archive>, doomed: &PrunedSession) -> anyhow::Result<()> {
    let Some(archive) = archive else { return Ok(()) };
    match archive.keep(&doomed.session, Timestamp::now())?.failed.into_iter().next() {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

fn doomed_line(doomed: &PrunedSession) -> PruneLine<'_> {
    line(&doomed.session, doomed.all_files.files.len(), doomed.all_files.bytes())
}

fn line(session: &SessionFiles, files: usize, bytes: u64) -> PruneLine<'_> {
    let modified = session.modified().and_then(|at| Timestamp::try_from(at).ok());
    PruneLine {
        session: &session.id,
        project: session.folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        modified: modified.map(|at| at.to_string()),
        title: super::title(session),
        files,
        bytes,
        outcome: "",
        error: None,
    }
}

impl PruneLine<'_> {
    fn text(&self, after: &str) -> String {
        let modified = self.modified.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
        let age = modified.map(|at| human::age(at, Timestamp::now())).unwrap_or_default();
        let head = format!(
            "{}  {}  {age:>4} old  {:>8}  {:>9}{after}",
            printable(&human::short_id(self.session)),
            human::padded(&printable(&self.project), 16),
            human::bytes(self.bytes),
            human::plural(self.files as u64, "file"),
        );
        format!("{head}  {DIM}{}{PLAIN}\n", super::title_after(&head, self.title.as_deref()))
    }
}
