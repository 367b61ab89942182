//! Line for the status line of Claude Code, which is printed again and again during a session.

use std::io::{self, IsTerminal as _, Read as _};
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tidings_transcript::cache::Cache;
use tidings_transcript::cost::{ActiveBlock, BillingBlock, Ledger, Money, Prices, Query};
use tidings_transcript::id_prefix::names_id;
use tidings_transcript::roots::{FileInfo, Roots};

use super::super::RootArgs;
use super::table::{NO_PRICE, few};
use crate::human;
use crate::output::{Output, printable};

/// Fields of the JSON that Claude Code sends to its status line, as far as they are needed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StatusInput {
    session_id: Option<String>,
    model: Option<Model>,
    context_window: Option<ContextWindow>,
}

/// Context of the conversation, as newer versions of Claude Code report it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ContextWindow {
    context_window_size: Option<u64>,
    current_usage: Option<CurrentUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CurrentUsage {
    #[serde(rename = "input_tokens")]
    input: u64,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_written: u64,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Model {
    id: Option<String>,
    display_name: Option<String>,
}

/// Content of the line.
#[derive(Debug, PartialEq, Serialize)]
struct StatusLine {
    today_usd: Money,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_usd: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<BlockStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<ContextStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// True if a response came from a model without a price.
    #[serde(skip)]
    unpriced: bool,
}

#[derive(Debug, PartialEq, Serialize)]
struct BlockStatus {
    cost_usd: Money,
    minutes_left: i64,
    /// Cost per hour between the first and the last response of the block; none for a single response.
    #[serde(skip_serializing_if = "Option::is_none")]
    usd_per_hour: Option<f64>,
    /// Cost at the end of the block, if it goes on like that.
    #[serde(skip_serializing_if = "Option::is_none")]
    projected_usd: Option<f64>,
}

/// Size of the conversation, and its share of the model's window.
#[derive(Debug, PartialEq, Serialize)]
struct ContextStatus {
    tokens: u64,
    window: u64,
}

/// Window of models whose window is not reported.
const WINDOW: u64 = 200_000;
/// Window of models with a long context.
const LONG_WINDOW: u64 = 1_000_000;

pub(super) fn print(
    roots: &Roots,
    cache: &mut Cache,
    prices: &Prices,
    query: &Query,
    root: &RootArgs,
    out: &mut Output,
) -> anyhow::Result<()> {
    let input = if query.session.is_some() { StatusInput::default() } else { read_input() };
    let session = query.session.clone().or(input.session_id);
    let today = Today::of(query);
    let mut line = None;
    // Recent files are enough for today and the current block, unless a block began earlier; then more are
    // read.
    for days in [Some(2), Some(14), None] {
        let since = days.map_or(Timestamp::MIN, |days| {
            let ago = query.now.checked_sub(SignedDuration::from_hours(24 * days));
            today.start.min(ago.unwrap_or(Timestamp::MIN))
        });
        let ledger = recent(roots, cache, since, session.as_deref())?;
        let block = match ledger.running_block(since, query.now) {
            ActiveBlock::Block(block) => Some(block),
            ActiveBlock::None => None,
            ActiveBlock::Unknown => continue,
        };
        line = Some(StatusLine::new(&ledger, prices, query.now, today, session.as_deref(), block));
        break;
    }
    // The last pass reads everything, so the block is known.
    let Some(mut line) = line else { return Ok(()) };
    let reported = input.context_window.and_then(|window| window.status());
    let is_long = |model: &Model| model.id.as_deref().is_some_and(|id| id.contains("[1m]"));
    if let (Some(context), true) = (&mut line.context, input.model.as_ref().is_some_and(is_long)) {
        context.window = LONG_WINDOW;
    }
    line.context = reported.or(line.context);
    line.model = input.model.and_then(|model| model.display_name.or(model.id)).or(line.model);
    if root.json {
        out.json(&line)
    } else {
        Ok(out.text(&(line.text(human::columns_of_terminal().unwrap_or(usize::MAX)) + "\n"))?)
    }
}

/// Reads the sessions that changed since a time, and the given session in any case.
fn recent(
    roots: &Roots,
    cache: &mut Cache,
    since: Timestamp,
    session: Option<&str>,
) -> anyhow::Result<Ledger> {
    let since = SystemTime::from(since);
    let wanted = |id: &str, main: &FileInfo| {
        main.modified >= since || session.is_some_and(|session| names_id(session, id))
    };
    Ok(Ledger::read(&roots.scan_some(wanted)?, cache, &|_| {}))
}

/// Reads the JSON of Claude Code from standard input, if any.
fn read_input() -> StatusInput {
    /// Upper bound, far more than Claude Code sends.
    const BYTES_MAX: u64 = 1 << 20;
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return StatusInput::default();
    }
    // Stops after the first object, without waiting for the end of input. Invalid input is ignored.
    let mut objects =
        serde_json::Deserializer::from_reader(stdin.lock().take(BYTES_MAX)).into_iter::<StatusInput>();
    objects.next().and_then(Result::ok).unwrap_or_default()
}

/// The current day in the query's zone.
#[derive(Debug, Clone, Copy)]
struct Today {
    start: Timestamp,
    end: Timestamp,
}

