//! `tidings sessions list`: the sessions of all projects, newest first.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::ValueEnum;
use jiff::Timestamp;
use tidings_transcript::agents::{AgentStore, ReadReport, StoredSession};
use tidings_transcript::counts;
use tidings_transcript::limits::LIST_UNREAD_BYTES_MAX;
use tidings_transcript::list::{self, Effort, First, ListFilter, ListedSession};
use tidings_transcript::roots::{SessionFiles, SessionScan};

use super::backend::{self, BackendChoiceArgs};
use super::filter::FilterArgs;
use super::{RootArgs, running, unreadable};
use crate::error::Exit;
use crate::human;
use crate::output::{DIM, Output, PLAIN, printable};
use crate::progress::Progress;
use crate::table::{Align, Cell, Column, Table};

/// List the sessions of all projects, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    filter: FilterArgs,

    /// Only sessions with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,

    /// Only sessions whose last git branch is this one
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,

    /// Only sessions of this folder and of those below it
    #[arg(long, value_name = "FOLDER")]
    path: Option<PathBuf>,

    /// Maximum number of sessions
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    /// Sort order
    #[arg(long, value_name = "ORDER", default_value = "newest")]
    sort: Sort,

    /// Count turns, messages and cost even if many files must be read
    #[arg(long)]
    counts: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sort {
    /// Last changed first
    Newest,
    /// Last changed last
    Oldest,
    /// Largest files first
    Largest,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions list --limit 20
  tidings sessions list --project shop --since 7d
  tidings sessions list --tag release
  tidings sessions list --path . --branch main
  tidings sessions list --backend all --since 7d
  tidings sessions list --sort largest --json | jq -r .path

Exit codes: 0 everything was read, 1 some files could not be read (see the warnings), 2 wrong usage, \
3 the command could not run";

impl ListArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let roots = root.roots()?;
        let found = roots.scan()?;
        let looked = unreadable::warn(&found.unreadable, out)?;
        let wanted = self.wanted()?;
        let mut rows = list::list(&found.sessions, &wanted);
        let counted = self.fill_in(&found, &mut rows, out)?;
        if root.json {
            for (_, row) in &rows {
                out.json(row)?;
            }
        } else {
            let running = running::ids(&roots);
            let rows: Vec<&ListedSession> = rows.iter().map(|(_, row)| row).collect();
            out.text(&table(&rows, &running, Timestamp::now(), human::columns()))?;
        }
        Ok(looked.and(counted))
    }

    fn wanted(&self) -> anyhow::Result<ListFilter> {
        Ok(ListFilter {
            project: self.filter.project.clone(),
            tag: self.tag.clone(),
            branch: self.branch.clone(),
            path: self.path.as_deref().map(std::path::absolute).transpose()?,
            since: self.filter.since()?,
            limit: self.limit,
            first: match self.sort {
                Sort::Newest => First::Newest,
                Sort::Oldest => First::Oldest,
                Sort::Largest => First::Largest,
            },
        })
    }

    /// Lists sessions of other agents.
    pub(crate) fn run_others(
        &self,
        backend: &BackendChoiceArgs,
        root: &RootArgs,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        let wanted = self.wanted()?;
        let found = backend.scan(root, out)?;
        let mut exit = found.exit;
        let mut rows = Vec::new();
        let mut running = HashSet::new();
        if let Some(roots) = backend.claude_roots(root) {
            let scan = roots.scan()?;
            exit = exit.and(unreadable::warn(&scan.unreadable, out)?);
            let mut own = list::list(&scan.sessions, &wanted);
            exit = exit.and(self.fill_in(&scan, &mut own, out)?);
            running = running::ids(&roots);
            rows.extend(own.into_iter().map(|(_, row)| ListedSession { agent: Some("claude"), ..row }));
        }
        for (store, sessions) in found.iter() {
            let listed = list::list_stored(sessions, &wanted);
            exit = exit.and(self.fill_in_others(store, listed, &mut rows, out)?);
        }
        match wanted.first {
            First::Newest => rows.sort_by_key(|row| std::cmp::Reverse(row.modified)),
            First::Oldest => rows.sort_by_key(|row| row.modified),
            First::Largest => rows.sort_by_key(|row| std::cmp::Reverse(row.bytes)),
        }
        rows.truncate(self.limit.unwrap_or(usize::MAX));
        if root.json {
            for row in &rows {
                out.json(row)?;
            }
        } else {
            let rows: Vec<&ListedSession> = rows.iter().collect();
            out.text(&table(&rows, &running, Timestamp::now(), human::columns()))?;
        }
        Ok(exit)
    }

    /// Adds the counts of another agent's sessions, which need a pass over each.
    fn fill_in_others(
        &self,
        store: &dyn AgentStore,
        listed: Vec<(&StoredSession, ListedSession)>,
        rows: &mut Vec<ListedSession>,
        out: &Output,
    ) -> anyhow::Result<Exit> {
        let bytes: u64 = listed.iter().map(|(session, _)| session.bytes).sum();
        let reads = self.counts || bytes <= LIST_UNREAD_BYTES_MAX;
        let progress = Progress::bytes("counting", if reads { bytes } else { 0 });
        let mut report = ReadReport::default();
        let mut unread = Vec::new();
        let left = if reads { 0 } else { listed.len() };
        for (session, mut row) in listed {
            if reads {
                match store.read(session) {
                    Ok(conversation) => {
                        list::fill_stored(&mut row, &conversation);
                        backend::add_report(&mut report, &conversation.report);
                    }
                    Err(error) => unread.push(error),
                }
                progress.done(session.bytes);
            }
            rows.push(row);
        }
        drop(progress);
        if left > 0 {
            let sessions = human::plural(left as u64, "session");
            let bytes = human::bytes(bytes);
            out.note(&format!("{sessions} not counted; `--counts` reads {bytes} to count them"))?;
        }
        backend::announce(store.kind(), &report, out)?;
        unreadable::warn(&unread, out)
    }
}

