use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Find text in every session
#[derive(Debug, clap::Args)]
pub(crate) struct Search {}

impl Search {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
