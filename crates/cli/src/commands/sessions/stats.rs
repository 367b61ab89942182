use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Count sessions, messages, tools, errors
#[derive(Debug, clap::Args)]
pub(crate) struct Stats {}

impl Stats {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
