use jiff::Timestamp;
use serde::Serialize;
use tidings_transcript::manage::{self, SessionFile, fork_session};
use uuid::Uuid;

use super::Place;
use crate::error::Exit;
use crate::human;
use crate::output::{BOLD, Output, PLAIN, printable};

/// Copy a session, to go another way from there
///
/// The copy has new ids and lies beside the session; `claude --resume` goes on from it. Sub-agents and the history of
/// files stay with the session.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Fork {
    /// The session: its id, or a beginning that fits only one
    id: String,

    /// The last entry to copy; `sessions tree --full` shows their ids
    #[arg(long, value_name = "UUID")]
    up_to: Option<String>,

    /// The title of the copy
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

impl Fork {
    pub(crate) fn run(&self, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        let session = SessionFile::of(&place.roots()?.find(&self.id)?)?;
        let fork = manage::ForkOptions { up_to: self.up_to.as_deref(), title: self.title.as_deref() };
        let made = fork_session(&session, fork, Timestamp::now(), || Uuid::new_v4().to_string())?;
        if place.json {
            let forked = Forked {
                id: &made.id,
                from: session.id.as_str(),
                file: made.path.display().to_string(),
                title: &made.title,
                entries: made.entries,
            };
            out.text(&format!("{}\n", serde_json::to_string(&forked)?))?;
        } else {
            let entries = match made.entries {
                1 => "1 entry".to_owned(),
                count => format!("{} entries", human::count(count as u64)),
            };
            let title = printable(&made.title);
            out.text(&format!(
                "{BOLD}{}{PLAIN}  {title}\n{entries} copied; go on with: claude --resume {}\n",
                made.id, made.id
            ))?;
        }
        Ok(Exit::Fine)
    }
}
