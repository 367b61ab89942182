//! `tidings sessions cost`.

mod statusline;
mod table;
mod verify;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::ValueEnum;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::Serialize;
use tidings_transcript::cache::Cache;
use tidings_transcript::cost::{self, By, Ledger, Memo, Prices, Query, Report};
use tidings_transcript::roots::{Found, Roots, SessionFiles, no_such_session};

use super::{Place, unreadable, when};
use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{Output, printable};
use crate::progress::Progress;

/// Tokens and dollars, each response counted once
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Cost {
    /// What to sum up by
    #[arg(long, value_name = "WHAT", default_value = "day")]
    by: WhatBy,

    /// The zone in which days begin: Europe/Berlin, UTC, …; the system's if not given
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,

    /// Prices of your own, as JSON: {"model-id":{"input":3,"output":15}}, in dollars per million tokens
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,

    /// Only what came from then on: a day, a moment, or how long ago (7d, 12h)
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,

    /// Only what came until then; a day is included
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,

    /// Only projects whose folder contains this
    #[arg(long, value_name = "TEXT")]
    project: Option<String>,

    /// Only models whose name contains this
    #[arg(long, value_name = "TEXT")]
    model: Option<String>,

    /// Only the session with this id, or with this beginning of it
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// Show so many rows: the latest, or the dearest; the total is still of all
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Print one short line for the status line of Claude Code, which may pipe its JSON in
    #[arg(long, conflicts_with_all = ["verify", "by", "since", "until", "limit"])]
    statusline: bool,

    /// Compare each session with the client's own books
    #[arg(long)]
    verify: bool,

    /// Read everything again, and remember nothing
    #[arg(long)]
    no_cache: bool,

    /// The moment to take for the present one, so that a report can be made again
    #[arg(long, value_name = "TIME", hide = true)]
    now: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum WhatBy {
    Day,
    /// From Monday on, as ISO 8601 counts them
    Week,
    Month,
    Session,
    /// The folder that sessions were started in
    Project,
    Model,
    /// Five hours from the full hour of the first response on
    Block,
}

const EXAMPLES: &str = "\
A response counts once, however many lines, sub-agents, forks and copies repeat it. Costs are list prices, \
not an invoice; a model without a price is named and left out of the dollars. Nothing is fetched.

Examples:
  tidings sessions cost --since 30d
  tidings sessions cost --by project --tz Europe/Berlin
  tidings sessions cost --by session --limit 10
  tidings sessions cost --json --by model | jq .total.cost_usd

In settings.json of Claude Code:
  \"statusLine\": {\"type\": \"command\", \"command\": \"tidings sessions cost --statusline\"}

Exit codes: 0 everything was read, 1 something could not be, and is named, 2 wrong usage, 3 cannot run";

impl Cost {
    pub(crate) fn run(&self, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        let zone = self.zone()?;
        let now = self.now.unwrap_or_else(Timestamp::now).to_zoned(zone);
        let prices = self.prices()?;
        let query = self.query(&now)?;
        if self.statusline {
            let mut cache = self.cache();
            statusline::print(&place.roots()?, &mut cache, &prices, &query, place, out)?;
            // Another run will notice and say so; there is one line for this.
            drop(cache.save());
            return Ok(Exit::Fine);
        }
        let roots = place.roots()?;
        let found = roots.scan()?;
        if self.verify {
            let ledger = self.ledger(&roots, &found, out)?;
            let verified = verify::print(&found, &ledger, &prices, place, out)?;
            let counted = Self::remarks(&found, &ledger, out)?;
            return Ok(verified.and(counted));
        }
        // Whoever asks the same again while nothing was written gets the same answer.
        let memo = self.memo().map(|path| Memo::new(&path, &found, &prices, &query));
        if let Some(report) = memo.as_ref().and_then(|memo| memo.known(&query)) {
            self.report(report, 0, place, out)?;
            return Ok(Exit::Fine);
        }
        let ledger = self.ledger(&roots, &found, out)?;
        self.knows_session(&found, &ledger)?;
        let report = ledger.report(&prices, &query);
        if let Some(memo) = memo.filter(|_| ledger.unreadable.is_empty() && ledger.oversized_lines == 0) {
            // Without it the next run is slower and nothing else.
            drop(memo.keep(&report));
        }
        self.report(report, ledger.oversized_lines, place, out)?;
        Self::remarks(&found, &ledger, out)
    }

    /// A session that is not there would cost nothing, which is the wrong answer.
    fn knows_session(&self, found: &Found, ledger: &Ledger) -> anyhow::Result<()> {
        let Some(name) = self.session.as_deref() else { return Ok(()) };
        let there = found.sessions.iter().any(|session| session.id.starts_with(name))
            || ledger.responses().any(|response| response.session.starts_with(name));
        if there { Ok(()) } else { Err(no_such_session(name).into()) }
    }

    fn memo(&self) -> Option<PathBuf> {
        let folder = Place::cache_folder().filter(|_| !self.no_cache)?;
        Some(folder.join("cost.answer"))
    }

    fn report(
        &self,
        mut report: Report,
        oversized_lines: u64,
        place: &Place,
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
        if place.json {
            out.text(&(serde_json::to_string(&Answer { report: &report, oversized_lines })? + "\n"))?;
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
            out.note(&format!("No price is known for {names}: not in the dollars above. See --prices"))?;
        }
        Ok(())
    }

    /// What is missing in the sums.
    fn remarks(found: &Found, ledger: &Ledger, out: &Output) -> anyhow::Result<Exit> {
        if ledger.oversized_lines > 0 {
            let lines = human::plural(ledger.oversized_lines, "line");
            out.note(&format!("Left out, because too long to read: {lines}"))?;
        }
        unreadable::warn(found.unreadable.iter().chain(&ledger.unreadable), out)
    }

    fn cache(&self) -> Cache {
        if self.no_cache { Cache::none() } else { Place::cache() }
    }

    fn ledger(&self, roots: &Roots, found: &Found, out: &Output) -> anyhow::Result<Ledger> {
        let mut cache = self.cache();
        let bar = Bar::default();
        let ledger = Ledger::read(found, &mut cache, &|progress| bar.show(progress));
        let files = found.sessions.iter().flat_map(SessionFiles::files);
        cache.forget_missing(&roots.projects_folders(), files.map(|file| file.path.as_path()));
        Place::save(&mut cache, out)?;
        Ok(ledger)
    }

    fn query(&self, now: &Zoned) -> anyhow::Result<Query> {
        let moment = |text: &Option<String>| text.as_deref().map(|text| when::parse(text, now)).transpose();
        let mut query = Query::new(self.by.into(), now.time_zone().clone(), now.timestamp());
        query.since = moment(&self.since)?.map(|when| when.start);
        query.until = moment(&self.until)?.map(|when| when.end);
        query.project.clone_from(&self.project);
        query.model.clone_from(&self.model);
        query.session.clone_from(&self.session);
        Ok(query)
    }

    fn zone(&self) -> Result<TimeZone, CannotRun> {
        match self.tz.as_deref() {
            // A machine without a zone keeps UTC.
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

/// A report for scripts.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    report: &'a Report,
    /// Lines that are too long to read, in which usage may stand.
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

/// The progress bar, which begins once it is known how much there is to read.
#[derive(Debug, Default)]
struct Bar(Mutex<Option<(Progress, u64)>>);

impl Bar {
    fn show(&self, progress: cost::Progress) {
        // A bar that another thread failed to draw is not worth failing for.
        let Ok(mut bar) = self.0.lock() else { return };
        let (bar, shown) = bar.get_or_insert_with(|| (Progress::bytes("counting", progress.all), 0));
        bar.done(progress.done.saturating_sub(*shown));
        *shown = progress.done.max(*shown);
    }
}

impl From<WhatBy> for By {
    fn from(by: WhatBy) -> By {
        match by {
            WhatBy::Day => By::Day,
            WhatBy::Week => By::Week,
            WhatBy::Month => By::Month,
            WhatBy::Session => By::Session,
            WhatBy::Project => By::Project,
            WhatBy::Model => By::Model,
            WhatBy::Block => By::Block,
        }
    }
}
