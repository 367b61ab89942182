use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Tag a session
#[derive(Debug, clap::Args)]
pub(crate) struct Tag {}

impl Tag {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
