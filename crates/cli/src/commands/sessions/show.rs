use std::collections::HashMap;
use std::ffi::OsString;

use clap::{Args, ValueEnum};
use tidings_bridge::SqliteJournal;
use tidings_protocol::json::Json;
use tidings_transcript::export::{
    Agents, Branches, Detail, Format, Options, Style, export, find_branch, hidden_branches,
};
use tidings_transcript::redact::Redactor;
use tidings_transcript::roots::SessionFiles;
use tidings_transcript::session::{Session, View};

use super::RootArgs;
use super::backend::{self, BackendArgs};
use crate::commands::backup::JOURNAL;
use crate::error::Exit;
use crate::output::{BOLD, DIM, Output, PLAIN, RED};

/// Print the conversation of a session, with tools folded
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// Session id, the first characters of it, or a file [default: chosen from a list in a terminal, else the
    /// newest session]
    id: Option<OsString>,

    #[command(flatten)]
    content: ContentArgs,

    /// Show sub-agents below the calls that started them
    #[arg(long)]
    sidechains: bool,
}

/// Arguments of `show` and `export` that select entries.
#[derive(Debug, Args)]
pub(crate) struct ContentArgs {
    /// Show another branch: its number in `sessions tree`, or the uuid of one of its entries
    #[arg(long, value_name = "N|UUID")]
    branch: Option<String>,

    /// Show all branches, each at its fork
    #[arg(long, conflicts_with = "branch")]
    all_branches: bool,

    /// Show everything: inputs, outputs, thinking, and text that Claude Code adds for the model
    #[arg(long)]
    full: bool,

    /// At a compaction: also show the conversation before it (people), or only what the model still sees
    /// (model)
    #[arg(long, value_name = "WHOSE", default_value = "people")]
    view: ViewArg,

    /// Replace keys, tokens and passwords by their kind; images are not changed
    #[arg(long)]
    redact: bool,
}

/// View of a session with compactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ViewArg {
    People,
    Model,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions show                      choose from a list
  tidings sessions show 5a15c0fc --full      with inputs, outputs and thinking
  tidings sessions show 5a15c0fc --branch 2  an abandoned branch
  tidings sessions show --backend codex      the newest session of Codex
  tidings sessions show --json | jq -r 'select(.part == \"prompt\") | .text'

--json prints one object per entry:
  {\"uuid\",\"parent\",\"line\",\"at\",\"kind\",\"part\",\"actor\",\"flow\",\"lane\",\"text\",
   \"tools\":[{\"id\",\"name\",\"summary\",\"input\",\"changed_input\"}],\"results\":[{\"id\",\"name\",\"is_error\",\"text\"}]}
and, if present, \"model\", \"thinking\", \"pictures\", \"is_error\", and \"record\" for an unknown record of \
another agent";

impl Show {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let files = root.session(self.id.as_deref(), out)?;
        let session = Session::open(&files)?;
        session.require_entries()?;
        self.print(&session, &files, root, out)
    }

    /// Prints a session of another agent.
    pub(crate) fn run_others(
        &self,
        backend: &BackendArgs,
        root: &RootArgs,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        let found = backend.scan(root, out)?;
        let Some(opened) = backend.open(&found, self.id.as_deref(), root)? else {
            return self.run(root, out);
        };
        let session = opened.conversation.session(&opened.stored.files)?;
        let shown = self.print(&session, &opened.stored.files, root, out)?;
        backend::announce(opened.stored.agent, &opened.conversation.report, out)?;
        Ok(shown.and(found.exit))
    }

    fn print(
        &self,
        session: &Session,
        files: &SessionFiles,
        root: &RootArgs,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        let mut options = self.content.options(session, out)?;
        options.agents = if self.sidechains { Agents::Shown } else { Agents::Hidden };
        let format = if root.json {
            Format::JsonLines
        } else {
            Format::Text(Style { bold: BOLD, dim: DIM, error: RED, plain: PLAIN })
        };
        let mut redactor = self.content.redactor();
        out.styled(|out| Ok(export(session, files, format, &options, redactor.as_mut(), out)?))?;
        announce_hidden(session, options.branches, out)?;
        report(redactor.as_ref(), out)?;
        Ok(Exit::Success)
    }
}

