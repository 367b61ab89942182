//! `tidings sessions repair`: writes a repaired copy of a session file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tidings_transcript::repair::{self, Action, Existing, RepairEvent, RepairReport};
use tidings_transcript::roots::SessionFiles;

use super::RootArgs;
use crate::error::{CannotRun, Exit};
use crate::output::{self, BOLD, Output, PLAIN, printable};
use crate::progress::Progress;

/// Write a repaired copy of a session file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RepairArgs {
    /// Session file, or the id of its session
    #[arg(value_name = "FILE|ID")]
    session: OsString,

    /// File to write the copy to; bytes that are not an entry go to a second file with the suffix `.lost`
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// Overwrite OUT if it exists
    #[arg(long)]
    force: bool,
}

const EXAMPLES: &str = "\
Repairs truncated, joined and NUL-filled lines, invalid UTF-8, duplicate entries, missing parents and leaves, \
cycles of parents, and tool calls without a result. Everything else is copied byte for byte. \
The original is never changed. Files of sub-agents are not copied: repair each of them like any other file.

Examples:
  tidings sessions repair 5a15c0fc -o repaired.jsonl
  tidings sessions repair broken.jsonl -o repaired.jsonl --json
  tidings sessions check repaired.jsonl && mv repaired.jsonl broken.jsonl";

impl RepairArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let source = self.source(root)?;
        let existing = if self.force { Existing::Replace } else { Existing::Refuse };
        let progress = Progress::bytes("repairing", source.metadata().map_or(0, |metadata| metadata.len()));
        let mut written: anyhow::Result<()> = Ok(());
        let report = repair::file(&source, &self.output, existing, |event| match event {
            RepairEvent::Read(bytes) => progress.done(bytes),
            // The reader may have closed the pipe; the copy is written anyway.
            RepairEvent::Action(_) if written.is_err() => {}
            RepairEvent::Action(action) => {
                let line = if root.json { json(action) } else { Ok(text(&source, action)) };
                written = line.and_then(|line| Ok(progress.suspend(|| out.text(&line))?));
            }
        })?;
        drop(progress);
        written?;
        out.text(&if root.json {
            json_summary(&self.output, &report)?
        } else {
            summary(&self.output, &report)
        })?;
        Ok(Exit::Success)
    }

    fn source(&self, root: &RootArgs) -> anyhow::Result<PathBuf> {
        let path = Path::new(&self.session);
        if path.is_file() {
            return Ok(path.to_owned());
        }
        let SessionFiles { main, id, .. } = root.roots()?.find(&self.session)?;
        let missing = || CannotRun {
            code: "not_found",
            message: format!("Session `{id}` has only files of sub-agents left"),
            hint: "give the path of the file to repair",
        };
        Ok(main.ok_or_else(missing)?.path)
    }
}

fn text(source: &Path, action: &Action) -> String {
    let file = printable(&source.display().to_string());
    let message = printable(&action.message);
    format!("{BOLD}{file}:{}:{PLAIN} repaired[{}] {message}\n", action.place.line, action.rule)
}

fn summary(output: &Path, report: &RepairReport) -> String {
    let output = printable(&output.display().to_string());
    let mut text = match report.actions {
        0 => format!("Nothing to repair; the copy is {output}\n"),
        1 => format!("1 repair; the copy is {output}\n"),
        count => format!("{count} repairs; the copy is {output}\n"),
    };
    if let Some(lost) = &report.lost {
        let lost = printable(&lost.display().to_string());
        text = format!("{text}{} bytes that could not be repaired are in {lost}\n", report.lost_bytes);
    }
    text
}

/// JSON line of a repair.
#[derive(Serialize)]
struct ActionLine<'a> {
    line: u64,
    offset: u64,
    rule: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<&'a str>,
}

fn json(action: &Action) -> anyhow::Result<String> {
    let line = ActionLine {
        line: action.place.line,
        offset: action.place.offset,
        rule: action.rule.as_str(),
        message: &action.message,
        uuid: action.uuid.as_deref(),
    };
    Ok(output::json_line(&line)?)
}

#[derive(Serialize)]
struct RepairSummaryLine<'a> {
    summary: RepairSummary<'a>,
}

/// Last JSON line.
#[derive(Serialize)]
struct RepairSummary<'a> {
    output: String,
    lines: u64,
    actions: u64,
    lost_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<String>,
    rules: BTreeMap<&'a str, u64>,
}

fn json_summary(output: &Path, report: &RepairReport) -> anyhow::Result<String> {
    let summary = RepairSummary {
        output: output.display().to_string(),
        lines: report.lines,
        actions: report.actions,
        lost_bytes: report.lost_bytes,
        lost: report.lost.as_ref().map(|lost| lost.display().to_string()),
        rules: report.rules.iter().map(|(rule, count)| (rule.as_str(), *count)).collect(),
    };
    Ok(output::json_line(&RepairSummaryLine { summary })?)
}
