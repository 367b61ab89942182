use serde::Serialize;
use tidings_transcript::manage::{SessionFile, list_subagents};

use super::RootArgs;
use crate::error::Exit;
use crate::output::{Output, printable};

/// List the sub-agents of a session as the official SDKs do
///
/// Equivalent to `list_subagents` of the SDKs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Subagents {
    /// Session id, or a unique prefix of it
    id: String,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions subagents 5a15c0fc";

#[derive(Serialize)]
struct SubagentLine {
    id: String,
}

impl Subagents {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let session = SessionFile::of(&root.roots()?.find(&self.id)?)?;
        for id in list_subagents(&session) {
            if root.json {
                out.json(&SubagentLine { id })?;
            } else {
                out.text(&format!("{}\n", printable(&id)))?;
            }
        }
        Ok(Exit::Success)
    }
}
