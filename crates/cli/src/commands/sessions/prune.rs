use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Remove old sessions; shows first what it would remove
#[derive(Debug, clap::Args)]
pub(crate) struct Prune {}

impl Prune {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
