use super::Place;
use crate::error::Exit;
use crate::output::Output;

/// A session as Markdown, one HTML file or JSON
#[derive(Debug, clap::Args)]
pub(crate) struct Export {}

impl Export {
    pub(crate) fn run(&self, _place: &Place, _out: &mut Output) -> anyhow::Result<Exit> {
        anyhow::bail!("not built yet")
    }
}
