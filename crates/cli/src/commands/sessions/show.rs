use std::ffi::OsString;

use clap::{Args, ValueEnum};
use tidings_transcript::export::{
    Agents, Branches, Detail, Format, Options, Style, export, find_branch, hidden_branches,
};
use tidings_transcript::redact::Redactor;
use tidings_transcript::session::{Session, View};

use super::Place;
use crate::error::Exit;
use crate::output::{BOLD, DIM, Output, PLAIN, RED};

/// A session as text: the branch with the conversation, tools folded
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// The session: its id, the beginning of it, or a file; the newest one if left out
    id: Option<OsString>,

    #[command(flatten)]
    what: What,

    /// Show sub-agents, below the calls that started them
    #[arg(long)]
    sidechains: bool,
}

/// Which entries; `show` and `export` take these.
#[derive(Debug, Args)]
pub(crate) struct What {
    /// Another branch: its number in `sessions tree`, or the uuid of one of its entries
    #[arg(long, value_name = "N|UUID")]
    branch: Option<String>,

    /// All branches, each where it forks off
    #[arg(long, conflicts_with = "branch")]
    all_branches: bool,

    /// Everything: inputs, outputs, thinking, and what Claude Code tells the model by itself
    #[arg(long)]
    full: bool,

    /// Past a compaction: go on with what stands before it, or only with what the model still sees
    #[arg(long, value_name = "WHOSE", default_value = "people")]
    view: Whose,

    /// Replace keys, tokens and passwords by the name of what they are; pictures are left as they are
    #[arg(long)]
    redact: bool,
}

/// For whom a session is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Whose {
    People,
    Model,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions show                      the newest session
  tidings sessions show 5a15c0fc --full      with inputs, outputs and thinking
  tidings sessions show 5a15c0fc --branch 2  what was abandoned
  tidings sessions show --json | jq -r 'select(.part == \"prompt\") | .text'

With --json one object per entry:
  {\"uuid\",\"parent\",\"line\",\"at\",\"kind\",\"part\",\"actor\",\"flow\",\"lane\",\"text\",
   \"tools\":[{\"id\",\"name\",\"summary\",\"input\"}],\"results\":[{\"id\",\"name\",\"is_error\",\"text\"}]}
and where there is something to say \"model\", \"thinking\", \"pictures\" and \"is_error\"";

impl Show {
    pub(crate) fn run(&self, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        let files = place.session(self.id.as_deref())?;
        let session = Session::open(&files)?;
        session.require_entries()?;
        let mut options = self.what.options(&session)?;
        options.agents = if self.sidechains { Agents::Shown } else { Agents::Hidden };
        let format = if place.json {
            Format::JsonLines
        } else {
            Format::Text(Style { bold: BOLD, dim: DIM, error: RED, plain: PLAIN })
        };
        let mut redactor = self.what.redactor();
        out.styled(|out| Ok(export(&session, &files, format, &options, redactor.as_mut(), out)?))?;
        announce_hidden(&session, options.branches, out)?;
        report(redactor.as_ref(), out)?;
        Ok(Exit::Fine)
    }
}

impl What {
    pub(crate) fn options(&self, session: &Session) -> anyhow::Result<Options> {
        Ok(Options {
            detail: if self.full { Detail::Full } else { Detail::Folded },
            branches: match &self.branch {
                Some(name) => Branches::One(find_branch(session, name)?),
                None if self.all_branches => Branches::All,
                None => Branches::Active,
            },
            view: match self.view {
                Whose::People => View::Unified,
                Whose::Model => View::Model,
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

/// Says how many entries the branches have that were not written, and which options show them.
pub(crate) fn announce_hidden(session: &Session, branches: Branches, out: &Output) -> anyhow::Result<()> {
    let hidden = hidden_branches(session, branches);
    if hidden.entries > 0 {
        let count = crate::human::count(hidden.entries as u64);
        let entries = if hidden.entries == 1 { "entry is" } else { "entries are" };
        out.note(&format!(
            "{count} {entries} in other branches ({}) and not shown; `--all-branches` shows everything, `--branch N` one branch, \
             `tidings sessions tree` lists them",
            hidden.branches
        ))?;
    }
    Ok(())
}

/// Says what was taken out.
pub(crate) fn report(redactor: Option<&Redactor>, out: &Output) -> anyhow::Result<()> {
    let Some(redactor) = redactor else { return Ok(()) };
    if redactor.total() == 0 {
        out.note("No secrets found; pictures were not looked at")?;
        return Ok(());
    }
    let families: Vec<String> =
        redactor.counts().map(|(family, count)| format!("{family} {count}")).collect();
    out.note(&format!(
        "Redacted {} places: {}; pictures were not looked at",
        redactor.total(),
        families.join(", ")
    ))?;
    Ok(())
}
