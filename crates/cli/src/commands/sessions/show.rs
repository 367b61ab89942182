use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// A session as text: the active branch, tools folded
#[derive(Debug, clap::Args)]
pub(crate) struct Show {}

impl Show {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
