//! `tidings sessions archive`: stores, lists and restores compressed copies.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::Serialize;
use tidings_transcript::all_files::config_folder;
use tidings_transcript::archive::{Archive, ArchivedSession, CopyOutcome, Manifest, Returned};
use tidings_transcript::cleanup_period::CleanupPeriod;
use tidings_transcript::roots::{Roots, SessionFiles, SessionScan};

use super::{RootArgs, unreadable, when};
use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{self, DIM, Output, PLAIN, RED, YELLOW, printable};
use crate::progress::Progress;

/// Store compressed copies, before Claude Code deletes old sessions
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ArchiveArgs {
    /// Sessions to archive: ids, unique prefixes of ids, or files
    #[arg(value_name = "ID")]
    ids: Vec<OsString>,

    /// Archive every session
    #[arg(long, conflicts_with_all = ["ids", "older_than"])]
    all: bool,

    /// Archive sessions that did not change for this time, such as 20d or 2w, or since a day
    #[arg(long, value_name = "AGE", conflicts_with = "ids")]
    older_than: Option<String>,

    /// Archive folder [default: `archive` in `TIDINGS_DATA_DIR` or ~/.local/share/tidings]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// List the archived sessions
    #[arg(long, conflicts_with_all = ["ids", "all", "older_than"])]
    list: bool,

    /// Restore a session
    #[arg(long, value_name = "ID", conflicts_with_all = ["ids", "all", "older_than", "list"])]
    restore: Option<String>,

    /// Restore into this configuration folder instead of the original one
    #[arg(long, value_name = "DIR", requires = "restore")]
    to: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Claude Code deletes sessions that did not change for 30 days, or for `cleanupPeriodDays` of its settings. \
Unchanged files are not copied again. An archive is a configuration folder in which every file is compressed with zstd; \
read a restored folder with --root. Restored files get the current time, so that Claude Code does not delete them at once.

Examples:
  tidings sessions archive --older-than 20d
  tidings sessions archive --list
  tidings sessions archive --restore 7c135d63
  tidings sessions archive --all -o /backup/claude && zstd -dr /backup/claude/projects

Exit codes: 0 everything was copied, 1 some files could not be copied (they are listed), 2 wrong usage, \
3 the command could not run";

impl ArchiveArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let store = store(self.output.as_deref())?;
        if self.list {
            return list(&store, root, out);
        }
        if let Some(id) = &self.restore {
            return self.restore(id, &store, root, out);
        }
        let found = self.found(&root.roots()?)?;
        let kept = keep(&found.sessions, &store, root, out)?;
        // Report files that have no copy.
        let looked = unreadable::warn(&found.unreadable, out)?;
        Ok(kept.and(looked))
    }

    fn found(&self, roots: &Roots) -> anyhow::Result<SessionScan> {
        if !self.ids.is_empty() {
            let sessions = self.ids.iter().map(|id| roots.find(id)).collect::<Result<_, _>>()?;
            let mut found = SessionScan::default();
            found.sessions = sessions;
            return Ok(found);
        }
        let before: SystemTime = match &self.older_than {
            Some(age) => when::parse(age, &Zoned::now())?.start.into(),
            None if self.all => Timestamp::MAX.into(),
            None => {
                return Err(CannotRun {
                    code: CannotRun::USAGE,
                    message: "No sessions were selected".to_owned(),
                    hint: "give their ids, --older-than 20d or --all",
                }
                .into());
            }
        };
        let mut found = roots.scan()?;
        found.sessions.retain(|session| session.modified().is_none_or(|modified| modified < before));
        Ok(found)
    }

    fn restore(&self, id: &str, store: &Archive, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let manifest = store.find(id)?;
        let to = self.to.clone().or_else(|| manifest.root.clone()).ok_or_else(|| CannotRun {
            code: CannotRun::USAGE,
            message: "The original folder of this session is unknown".to_owned(),
            hint: "name a configuration folder with --to",
        })?;
        let restored = store.restore(&manifest, &to)?;
        let count = |kind| restored.files.iter().filter(|file| file.returned == kind).count();
        let left: Vec<String> = restored
            .files
            .iter()
            .filter(|file| file.returned == Returned::Left)
            .map(|file| file.path.display().to_string())
            .collect();
        let report = RestoreReport {
            session: &manifest.session,
            to: to.display().to_string(),
            restored: count(Returned::New) + count(Returned::Completed),
            same: count(Returned::Same),
            left,
            failed: restored.failed.iter().map(ToString::to_string).collect(),
        };
        if root.json {
            out.json(&report)?;
        } else {
            let (session, to) = (printable(&manifest.session), printable(&report.to));
            let mut lines = vec![format!("{session} is in {to}: {} restored", files(report.restored))];
            if report.same > 0 {
                lines.push(format!("{} already there", files(report.same)));
            }
            for path in &report.left {
                lines.push(format!("{YELLOW}kept{PLAIN}   {}: newer, or a different file", printable(path)));
            }
            for error in &report.failed {
                lines.push(format!("{RED}failed{PLAIN} {}", printable(error)));
            }
            out.text(&(lines.join("\n") + "\n"))?;
        }
        let fine = report.left.is_empty() && report.failed.is_empty();
        Ok(if fine { Exit::Success } else { Exit::Failure })
    }
}

