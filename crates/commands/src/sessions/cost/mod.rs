//! `tidings sessions cost`: tokens and costs of sessions.

mod statusline;
mod table;
mod verify;

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use parking_lot::Mutex;
use serde::Serialize;
use tidings_transcript::agents::ReadReport;
use tidings_transcript::cache::Cache;
use tidings_transcript::cost::{self, CostBy, Ledger, Memo, Prices, Query, Report};
use tidings_transcript::id_prefix::names_id;
use tidings_transcript::roots::{Roots, SessionFiles, SessionScan, no_such_session};

use super::backend::{self, BackendChoiceArgs};
use super::{RootArgs, unreadable, when};
use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{Output, printable};
use crate::progress::Progress;

/// Sum up tokens and costs, counting each response once
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CostArgs {
    /// Group by
    #[arg(long, value_name = "WHAT", default_value = "day", value_parser = cost_by())]
    by: CostBy,

    /// Time zone for days, such as Europe/Berlin or UTC [default: that of the system]
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,

    /// File with your own prices in dollars per million tokens, as JSON: {"model-id":{"input":3,"output":15}}
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,

    /// Only since this day, time or age: 2026-11-14, 7d, 12h
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,

    /// Only until this day (inclusive), time or age
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,

    /// Only projects whose path contains this
    #[arg(long, value_name = "TEXT")]
    project: Option<String>,

    /// Only models whose name contains this
    #[arg(long, value_name = "TEXT")]
    model: Option<String>,

    /// Only the session with this id, or sessions whose id begins with this
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// Maximum number of rows, the latest or the most expensive; the total still covers all
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Print one line for the status line of Claude Code; reads its JSON from standard input, if any
    #[arg(long, conflicts_with_all = ["verify", "by", "since", "until", "limit"])]
    statusline: bool,

    /// Compare each session with the costs that Claude Code recorded
    #[arg(long)]
    verify: bool,

    /// Do not use or update the cache
    #[arg(long)]
    no_cache: bool,

    /// Time to use as the current time, for reproducible reports
    #[arg(long, value_name = "TIME", hide = true)]
    now: Option<Timestamp>,
}

/// Parses a grouping, and lists all of them in the help.
fn cost_by() -> impl TypedValueParser<Value = CostBy> {
    let value = |by: CostBy| {
        let value = PossibleValue::new(by.as_str());
        match by {
            CostBy::Week => value.help("ISO 8601 weeks, beginning on Monday"),
            CostBy::Project => value.help("Folder that sessions were started in"),
            CostBy::Branch => value.help("Last git branch of each session"),
            CostBy::Tag => value.help("Tag of each session, as `sessions tag` sets it"),
            CostBy::Block => value.help("Blocks of five hours, from the full hour of the first response"),
            CostBy::Day | CostBy::Month | CostBy::Session | CostBy::Model => value,
        }
    };
    PossibleValuesParser::new(CostBy::ALL.map(value)).try_map(|text| text.parse())
}

const EXAMPLES: &str = "\
Each response counts once, even if lines, sub-agents, forks and copies repeat it. Costs are list prices, \
not an invoice; models without a price are listed and not part of the costs. Nothing is fetched from the network. \
Of other agents (--backend) the costs are those that the agent recorded, or by your own --prices.

Examples:
  tidings sessions cost --since 30d
  tidings sessions cost --by project --tz Europe/Berlin
  tidings sessions cost --by session --limit 10
  tidings sessions cost --backend opencode --by model
  tidings sessions cost --json --by model | jq .total.cost_usd

In settings.json of Claude Code:
  \"statusLine\": {\"type\": \"command\", \"command\": \"tidings sessions cost --statusline\"}

Exit codes: 0 everything was read, 1 some files could not be read (see the warnings), 2 wrong usage, \
3 the command could not run";

