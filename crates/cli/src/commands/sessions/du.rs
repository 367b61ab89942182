use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Where the bytes are
#[derive(Debug, clap::Args)]
pub(crate) struct Du {}

impl Du {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
