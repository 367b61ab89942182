use serde::Serialize;
use tidings_transcript::manage::{SessionFile, list_subagents};

use super::Place;
use crate::error::Exit;
use crate::output::{Output, printable};

/// The sub-agents of a session, as the official SDKs list them
///
/// As `list_subagents` of the SDKs does.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Subagents {
    /// The session: its id, or a beginning that fits only one
    id: String,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions subagents 5a15c0fc";

#[derive(Serialize)]
struct Agent {
    id: String,
}

impl Subagents {
    pub(crate) fn run(&self, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        let session = SessionFile::of(&place.roots()?.find(&self.id)?)?;
        for id in list_subagents(&session) {
            if place.json {
                out.bytes(serde_json::to_string(&Agent { id })?.as_bytes())?;
                out.bytes(b"\n")?;
            } else {
                out.text(&format!("{}\n", printable(&id)))?;
            }
        }
        Ok(Exit::Fine)
    }
}
