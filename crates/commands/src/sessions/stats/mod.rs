//! `tidings sessions stats`: counts sessions and their contents, and draws charts.

mod charts;
mod days;
mod svg;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use jiff::{Timestamp, Zoned};
use tidings_api::TranscriptStats;
use tidings_transcript::cost::{CostBy, Ledger, Prices, Query};
use tidings_transcript::counts::{self, Counts};
use tidings_transcript::list::{self, ListFilter};
use tidings_transcript::roots::{SessionFiles, SessionScan};

use self::days::ActiveDay;
use super::filter::FilterArgs;
use super::{RootArgs, unreadable};
use crate::error::Exit;
use crate::human;
use crate::output::{BOLD, DIM, Output, PLAIN, printable};
use crate::progress::Progress;

/// Count sessions, messages, tool calls and errors
///
/// Turns are prompts and slash commands of the user; messages are turns and responses of the model, each
/// response once; branches are abandoned branches. Tool calls and errors of sub-agents count for their
/// session.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    filter: FilterArgs,

    /// Write the charts as SVG to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions stats
  tidings sessions stats --project shop --since 30d
  tidings sessions stats --svg activity.svg
  tidings sessions stats --json | jq .tools

Exit codes: 0 everything was read, 1 some files could not be read (see the warnings), 2 wrong usage, \
3 the command could not run";

impl StatsArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let found = root.roots()?.scan()?;
        let wanted = ListFilter {
            project: self.filter.project.clone(),
            since: self.filter.since()?,
            ..ListFilter::default()
        };
        let rows = list::list(&found.sessions, &wanted);
        let sessions: Vec<&SessionFiles> = rows.iter().map(|(session, _)| *session).collect();
        let mut cache = RootArgs::cache();
        let unread = sessions.iter().map(|session| counts::unread_bytes(session, &cache)).sum();
        let progress = Progress::bytes("counting", unread);
        let counted = counts::count(&sessions, &mut cache, &|bytes| progress.done(bytes));
        drop(progress);
        let read = unreadable::warn(found.unreadable.iter().chain(&counted.unreadable), out)?;
        let now = Zoned::now();
        let (days, models) = if root.json && self.svg.is_none() {
            (Vec::new(), BTreeMap::new())
        } else {
            let mut chosen = SessionScan::default();
            chosen.sessions = sessions.into_iter().cloned().collect();
            let ledger = Ledger::read(&chosen, &mut cache, &|_| {});
            (days::active_days(&ledger, &now), models(&ledger, &now))
        };
        RootArgs::save(&mut cache, out)?;
        if let Some(path) = &self.svg {
            fs_err::write(path, svg::svg(&days))?;
        }
        let mut sum = Counts::default();
        counted.sessions.iter().for_each(|counts| sum.add(counts));
        let stats = counts::stats(rows.iter().map(|(_, row)| row.subagents), &sum);
        if root.json {
            out.json(&stats)?;
        } else {
            out.text(&render(&stats, &sum, &days, &models, &now, human::columns()))?;
        }
        Ok(read)
    }
}

/// Responses by model, each counted once, as `sessions cost --by model` counts them.
fn models(ledger: &Ledger, now: &Zoned) -> BTreeMap<String, u64> {
    let query = Query::new(CostBy::Model, now.time_zone().clone(), now.timestamp());
    let rows = ledger.report(&Prices::built_in(), &query).rows;
    rows.into_iter().map(|row| (row.key, row.total.responses)).collect()
}

