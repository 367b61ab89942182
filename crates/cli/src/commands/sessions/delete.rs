use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Delete a session and everything that belongs to it
#[derive(Debug, clap::Args)]
pub(crate) struct Delete {}

impl Delete {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
