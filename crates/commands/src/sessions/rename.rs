//! `tidings sessions rename`: sets the title of a session.

use serde::Serialize;
use tidings_transcript::manage::{SessionFile, rename_session};

use super::RootArgs;
use crate::error::Exit;
use crate::human;
use crate::output::{BOLD, Output, PLAIN, printable};

/// Set the title of a session
///
/// Appends a line to the session's file, as the official SDKs do; the last title is used.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RenameArgs {
    /// Session id, or a unique prefix of it
    id: String,

    /// New title
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

impl RenameArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let session = SessionFile::of(&root.roots()?.find(&self.id)?)?;
        rename_session(&session, &self.title)?;
        let title = self.title.trim();
        if root.json {
            out.json(&Renamed { id: session.id.as_str(), title })?;
        } else {
            out.text(&format!(
                "{} is now titled {BOLD}{}{PLAIN}\n",
                human::short_id(session.id.as_str()),
                printable(title)
            ))?;
        }
        Ok(Exit::Success)
    }
}
