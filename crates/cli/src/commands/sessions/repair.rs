use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Write a repaired copy of a session file
#[derive(Debug, clap::Args)]
pub(crate) struct Repair {}

impl Repair {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