impl Today {
    fn of(query: &Query) -> Self {
        let now = query.now.to_zoned(query.zone.clone());
        let start = now.start_of_day().map_or(query.now, |day| day.timestamp());
        let end = now.tomorrow().and_then(|next| next.start_of_day());
        Today { start, end: end.map_or(Timestamp::MAX, |day| day.timestamp()) }
    }
}

impl StatusLine {
    fn new(
        ledger: &Ledger,
        prices: &Prices,
        now: Timestamp,
        today: Today,
        session: Option<&str>,
        block: Option<BillingBlock>,
    ) -> Self {
        let mut line = StatusLine {
            today_usd: Money::ZERO,
            session_usd: session.map(|_| Money::ZERO),
            block: None,
            context: None,
            model: None,
            unpriced: false,
        };
        let mut spent = BlockSpending::default();
        let mut last: Option<(Timestamp, &str)> = None;
        let mut newest: Option<(Timestamp, u64)> = None;
        let since = block.map_or(today.start, |block| today.start.min(block.start));
        for response in ledger.responses_since(since, session) {
            let cost = prices.cost(&response);
            line.unpriced |= cost.is_none();
            let cost = cost.unwrap_or_default();
            if response.time.is_some_and(|time| (today.start..today.end).contains(&time)) {
                line.today_usd += cost;
            }
            if let Some((block, time)) = block.zip(response.time)
                && (block.start..block.end).contains(&time)
            {
                spent.add(time, cost);
            }
            if session.is_some_and(|session| names_id(session, response.session)) {
                line.session_usd = line.session_usd.map(|sum| sum + cost);
                last = last.max(response.time.map(|time| (time, response.model)));
                if !response.sub_agent {
                    newest = newest.max(response.time.map(|time| (time, response.tokens.prompt())));
                }
            }
        }
        line.block = block.map(|block| spent.status(&block, now));
        line.context = newest.map(|(_, tokens)| ContextStatus {
            tokens,
            window: if tokens > WINDOW { LONG_WINDOW } else { WINDOW },
        });
        line.model = last.map(|(_, model)| model.to_owned());
        line
    }

    fn text(&self, columns: usize) -> String {
        let is_unknown = |cost: Money| cost == Money::ZERO && self.unpriced;
        let cents = |cost: Money| if is_unknown(cost) { NO_PRICE.to_owned() } else { cost.cents() };
        let mut parts = vec![format!("{} today", cents(self.today_usd))];
        parts.extend(self.session_usd.map(|cost| format!("{} session", cents(cost))));
        if let Some(block) = &self.block {
            let (hours, minutes) = (block.minutes_left / 60, block.minutes_left % 60);
            parts.push(format!("{} block, {hours}h {minutes:02}m left", cents(block.cost_usd)));
            if let (Some(rate), Some(end), false) =
                (block.usd_per_hour, block.projected_usd, is_unknown(block.cost_usd))
            {
                parts.push(format!("${rate:.2}/h, ${end:.2} by its end"));
            }
        }
        parts.extend(self.context.as_ref().map(ContextStatus::text));
        parts.extend(self.model.as_deref().map(printable));
        // What matters most stands first; the last part is cut if even it does not fit.
        while parts.len() > 1 && human::width(&parts.join(" · ")) > columns {
            parts.pop();
        }
        human::fit(&parts.join(" · "), columns)
    }
}

/// Cost of a block, and the times between which it was spent.
#[derive(Debug, Default)]
struct BlockSpending {
    cost: Money,
    times: Option<(Timestamp, Timestamp)>,
}

impl BlockSpending {
    fn add(&mut self, time: Timestamp, cost: Money) {
        self.cost += cost;
        let (first, last) = self.times.unwrap_or((time, time));
        self.times = Some((first.min(time), last.max(time)));
    }

    #[expect(clippy::cast_precision_loss, reason = "a block has 18,000 seconds")]
    fn status(&self, block: &BillingBlock, now: Timestamp) -> BlockStatus {
        let seconds = |from: Timestamp, to: Timestamp| (to.as_second() - from.as_second()) as f64;
        let worked = self.times.map(|(first, last)| seconds(first, last)).filter(|seconds| *seconds > 0.0);
        let usd_per_hour = worked.map(|worked| self.cost.dollars() / worked * 3_600.0);
        let left = seconds(now, block.end).max(0.0) / 3_600.0;
        BlockStatus {
            cost_usd: self.cost,
            minutes_left: (block.end.as_second() - now.as_second()) / 60,
            usd_per_hour,
            projected_usd: usd_per_hour.map(|rate| self.cost.dollars() + rate * left),
        }
    }
}

impl ContextWindow {
    fn status(&self) -> Option<ContextStatus> {
        let (window, usage) =
            (self.context_window_size.filter(|size| *size > 0)?, self.current_usage.as_ref()?);
        let cached = usage.cache_written.saturating_add(usage.cache_read);
        Some(ContextStatus { tokens: usage.input.saturating_add(cached), window })
    }
}

impl ContextStatus {
    fn text(&self) -> String {
        let share = self.tokens.saturating_mul(100) / self.window.max(1);
        format!("{} context ({share} %)", few(self.tokens))
    }
}
