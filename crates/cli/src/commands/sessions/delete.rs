use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;
use tidings_transcript::manage::SessionDetailsReader;
use tidings_transcript::prune::{Choice, Plan};
use tidings_transcript::roots::SessionFiles;

use super::{Place, running};
use crate::confirm::confirm;
use crate::error::Exit;
use crate::human;
use crate::output::{Output, PLAIN, YELLOW, printable};

/// Delete a session and everything that belongs to it
///
/// Everything that bears its id is gone for good: its file, sub-agents, tool results and marks, and what Claude Code
/// keeps elsewhere, such as its file history, tasks, logs and pasted pictures; also the copy that a session leaves in
/// the project it moved from. What sessions share stays: plans, and the prompts that were typed, in `history.jsonl`.
/// Asks first; `--yes` answers for you.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Delete {
    /// The session: its id, a beginning that fits only one, or its file for this copy alone
    id: OsString,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

const EXAMPLES: &str = "\
`tidings sessions du ID` shows what belongs to it, and `tidings sessions archive ID` keeps it elsewhere.

Examples:
  tidings sessions delete 5a15c0fc
  tidings sessions delete 5a15c0fc-95e4-428e-a126-8a8cf06dfac6 --yes --json";

#[derive(Serialize)]
struct Deleted<'a> {
    id: &'a str,
    bytes: u64,
    removed: Vec<String>,
}

impl Delete {
    pub(crate) fn run(&self, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        let roots = place.roots()?;
        let copies = roots.find_copies(&self.id)?;
        let newest = &copies[0];
        if running::ids(&roots).contains(&newest.id) {
            out.note(&format!("{YELLOW}warning{PLAIN}: the session is running and will go on writing"))?;
        }
        // Whoever names a session has decided, even if it runs.
        let choice = Choice { named: copies.iter().map(SessionFiles::dir).collect(), ..Choice::default() };
        let plan = Plan::new(roots.scan()?.sessions, &choice, &HashSet::new(), Timestamp::now().into());
        let size = human::bytes(plan.bytes());
        let mut deleted = Deleted { id: &newest.id, bytes: 0, removed: Vec::new() };
        if !self.yes && !confirm(&question(newest, copies.len(), &size))? {
            out.note("Nothing was deleted")?;
            if place.json {
                deleted.print(out)?;
            }
            return Ok(Exit::NotFine);
        }
        for doomed in &plan.remove {
            let removed = doomed.remove()?;
            deleted.bytes += doomed.belongings.bytes();
            deleted.removed.extend(removed.iter().map(|path| path.display().to_string()));
        }
        if place.json {
            deleted.print(out)?;
        } else {
            out.text(&format!("Deleted {}, {size}\n", printable(deleted.id)))?;
            for path in &deleted.removed {
                out.text(&format!("  {}\n", printable(path)))?;
            }
        }
        Ok(Exit::Fine)
    }
}

/// What goes, in one line: whoever reads it decides by the title.
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
        Ok(out.text(&format!("{}\n", serde_json::to_string(self)?))?)
    }
}