impl ListArgs {
    /// Adds the counts, which need a pass over whole files.
    fn fill_in(
        &self,
        found: &SessionScan,
        rows: &mut [(&SessionFiles, ListedSession)],
        out: &Output,
    ) -> anyhow::Result<Exit> {
        let mut cache = RootArgs::cache();
        let unread: u64 = rows.iter().map(|(session, _)| counts::unread_bytes(session, &cache)).sum();
        let effort = if self.counts { Effort::Any } else { Effort::Little };
        let reads = effort == Effort::Any || unread <= LIST_UNREAD_BYTES_MAX;
        let progress = Progress::bytes("counting", if reads { unread } else { 0 });
        let filled = list::fill(found, rows, &mut cache, effort, &|bytes| progress.done(bytes));
        drop(progress);
        let counted = unreadable::warn(&filled.unreadable, out)?;
        if filled.left > 0 {
            let sessions = human::plural(filled.left as u64, "session");
            let bytes = human::bytes(filled.left_bytes);
            out.note(&format!("{sessions} not counted yet; `--counts` reads {bytes} once to count them"))?;
        }
        RootArgs::save(&mut cache, out)?;
        Ok(counted)
    }
}

/// Width of an agent's name.
const AGENT_COLUMNS: usize = "opencode".len();

/// Formats one line per session; the title gets the columns that are left.
fn table(rows: &[&ListedSession], running: &HashSet<String>, now: Timestamp, columns: usize) -> String {
    if rows.is_empty() {
        return "No sessions.\n".to_owned();
    }
    let projects = rows.iter().map(|row| human::width(&printable(&row.project))).max().unwrap_or(0);
    // With sessions of several agents each row names its agent.
    let several = rows.iter().any(|row| row.agent != rows[0].agent);
    let layout = Layout::of(projects, columns.saturating_sub(if several { AGENT_COLUMNS + 2 } else { 0 }));
    let mut shown = vec![("id", 8, Align::Left), ("age", 4, Align::Right)];
    shown.extend(several.then_some(("agent", AGENT_COLUMNS, Align::Left)));
    shown.extend(layout.columns());
    let mut table = Table::new(shown, "title", columns);
    for row in rows {
        let age = row.modified.map_or_else(String::new, |modified| human::age(modified, now));
        let mark = if running.contains(&row.id) { "● " } else { "" };
        let mark = if row.parent.is_some() { "sub-agent: " } else { mark };
        let tag = row.tag.as_deref().map(|tag| format!(" #{tag}")).unwrap_or_default();
        let title = row.title.as_deref().unwrap_or("(no title)").replace('\n', " ");
        let mut cells = vec![human::short_id(&row.id), age];
        cells.extend(several.then(|| row.agent.unwrap_or("claude").to_owned()));
        cells.extend(layout.shown.iter().map(|column| column.cell(row)));
        let cells: Vec<Cell<'_>> = cells.iter().map(|cell| (cell.as_str(), "")).collect();
        table.row(&cells, &format!("{mark}{title}{tag}"));
    }
    let mut text = table.into_text();
    // Writing into a String cannot fail.
    let _ = writeln!(text, "{DIM}{}{PLAIN}", human::plural(rows.len() as u64, "session"));
    text
}

/// Columns between the age and the title.
#[derive(Debug, Clone, Copy)]
enum ListColumn {
    Project,
    Turns,
    Size,
    Cost,
}

impl ListColumn {
    fn cell(self, row: &ListedSession) -> String {
        match self {
            ListColumn::Project => row.project.clone(),
            ListColumn::Turns => row.turns.map_or_else(String::new, |turns| turns.to_string()),
            ListColumn::Size => human::bytes(row.bytes),
            ListColumn::Cost => row.cost_usd.map_or_else(String::new, |cost| format!("${cost:.2}")),
        }
    }
}

/// Columns that fit into a line.
#[derive(Debug)]
struct Layout {
    shown: &'static [ListColumn],
    project: usize,
}

impl Layout {
    /// Layouts from wide terminals to narrow ones, with the maximum width of the project.
    const ALL: [(&'static [ListColumn], usize); 6] = [
        (&[ListColumn::Project, ListColumn::Turns, ListColumn::Size, ListColumn::Cost], 24),
        (&[ListColumn::Project, ListColumn::Turns, ListColumn::Size, ListColumn::Cost], 12),
        (&[ListColumn::Project, ListColumn::Turns, ListColumn::Cost], 12),
        (&[ListColumn::Project, ListColumn::Cost], 12),
        (&[ListColumn::Project], 12),
        (&[], 0),
    ];
    /// Minimum width of the title, which is more important than the other columns.
    const TITLE_MIN: usize = 16;

    fn of(projects: usize, columns: usize) -> Self {
        let mut narrowest = Layout { shown: &[], project: 0 };
        for (shown, project_max) in Self::ALL {
            narrowest = Layout { shown, project: projects.max("project".len()).min(project_max) };
            let used: usize = narrowest.columns().map(|(_, width, _)| width + 2).sum();
            if "00000000  000d  ".len() + used + Self::TITLE_MIN <= columns {
                break;
            }
        }
        narrowest
    }

    fn columns(&self) -> impl Iterator<Item = Column> {
        self.shown.iter().map(|column| match column {
            ListColumn::Project => ("project", self.project, Align::Left),
            ListColumn::Turns => ("turns", 5, Align::Right),
            ListColumn::Size => ("size", 8, Align::Right),
            ListColumn::Cost => ("cost", 8, Align::Right),
        })
    }
}
