use std::collections::HashSet;
use std::fmt::Write as _;

use clap::ValueEnum;
use jiff::Timestamp;
use tidings_transcript::counts;
use tidings_transcript::limits::LIST_UNREAD_BYTES_MAX;
use tidings_transcript::list::{self, Effort, First, Listed, Wanted};
use tidings_transcript::roots::{Found, SessionFiles};

use super::Place;
use super::filter::Filter;
use super::running;
use crate::error::Exit;
use crate::human;
use crate::output::{BOLD, DIM, Output, PLAIN, YELLOW, printable};
use crate::progress::Progress;

/// Sessions of all projects, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct List {
    #[command(flatten)]
    filter: Filter,

    /// Not more than this many
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    /// What comes first
    #[arg(long, value_name = "ORDER", default_value = "newest")]
    sort: Sort,

    /// Count turns, messages and cost even if many files have to be read for it
    #[arg(long)]
    counts: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sort {
    /// Changed last
    Newest,
    /// Changed first
    Oldest,
    /// Most bytes
    Largest,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions list --limit 20
  tidings sessions list --project shop --since 7d
  tidings sessions list --sort largest --json | jq -r .id";

impl List {
    pub(crate) fn run(&self, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        let roots = place.roots()?;
        let found = roots.scan()?;
        for error in &found.unreadable {
            out.note(&format!("{YELLOW}warning{PLAIN}: {}", printable(&format!("{error:#}"))))?;
        }
        let wanted = Wanted {
            project: self.filter.project.clone(),
            since: self.filter.since()?,
            limit: self.limit,
            first: match self.sort {
                Sort::Newest => First::Newest,
                Sort::Oldest => First::Oldest,
                Sort::Largest => First::Largest,
            },
        };
        let mut rows = list::list(&found.sessions, &wanted);
        self.fill_in(&found, &mut rows, out)?;
        if place.json {
            for (_, row) in &rows {
                out.bytes(serde_json::to_string(row)?.as_bytes())?;
                out.bytes(b"\n")?;
            }
        } else {
            let running = running::ids(&roots);
            out.text(&table(&rows, &running, Timestamp::now(), human::columns()))?;
        }
        Ok(Exit::Fine)
    }
}

impl List {
    /// Adds what needs a pass over whole files.
    fn fill_in(
        &self,
        found: &Found,
        rows: &mut [(&SessionFiles, Listed)],
        out: &Output,
    ) -> anyhow::Result<()> {
        let mut cache = Place::cache();
        let unread: u64 = rows.iter().map(|(session, _)| counts::unread_bytes(session, &cache)).sum();
        let effort = if self.counts { Effort::Any } else { Effort::Little };
        let reads = effort == Effort::Any || unread <= LIST_UNREAD_BYTES_MAX;
        let progress = Progress::bytes("counting", if reads { unread } else { 0 });
        let filled = list::fill(found, rows, &mut cache, effort, &|bytes| progress.done(bytes));
        drop(progress);
        for error in filled.unreadable {
            out.note(&format!(
                "{YELLOW}warning{PLAIN}: {}",
                printable(&format!("{:#}", anyhow::Error::from(error)))
            ))?;
        }
        if filled.left > 0 {
            let sessions = human::plural(filled.left as u64, "session");
            let bytes = human::bytes(filled.left_bytes);
            out.note(&format!("{sessions} not counted yet; `--counts` reads their {bytes} once"))?;
        }
        Place::save(&mut cache, out)
    }
}

/// One line per session; the title gets what room is left.
fn table(
    rows: &[(&SessionFiles, Listed)],
    running: &HashSet<String>,
    now: Timestamp,
    columns: usize,
) -> String {
    const PROJECT_COLUMNS_MAX: usize = 24;
    if rows.is_empty() {
        return "No sessions.\n".to_owned();
    }
    let projects = rows.iter().map(|(_, row)| human::width(&printable(&row.project))).max().unwrap_or(0);
    let projects = projects.clamp("project".len(), PROJECT_COLUMNS_MAX);
    let mut text = format!(
        "{BOLD}{:<8}  {:>4}  {}  {:>5}  {:>8}  {:>8}  title{PLAIN}\n",
        "id",
        "age",
        human::padded("project", projects),
        "turns",
        "size",
        "cost"
    );
    let room = columns.saturating_sub(8 + 2 + 4 + 2 + projects + 2 + 5 + 2 + 8 + 2 + 8 + 2).max(10);
    for (_, row) in rows {
        let age = row.modified.map_or_else(String::new, |modified| human::age(modified, now));
        let mark = if running.contains(&row.id) { "● " } else { "" };
        let tag = row.tag.as_deref().map(|tag| format!(" #{tag}")).unwrap_or_default();
        let title = row.title.as_deref().unwrap_or("(no title)").replace('\n', " ");
        let title = human::fit(&printable(&format!("{mark}{title}{tag}")), room);
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "{}  {age:>4}  {}  {:>5}  {:>8}  {:>8}  {title}",
            printable(&format!("{:<8.8}", row.id)),
            human::padded(&printable(&row.project), projects),
            row.turns.map_or_else(String::new, |turns| turns.to_string()),
            human::bytes(row.bytes),
            row.cost_usd.map_or_else(String::new, |cost| format!("${cost:.2}")),
        );
    }
    let _ = writeln!(text, "{DIM}{}{PLAIN}", human::plural(rows.len() as u64, "session"));
    text
}
