//! `tidings run`: runs one prompt through Claude Code, or a conversation in the terminal.

pub mod answer;
mod args;
mod backend;
mod converse;
mod frames;
mod leave;
mod options;
pub mod prompt;
mod shutdown;
mod turn;

pub use args::{Format, RunArgs};

use self::prompt::FirstPrompt;
use crate::error::Exit;
use crate::output::Output;

impl RunArgs {
    /// True if the output is JSON, so that errors are printed as JSON too.
    pub fn wants_json(&self) -> bool {
        self.output != Format::Text
    }

    pub fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let first: FirstPrompt = prompt::first(self.prompt.as_deref(), out)?;
        let options = options::options(&self.claude)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(converse::converse(self, options, first, self.view(out)))
    }
}
