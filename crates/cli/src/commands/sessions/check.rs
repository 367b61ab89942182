use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// Check session files: every line, every link
#[derive(Debug, clap::Args)]
pub(crate) struct Check {}

impl Check {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