impl CostArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let zone = self.zone()?;
        let now = self.now.unwrap_or_else(Timestamp::now).to_zoned(zone);
        let prices = self.prices()?;
        let mut query = self.query(&now)?;
        if self.statusline {
            let mut cache = self.cache();
            statusline::print(&root.roots()?, &mut cache, &prices, &query, root, out)?;
            // A failure is not reported here, since the output is one line; other runs report it.
            drop(cache.save());
            return Ok(Exit::Success);
        }
        let roots = root.roots()?;
        let found = roots.scan()?;
        if self.verify {
            let ledger = self.ledger(&roots, &found, out)?;
            let verified = verify::print(&found, &ledger, &prices, root, out)?;
            let counted = Self::remarks(&found, &ledger, out)?;
            return Ok(verified.and(counted));
        }
        // The same query with unchanged files gets the stored report.
        let memo = self.memo().map(|path| Memo::new(&path, &found, &prices, &query));
        if let Some(report) = memo.as_ref().and_then(|memo| memo.known(&query)) {
            self.report(report, 0, root, out)?;
            return Ok(Exit::Success);
        }
        let ledger = self.ledger(&roots, &found, out)?;
        self.require_session(&found, &ledger)?;
        query.labels = cost::labels(query.by, &found);
        let report = ledger.report(&prices, &query);
        if let Some(memo) = memo.filter(|_| ledger.unreadable.is_empty() && ledger.oversized_lines == 0) {
            // A failure only makes the next run slower.
            drop(memo.keep(&report));
        }
        self.report(report, ledger.oversized_lines, root, out)?;
        Self::remarks(&found, &ledger, out)
    }

    /// Sums up sessions of other agents.
    pub(crate) fn run_others(
        &self,
        backend: &BackendChoiceArgs,
        root: &RootArgs,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        if self.statusline || self.verify {
            let option = if self.verify { "--verify" } else { "--statusline" };
            return Err(backend::only_claude(option).into());
        }
        let now = self.now.unwrap_or_else(Timestamp::now).to_zoned(self.zone()?);
        let prices = self.prices()?;
        let mut query = self.query(&now)?;
        let others = backend.scan(root, out)?;
        let mut exit = others.exit;
        let mut ledger = Ledger::default();
        if let Some(roots) = backend.claude_roots(root) {
            let found = roots.scan()?;
            ledger = self.ledger(&roots, &found, out)?;
            query.labels = cost::labels(query.by, &found);
            exit = exit.and(Self::remarks(&found, &ledger, out)?);
        }
        let mut has_session = false;
        for (store, sessions) in others.iter() {
            let mut report = ReadReport::default();
            let mut unread = Vec::new();
            for session in sessions {
                has_session |= self.session.as_deref().is_none_or(|name| names_id(name, &session.files.id));
                match store.read(session) {
                    Ok(conversation) => {
                        // Sub-agents belong to the session that started them.
                        let id = session.parent.as_deref().unwrap_or(&session.files.id);
                        let cwd = session.cwd.as_deref().unwrap_or_default();
                        ledger.add_recorded(id, cwd, &conversation.usage);
                        backend::add_report(&mut report, &conversation.report);
                    }
                    Err(error) => unread.push(error),
                }
                if let Some(branch) = session.branch.clone().filter(|_| query.by == CostBy::Branch) {
                    query.labels.insert(session.files.id.clone(), branch);
                }
            }
            backend::announce(store.kind(), &report, out)?;
            exit = exit.and(unreadable::warn(&unread, out)?);
        }
        if let (Some(name), false) = (self.session.as_deref(), has_session) {
            let known = ledger.responses().any(|response| names_id(name, response.session));
            if !known {
                return Err(no_such_session(name).into());
            }
        }
        let report = ledger.report(&prices, &query);
        self.report(report, ledger.oversized_lines, root, out)?;
        Ok(exit)
    }

    /// Fails if `--session` matches no session, instead of reporting a cost of zero.
    fn require_session(&self, found: &SessionScan, ledger: &Ledger) -> anyhow::Result<()> {
        let Some(name) = self.session.as_deref() else { return Ok(()) };
        let there = found.sessions.iter().any(|session| names_id(name, &session.id))
            || ledger.responses().any(|response| names_id(name, response.session));
        if there { Ok(()) } else { Err(no_such_session(name).into()) }
    }

    fn memo(&self) -> Option<PathBuf> {
        let folder = RootArgs::cache_folder().filter(|_| !self.no_cache)?;
        Some(folder.join("cost.answer"))
    }

    fn report(
        &self,
        mut report: Report,
        oversized_lines: u64,
        root: &RootArgs,
        out: &mut Output,
    ) -> anyhow::Result<()> {
        if let Some(limit) = self.limit.filter(|limit| *limit < report.rows.len()) {
            let hidden = report.rows.len() - limit;
            if report.by.is_time() {
                report.rows.drain(..hidden);
            } else {
                report.rows.truncate(limit);
            }
        }
        if root.json {
            out.json(&CostOutput { report: &report, oversized_lines })?;
        } else {
            out.text(&table::text(&report, human::columns()))?;
        }
        if !report.unpriced.is_empty() {
            let names: Vec<String> = report
                .unpriced
                .iter()
                .map(|unpriced| {
                    let responses = human::plural(unpriced.responses, "response");
                    format!("{} ({responses})", printable(&unpriced.model))
                })
                .collect();
            let names = names.join(", ");
            out.note(&format!("No price is known for {names}: not included in the costs. See --prices"))?;
        }
        Ok(())
    }

    /// Prints what is missing in the sums.
    fn remarks(found: &SessionScan, ledger: &Ledger, out: &Output) -> anyhow::Result<Exit> {
        if ledger.oversized_lines > 0 {
            let lines = human::plural(ledger.oversized_lines, "line");
            out.note(&format!("Skipped, because too long to read: {lines}"))?;
        }
        unreadable::warn(found.unreadable.iter().chain(&ledger.unreadable), out)
    }

    fn cache(&self) -> Cache {
        if self.no_cache { Cache::none() } else { RootArgs::cache() }
    }

    fn ledger(&self, roots: &Roots, found: &SessionScan, out: &Output) -> anyhow::Result<Ledger> {
        let mut cache = self.cache();
        let bar = Bar::default();
        let ledger = Ledger::read(found, &mut cache, &|progress| bar.show(progress));
        let files = found.sessions.iter().flat_map(SessionFiles::files);
        cache.forget_missing(&roots.projects_folders(), files.map(|file| file.path.as_path()));
        RootArgs::save(&mut cache, out)?;
        Ok(ledger)
    }

    fn query(&self, now: &Zoned) -> anyhow::Result<Query> {
        let moment = |text: &Option<String>| text.as_deref().map(|text| when::parse(text, now)).transpose();
        let mut query = Query::new(self.by, now.time_zone().clone(), now.timestamp());
        query.since = moment(&self.since)?.map(|when| when.start);
        query.until = moment(&self.until)?.map(|when| when.end);
        query.project.clone_from(&self.project);
        query.model.clone_from(&self.model);
        query.session.clone_from(&self.session);
        Ok(query)
    }

    fn zone(&self) -> Result<TimeZone, CannotRun> {
        match self.tz.as_deref() {
            // A machine without a configured zone uses UTC.
            None => Ok(TimeZone::try_system().unwrap_or(TimeZone::UTC)),
            Some(name) => TimeZone::get(name).map_err(|_| CannotRun {
                code: CannotRun::USAGE,
                message: format!("No such time zone: `{name}`"),
                hint: "use a name of the tz database, such as Europe/Berlin, or UTC",
            }),
        }
    }

    fn prices(&self) -> anyhow::Result<Prices> {
        match &self.prices {
            None => Ok(Prices::built_in()),
            Some(path) => Ok(Prices::with_file(&read(path)?)?),
        }
    }
}

/// JSON output of a report.
#[derive(Serialize)]
struct CostOutput<'a> {
    #[serde(flatten)]
    report: &'a Report,
    /// Number of lines that are too long to read, and may contain usage.
    #[serde(skip_serializing_if = "is_zero")]
    oversized_lines: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference to the field")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs_err::read_to_string(path).map_err(|error| {
        let code = if error.kind() == std::io::ErrorKind::NotFound { "not_found" } else { "unreadable" };
        CannotRun { code, message: error.to_string(), hint: "give the path of a JSON file of prices" }.into()
    })
}

/// Progress bar that starts once the total is known.
#[derive(Debug, Default)]
struct Bar(Mutex<Option<(Progress, u64)>>);

impl Bar {
    fn show(&self, progress: cost::Progress) {
        let mut bar = self.0.lock();
        let (bar, shown) = bar.get_or_insert_with(|| (Progress::bytes("counting", progress.all), 0));
        bar.done(progress.done.saturating_sub(*shown));
        *shown = progress.done.max(*shown);
    }
}
