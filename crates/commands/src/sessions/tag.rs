//! `tidings sessions tag`: sets or removes the tag of a session.

use serde::Serialize;
use tidings_transcript::manage::{SessionFile, tag_session};

use super::RootArgs;
use crate::error::Exit;
use crate::human;
use crate::output::{BOLD, Output, PLAIN, printable};

/// Set or clear the tag of a session
///
/// A session has at most one tag. It is appended to the session's file, as the official SDKs do, without
/// invisible characters.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TagArgs {
    /// Session id, or a unique prefix of it
    id: String,

    /// New tag
    #[arg(value_name = "TAG", required_unless_present = "clear")]
    label: Option<String>,

    /// Remove the tag
    #[arg(long, conflicts_with = "label")]
    clear: bool,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions tag 5a15c0fc keep
  tidings sessions tag 5a15c0fc --clear";

#[derive(Serialize)]
struct Tagged<'a> {
    id: &'a str,
    tag: Option<&'a str>,
}

impl TagArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let session = SessionFile::of(&root.roots()?.find(&self.id)?)?;
        let tag = tag_session(&session, self.label.as_deref())?;
        let tagged = Tagged { id: session.id.as_str(), tag: tag.as_deref() };
        if root.json {
            out.json(&tagged)?;
        } else {
            let id = human::short_id(tagged.id);
            let text = match tagged.tag {
                Some(tag) => format!("{id} is tagged {BOLD}{}{PLAIN}\n", printable(tag)),
                None => format!("{id} has no tag\n"),
            };
            out.text(&text)?;
        }
        Ok(Exit::Success)
    }
}
