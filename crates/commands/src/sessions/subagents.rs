//! `tidings sessions subagents`: lists the sub-agents of a session.

use std::ffi::OsString;

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
pub(crate) struct SubagentsArgs {
    /// Session id, or the first characters of it; without one, a list is shown to choose from
    id: Option<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions subagents 5a15c0fc";

#[derive(Serialize)]
struct SubagentLine {
    id: String,
}

impl SubagentsArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let session = SessionFile::of(&root.named_session(self.id.as_deref(), out)?)?;
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
