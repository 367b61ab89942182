//! `tidings frames`: the lines that a Claude Code process and its host exchange.

mod check;
mod convert;
mod echo;
mod events;
mod recorded;

use clap::Subcommand;

use crate::error::Exit;
use crate::output::Output;

/// Decode, check and convert frames
#[derive(Debug, Subcommand)]
pub(crate) enum FramesCommand {
    /// Decode every line and count what came; exit 1 if a line is broken
    Check(check::Check),
    /// Decode every line and write it back byte for byte
    Echo(echo::Echo),
    /// Write frames (or session entries) in another dialect, or as events for those who watch
    Convert(convert::Convert),
}

pub(crate) fn run(command: &FramesCommand, out: &mut Output) -> anyhow::Result<Exit> {
    match command {
        FramesCommand::Check(check) => check::run(check, out),
        FramesCommand::Echo(echo) => echo::run(echo, out),
        FramesCommand::Convert(convert) => convert::run(convert, out),
    }
}
