use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Watch a session while it is being written
#[derive(Debug, clap::Args)]
pub(crate) struct Follow {}

impl Follow {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
