//! `tidings sessions check`: validates session files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::Path;

use serde::Serialize;
use tidings_transcript::check::{self, CheckEvent, CheckReport, Profile};
use tidings_transcript::roots::{SessionFiles, SessionScan};
use tidings_transcript::{ErrorKind, Finding, Severity};

use super::RootArgs;
use crate::error::Exit;
use crate::output::{self, BOLD, DIM, Output, PLAIN, RED, YELLOW, printable};
use crate::progress::Progress;

/// Validate session files: every line and every link
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckArgs {
    /// Session files, ids or unique prefixes of ids [default: all sessions]
    #[arg(value_name = "ID|FILE")]
    sessions: Vec<OsString>,

    /// Fail on warnings too
    #[arg(long)]
    strict: bool,

    /// Validate against the published session specification instead of what the CLI writes
    #[arg(long, conflicts_with = "lenient")]
    spec: bool,

    /// Validate every file only against what the CLI writes
    #[arg(long)]
    lenient: bool,
}

const EXAMPLES: &str = "\
By default, files that follow the published session specification are validated against it, and all others against \
what the CLI writes. A session consists of its main file and the files of its sub-agents. Errors are lost data or \
broken rules, warnings are unusual data, notes are for information.

Examples:
  tidings sessions check                        all sessions
  tidings sessions check 5a15c0fc               one session, by a prefix of its id
  tidings sessions check --strict               warnings fail too
  tidings sessions check --spec talk.jsonl      against the published specification
  tidings sessions check --json | jq -r 'select(.severity == \"error\") | .file' | sort -u

Exit codes: 0 no errors (with --strict: no warnings either), 1 errors or unreadable files, 2 wrong usage, \
3 the command could not run";

impl CheckArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let SessionScan { sessions, unreadable, .. } = self.found(root)?;
        let progress = Progress::bytes("checking", sessions.iter().map(SessionFiles::bytes).sum());
        let mut total = CheckReport::default();
        for error in &unreadable {
            let finding = check::unreadable(error);
            total.count(&finding);
            out.text(&line(error.path().unwrap_or(Path::new("")), &finding, root)?)?;
        }
        for session in &sessions {
            let mut written: anyhow::Result<()> = Ok(());
            let report = check::session(session, self.profile(), |event| {
                match event {
                    CheckEvent::Read(bytes) => progress.done(bytes),
                    CheckEvent::Finding { file, finding } => {
                        written = line(file, finding, root)
                            .and_then(|line| Ok(progress.suspend(|| out.text(&line))?));
                    }
                }
                if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            written?;
            total.add(&report);
        }
        drop(progress);
        out.text(&if root.json { json_summary(&total)? } else { summary(&total) })?;
        let wrong = total.errors + if self.strict { total.warnings } else { 0 };
        Ok(if wrong == 0 { Exit::Success } else { Exit::Failure })
    }

    fn profile(&self) -> Option<Profile> {
        match (self.spec, self.lenient) {
            (true, _) => Some(Profile::Strict),
            (_, true) => Some(Profile::Lenient),
            _ => None,
        }
    }

    /// Finds the named sessions, or all.
    fn found(&self, root: &RootArgs) -> anyhow::Result<SessionScan> {
        if self.sessions.is_empty() {
            return Ok(root.roots()?.scan()?);
        }
        let mut found = SessionScan::default();
        for name in &self.sessions {
            let path = Path::new(name);
            // A file needs no root.
            let session = if path.is_file() { SessionFiles::of_file(path) } else { root.roots()?.find(name) };
            match session {
                Ok(session) => found.sessions.push(session),
                // The session exists, but one of its files cannot be read.
                Err(error) if error.kind() == ErrorKind::Io => found.unreadable.push(error),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(found)
    }
}

fn line(file: &Path, finding: &Finding, root: &RootArgs) -> anyhow::Result<String> {
    if root.json { json(file, finding) } else { Ok(text(file, finding)) }
}

/// Formats a finding as `file:line: severity[rule] message`, like compilers do, so that editors can jump
/// there.
fn text(file: &Path, finding: &Finding) -> String {
    let color = match finding.severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Note => DIM,
    };
    let (severity, rule) = (finding.severity.as_str(), finding.rule);
    let file = printable(&file.display().to_string());
    let message = printable(&finding.message);
    let line = match finding.place.line {
        0 => String::new(),
        line => format!("{line}:"),
    };
    format!("{BOLD}{file}:{line}{PLAIN} {color}{severity}{PLAIN}[{rule}] {message}\n")
}

fn summary(report: &CheckReport) -> String {
    let saved = if report.salvaged == 0 {
        String::new()
    } else {
        format!(" ({} salvaged)", count(report.salvaged, "entry"))
    };
    format!(
        "{} in {}: {}, {} damaged{saved}, {} blank\n{}, {}, {}\n",
        count(report.lines, "line"),
        count(report.files, "file"),
        count(report.entries, "entry"),
        report.damaged,
        report.blank,
        count(report.errors, "error"),
        count(report.warnings, "warning"),
        count(report.notes, "note"),
    )
}

fn count(number: u64, thing: &str) -> String {
    match (number, thing.strip_suffix('y')) {
        (1, _) => format!("1 {thing}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        _ => format!("{number} {thing}s"),
    }
}

/// JSON line of a finding.
#[derive(Serialize)]
struct FindingLine<'a> {
    file: String,
    line: u64,
    offset: u64,
    rule: &'a str,
    severity: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<&'a str>,
}

fn json(file: &Path, finding: &Finding) -> anyhow::Result<String> {
    let line = FindingLine {
        file: file.display().to_string(),
        line: finding.place.line,
        offset: finding.place.offset,
        rule: finding.rule.as_str(),
        severity: finding.severity.as_str(),
        message: &finding.message,
        uuid: finding.uuid.as_deref(),
    };
    Ok(output::json_line(&line)?)
}

#[derive(Serialize)]
struct CheckSummaryLine<'a> {
    summary: CheckSummary<'a>,
}

/// Last JSON line.
#[derive(Serialize)]
struct CheckSummary<'a> {
    files: u64,
    lines: u64,
    entries: u64,
    damaged: u64,
    blank: u64,
    salvaged: u64,
    errors: u64,
    warnings: u64,
    notes: u64,
    dialect: &'a str,
    rules: BTreeMap<&'a str, u64>,
}

fn json_summary(report: &CheckReport) -> anyhow::Result<String> {
    let summary = CheckSummary {
        files: report.files,
        lines: report.lines,
        entries: report.entries,
        damaged: report.damaged,
        blank: report.blank,
        salvaged: report.salvaged,
        errors: report.errors,
        warnings: report.warnings,
        notes: report.notes,
        dialect: report.dialect(),
        rules: report.rules.iter().map(|(rule, count)| (rule.as_str(), *count)).collect(),
    };
    Ok(output::json_line(&CheckSummaryLine { summary })?)
}
