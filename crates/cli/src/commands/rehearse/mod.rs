//! `tidings rehearse`: run Claude Code, or what is built on it, without a key, a network or a bill.

mod agent;
pub(crate) mod api;
mod leaving;
mod record;
mod replay;
mod target;

use std::path::Path;

use clap::Subcommand;
use tidings_rehearsal::script::Script;

use crate::error::{CannotRun, Exit};
use crate::output::Output;

/// Stand-ins for the Messages API and for the `claude` CLI
#[derive(Debug, Subcommand)]
pub(crate) enum RehearseCommand {
    /// Serve the Messages API on loopback, so that the real CLI runs offline
    Api(api::Api),
    /// Be `claude`: speak stream-json and control frames on stdin and stdout
    Agent(agent::Agent),
    /// Run a command that speaks frames and write down what it says
    Record(record::Record),
    /// Play a recording back with its timing
    Replay(replay::Replay),
    /// Print the JSON Schema of the script format, for editors
    Schema,
}

pub(crate) fn run(command: &RehearseCommand, out: &mut Output) -> anyhow::Result<Exit> {
    match command {
        RehearseCommand::Api(args) => api::run(args, out),
        RehearseCommand::Agent(args) => agent::run(args, out),
        RehearseCommand::Record(args) => record::run(args, out),
        RehearseCommand::Replay(args) => replay::run(args, out),
        RehearseCommand::Schema => {
            let schema = serde_json::to_string_pretty(&Script::json_schema())?;
            out.text(&format!("{schema}\n"))?;
            Ok(Exit::Fine)
        }
    }
}

/// Reads a script, or says where its mistake is.
fn script(path: &Path) -> anyhow::Result<Script> {
    let text = fs_err::read_to_string(path).map_err(|error| CannotRun {
        code: "not_found",
        message: format!("Failed to read the script: {error}"),
        hint: "docs/rehearsal.md shows how to write one; examples/rehearsal/ has three",
    })?;
    Script::parse(&text).map_err(|error| {
        CannotRun {
            code: "bad_script",
            message: format!("{}: {error}", path.display()),
            hint: "`tidings rehearse schema` prints what may stand where",
        }
        .into()
    })
}
