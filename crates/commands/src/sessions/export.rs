//! `tidings sessions export`: writes a session as Markdown, HTML, JSON, its own lines or events.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;
use tidings_agent::dialect::{Dialect, Lines};
use tidings_agent::fold::FoldOptions;
use tidings_agent::history::replay_session;
use tidings_transcript::Error;
use tidings_transcript::agents::{AgentStore, StoredSession};
use tidings_transcript::export::{Branches, Format, Options, export, learn_secrets};
use tidings_transcript::redact::Redactor;
use tidings_transcript::repair::Existing;
use tidings_transcript::roots::SessionFiles;
use tidings_transcript::session::{NodeId, Session};

use super::backend::{self, BackendChoiceArgs};
use super::show::{ContentArgs, announce_hidden, report};
use super::{RootArgs, export_project};
use crate::error::{CannotRun, Exit};
use crate::output::Output;

/// Export a session as Markdown, HTML, JSON or events
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    /// Session id, the first characters of it, or a file [default: chosen from a list in a terminal, else the
    /// newest session]
    id: Option<OsString>,

    /// Output format
    #[arg(long, value_name = "FORMAT")]
    to: ExportFormat,

    /// Export all sessions whose project path contains this as HTML, into the folder OUT, with a page that
    /// lists them
    #[arg(long, value_name = "PART", conflicts_with = "id", requires = "output")]
    project: Option<String>,

    /// File to write to; `-` is standard output [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Overwrite OUT if it exists
    #[arg(long, requires = "output")]
    force: bool,

    #[command(flatten)]
    content: ContentArgs,
}

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// Markdown, as GitHub renders it
    Md,
    /// One self-contained file for a browser or a phone
    Html,
    /// One document: metadata of the session, and its entries
    Json,
    /// The lines of the session file, byte for byte; with --full those of its sub-agents too. Rows of a
    /// database become one object each
    Ndjson,
    /// Events of the server protocol, one per line, as a client would have received them
    Ui,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions export --to html -o session.html
  tidings sessions export 5a15c0fc --to md --redact > notes.md
  tidings sessions export 5a15c0fc --to json | jq .session
  tidings sessions export 5a15c0fc --to ndjson --redact -o clean.jsonl
  tidings sessions export 5a15c0fc --to ui -o events.ndjson
  tidings sessions export --backend opencode --to md
  tidings sessions export --project shop --to html --redact -o pages     then open pages/index.html

Long outputs are truncated in html and md, with a note of how much is missing; --full writes all of them. \
With -o, --json prints what was written: {\"id\",\"to\",\"file\",\"bytes\"}, and with --redact \"redacted\"";

impl ExportArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        if root.json && self.file().is_none() && self.to.is_page() {
            return Err(no_json().into());
        }
        if let (Some(project), Some(folder)) = (&self.project, &self.output) {
            if self.to != ExportFormat::Html {
                return Err(only_html().into());
            }
            let existing = if self.force { Existing::Replace } else { Existing::Refuse };
            return export_project::export(project, folder, existing, &self.content, root, out);
        }
        let files = root.session(self.id.as_deref(), out)?;
        let session = Session::open(&files)?;
        session.require_entries()?;
        self.export(&session, &files, root, out)
    }

    /// Exports a session of another agent.
    pub(crate) fn run_others(
        &self,
        backend: &BackendChoiceArgs,
        root: &RootArgs,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        if self.project.is_some() {
            return Err(backend::only_claude("--project").into());
        }
        if root.json && self.file().is_none() && self.to.is_page() {
            return Err(no_json().into());
        }
        let found = backend.scan(root, out)?;
        let Some(opened) = backend.open(&found, self.id.as_deref(), root)? else {
            return self.run(root, out);
        };
        let files = &opened.stored.files;
        let session = opened.conversation.session(files)?;
        let exported = if self.to == ExportFormat::Ndjson {
            let mut redactor = self.content.redactor();
            let written = self.write(files, out, |out| {
                write_records(opened.store, opened.stored, redactor.as_mut(), out)
            })?;
            self.report(written, &session, redactor.as_ref(), root, out)?
        } else {
            self.export(&session, files, root, out)?
        };
        backend::announce(opened.stored.agent, &opened.conversation.report, out)?;
        Ok(exported.and(found.exit))
    }

    fn export(
        &self,
        session: &Session,
        files: &SessionFiles,
        root: &RootArgs,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        let mut options = self.content.options(session, out)?;
        let Some(format) = self.to.file_format() else {
            let leaf = match options.branches {
                Branches::One(leaf) => Some(leaf),
                Branches::Active => None,
                Branches::All => return Err(one_branch().into()),
            };
            return self.events(session, leaf, &options, files, root, out);
        };
        // An HTML page shows abandoned branches folded.
        if self.to == ExportFormat::Html && !self.content.names_a_branch() {
            options.branches = Branches::All;
        }
        let mut redactor = self.content.redactor();
        let written = self
            .write(files, out, |out| Ok(export(session, files, format, &options, redactor.as_mut(), out)?))?;
        // The lines of the file are written for every branch.
        if format != Format::Lines {
            announce_hidden(session, options.branches, out)?;
        }
        self.report(written, session, redactor.as_ref(), root, out)
    }

    /// File to write to; none for standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// Writes to the file or to standard output, and returns the size of the file.
    fn write(
        &self,
        files: &SessionFiles,
        out: &mut Output,
        write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
    ) -> anyhow::Result<Option<u64>> {
        let Some(path) = self.file() else {
            out.with(write)?;
            return Ok(None);
        };
        let existing = if self.force { Existing::Replace } else { Existing::Refuse };
        let mut writer = BufWriter::new(create(path, files, existing)?);
        write(&mut writer)?;
        let written = writer.flush().and_then(|()| writer.get_ref().metadata());
        Ok(Some(written.map_err(|error| Error::io("write", path, error))?.len()))
    }

    /// Prints what was redacted, and with `--json` what was written.
    fn report(
        &self,
        written: Option<u64>,
        session: &Session,
        redactor: Option<&Redactor>,
        root: &RootArgs,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        report(redactor, out)?;
        if let (true, Some(path), Some(bytes)) = (root.json, self.file(), written) {
            let report = ExportReport {
                id: session.id(),
                to: self.to.name(),
                file: path.display().to_string(),
                bytes,
                redacted: redactor.map(|redactor| redactor.counts().collect()),
            };
            out.json(&report)?;
        }
        Ok(Exit::Success)
    }

    /// Writes the events of one branch, with sub-agents as notes.
    fn events(
        &self,
        session: &Session,
        leaf: Option<NodeId>,
        options: &Options,
        files: &SessionFiles,
        root: &RootArgs,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        let mut redactor = self.content.redactor();
        if let Some(redactor) = &mut redactor {
            learn_secrets(session, files, options, redactor)?;
        }
        let mut lines = Lines::new(Dialect::Ui);
        let mut text = String::new();
        let written = self.write(files, out, |writer| {
            replay_session(session, leaf, 1, FoldOptions::default(), |events, _| {
                text.clear();
                lines.write(events, &mut text)?;
                for line in text.lines() {
                    let line =
                        redactor.as_mut().map_or(Cow::Borrowed(line), |redactor| redactor.redact_json(line));
                    writeln!(writer, "{line}")?;
                }
                Ok::<(), anyhow::Error>(())
            })
        })?;
        announce_hidden(session, leaf.map_or(Branches::Active, Branches::One), out)?;
        self.report(written, session, redactor.as_ref(), root, out)
    }
}