/// Opens the archive in a folder, or the default one.
pub(super) fn store(folder: Option<&Path>) -> Result<Archive, CannotRun> {
    let usual = || RootArgs::data_folder().map(|folder| folder.join("archive"));
    let folder = folder.map(Path::to_owned).or_else(usual).ok_or_else(|| CannotRun {
        code: "not_found",
        message: "No folder for the archive".to_owned(),
        hint: "name one with -o",
    })?;
    Ok(Archive::new(folder))
}

fn keep(
    sessions: &[SessionFiles],
    store: &Archive,
    root: &RootArgs,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let mut fine = true;
    let (mut bytes, mut stored_bytes) = (0, 0);
    let progress = Progress::bytes("archiving", sessions.iter().map(SessionFiles::bytes).sum());
    for session in sessions {
        let kept = store.keep(session, Timestamp::now())?;
        progress.done(session.bytes());
        fine &= kept.failed.is_empty();
        let report = KeepReport::new(session, &kept);
        bytes += report.bytes;
        stored_bytes += report.stored_bytes;
        let text = if root.json { output::json_line(&report)? } else { report.text() };
        progress.suspend(|| out.text(&text))?;
    }
    drop(progress);
    if !root.json {
        let (bytes, stored_bytes) = (human::bytes(bytes), human::bytes(stored_bytes));
        let sessions = human::plural(sessions.len() as u64, "session");
        let folder = printable(&store.folder().display().to_string());
        out.note(&format!("{sessions}, {bytes}, stored as {stored_bytes} in {folder}"))?;
    }
    Ok(if fine { Exit::Success } else { Exit::Failure })
}

/// JSON line of a session that was archived.
#[derive(Serialize)]
struct KeepReport<'a> {
    session: &'a str,
    project: String,
    title: Option<String>,
    bytes: u64,
    stored_bytes: u64,
    new: usize,
    grown: usize,
    unchanged: usize,
    cut_short: usize,
    diverged: usize,
    /// Time after which Claude Code may delete the original.
    kept_until: Option<String>,
    failed: Vec<String>,
}

impl<'a> KeepReport<'a> {
    fn new(session: &'a SessionFiles, kept: &ArchivedSession) -> Self {
        let count = |done| kept.files.iter().filter(|file| file.done == done).count();
        KeepReport {
            session: &session.id,
            project: session.folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            title: super::title(session),
            bytes: kept.files.iter().map(|file| file.bytes).sum(),
            stored_bytes: kept.stored_bytes,
            new: count(CopyOutcome::New),
            grown: count(CopyOutcome::Grown),
            unchanged: count(CopyOutcome::Unchanged),
            cut_short: count(CopyOutcome::CutShort),
            diverged: count(CopyOutcome::Diverged),
            kept_until: kept_until(session).map(|until| until.to_string()),
            failed: kept.failed.iter().map(ToString::to_string).collect(),
        }
    }

