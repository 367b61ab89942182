use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use jiff::{Timestamp, Zoned};
use serde::Serialize;
use tidings_transcript::archive::Archive;
use tidings_transcript::prune::{Choice, Doomed, Plan, Spared};
use tidings_transcript::roots::SessionFiles;

use super::{Place, archive, running, unreadable, when};
use crate::confirm::confirm;
use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{DIM, Output, PLAIN, RED, YELLOW, printable};

/// Remove old sessions; shows first what it would remove
///
/// A session goes with all that belongs to it: sub-agents, tool results, file history, tasks, logs. Sessions that are
/// running always stay; those that changed within the last hour stay unless they are named.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Prune {
    /// Only these sessions: ids, beginnings of ids, or files
    #[arg(value_name = "ID")]
    ids: Vec<OsString>,

    /// Only sessions that did not change for this long: 90d, 12w, or since a day
    #[arg(long, value_name = "AGE")]
    older_than: Option<String>,

    /// Only sessions larger than this: 500K, 100M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    larger_than: Option<u64>,

    /// Only sessions of projects whose folder has this in its path
    #[arg(long, value_name = "PART")]
    project: Option<String>,

    /// Remove without asking
    #[arg(short, long, conflicts_with = "dry_run")]
    yes: bool,

    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,

    /// Keep a compressed copy of each session first, as `sessions archive` does
    #[arg(long)]
    archive_first: bool,

    /// The archive for --archive-first, if it is not the usual one
    #[arg(short, long, value_name = "DIR", requires = "archive_first")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Without --yes it asks on a terminal; elsewhere it shows what it would remove and exits with 4.

Examples:
  tidings sessions prune --older-than 90d --dry-run
  tidings sessions prune --larger-than 100M --archive-first
  tidings sessions prune --project old-demo --older-than 4w --yes

Exit codes: 0 all is done, 1 something was not removed or could not be read, and is named, 2 wrong usage, \
3 cannot run, 4 nobody is there to confirm";

/// What scripts learn about each session.
#[derive(Serialize)]
struct Line<'a> {
    session: &'a str,
    project: String,
    modified: Option<String>,
    files: usize,
    bytes: u64,
    /// `removed`, `would-remove`, `running`, `fresh` or `failed`.
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Prune {
    pub(crate) fn run(&self, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        let (plan, looked) = self.plan(place, out)?;
        spared(&plan, place, out)?;
        let sessions = human::plural(plan.remove.len() as u64, "session");
        let sum = format!("{sessions}, {}", human::bytes(plan.bytes()));
        if !self.yes {
            self.show(&plan, place, out)?;
            if plan.remove.is_empty() || self.dry_run {
                out.note(&format!("{sum} would be removed"))?;
                return Ok(looked);
            }
            out.flush()?;
            if !confirm(&format!("Remove {sum}?"))? {
                out.note("Nothing was removed")?;
                return Ok(Exit::NotFine);
            }
        }
        let removed = self.remove(&plan, place, out)?;
        Ok(removed.and(looked))
    }

    /// What to remove, and whether every session could be looked at.
    fn plan(&self, place: &Place, out: &Output) -> anyhow::Result<(Plan, Exit)> {
        let roots = place.roots()?;
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
                message: "That would be every session".to_owned(),
                hint: "say which with ids, --older-than, --larger-than or --project",
            }
            .into());
        }
        let found = roots.scan()?;
        // Somebody who names sessions does not ask about the others.
        let missing = if self.ids.is_empty() { &found.unreadable[..] } else { &[] };
        let looked = unreadable::warn(missing, out)?;
        let now = Timestamp::now().into();
        Ok((Plan::new(found.sessions, &choice, &running::ids(&roots), now), looked))
    }

    fn show(&self, plan: &Plan, place: &Place, out: &mut Output) -> anyhow::Result<()> {
        for doomed in &plan.remove {
            let line = Line { outcome: "would-remove", ..doomed_line(doomed) };
            if !place.json {
                out.text(&line.text(""))?;
            } else if self.dry_run {
                out.text(&format!("{}\n", serde_json::to_string(&line)?))?;
            }
        }
        Ok(())
    }

    fn remove(&self, plan: &Plan, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        let archive = if self.archive_first { Some(archive::store(self.output.as_deref())?) } else { None };
        let (mut count, mut bytes) = (0, 0);
        for doomed in &plan.remove {
            let removed = keep(archive.as_ref(), doomed).and_then(|()| Ok(doomed.remove()?));
            let mut line = Line { outcome: "removed", ..doomed_line(doomed) };
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
            if place.json {
                out.text(&format!("{}\n", serde_json::to_string(&line)?))?;
            } else if let Some(error) = &line.error {
                out.text(&line.text(&format!("  {RED}failed{PLAIN}: {}", printable(error))))?;
            } else {
                out.text(&line.text("  removed"))?;
            }
        }
        if !place.json {
            let sessions = human::plural(count, "session");
            out.note(&format!("{sessions} removed, {} free", human::bytes(bytes)))?;
        }
        Ok(if count == plan.remove.len() as u64 { Exit::Fine } else { Exit::NotFine })
    }
}

