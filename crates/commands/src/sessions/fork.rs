//! `tidings sessions fork`: copies a session, to continue from the copy.

use std::ffi::OsString;

use jiff::Timestamp;
use serde::Serialize;
use tidings_transcript::manage::{self, SessionFile, fork_session};
use uuid::Uuid;

use super::RootArgs;
use crate::error::Exit;
use crate::human;
use crate::output::{BOLD, Output, PLAIN, printable};

/// Fork a session: copy it, to continue from the copy
///
/// The copy has new ids and is stored beside the session; `claude --resume` continues it. Sub-agents and the
/// file history are not copied.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ForkArgs {
    /// Session id, or the first characters of it; without one, a list is shown to choose from
    id: Option<OsString>,

    /// Last entry to copy; `sessions tree --full` shows the ids
    #[arg(long, value_name = "UUID")]
    up_to: Option<String>,

    /// Title of the copy
    #[arg(long)]
    title: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions fork 5a15c0fc
  tidings sessions fork 5a15c0fc --up-to 4b7ce3d2-58f0-4d0f-9a53-6b8a3c4d2e1f --title \"Another way\"";

#[derive(Serialize)]
struct Forked<'a> {
    id: &'a str,
    from: &'a str,
    file: String,
    title: &'a str,
    entries: usize,
}

impl ForkArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let session = SessionFile::of(&root.named_session(self.id.as_deref(), out)?)?;
        let fork = manage::ForkOptions { up_to: self.up_to.as_deref(), title: self.title.as_deref() };
        let made = fork_session(&session, fork, Timestamp::now(), || Uuid::new_v4().to_string())?;
        if root.json {
            let forked = Forked {
                id: &made.id,
                from: session.id.as_str(),
                file: made.path.display().to_string(),
                title: &made.title,
                entries: made.entries,
            };
            out.json(&forked)?;
        } else {
            let entries = match made.entries {
                1 => "1 entry".to_owned(),
                count => format!("{} entries", human::count(count as u64)),
            };
            let title = printable(&made.title);
            out.text(&format!(
                "{BOLD}{}{PLAIN}  {title}\n{entries} copied; continue with: claude --resume {}\n",
                made.id, made.id
            ))?;
        }
        Ok(Exit::Success)
    }
}
