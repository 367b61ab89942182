//! `tidings sessions show`: prints the conversation of a session.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use tidings_transcript::export::{
    Agents, Branches, Detail, EntryMark, Format, Options, Style, export, find_branch, hidden_branches,
};
use tidings_transcript::redact::Redactor;
use tidings_transcript::roots::SessionFiles;
use tidings_transcript::search::Hit;
use tidings_transcript::session::{LaneId, Session, View};

use super::backend::{self, BackendChoiceArgs};
use super::search_hits::excerpt_parts;
use super::{RootArgs, changed_inputs};
use crate::error::Exit;
use crate::human;
use crate::output::{BOLD, DIM, Output, PLAIN, RED};
use crate::pager::PagerArgs;

/// Print the conversation of a session, with tools folded
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ShowArgs {
    /// Session id, the first characters of it, or a file [default: chosen from a list in a terminal, else the
    /// newest session]
    id: Option<OsString>,

    #[command(flatten)]
    content: ContentArgs,

    /// Show sub-agents below the calls that started them
    #[arg(long)]
    sidechains: bool,

    #[command(flatten)]
    pager: PagerArgs,
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

impl ShowArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let files = root.session(self.id.as_deref(), out)?;
        let session = Session::open(&files)?;
        session.require_entries()?;
        self.print(&session, &files, root, out)
    }

    /// Prints a session of another agent.
    pub(crate) fn run_others(
        &self,
        backend: &BackendChoiceArgs,
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
            out.page(&self.pager, None)?;
            text()
        };
        let mut redactor = self.content.redactor();
        out.styled(|out| Ok(export(session, files, format, &options, redactor.as_mut(), out)?))?;
        if files.main.is_none() && options.agents == Agents::Hidden {
            out.note(
                "The file of this session is missing, and only those of its sub-agents are left; `--sidechains` \
                 shows them",
            )?;
        }
        announce_hidden(session, options.branches, out)?;
        report(redactor.as_ref(), out)?;
        Ok(Exit::Success)
    }
}

/// Prints the conversation around a hit, with tools folded: the branch or sub-agent that has it, and a note
/// at the entry, where the pager begins.
pub(crate) fn print_hit(hit: &Hit<'_>, pager: &PagerArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let session = Session::open(hit.session)?;
    session.require_entries()?;
    let content =
        ContentArgs { branch: None, all_branches: false, full: false, view: ViewArg::People, redact: false };
    let mut options = content.options(&session, out)?;
    let found = session.ids().find(|id| {
        let node = session.node(*id);
        let file = session.files().get(node.file.index());
        node.place.line == hit.line && file.is_some_and(|file| file.path == hit.file.path)
    });
    let place = format!("Found in line {}:", hit.line);
    let note = format!("▶ {place}");
    if let Some(node) = found {
        let (before, matched, after) =
            excerpt_parts(&hit.excerpt, human::columns().saturating_sub(human::width(&note) + 1));
        options.mark = Some(EntryMark { node, note: format!("{note} {before}{matched}{after}") });
        options.agents = if session.node(node).lane == LaneId::MAIN { Agents::Hidden } else { Agents::Shown };
        let path = |leaf| session.path(leaf, View::Unified);
        let is_active = session.active_leaf(LaneId::MAIN).is_some_and(|leaf| path(leaf).contains(&node));
        let mut branches = session.branches(LaneId::MAIN).into_iter();
        if !is_active && let Some(branch) = branches.find(|branch| path(branch.leaf).contains(&node)) {
            options.branches = Branches::One(branch.leaf);
        }
    }
    out.page(pager, found.map(|_| place.as_str()))?;
    out.styled(|out| Ok(export(&session, hit.session, text(), &options, None, out)?))?;
    announce_hidden(&session, options.branches, out)?;
    Ok(Exit::Success)
}

/// The form of a session in a terminal.
fn text() -> Format {
    Format::Text(Style { bold: BOLD, dim: DIM, error: RED, plain: PLAIN })
}

impl ContentArgs {
    pub(crate) fn options(&self, session: &Session, out: &Output) -> anyhow::Result<Options> {
        Ok(Options {
            changed_inputs: changed_inputs::read(out)?,
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

/// Prints how many entries are in other branches, and which options show them.
pub(crate) fn announce_hidden(session: &Session, branches: Branches, out: &Output) -> anyhow::Result<()> {
    let hidden = hidden_branches(session, branches);
    if hidden.entries > 0 {
        let count = human::count(hidden.entries as u64);
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
        human::plural(redactor.total(), "secret"),
        found.join(", ")
    ))?;
    Ok(())
}
