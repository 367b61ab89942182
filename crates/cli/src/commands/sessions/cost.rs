use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Tokens and dollars, each response counted once
#[derive(Debug, clap::Args)]
pub(crate) struct Cost {}

impl Cost {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
