use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Copy a session, to go another way from there
#[derive(Debug, clap::Args)]
pub(crate) struct Fork {}

impl Fork {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
