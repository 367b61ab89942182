use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// The tree of a session: branches, sub-agents, compactions
#[derive(Debug, clap::Args)]
pub(crate) struct Tree {}

impl Tree {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
