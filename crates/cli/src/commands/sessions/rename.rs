use serde::Serialize;
use tidings_transcript::manage::{SessionFile, rename_session};

use super::Place;
use crate::error::Exit;
use crate::output::{BOLD, Output, PLAIN, printable};

/// Give a session a title
///
/// Writes a line at the end of the session's file, as the official SDKs do; the last title counts.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Rename {
    /// The session: its id, or a beginning that fits only one
    id: String,

    /// The title
    title: String,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions rename 5a15c0fc \"Checkout, second try\"";

#[derive(Serialize)]
struct Renamed<'a> {
    id: &'a str,
    title: &'a str,
}

impl Rename {
    pub(crate) fn run(&self, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        let session = SessionFile::of(&place.roots()?.find(&self.id)?)?;
        rename_session(&session, &self.title)?;
        let title = self.title.trim();
        if place.json {
            out.text(&format!("{}\n", serde_json::to_string(&Renamed { id: session.id.as_str(), title })?))?;
        } else {
            out.text(&format!("{} is now {BOLD}{}{PLAIN}\n", session.id, printable(title)))?;
        }
        Ok(Exit::Fine)
    }
}
