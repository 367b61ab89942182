//! `tidings sessions du`: disk usage by project, session and kind of entry.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;

use clap::Args;
use serde::Serialize;
use tidings_transcript::all_files::FilePurpose;
use tidings_transcript::blocks::Buffer;
use tidings_transcript::du::{Kinds, SessionWeight, Weight, weigh};
use tidings_transcript::roots::SessionFiles;

use super::RootArgs;
use super::unreadable::sentence;
use crate::error::Exit;
use crate::human;
use crate::output::{BOLD, DIM, Output, PLAIN, YELLOW, printable};
use crate::progress::Progress;

/// Show disk usage by project, session and kind of entry
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DuArgs {
    /// Only these sessions: ids, unique prefixes of ids, or files
    #[arg(value_name = "ID")]
    ids: Vec<OsString>,

    /// Maximum number of rows per table
    #[arg(short = 'n', long = "top", value_name = "N", default_value_t = 10)]
    top: usize,

    /// Do not read the files; omits the table by kind of entry
    #[arg(long)]
    files_only: bool,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions du
  tidings sessions du --files-only -n 30
  tidings sessions du 7c135d63 --json | jq '.entries[0]'

Exit codes: 0 everything was read, 1 some files could not be read (see the warnings), 2 wrong usage, \
3 the command could not run";

/// JSON output.
#[derive(Serialize)]
struct DuReport {
    sessions: usize,
    files: u64,
    bytes: u64,
    parts: Vec<SizeRow>,
    projects: Vec<SizeRow>,
    largest: Vec<SessionRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<Vec<SizeRow>>,
    unreadable: Vec<String>,
}

#[derive(Serialize)]
struct SizeRow {
    name: String,
    bytes: u64,
    count: u64,
}

#[derive(Serialize)]
struct SessionRow {
    session: String,
    project: String,
    files: u64,
    bytes: u64,
}

impl DuArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let roots = root.roots()?;
        let (sessions, mut unreadable) = if self.ids.is_empty() {
            let found = roots.scan()?;
            (found.sessions, found.unreadable.iter().map(sentence).collect())
        } else {
            (self.ids.iter().map(|id| roots.find(id)).collect::<Result<Vec<_>, _>>()?, Vec::new())
        };
        let weights: Vec<SessionWeight> = sessions.iter().map(weigh).collect();
        for weight in &weights {
            unreadable.extend(weight.unreadable.iter().map(sentence));
        }
        let entries = if self.files_only { None } else { Some(entries(&sessions, &mut unreadable)) };
        let mut report = report(&sessions, &weights);
        report.entries = entries;
        report.unreadable = unreadable;
        if root.json {
            report.projects.truncate(self.top);
            report.largest.truncate(self.top);
            out.json(&report)?;
        } else {
            out.text(&text(&report, self.top))?;
            for error in &report.unreadable {
                out.note(&format!("{YELLOW}warning{PLAIN}: {}", printable(error)))?;
            }
        }
        Ok(if report.unreadable.is_empty() { Exit::Success } else { Exit::Failure })
    }
}

fn entries(sessions: &[SessionFiles], unreadable: &mut Vec<String>) -> Vec<SizeRow> {
    let mut kinds = Kinds::default();
    let mut buffer = Buffer::default();
    let progress = Progress::bytes("reading", sessions.iter().map(SessionFiles::bytes).sum());
    for session in sessions {
        if let Err(error) = kinds.add(session, &mut buffer) {
            unreadable.push(sentence(&error));
        }
        progress.done(session.bytes());
    }
    let row = |(kind, weight): (&str, Weight)| SizeRow {
        name: kind.to_owned(),
        bytes: weight.bytes,
        count: weight.count,
    };
    kinds.heaviest().into_iter().map(row).collect()
}

fn report(sessions: &[SessionFiles], weights: &[SessionWeight]) -> DuReport {
    let mut parts: BTreeMap<FilePurpose, Weight> = BTreeMap::new();
    let mut projects: BTreeMap<String, Weight> = BTreeMap::new();
    let mut largest = Vec::new();
    for (session, weight) in sessions.iter().zip(weights) {
        for (part, weight) in &weight.parts {
            add(parts.entry(*part).or_default(), *weight);
        }
        let project = session.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        add(projects.entry(project.clone()).or_default(), weight.total);
        let Weight { bytes, count: files } = weight.total;
        largest.push(SessionRow { session: session.id.clone(), project, files, bytes });
    }
    largest.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.session.cmp(&b.session)));
    let row = |(name, weight): (String, Weight)| SizeRow { name, bytes: weight.bytes, count: weight.count };
    let mut projects: Vec<SizeRow> = projects.into_iter().map(row).collect();
    projects.sort_by_key(|row| std::cmp::Reverse(row.bytes));
    DuReport {
        sessions: tidings_transcript::list::count(sessions),
        files: parts.values().map(|weight| weight.count).sum(),
        bytes: parts.values().map(|weight| weight.bytes).sum(),
        parts: parts.into_iter().map(|(part, weight)| row((part.as_str().to_owned(), weight))).collect(),
        projects,
        largest,
        entries: None,
        unreadable: Vec::new(),
    }
}

fn add(sum: &mut Weight, more: Weight) {
    sum.bytes += more.bytes;
    sum.count += more.count;
}

fn text(report: &DuReport, top: usize) -> String {
    let (sessions, files) =
        (human::plural(report.sessions as u64, "session"), human::plural(report.files, "file"));
    let mut out = format!("{BOLD}{}{PLAIN} in {files} of {sessions}\n", human::bytes(report.bytes));
    let rows = |rows: &[SizeRow]| rows.iter().map(|row| (row.name.clone(), row.bytes)).collect::<Vec<_>>();
    table(&mut out, "by kind of file", rows(&report.parts), top.max(FilePurpose::ALL.len()));
    table(&mut out, "by project", rows(&report.projects), top);
    let largest = report.largest.iter();
    let largest = largest.map(|row| (format!("{}  {}", row.session, row.project), row.bytes)).collect();
    table(&mut out, "by session", largest, top);
    if let Some(entries) = &report.entries {
        table(&mut out, "by kind of entry", rows(entries), top);
    }
    out
}

/// Formats rows with a bar each, relative to the largest.
fn table(out: &mut String, title: &str, rows: Vec<(String, u64)>, top: usize) {
    const BAR: u64 = 24;
    let most = rows.iter().map(|(_, bytes)| *bytes).max().unwrap_or_default().max(1);
    let total: u64 = rows.iter().map(|(_, bytes)| *bytes).sum::<u64>().max(1);
    let hidden = rows.len().saturating_sub(top);
    let names = human::columns().saturating_sub(44).clamp(20, 64);
    // Writing into a String cannot fail.
    let _ = writeln!(out, "\n{BOLD}{title}{PLAIN}");
    for (name, bytes) in rows.into_iter().take(top) {
        let filled =
            usize::try_from(u128::from(bytes) * u128::from(BAR) / u128::from(most)).unwrap_or_default();
        let bar = format!("{}{}", "█".repeat(filled), " ".repeat(24 - filled.min(24)));
        let percent = u128::from(bytes) * 100 / u128::from(total);
        let size = human::bytes(bytes);
        let name = human::fit(&printable(&name), names);
        let _ = writeln!(out, "{size:>9} {percent:>3} % {bar} {name}");
    }
    if hidden > 0 {
        let _ = writeln!(out, "{DIM}          and {hidden} more{PLAIN}");
    }
}