/// Says which sessions stay although they fit.
fn spared(plan: &Plan, place: &Place, out: &mut Output) -> anyhow::Result<()> {
    let reasons =
        [(Spared::Running, "running", "running"), (Spared::Fresh, "fresh", "changed within the last hour")];
    for (reason, outcome, words) in reasons {
        let staying = || plan.spared.iter().filter(|(_, why)| *why == reason).map(|(session, _)| session);
        if place.json {
            for session in staying() {
                let line = Line { outcome, ..line(session, session.files().count(), session.bytes()) };
                out.text(&format!("{}\n", serde_json::to_string(&line)?))?;
            }
        } else if let Some(first) = staying().next() {
            let more = match staying().count() - 1 {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            out.note(&format!("{YELLOW}stays{PLAIN}: {}{more}, {words}", printable(&first.id)))?;
        }
    }
    Ok(())
}

/// Copies a session to the archive; one that could not be copied whole must not be removed.
fn keep(archive: Option<&Archive>, doomed: &Doomed) -> anyhow::Result<()> {
    let Some(archive) = archive else { return Ok(()) };
    match archive.keep(&doomed.session, Timestamp::now())?.failed.into_iter().next() {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

fn doomed_line(doomed: &Doomed) -> Line<'_> {
    line(&doomed.session, doomed.belongings.files.len(), doomed.belongings.bytes())
}

fn line(session: &SessionFiles, files: usize, bytes: u64) -> Line<'_> {
    let modified = session.modified().and_then(|at| Timestamp::try_from(at).ok());
    Line {
        session: &session.id,
        project: session.folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        modified: modified.map(|at| at.to_string()),
        files,
        bytes,
        outcome: "",
        error: None,
    }
}

impl Line<'_> {
    fn text(&self, after: &str) -> String {
        let modified = self.modified.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
        let age = modified.map(|at| human::age(at, Timestamp::now())).unwrap_or_default();
        format!(
            "{} {} {age:>5} old  {:>8}  {DIM}{}{PLAIN}{after}\n",
            human::padded(&printable(self.session), 36),
            human::padded(&printable(&self.project), 24),
            human::bytes(self.bytes),
            human::plural(self.files as u64, "file"),
        )
    }
}

/// Understands `500K`, `2G`, and plain bytes.
fn size(text: &str) -> Result<u64, String> {
    let refused = || "say a size like 500K, 100M or 2G".to_owned();
    let text = text.trim().trim_end_matches(['B', 'b']).trim_end_matches('i');
    let (number, shift) = match text.chars().last().map(|unit| unit.to_ascii_uppercase()) {
        Some('K') => (&text[..text.len() - 1], 10),
        Some('M') => (&text[..text.len() - 1], 20),
        Some('G') => (&text[..text.len() - 1], 30),
        Some('T') => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    let number: u64 = number.trim().parse().map_err(|_| refused())?;
    number.checked_mul(1 << shift).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_usual_units() {
        for (text, expected) in [
            ("12", Some(12)),
            ("500K", Some(500 << 10)),
            ("100 MiB", Some(100 << 20)),
            ("2g", Some(2 << 30)),
            ("1TB", Some(1 << 40)),
            ("", None),
            ("-1", None),
            ("1.5G", None),
            ("99999999999T", None),
        ] {
            assert_eq!(size(text).ok(), expected, "{text}");
        }
    }
}
