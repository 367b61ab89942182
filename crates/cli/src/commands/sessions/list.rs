use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Sessions of all projects, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct List {}

impl List {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
