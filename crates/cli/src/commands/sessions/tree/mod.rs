//! `tidings sessions tree`.

mod dot;
mod nodes;
mod rows;
mod styled;
mod text;
mod words;

use std::ffi::OsString;

use clap::Args;
use tidings_transcript::session::Session;

use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// The tree of a session: branches, sub-agents, compactions
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tidings sessions tree 5a15c0fc                 turns, branches and sub-agents
  tidings sessions tree 5a15c0fc --full          every entry, with its line and its id
  tidings sessions tree 5a15c0fc --dot | dot -Tsvg > tree.svg
  tidings sessions tree 5a15c0fc --json | jq -r 'select(.part==\"prompt\").text'

With --json there is one object per entry: id, uuid, parent (the id of what it follows, over \
compactions and missing parents), lane (0 is the main line), agent, branch (1 is the active one), \
active, actor, part, kind, flow, step, at, file, line, tools (calls with the id of the result's \
entry), problem, text (its first words).")]
pub(crate) struct Tree {
    /// The session: an id, the beginning of one, or a file
    #[arg(value_name = "ID")]
    session: OsString,

    /// Show every entry instead of folding those between prompts
    #[arg(long)]
    full: bool,

    /// Print a graph for Graphviz
    #[arg(long, conflicts_with = "json")]
    dot: bool,
}

/// How much of a conversation is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Folded,
    Full,
}

impl Tree {
    pub(crate) fn run(&self, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        let session = Session::open(&place.roots()?.find(&self.session)?)?;
        session.require_entries()?;
        let detail = if self.full { Detail::Full } else { Detail::Folded };
        if place.json {
            nodes::print(&session, out)?;
        } else if self.dot {
            dot::print(&session, detail, out)?;
        } else {
            text::print(&session, detail, out)?;
        }
        Ok(Exit::Fine)
    }
}
