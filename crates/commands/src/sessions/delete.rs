//! `tidings sessions delete`: deletes a session with all of its files.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;
use tidings_transcript::manage::SessionDetailsReader;
use tidings_transcript::prune::{Choice, Plan};
use tidings_transcript::roots::SessionFiles;

use super::{RootArgs, running};
use crate::confirm::confirm;
use crate::error::Exit;
use crate::human;
use crate::output::{Output, PLAIN, YELLOW, printable};

/// Delete a session and all of its files
///
/// Permanently deletes everything with its id: its file, sub-agents, tool results and markers, its file
/// history, tasks, logs and pasted images, and the copy in the project that it moved from. Data that sessions
/// share is kept: plans, and the prompt history in `history.jsonl`. Asks for confirmation unless `--yes` is
/// given.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DeleteArgs {
    /// Session id, the first characters of it, or its file to delete this copy only; without one, a list is
    /// shown to choose from
    id: Option<OsString>,

    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

const EXAMPLES: &str = "\
`tidings sessions du ID` shows the files of a session, and `tidings sessions archive ID` stores a copy first.

Examples:
  tidings sessions delete 5a15c0fc
  tidings sessions delete 5a15c0fc-95e4-428e-a126-8a8cf06dfac6 --yes --json";

#[derive(Serialize)]
struct Deleted<'a> {
    id: &'a str,
    bytes: u64,
    removed: Vec<String>,
}

impl DeleteArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let roots = root.roots()?;
        let copies = match &self.id {
            Some(name) => roots.find_copies(name)?,
            None => roots.find_copies(root.named_session(None, out)?.id)?,
        };
        let newest = &copies[0];
        if running::ids(&roots).contains(&newest.id) {
            out.note(&format!("{YELLOW}warning{PLAIN}: the session is running and will write more files"))?;
        }
        // A session that was named explicitly is deleted even if it is running.
        let choice = Choice { named: copies.iter().map(SessionFiles::dir).collect(), ..Choice::default() };
        let plan = Plan::new(roots.scan()?.sessions, &choice, &HashSet::new(), Timestamp::now().into());
        let size = human::bytes(plan.bytes());
        let mut deleted = Deleted { id: &newest.id, bytes: 0, removed: Vec::new() };
        if !self.yes && !confirm(&question(newest, copies.len(), &size))? {
            out.note("Nothing was deleted")?;
            if root.json {
                deleted.print(out)?;
            }
            return Ok(Exit::Failure);
        }
        for doomed in &plan.remove {
            let removed = doomed.remove()?;
            deleted.bytes += doomed.all_files.bytes();
            deleted.removed.extend(removed.iter().map(|path| path.display().to_string()));
        }
        if root.json {
            deleted.print(out)?;
        } else {
            out.text(&format!("Deleted {}, {size}\n", printable(deleted.id)))?;
            for path in &deleted.removed {
                out.text(&format!("  {}\n", printable(path)))?;
            }
        }
        Ok(Exit::Success)
    }
}

/// Text of the confirmation prompt, with the title of the session.
fn question(session: &SessionFiles, copies: usize, size: &str) -> String {
    let main = session.main.as_ref().map_or(Path::new(""), |main| &main.path);
    let facts = SessionDetailsReader::default().read(main).ok().flatten();
    let title = facts.as_ref().and_then(|facts| facts.name()).unwrap_or("no title");
    let title = printable(&human::fit(&title.replace('\n', " "), 60));
    let agents = human::plural(session.agents.len() as u64, "sub-agent");
    let copies = if copies == 1 { String::new() } else { format!(" in {copies} folders") };
    format!("Delete {} ({title}), {size}, {agents}{copies}?", printable(&session.id))
}

impl Deleted<'_> {
    fn print(&self, out: &mut Output) -> anyhow::Result<()> {
        out.json(self)
    }
}