    fn text(&self) -> String {
        let mut done = Vec::new();
        for (count, what) in [(self.new, "new"), (self.grown, "grown"), (self.unchanged, "unchanged")] {
            if count > 0 {
                done.push(format!("{count} {what}"));
            }
        }
        if self.cut_short > 0 {
            done.push(format!("{YELLOW}{} truncated, the longer copy is kept{PLAIN}", self.cut_short));
        }
        if self.diverged > 0 {
            done.push(format!("{YELLOW}{} changed, both versions are kept{PLAIN}", self.diverged));
        }
        let until = self.kept_until.as_deref().map(day).unwrap_or_default();
        let head = format!(
            "{}  {}  {:>8} as {:>8}  {}, original until {until}",
            printable(&human::short_id(self.session)),
            human::padded(&printable(&self.project), 16),
            human::bytes(self.bytes),
            human::bytes(self.stored_bytes),
            done.join(", "),
        );
        let mut text = format!("{head}  {DIM}{}{PLAIN}\n", super::title_after(&head, self.title.as_deref()));
        for error in &self.failed {
            // Writing into a String cannot fail.
            let _ = writeln!(text, "  {RED}failed{PLAIN} {}", printable(error));
        }
        text
    }
}

/// Returns the time after which Claude Code may delete the original.
fn kept_until(session: &SessionFiles) -> Option<Timestamp> {
    let retention = config_folder(session).map_or(CleanupPeriod::DEFAULT, |root| CleanupPeriod::of(&root));
    Timestamp::try_from(retention.until(session.modified()?)?).ok()
}

#[derive(Serialize)]
struct RestoreReport<'a> {
    session: &'a str,
    to: String,
    restored: usize,
    same: usize,
    left: Vec<String>,
    failed: Vec<String>,
}

/// JSON line of a session in the archive.
#[derive(Serialize)]
struct ListLine<'a> {
    session: &'a str,
    project: &'a str,
    root: Option<String>,
    archived: &'a str,
    modified: Option<String>,
    files: usize,
    bytes: u64,
    stored_bytes: u64,
    /// True if the original main file still exists.
    original: bool,
    /// Title, if the original still exists.
    title: Option<String>,
}

fn list(store: &Archive, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let contents = store.contents()?;
    for manifest in &contents.sessions {
        let line = ListLine {
            session: &manifest.session,
            project: &manifest.project,
            root: manifest.root.as_ref().map(|root| root.display().to_string()),
            archived: &manifest.archived,
            modified: manifest
                .modified()
                .and_then(|at| Timestamp::try_from(at).ok())
                .map(|at| at.to_string()),
            files: manifest.files.len(),
            bytes: manifest.bytes(),
            stored_bytes: manifest.stored_bytes(),
            original: original(manifest).is_some(),
            title: original(manifest)
                .and_then(|file| SessionFiles::of_file(&file).ok())
                .and_then(|session| super::title(&session)),
        };
        if root.json {
            out.json(&line)?;
        } else {
            out.text(&line.text())?;
        }
    }
    for error in &contents.unreadable {
        out.note(&format!("{YELLOW}warning{PLAIN}: {}", printable(&error.to_string())))?;
    }
    if !root.json {
        let bytes = contents.sessions.iter().map(Manifest::stored_bytes).sum();
        let sessions = human::plural(contents.sessions.len() as u64, "session");
        let folder = printable(&store.folder().display().to_string());
        out.note(&format!("{sessions}, {}, in {folder}", human::bytes(bytes)))?;
    }
    Ok(if contents.unreadable.is_empty() { Exit::Success } else { Exit::Failure })
}

impl ListLine<'_> {
    fn text(&self) -> String {
        let changed = self.modified.as_deref().map(day).unwrap_or_default();
        let original = if self.original { "" } else { "  original deleted" };
        let head = format!(
            "{}  {}  {changed}  {:>8} as {:>8}{original}",
            printable(&human::short_id(self.session)),
            human::padded(&printable(self.project), 16),
            human::bytes(self.bytes),
            human::bytes(self.stored_bytes),
        );
        format!("{head}  {DIM}{}{PLAIN}\n", super::title_after(&head, self.title.as_deref()))
    }
}

/// The original main file of an archived session, if it still exists.
fn original(manifest: &Manifest) -> Option<PathBuf> {
    let file = PathBuf::from("projects").join(&manifest.project).join(format!("{}.jsonl", manifest.session));
    manifest.root.as_ref().map(|root| root.join(file)).filter(|file| file.exists())
}

fn files(count: usize) -> String {
    human::plural(count as u64, "file")
}

/// Formats the local date of a timestamp.
fn day(moment: &str) -> String {
    let moment = moment.parse::<Timestamp>().map(|at| at.to_zoned(TimeZone::system()).date().to_string());
    moment.unwrap_or_default()
}
