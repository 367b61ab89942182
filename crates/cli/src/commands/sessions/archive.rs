use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Keep compressed copies, before Claude Code cleans up
#[derive(Debug, clap::Args)]
pub(crate) struct Archive {}

impl Archive {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
