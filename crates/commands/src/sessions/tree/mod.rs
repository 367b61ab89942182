//! `tidings sessions tree`: prints the tree of a session.

mod dot;
mod excerpt;
mod nodes;
mod rows;
mod styled;
mod text;

use std::ffi::OsString;

use clap::Args;
use tidings_transcript::session::Session;

use super::RootArgs;
use crate::error::Exit;
use crate::output::Output;
use crate::pager::PagerArgs;

/// Print the tree of a session: branches, sub-agents, compactions
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tidings sessions tree 5a15c0fc                 turns, branches and sub-agents
  tidings sessions tree 5a15c0fc --full          every entry, with its line and its uuid
  tidings sessions tree 5a15c0fc --dot | dot -Tsvg > tree.svg
  tidings sessions tree 5a15c0fc --json | jq -r 'select(.part==\"prompt\").text'

--json prints one object per entry: id, uuid, parent (the id of the previous entry, across \
compactions and missing parents), lane (0 is the main conversation), agent, branch (1 is the active one), \
active, actor, part, kind, flow, step, at, file, line, tools (calls with the id of the result's \
entry), problem, text (its beginning).")]
pub(crate) struct Tree {
    /// Session id, the first characters of it, or a file; without one, a list is shown to choose from
    #[arg(value_name = "ID")]
    session: Option<OsString>,

    /// Show every entry instead of folding those between prompts
    #[arg(long)]
    full: bool,

    /// Print a graph for Graphviz
    #[arg(long, conflicts_with = "json")]
    dot: bool,

    #[command(flatten)]
    pager: PagerArgs,
}

/// Level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Folded,
    Full,
}

impl Tree {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let session = Session::open(&root.named_session(self.session.as_deref(), out)?)?;
        session.require_entries()?;
        let detail = if self.full { Detail::Full } else { Detail::Folded };
        if root.json {
            nodes::print(&session, out)?;
        } else if self.dot {
            dot::print(&session, detail, out)?;
        } else {
            out.page(&self.pager, None)?;
            text::print(&session, detail, out)?;
        }
        Ok(Exit::Success)
    }
}