fn render(
    stats: &TranscriptStats,
    sum: &Counts,
    days: &[ActiveDay],
    models: &BTreeMap<String, u64>,
    now: &Zoned,
    columns: usize,
) -> String {
    const TOOLS_SHOWN: usize = 15;
    let mut text = String::new();
    let numbers = [
        ("sessions", stats.sessions),
        ("turns", stats.turns),
        ("messages", stats.messages),
        ("tool calls", stats.tool_calls),
        ("errors", stats.errors),
        ("sub-agents", stats.subagents),
        ("branches", stats.branches),
        ("compactions", stats.compactions),
        ("damaged lines", stats.damaged),
    ];
    for (name, number) in numbers {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{BOLD}{:>12}{PLAIN}  {name}", human::count(number));
    }
    if let (Some(first), Some(last)) = (sum.first, sum.last) {
        let day = |time: Timestamp| time.to_zoned(now.time_zone().clone()).date();
        let _ = writeln!(text, "\n{DIM}from {} to {}{PLAIN}", day(first), day(last));
    }
    text.push_str(&charts::heatmap(days, columns));
    text.push_str(&charts::plot(days, columns));
    text.push_str(&bars("tools", &stats.tools, TOOLS_SHOWN, columns));
    text.push_str(&bars("responses by model", models, TOOLS_SHOWN, columns));
    text
}

/// Formats numbers as bars, the largest first.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "bars are short"
)]
fn bars(title: &str, numbers: &BTreeMap<String, u64>, shown: usize, columns: usize) -> String {
    const BAR_COLUMNS_MAX: usize = 30;
    const NAME_COLUMNS_MAX: usize = 32;
    const NUMBER_COLUMNS_MIN: usize = 9;
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let mut sorted: Vec<(&String, u64)> = numbers.iter().map(|(name, number)| (name, *number)).collect();
    sorted.sort_by_key(|(name, number)| (std::cmp::Reverse(*number), *name));
    let Some(&(_, largest)) = sorted.first() else { return String::new() };
    let names = sorted.iter().take(shown).map(|(name, _)| human::width(&printable(name))).max().unwrap_or(0);
    let number_columns = human::count(largest).len().max(NUMBER_COLUMNS_MIN);
    // Names matter more than bars, and two columns are between them.
    let room = columns.saturating_sub(number_columns + 3 * 2);
    let names = names.min(NAME_COLUMNS_MAX).min(room);
    let bar_columns = BAR_COLUMNS_MAX.min(room - names);
    let mut text = format!("\n{BOLD}{title}{PLAIN}\n");
    for (name, number) in sorted.iter().take(shown) {
        let eighths = (*number as f64 / largest as f64 * (bar_columns * 8) as f64).ceil() as usize;
        let bar = format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8]);
        let name = human::padded(&printable(name), names);
        let _ = writeln!(text, "  {name}  {:>number_columns$}  {DIM}{bar}{PLAIN}", human::count(*number));
    }
    if sorted.len() > shown {
        let rest: u64 = sorted[shown..].iter().map(|(_, number)| number).sum();
        let others = human::count((sorted.len() - shown) as u64);
        let _ = writeln!(text, "  {DIM}{others} others: {}{PLAIN}", human::count(rest));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c32_no_line_is_wider_than_the_terminal() {
        let numbers = |names: [&str; 3]| -> BTreeMap<String, u64> {
            names.into_iter().map(str::to_owned).zip([123_456_789_012, 4_567, 1]).collect()
        };
        let long = "mcp__a_server_with_a_long_name__and_a_tool_with_a_long_name";
        let time = |text: &str| -> Option<Timestamp> { text.parse().ok() };
        let sum = Counts {
            messages: 123_456_789_012,
            tools: numbers(["Bash", long, "項目測試項目測試項目測試項目測試項目測試"]),
            first: time("2025-11-02T08:00:00Z"),
            last: time("2026-11-11T08:00:00Z"),
            ..Counts::default()
        };
        let stats = counts::stats(std::iter::empty(), &sum);
        let models = numbers(["claude-opus-4-5", "a-model-with-quite-a-long-name-20261101", "✅✅✅"]);
        let days = days::tests::days(&[1_234_567; 371]);
        let now = Timestamp::UNIX_EPOCH.to_zoned(jiff::tz::TimeZone::UTC);
        for columns in [60, 80, 200] {
            let text = render(&stats, &sum, &days, &models, &now, columns);
            for line in text.lines() {
                let line =
                    [BOLD, DIM, PLAIN].iter().fold(line.to_owned(), |line, code| line.replace(code, ""));
                assert!(human::width(&line) <= columns, "{columns}: {line}");
            }
        }
    }
}