impl ExportFormat {
    /// Name on the command line.
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Returns true for pages, which people read, and which are no JSON.
    fn is_page(self) -> bool {
        match self {
            ExportFormat::Md | ExportFormat::Html => true,
            ExportFormat::Json | ExportFormat::Ndjson | ExportFormat::Ui => false,
        }
    }

    /// The format of the session's file; events are none.
    fn file_format(self) -> Option<Format> {
        match self {
            ExportFormat::Md => Some(Format::Markdown),
            ExportFormat::Html => Some(Format::Html),
            ExportFormat::Json => Some(Format::Json),
            ExportFormat::Ndjson => Some(Format::Lines),
            ExportFormat::Ui => None,
        }
    }
}

/// Writes the records of another agent as they are, one per line. With a redactor they are read twice, so
/// that a secret that one of them reveals is redacted in all of them.
fn write_records(
    store: &dyn AgentStore,
    session: &StoredSession,
    mut redactor: Option<&mut Redactor>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    if let Some(redactor) = redactor.as_deref_mut() {
        store.records(session, &mut |record| {
            redactor.learn_json(&String::from_utf8_lossy(record));
            Ok(())
        })?;
    }
    store.records(session, &mut |record| {
        let text = std::str::from_utf8(record).ok();
        let line = match (redactor.as_deref_mut(), text) {
            (Some(redactor), Some(text)) => Cow::Owned(redactor.redact_json(text).into_owned().into_bytes()),
            (Some(redactor), None) => {
                Cow::Owned(redactor.redact(&String::from_utf8_lossy(record)).into_owned().into_bytes())
            }
            (None, _) => Cow::Borrowed(record),
        };
        let written = out.write_all(&line).and_then(|()| out.write_all(b"\n"));
        written.map_err(Error::export)
    })?;
    Ok(())
}

/// JSON output about a written file.
#[derive(Serialize)]
struct ExportReport<'a> {
    id: &'a str,
    to: String,
    file: String,
    bytes: u64,
    /// Number of redacted secrets by kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted: Option<BTreeMap<&'static str, u64>>,
}

fn only_html() -> CannotRun {
    CannotRun {
        code: CannotRun::USAGE,
        message: "A project is exported as HTML only".to_owned(),
        hint: "give --to html, or export its sessions one by one",
    }
}

fn no_json() -> CannotRun {
    CannotRun {
        code: CannotRun::USAGE,
        message: "Markdown and HTML cannot be printed as JSON".to_owned(),
        hint: "write to a file with -o, so that --json reports it, or export with --to json",
    }
}

fn one_branch() -> CannotRun {
    CannotRun {
        code: CannotRun::USAGE,
        message: "Events are a linear history and cannot show all branches".to_owned(),
        hint: "name one branch with --branch, or omit --all-branches",
    }
}

/// Creates the output file; refuses the session's own files, and existing files without `--force`.
pub(super) fn create(path: &Path, files: &SessionFiles, existing: Existing) -> anyhow::Result<File> {
    let same = |file: &Path| match (path.canonicalize(), file.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    if files.files().any(|file| same(&file.path)) {
        return Err(CannotRun {
            code: CannotRun::USAGE,
            message: format!("`{}` is a file of the exported session", path.display()),
            hint: "name another file with -o",
        }
        .into());
    }
    // Pipes and devices are not overwritten.
    let is_taken = path.symlink_metadata().is_ok() && !path.metadata().is_ok_and(|found| !found.is_file());
    if existing == Existing::Refuse && is_taken {
        return Err(CannotRun {
            code: CannotRun::USAGE,
            message: format!("The file `{}` already exists", path.display()),
            hint: "give another name, or --force to overwrite it",
        }
        .into());
    }
    Ok(File::create(path).map_err(|error| Error::io("write", path, error))?)
}
