//! `tidings rehearse`: stand-ins to run Claude Code, or programs built on it, without an API key or network.

mod acp;
mod agent;
pub(crate) mod api;
mod child_shutdown;
mod record;
mod recording_file;
mod replay;

use std::path::Path;

use clap::Subcommand;
use tidings_rehearsal::script::Script;

use crate::error::{CannotRun, Exit};
use crate::output::Output;
use crate::schema;

/// Stand in for the Messages API or for `claude` with a script, and record real runs
#[derive(Debug, Subcommand)]
pub enum RehearseCommand {
    /// Serve the Messages API on loopback, so that the real CLI runs offline
    Api(api::RehearseApiArgs),
    /// Stand in for `claude`: exchange stream-json and control frames on stdin and stdout
    Agent(agent::RehearseAgentArgs),
    /// Stand in for an agent of the Agent Client Protocol, on stdin and stdout
    Acp(acp::RehearseAcpArgs),
    /// Run a command that exchanges frames, and record them
    Record(record::RehearseRecordArgs),
    /// Play a recording back with its timing
    Replay(replay::RehearseReplayArgs),
    /// Print the JSON Schema of the script format, for editors
    Schema,
}

pub fn run(command: &RehearseCommand, out: &mut Output) -> anyhow::Result<Exit> {
    match command {
        RehearseCommand::Api(args) => api::run(args, out),
        RehearseCommand::Agent(args) => agent::run(args, out),
        RehearseCommand::Acp(args) => acp::run(args, out),
        RehearseCommand::Record(args) => record::run(args, out),
        RehearseCommand::Replay(args) => replay::run(args, out),
        RehearseCommand::Schema => {
            out.text(&schema::of_scripts()?)?;
            Ok(Exit::Success)
        }
    }
}

/// Reads a script; an error names its line.
fn script(path: &Path) -> anyhow::Result<Script> {
    let text = fs_err::read_to_string(path).map_err(|error| CannotRun {
        code: "not_found",
        message: format!("Failed to read the script: {error}"),
        hint: "`tidings rehearse record` records a real run, and `tidings rehearse schema` prints the format",
    })?;
    Script::parse(&text).map_err(|error| {
        CannotRun {
            code: "bad_script",
            message: format!("{}: {error}", path.display()),
            hint: "`tidings rehearse schema` prints the format",
        }
        .into()
    })
}
