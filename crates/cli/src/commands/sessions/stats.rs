use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::civil::Date;
use jiff::{Timestamp, ToSpan as _, Zoned};
use tidings_protocol::api::TranscriptStats;
use tidings_transcript::counts::{self, Counts};
use tidings_transcript::list::{self, ListFilter, ListedSession};
use tidings_transcript::roots::SessionFiles;

use super::filter::Filter;
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
pub(crate) struct Stats {
    #[command(flatten)]
    filter: Filter,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions stats
  tidings sessions stats --project shop --since 30d
  tidings sessions stats --json | jq .tools

Exit codes: 0 everything was read, 1 some files could not be read (see the warnings), 2 wrong usage, \
3 the command could not run";

impl Stats {
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
        RootArgs::save(&mut cache, out)?;
        let mut sum = Counts::default();
        counted.sessions.iter().for_each(|counts| sum.add(counts));
        let stats = counts::stats(rows.iter().map(|(_, row)| row.subagents), &sum);
        if root.json {
            out.json(&stats)?;
        } else {
            let rows: Vec<&ListedSession> = rows.iter().map(|(_, row)| row).collect();
            out.text(&render(&stats, &sum, &rows, &Zoned::now()))?;
        }
        Ok(read)
    }
}

fn render(stats: &TranscriptStats, sum: &Counts, rows: &[&ListedSession], now: &Zoned) -> String {
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
    if let Some(strip) = strip(rows, now) {
        text.push_str(&strip);
    }
    text.push_str(&bars("tools", &stats.tools, TOOLS_SHOWN));
    text.push_str(&bars("responses by model", &sum.models, TOOLS_SHOWN));
    text
}

/// Formats numbers as bars, the largest first.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "bars are short"
)]
fn bars(title: &str, numbers: &BTreeMap<String, u64>, shown: usize) -> String {
    const BAR_COLUMNS: f64 = 30.0;
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let mut sorted: Vec<(&String, u64)> = numbers.iter().map(|(name, number)| (name, *number)).collect();
    sorted.sort_by_key(|(name, number)| (std::cmp::Reverse(*number), *name));
    let Some(&(_, largest)) = sorted.first() else { return String::new() };
    let names =
        sorted.iter().take(shown).map(|(name, _)| human::width(&printable(name))).max().unwrap_or(0).min(32);
    let mut text = format!("\n{BOLD}{title}{PLAIN}\n");
    for (name, number) in sorted.iter().take(shown) {
        let eighths = (*number as f64 / largest as f64 * BAR_COLUMNS * 8.0).ceil() as usize;
        let bar = format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8]);
        let name = human::padded(&printable(name), names);
        let _ = writeln!(text, "  {name}  {:>9}  {DIM}{bar}{PLAIN}", human::count(*number));
    }
    if sorted.len() > shown {
        let rest: u64 = sorted[shown..].iter().map(|(_, number)| number).sum();
        let others = human::count((sorted.len() - shown) as u64);
        let _ = writeln!(text, "  {DIM}{others} others: {}{PLAIN}", human::count(rest));
    }
    text
}

/// Formats sessions per day up to the last active day, one column per day.
fn strip(rows: &[&ListedSession], now: &Zoned) -> Option<String> {
    const DAYS: i32 = 60;
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let mut days: BTreeMap<Date, u64> = BTreeMap::new();
    for time in rows.iter().filter_map(|row| row.modified) {
        *days.entry(time.to_zoned(now.time_zone().clone()).date()).or_default() += 1;
    }
    let (&last, _) = days.last_key_value()?;
    let first = last.checked_sub((DAYS - 1).days()).ok()?;
    let first = first.max(*days.first_key_value()?.0);
    let most = days.range(first..).map(|(_, count)| *count).max()?;
    let line: String = first
        .series(1.day())
        .take_while(|day| *day <= last)
        .map(|day| match days.get(&day) {
            None => '·',
            Some(count) => LEVELS[usize::try_from((count * 8).div_ceil(most) - 1).unwrap_or(7).min(7)],
        })
        .collect();
    Some(format!(
        "\n{BOLD}sessions per day{PLAIN}  {DIM}{first} to {last}, at most {most}{PLAIN}\n  {line}\n"
    ))
}
