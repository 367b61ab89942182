//! `tidings rehearse acp`: stands in for an agent of the Agent Client Protocol.

use std::io;
use std::path::PathBuf;

use clap::Args;
use tidings_rehearsal::acp::{self, AcpScript};

use crate::error::{CannotRun, Exit};
use crate::output::Output;

/// Arguments of `tidings rehearse acp`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RehearseAcpArgs {
    /// Script of the agent's updates and requests
    #[arg(long, value_name = "FILE")]
    script: PathBuf,
}

const EXAMPLES: &str = "\
Example of a script:
  [[turn]]
  steps = [{ thought = \"Greet.\" }, { text = \"Hello! You said: {prompt}\" }]

As an agent of `tidings serve`:
  [[agent]]
  name = \"rehearsed\"
  command = \"tidings\"
  args = [\"rehearse\", \"acp\", \"--script\", \"/path/to/script.toml\"]";

pub(crate) fn run(args: &RehearseAcpArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let text = fs_err::read_to_string(&args.script).map_err(|error| CannotRun {
        code: "not_found",
        message: format!("Failed to read the script: {error}"),
        hint: "`tidings rehearse acp --help` has an example",
    })?;
    let script = AcpScript::parse(&text).map_err(|error| CannotRun {
        code: "bad_script",
        message: format!("{}: {error}", args.script.display()),
        hint: "`tidings rehearse acp --help` has an example",
    })?;
    out.flush()?;
    let session = uuid::Uuid::new_v4().to_string();
    let code = acp::play(script, io::stdin().lock(), io::stdout().lock(), io::stderr(), &session);
    // The system uses the lowest eight bits of an exit code.
    Ok(Exit::Code(code.to_le_bytes()[0]))
}
