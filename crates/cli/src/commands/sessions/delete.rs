use serde::Serialize;
use tidings_transcript::manage::{FactsReader, SessionFile, delete_session};

use super::{Place, running};
use crate::confirm::confirm;
use crate::error::Exit;
use crate::human;
use crate::output::{Output, PLAIN, YELLOW, printable};

/// Delete a session and everything that belongs to it
///
/// Its file, its sub-agents, its tool results and its marks are gone for good. Asks first; `--yes` answers for you.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Delete {
    /// The session: its id, or a beginning that fits only one
    id: String,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

const EXAMPLES: &str = "\
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
        let files = roots.find(&self.id)?;
        let session = SessionFile::of(&files)?;
        let size = human::bytes(files.bytes());
        if running::ids(&roots).contains(session.id.as_str()) {
            out.note(&format!("{YELLOW}warning{PLAIN}: the session is running and will go on writing"))?;
        }
        if !self.yes {
            let facts = FactsReader::default().read(&session.path).ok().flatten();
            let title = facts.as_ref().and_then(|facts| facts.name()).unwrap_or("no title");
            let title = printable(&human::fit(&title.replace('\n', " "), 60));
            let agents = human::plural(files.agents.len() as u64, "sub-agent");
            if !confirm(&format!("Delete {} ({title}), {size}, {agents}?", session.id))? {
                out.note("Nothing was deleted")?;
                if place.json {
                    json(&Deleted { id: session.id.as_str(), bytes: 0, removed: Vec::new() }, out)?;
                }
                return Ok(Exit::NotFine);
            }
        }
        let removed = delete_session(&session)?;
        let removed: Vec<String> = removed.iter().map(|path| path.display().to_string()).collect();
        if place.json {
            json(&Deleted { id: session.id.as_str(), bytes: files.bytes(), removed }, out)?;
        } else {
            let list = printable(&removed.join(", "));
            out.text(&format!("Deleted {}, {size}: {list}\n", session.id))?;
        }
        Ok(Exit::Fine)
    }
}

fn json(deleted: &Deleted<'_>, out: &mut Output) -> anyhow::Result<()> {
    Ok(out.text(&format!("{}\n", serde_json::to_string(deleted)?))?)
}
