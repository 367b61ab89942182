use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tidings_transcript::repair::{self, Action, Existing, RepairEvent, RepairReport};
use tidings_transcript::roots::SessionFiles;

use super::Place;
use crate::error::{CannotRun, Exit};
use crate::output::{BOLD, Output, PLAIN, printable};
use crate::progress::Progress;

/// Write a repaired copy of a session file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Repair {
    /// The session file, or the id of its session
    #[arg(value_name = "FILE|ID")]
    session: OsString,

    /// Where to write the copy; bytes that are no entry go to a file beside it, with `.lost` behind its name
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// Write over OUT if it is there
    #[arg(long)]
    force: bool,
}

const EXAMPLES: &str = "\
Repairs cut, glued and NUL-filled lines, bytes that are no UTF-8, copies of entries, parents and leaves that \
are not there, rings of parents, and tool calls whose results were lost. Everything else is copied byte for byte. \
The file itself is never changed, and the files of its sub-agents are not copied: repair each like any other file.

Examples:
  tidings sessions repair 5a15c0fc -o repaired.jsonl
  tidings sessions repair broken.jsonl -o repaired.jsonl --json
  tidings sessions check repaired.jsonl && mv repaired.jsonl broken.jsonl";

impl Repair {
    pub(crate) fn run(&self, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        let source = self.source(place)?;
        let existing = if self.force { Existing::Replace } else { Existing::Refuse };
        let progress = Progress::bytes("repairing", source.metadata().map_or(0, |metadata| metadata.len()));
        let mut written: anyhow::Result<()> = Ok(());
        let report = repair::file(&source, &self.output, existing, |event| match event {
            RepairEvent::Read(bytes) => progress.done(bytes),
            // Whoever reads the list may have had enough; the copy is wanted all the same.
            RepairEvent::Action(_) if written.is_err() => {}
            RepairEvent::Action(action) => {
                let line = if place.json { json(action) } else { Ok(text(&source, action)) };
                written = line.and_then(|line| Ok(progress.suspend(|| out.text(&line))?));
            }
        })?;
        drop(progress);
        written?;
        out.text(&if place.json {
            json_summary(&self.output, &report)?
        } else {
            summary(&self.output, &report)
        })?;
        Ok(Exit::Fine)
    }

    fn source(&self, place: &Place) -> anyhow::Result<PathBuf> {
        let path = Path::new(&self.session);
        if path.is_file() {
            return Ok(path.to_owned());
        }
        let SessionFiles { main, id, .. } = place.roots()?.find(&self.session)?;
        let missing = || CannotRun {
            code: "not_found",
            message: format!("Only files of sub-agents are left of session `{id}`"),
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
        text = format!("{text}{} bytes that are in no line of it are in {lost}\n", report.lost_bytes);
    }
    text
}

/// A repair for scripts.
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
    Ok(serde_json::to_string(&line)? + "\n")
}

#[derive(Serialize)]
struct SummaryLine<'a> {
    summary: Summary<'a>,
}

/// The last line for scripts.
#[derive(Serialize)]
struct Summary<'a> {
    output: String,
    lines: u64,
    actions: u64,
    lost_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<String>,
    rules: BTreeMap<&'a str, u64>,
}

fn json_summary(output: &Path, report: &RepairReport) -> anyhow::Result<String> {
    let summary = Summary {
        output: output.display().to_string(),
        lines: report.lines,
        actions: report.actions,
        lost_bytes: report.lost_bytes,
        lost: report.lost.as_ref().map(|lost| lost.display().to_string()),
        rules: report.rules.iter().map(|(rule, count)| (rule.as_str(), *count)).collect(),
    };
    Ok(serde_json::to_string(&SummaryLine { summary })? + "\n")
}
