use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use tidings_agent::dialect::{Dialect, Lines};
use tidings_agent::fold::FoldOptions;
use tidings_agent::history::replay_session;
use tidings_transcript::export::{Branches, Format, export};
use tidings_transcript::roots::SessionFiles;
use tidings_transcript::session::{NodeId, Session};

use super::Place;
use super::show::{What, report};
use crate::error::{CannotRun, Exit};
use crate::output::Output;

/// A session as Markdown, one HTML file, JSON or events
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Export {
    /// The session: its id, the beginning of it, or a file; the newest one if left out
    id: Option<String>,

    /// What to write
    #[arg(long, value_name = "FORMAT")]
    to: To,

    /// Where to write it; standard output if left out or `-`
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

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

Long outputs are cut in html and md, with a note of how much is missing; --full keeps all of them";

impl Export {
    pub(crate) fn run(&self, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        let files = place.session(self.id.as_deref())?;
        let session = Session::open(&files)?;
        if self.to == To::Ui {
            let leaf = match self.what.options(&session)?.branches {
                Branches::One(leaf) => Some(leaf),
                Branches::Active => None,
                Branches::All => return Err(one_branch().into()),
            };
            return self.events(&session, leaf, &files, out);
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
        match self.output.as_deref().filter(|path| *path != Path::new("-")) {
            None => {
                out.with(|out| Ok(export(&session, &files, format, &options, redactor.as_mut(), out)?))?;
            }
            Some(path) => {
                let file = create(path, &files)?;
                let mut writer = BufWriter::new(file);
                export(&session, &files, format, &options, redactor.as_mut(), &mut writer)?;
                writer.flush()?;
            }
        }
        report(redactor.as_ref(), out)?;
        Ok(Exit::Fine)
    }

    /// Events of one branch, with sub-agents told of in notes.
    fn events(
        &self,
        session: &Session,
        leaf: Option<NodeId>,
        files: &SessionFiles,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        let mut redactor = self.what.redactor();
        let mut lines = Lines::new(Dialect::Ui);
        let mut text = String::new();
        let mut write = |writer: &mut dyn Write| {
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
        };
        match self.output.as_deref().filter(|path| *path != Path::new("-")) {
            None => out.with(|out| write(out))?,
            Some(path) => {
                let mut writer = BufWriter::new(create(path, files)?);
                write(&mut writer)?;
                writer.flush()?;
            }
        }
        report(redactor.as_ref(), out)?;
        Ok(Exit::Fine)
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
fn create(path: &Path, files: &SessionFiles) -> anyhow::Result<File> {
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
    Ok(fs_err::File::create(path)?.into_parts().0)
}
