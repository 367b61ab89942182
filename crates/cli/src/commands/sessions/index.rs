use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Build or refresh the full-text index
#[derive(Debug, clap::Args)]
pub(crate) struct Index {}

impl Index {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
