//! `tidings frames`: tools for the lines that a Claude Code process and its host exchange.

mod check;
mod convert;
mod echo;
mod events;
mod recorded;

use clap::Subcommand;

use crate::error::Exit;
use crate::output::Output;

/// Decode, check and convert the lines that a Claude Code process reads and writes
#[derive(Debug, Subcommand)]
pub enum FramesCommand {
    /// Decode every line and count the frames by kind; exit code 1 if a line is invalid
    Check(check::FramesCheckArgs),
    /// Decode every line and write it back byte for byte
    Echo(echo::EchoArgs),
    /// Convert frames or session entries to another format or to events
    Convert(convert::ConvertArgs),
}

pub fn run(command: &FramesCommand, out: &mut Output) -> anyhow::Result<Exit> {
    match command {
        FramesCommand::Check(check) => check::run(check, out),
        FramesCommand::Echo(echo) => echo::run(echo, out),
        FramesCommand::Convert(convert) => convert::run(convert, out),
    }
}
