use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use clap::ValueEnum;
use jiff::Timestamp;
use tidings_transcript::cache::Cache;
use tidings_transcript::cost::{Ledger, Money, Prices};
use tidings_transcript::counts;
use tidings_transcript::limits::LIST_UNREAD_BYTES_MAX;
use tidings_transcript::list::{self, First, Listed, Wanted};
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
    /// Adds what needs a pass over whole files: from the cache, and from the files where that is little or asked for.
    fn fill_in(
        &self,
        found: &Found,
        rows: &mut [(&SessionFiles, Listed)],
        out: &Output,
    ) -> anyhow::Result<()> {
        let mut cache = Place::cache();
        self.fill_in_costs(found, rows, &mut cache);
        let unread: Vec<u64> =
            rows.iter().map(|(session, _)| counts::unread_bytes(session, &cache)).collect();
        let unread_all: u64 = unread.iter().sum();
        let reads = self.counts || unread_all <= LIST_UNREAD_BYTES_MAX;
        let mut picked: Vec<&mut (&SessionFiles, Listed)> = rows
            .iter_mut()
            .zip(&unread)
            .filter(|(_, bytes)| reads || **bytes == 0)
            .map(|(row, _)| row)
            .collect();
        let left = unread.len() - picked.len();
        let sessions: Vec<&SessionFiles> = picked.iter().map(|(session, _)| *session).collect();
        let progress = Progress::bytes("counting", if reads { unread_all } else { 0 });
        let counted = counts::count(&sessions, &mut cache, &|bytes| progress.done(bytes));
        drop(progress);
        for ((_, row), counts) in picked.iter_mut().zip(&counted.sessions) {
            row.turns = Some(counts.turns);
            row.messages = Some(counts.messages);
            row.branches = Some(counts.branches);
        }
        for error in counted.unreadable {
            out.note(&format!(
                "{YELLOW}warning{PLAIN}: {}",
                printable(&format!("{:#}", anyhow::Error::from(error)))
            ))?;
        }
        if left > 0 {
            let sessions = human::plural(left as u64, "session");
            let bytes = human::bytes(unread_all);
            out.note(&format!("{sessions} not counted yet; `--counts` reads their {bytes} once"))?;
        }
        Place::save(&mut cache, out)
    }

    /// A response may stand in the files of several sessions and counts for one, so that costs need all files.
    fn fill_in_costs(&self, found: &Found, rows: &mut [(&SessionFiles, Listed)], cache: &mut Cache) {
        if !self.counts && Ledger::unread_bytes(found, cache) > LIST_UNREAD_BYTES_MAX {
            return;
        }
        let ledger = Ledger::read(found, cache, &|_| {});
        let prices = Prices::built_in();
        // A model without a price makes the sum unknown, not smaller.
        let mut costs: HashMap<&str, Option<Money>> = HashMap::new();
        for response in ledger.responses() {
            let sum = costs.entry(response.session).or_insert(Some(Money::default()));
            *sum = sum.zip(prices.cost(&response)).map(|(mut sum, cost)| {
                sum += cost;
                sum
            });
        }
        for (_, row) in rows {
            let cost = costs.get(row.id.as_str()).copied().unwrap_or(Some(Money::default()));
            row.cost_usd = cost.map(Money::dollars);
        }
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
