//! `tidings run`: one prompt through Claude Code, or a conversation in the terminal.

pub(crate) mod answer;
mod args;
mod converse;
mod frames;
mod leave;
mod options;
pub(crate) mod prompt;
pub(crate) mod stage;
mod turn;

pub(crate) use args::{Format, RunArgs};

use self::prompt::First;
use crate::error::Exit;
use crate::output::Output;

impl RunArgs {
    /// Whether errors are wanted as JSON too.
    pub(crate) fn wants_json(&self) -> bool {
        self.output != Format::Text
    }

    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let first: First = prompt::first(self.prompt.as_deref(), out)?;
        let options = options::options(&self.claude)?;
        let stage = stage::Stage::new(self, out);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let exit = runtime.block_on(converse::converse(self, options, first, stage));
        // Somebody may still be asked for a line that nobody waits for any more.
        runtime.shutdown_background();
        exit
    }
}
