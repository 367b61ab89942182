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
use tidings_transcript::export::{Branches, Format, export};
use tidings_transcript::redact::Redactor;
use tidings_transcript::repair::Existing;
use tidings_transcript::roots::SessionFiles;
use tidings_transcript::session::{NodeId, Session};

use super::Place;
use super::show::{What, announce_hidden, report};
use crate::error::{CannotRun, Exit};
use crate::output::Output;

/// A session as Markdown, one HTML file, JSON or events
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Export {
    /// The session: its id, the beginning of it, or a file; the newest one if left out
    id: Option<OsString>,

    /// What to write
    #[arg(long, value_name = "FORMAT")]
    to: To,

    /// Where to write it; standard output if left out or `-`
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Write over OUT if it is there
    #[arg(long, requires = "output")]
    force: bool,

    #[command(flatten)]
    what: What,
}

/// The formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum To {
    /// Markdown, as GitHub shows it
    Md,
    /// One file that needs nothing else, for a browser or a phone
    Html,
    /// One document: what is known of the session, and its entries
    Json,
    /// The session's own lines, byte for byte; with --full those of its sub-agents too
    Ndjson,
    /// Events of the server protocol of seed 003, one a line: what a client would have seen
    Ui,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions export --to html -o session.html
  tidings sessions export 5a15c0fc --to md --redact > notes.md
  tidings sessions export 5a15c0fc --to json | jq .session
  tidings sessions export 5a15c0fc --to ndjson --redact -o clean.jsonl
  tidings sessions export 5a15c0fc --to ui -o events.ndjson

Long outputs are cut in html and md, with a note of how much is missing; --full keeps all of them. \
With -o and --json it prints what was written: {\"id\",\"to\",\"file\",\"bytes\"}, and with --redact \"redacted\"";

impl Export {
    pub(crate) fn run(&self, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        if place.json && self.file().is_none() && matches!(self.to, To::Md | To::Html) {
            return Err(no_json().into());
        }
        let files = place.session(self.id.as_deref())?;
        let session = Session::open(&files)?;
        session.require_entries()?;
        if self.to == To::Ui {
            let leaf = match self.what.options(&session)?.branches {
                Branches::One(leaf) => Some(leaf),
                Branches::Active => None,
                Branches::All => return Err(one_branch().into()),
            };
            return self.events(&session, leaf, &files, place, out);
        }
        let mut options = self.what.options(&session)?;
        let format = match self.to {
            To::Md => Format::Markdown,
            To::Html => Format::Html,
            To::Json => Format::Json,
            // Events were dealt with before.
            To::Ndjson | To::Ui => Format::Lines,
        };
        // A page has room for what was abandoned: it stands there folded.
        if self.to == To::Html && !self.what.names_a_branch() {
            options.branches = Branches::All;
        }
        let mut redactor = self.what.redactor();
        let written = self.write(&files, out, |out| {
            Ok(export(&session, &files, format, &options, redactor.as_mut(), out)?)
        })?;
        // The session's own lines are all written, whatever their branch.
        if format != Format::Lines {
            announce_hidden(&session, options.branches, out)?;
        }
        self.tell(written, &session, redactor.as_ref(), place, out)
    }

    /// The file to write to, unless it is standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// Writes to where it shall go, and counts the bytes of a file.
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

    /// Says what was taken out, and to scripts what was written.
    fn tell(
        &self,
        written: Option<u64>,
        session: &Session,
        redactor: Option<&Redactor>,
        place: &Place,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        report(redactor, out)?;
        if let (true, Some(path), Some(bytes)) = (place.json, self.file(), written) {
            let exported = Exported {
                id: session.id(),
                to: self.to.as_str(),
                file: path.display().to_string(),
                bytes,
                redacted: redactor.map(|redactor| redactor.counts().collect()),
            };
            out.text(&format!("{}\n", serde_json::to_string(&exported)?))?;
        }
        Ok(Exit::Fine)
    }

    /// Events of one branch, with sub-agents told of in notes.
    fn events(
        &self,
        session: &Session,
        leaf: Option<NodeId>,
        files: &SessionFiles,
        place: &Place,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        let mut redactor = self.what.redactor();
        let mut lines = Lines::new(Dialect::Ui);
        let mut text = String::new();
        let written = self.write(files, out, |writer| {
            replay_session(session, leaf, 1, FoldOptions::default(), |events| {
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
        self.tell(written, session, redactor.as_ref(), place, out)
    }
}

impl To {
    /// As it is written on the command line.
    fn as_str(self) -> &'static str {
        match self {
            To::Md => "md",
            To::Html => "html",
            To::Json => "json",
            To::Ndjson => "ndjson",
            To::Ui => "ui",
        }
    }
}

/// What scripts learn about a file that was written.
#[derive(Serialize)]
struct Exported<'a> {
    id: &'a str,
    to: &'static str,
    file: String,
    bytes: u64,
    /// How many secrets of each kind were taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted: Option<BTreeMap<&'static str, u64>>,
}

fn no_json() -> CannotRun {
    CannotRun {
        code: CannotRun::USAGE,
        message: "Markdown and HTML are no JSON".to_owned(),
        hint: "name a file with -o to have what was written told as JSON, or export with --to json",
    }
}

fn one_branch() -> CannotRun {
    CannotRun {
        code: CannotRun::USAGE,
        message: "Events go one way and cannot show all branches".to_owned(),
        hint: "name one with --branch, or leave --all-branches out",
    }
}

/// Opens the output, unless it is the session itself.
fn create(path: &Path, files: &SessionFiles, existing: Existing) -> anyhow::Result<File> {
    let same = |file: &Path| match (path.canonicalize(), file.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    if files.files().any(|file| same(&file.path)) {
        return Err(CannotRun {
            code: CannotRun::USAGE,
            message: format!("`{}` is a file of the session itself", path.display()),
            hint: "name another file with -o",
        }
        .into());
    }
    // A pipe or a device is there to be written to.
    let is_taken = path.symlink_metadata().is_ok() && !path.metadata().is_ok_and(|found| !found.is_file());
    if existing == Existing::Refuse && is_taken {
        return Err(CannotRun {
            code: CannotRun::USAGE,
            message: format!("There is a file of that name: `{}`", path.display()),
            hint: "give another name, or --force to write over it",
        }
        .into());
    }
    Ok(File::create(path).map_err(|error| Error::io("write", path, error))?)
}
