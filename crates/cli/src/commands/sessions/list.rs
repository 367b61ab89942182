use std::collections::HashSet;
use std::fmt::Write as _;

use clap::ValueEnum;
use jiff::Timestamp;
use tidings_transcript::list::{self, First, Listed, Wanted};

use super::Place;
use super::filter::Filter;
use super::running;
use crate::error::Exit;
use crate::human;
use crate::output::{BOLD, DIM, Output, PLAIN, YELLOW, printable};

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
        let rows: Vec<Listed> = list::list(found.sessions, &wanted).into_iter().map(|(_, row)| row).collect();
        if place.json {
            for row in &rows {
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

/// One line per session; the title gets what room is left.
fn table(rows: &[Listed], running: &HashSet<String>, now: Timestamp, columns: usize) -> String {
    const PROJECT_COLUMNS_MAX: usize = 24;
    if rows.is_empty() {
        return "No sessions.\n".to_owned();
    }
    let projects = rows.iter().map(|row| human::width(&printable(&row.project))).max().unwrap_or(0);
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
    for row in rows {
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
