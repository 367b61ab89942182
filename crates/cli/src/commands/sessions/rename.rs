use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Give a session a title
#[derive(Debug, clap::Args)]
pub(crate) struct Rename {}

impl Rename {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