/// Prints the active branch of a session with tools folded.
pub(crate) fn print_session(files: &SessionFiles, out: &mut Output) -> anyhow::Result<Exit> {
    let content =
        ContentArgs { branch: None, all_branches: false, full: false, view: ViewArg::People, redact: false };
    let session = Session::open(files)?;
    session.require_entries()?;
    let options = content.options(&session, out)?;
    let format = Format::Text(Style { bold: BOLD, dim: DIM, error: RED, plain: PLAIN });
    out.styled(|out| Ok(export(&session, files, format, &options, None, out)?))?;
    announce_hidden(&session, options.branches, out)?;
    Ok(Exit::Success)
}

impl ContentArgs {
    pub(crate) fn options(&self, session: &Session, out: &Output) -> anyhow::Result<Options> {
        Ok(Options {
            changed_inputs: changed_inputs(session.id(), out)?,
            detail: if self.full { Detail::Full } else { Detail::Folded },
            branches: match &self.branch {
                Some(name) => Branches::One(find_branch(session, name)?),
                None if self.all_branches => Branches::All,
                None => Branches::Active,
            },
            view: match self.view {
                ViewArg::People => View::Unified,
                ViewArg::Model => View::Model,
            },
            zone: jiff::tz::TimeZone::system(),
            ..Options::default()
        })
    }

    pub(crate) fn names_a_branch(&self) -> bool {
        self.branch.is_some()
    }

    pub(crate) fn redactor(&self) -> Option<Redactor> {
        self.redact.then(Redactor::new)
    }
}

/// Inputs that people changed on the server before the calls ran. Only the server's journal has them.
fn changed_inputs(id: &str, out: &Output) -> anyhow::Result<HashMap<String, Json>> {
    let journal = RootArgs::data_folder().map(|data| data.join(JOURNAL));
    let Some(journal) = journal.filter(|journal| journal.exists()) else { return Ok(HashMap::new()) };
    match SqliteJournal::changed_inputs(&journal, id) {
        Ok(inputs) => Ok(inputs.into_iter().map(|(id, input)| (id, Json::from(input))).collect()),
        Err(error) => {
            out.note(&format!("Inputs that were changed before they ran are not shown: {error}"))?;
            Ok(HashMap::new())
        }
    }
}

/// Prints how many entries are in other branches, and which options show them.
pub(crate) fn announce_hidden(session: &Session, branches: Branches, out: &Output) -> anyhow::Result<()> {
    let hidden = hidden_branches(session, branches);
    if hidden.entries > 0 {
        let count = crate::human::count(hidden.entries as u64);
        let entries = if hidden.entries == 1 { "entry is" } else { "entries are" };
        out.note(&format!(
            "{count} {entries} in other branches ({}) and not shown; `--all-branches` shows all of them, `--branch N` \
             one branch, `tidings sessions tree` lists them",
            hidden.branches
        ))?;
    }
    Ok(())
}

/// Prints the kinds of secrets that were redacted, and those that were looked for: other secrets may be left.
pub(crate) fn report(redactor: Option<&Redactor>, out: &Output) -> anyhow::Result<()> {
    let Some(redactor) = redactor else { return Ok(()) };
    let kinds: Vec<&str> = Redactor::looked_for().collect();
    let looked_for = format!("looked for {} kinds of secrets: {}", kinds.len(), kinds.join(", "));
    if redactor.total() == 0 {
        out.note(&format!(
            "Found none of the secrets that can be recognised; {looked_for}; images were not checked"
        ))?;
        return Ok(());
    }
    let found: Vec<String> = redactor.counts().map(|(kind, count)| format!("{kind} {count}")).collect();
    out.note(&format!(
        "Redacted {}: {}; {looked_for}; images were not checked",
        crate::human::plural(redactor.total(), "secret"),
        found.join(", ")
    ))?;
    Ok(())
}
