//! Sums of responses.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Serialize, Serializer};
use tidings_protocol::sums::{CostRow, CostTotal};

use super::block::BillingBlock;
use super::calendar::Calendar;
use super::ledger::{AgentCost, Ledger, Response};
use super::money::Money;
use super::names::TextId;
use super::prices::{Price, Prices};
use super::query::{CostBy, Query};
use super::rows::LedgerRow;
use super::time::Millis;
use super::tokens::Tokens;

/// A sum over responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Total {
    /// Number of responses.
    pub responses: u64,
    /// Token usage.
    pub tokens: Tokens,
    /// Cost, without the responses that have no price.
    pub cost: Money,
}

/// The sum of one group: a day, session, model, …
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The day (`2026-11-14`), week (`2026-W46`), month (`2026-11`), start of the block, session, folder or
    /// model; [`Row::UNKNOWN`] if the lines do not contain it.
    pub key: String,
    /// The sum.
    pub total: Total,
    /// Times of the first and the last response.
    pub times: Option<(Timestamp, Timestamp)>,
    /// The block, for sums by block.
    pub block: Option<BillingBlock>,
    /// The project, for sums by session.
    pub project: Option<String>,
}

impl Row {
    /// The key for values that the lines do not contain.
    pub const UNKNOWN: &str = "unknown";
}

/// Responses of a model without a known price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unpriced {
    /// Name of the model, as written; with ` (fast)` if only the price of the faster mode is unknown.
    pub model: String,
    /// Number of responses.
    pub responses: u64,
}

/// Grouped sums: the result of a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Grouping.
    pub by: CostBy,
    /// Name of the time zone of the days.
    pub zone: String,
    /// The sum of everything.
    pub total: Total,
    /// The sums, in order of time, or the most expensive first.
    pub rows: Vec<Row>,
    /// Responses that are missing in the costs.
    pub unpriced: Vec<Unpriced>,
}

impl Total {
    fn add(&mut self, tokens: &Tokens, cost: Money) {
        self.responses += 1;
        self.tokens.add(tokens);
        self.cost += cost;
    }

    /// The cost; `None` if there is usage and none of it has a known price.
    pub fn known_cost(&self) -> Option<Money> {
        let is_used = self.tokens.prompt() > 0 || self.tokens.output > 0;
        (!is_used || self.cost != Money::ZERO).then_some(self.cost)
    }
}

pub(super) fn build(ledger: &Ledger, prices: &Prices, query: &Query) -> Report {
    let mut sums = Sums::new(ledger, prices, query);
    for row in &ledger.rows {
        sums.take(row);
    }
    sums.finish()
}

/// The price of each model that occurs, by number of its name.
fn price_of(ledger: &Ledger, price: impl Fn(&str) -> Option<Price>) -> Vec<Option<Price>> {
    let models: BTreeSet<TextId> = ledger.rows.iter().map(|row| row.model).collect();
    let mut price_of = vec![None; ledger.names.len()];
    for model in models {
        price_of[model.0 as usize] = price(ledger.names.get(model));
    }
    price_of
}

/// Sums under construction.
struct Sums<'a> {
    ledger: &'a Ledger,
    query: &'a Query,
    calendar: Calendar,
    /// True if the query selects all responses.
    open: bool,
    /// True if the query needs the project.
    needs_project: bool,
    /// The folder in which each session began.
    start_folders: HashMap<TextId, (Millis, TextId)>,
    /// Branches or tags, each once.
    labels: Vec<&'a str>,
    /// Index of each session's label.
    label_of: HashMap<TextId, Option<usize>>,
    blocks: Vec<BillingBlock>,
    /// By number of the model's name.
    price_of: Vec<Option<Price>>,
    /// The same with the user's own prices only.
    own_price_of: Vec<Option<Price>>,
    total: Total,
    rows: Vec<Row>,
    /// First and last time of each row.
    spans: Vec<Option<(Millis, Millis)>>,
    /// Index in the rows of each group, and of the last one used: neighbouring responses mostly share it.
    places: HashMap<Group, usize>,
    last: Option<(Group, usize)>,
    unpriced: BTreeMap<String, u64>,
}

/// The identity of a sum: cheaper to compare than keys, which are texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Group {
    Unknown,
    Date(Date),
    /// Year and week, or year and month.
    Part(i16, i8),
    Name(TextId),
    /// Index of a branch or tag.
    Label(usize),
    Block(Timestamp),
}

impl<'a> Sums<'a> {
    fn new(ledger: &'a Ledger, prices: &Prices, query: &'a Query) -> Self {
        let needs_project = matches!(query.by, CostBy::Session | CostBy::Project) || query.project.is_some();
        let mut start_folders: HashMap<TextId, (Millis, TextId)> = HashMap::new();
        for row in ledger.rows.iter().filter(|row| needs_project && row.cwd != TextId::EMPTY) {
            let home = start_folders.entry(row.session).or_insert((row.claim.time, row.cwd));
            if row.claim.time < home.0 {
                *home = (row.claim.time, row.cwd);
            }
        }
        let blocks = if query.by == CostBy::Block {
            let times = ledger.rows.iter().filter_map(|row| row.claim.time.timestamp());
            BillingBlock::of(times.collect(), query.now)
        } else {
            Vec::new()
        };
        Sums {
            ledger,
            query,
            calendar: Calendar::new(query.zone.clone()),
            open: query.is_open(),
            needs_project,
            start_folders,
            labels: query.labels.values().map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect(),
            label_of: HashMap::new(),
            blocks,
            price_of: price_of(ledger, |model| prices.of(model)),
            own_price_of: price_of(ledger, |model| prices.own(model)),
            total: Total::default(),
            rows: Vec::new(),
            spans: Vec::new(),
            places: HashMap::new(),
            last: None,
            unpriced: BTreeMap::new(),
        }
    }

    fn take(&mut self, row: &LedgerRow) {
        let response = self.ledger.response(row);
        let project = if self.needs_project { self.project(row) } else { TextId::EMPTY };
        if !self.open && !self.query.wants(&response, self.ledger.names.get(project)) {
            return;
        }
        let cost = self.cost(row, &response);
        self.total.add(&response.tokens, cost);
        let group = self.group(row, &response, project);
        let at = match self.last {
            Some((last, at)) if last == group => at,
            _ => self.place(group, project),
        };
        self.last = Some((group, at));
        self.rows[at].total.add(&response.tokens, cost);
        let time = row.claim.time;
        if time != Millis::UNKNOWN {
            let (first, last) = self.spans[at].unwrap_or((time, time));
            self.spans[at] = Some((first.min(time), last.max(time)));
        }
    }

    /// Index of a group's row, which is added if it does not exist.
    fn place(&mut self, group: Group, project: TextId) -> usize {
        if let Some(at) = self.places.get(&group) {
            return *at;
        }
        let text = |name: TextId| match self.ledger.names.get(name) {
            "" => Row::UNKNOWN.to_owned(),
            text => text.to_owned(),
        };
        let key = match group {
            Group::Unknown if self.query.by == CostBy::Tag => "no tag".to_owned(),
            Group::Unknown if self.query.by == CostBy::Branch => "no branch".to_owned(),
            Group::Unknown => Row::UNKNOWN.to_owned(),
            Group::Date(date) => date.to_string(),
            Group::Part(year, week) if self.query.by == CostBy::Week => format!("{year:04}-W{week:02}"),
            Group::Part(year, month) => format!("{year:04}-{month:02}"),
            Group::Name(name) => text(name),
            Group::Label(index) => self.labels[index].to_owned(),
            Group::Block(start) => start.to_string(),
        };
        let block = match group {
            Group::Block(start) => BillingBlock::at(&self.blocks, start).copied(),
            Group::Unknown | Group::Date(_) | Group::Part(..) | Group::Name(_) | Group::Label(_) => None,
        };
        let of_session = self.query.by == CostBy::Session && project != TextId::EMPTY;
        let project = of_session.then(|| text(project));
        self.places.insert(group, self.rows.len());
        self.rows.push(Row { key, total: Total::default(), times: None, block, project });
        self.spans.push(None);
        self.rows.len() - 1
    }

    /// The folder that the session began in, if it still works there or below; else the folder of the line
    /// itself.
    ///
    /// A shell that changes into `src` does not start another project. The name of the file's folder cannot
    /// be used: many paths share one.
    fn project(&self, row: &LedgerRow) -> TextId {
        let Some((_, home)) = self.start_folders.get(&row.session) else { return row.cwd };
        let (cwd, home_path) = (self.ledger.names.get(row.cwd), self.ledger.names.get(*home));
        match cwd.strip_prefix(home_path) {
            Some(below) if below.is_empty() || below.starts_with(['/', '\\']) => *home,
            None if cwd.is_empty() => *home,
            _ => row.cwd,
        }
    }

    fn cost(&mut self, row: &LedgerRow, response: &Response<'_>) -> Money {
        let recorded = self.ledger.recorded.get(&row.key);
        if let Some(AgentCost::Recorded(cost)) = recorded {
            return *cost;
        }
        // An agent that could not price a response may have had it for another price than that of the list.
        let price = match recorded {
            Some(AgentCost::Unknown) => self.own_price_of[row.model.0 as usize].as_ref(),
            _ => self.price_of[row.model.0 as usize].as_ref(),
        };
        if let Some(cost) = price.and_then(|price| price.cost(&response.tokens, response.fast)) {
            return cost;
        }
        let model = if response.model.is_empty() { Row::UNKNOWN } else { response.model };
        let fast = if price.is_some() { " (fast)" } else { "" };
        *self.unpriced.entry(format!("{model}{fast}")).or_default() += 1;
        Money::ZERO
    }

    fn group(&mut self, row: &LedgerRow, response: &Response<'_>, project: TextId) -> Group {
        let day = |sums: &mut Self| sums.calendar.day(row.claim.time);
        let group = match self.query.by {
            CostBy::Day => day(self).map(Group::Date),
            CostBy::Week => day(self).map(|date| {
                let week = date.iso_week_date();
                Group::Part(week.year(), week.week())
            }),
            CostBy::Month => day(self).map(|date| Group::Part(date.year(), date.month())),
            CostBy::Session => Some(Group::Name(row.session)),
            CostBy::Project => Some(Group::Name(project)),
            CostBy::Model => Some(Group::Name(row.model)),
            CostBy::Branch | CostBy::Tag => self.label(row.session).map(Group::Label),
            CostBy::Block => {
                let block = response.time.and_then(|time| BillingBlock::at(&self.blocks, time));
                block.map(|block| Group::Block(block.start))
            }
        };
        group.unwrap_or(Group::Unknown)
    }

    /// Index of a session's branch or tag.
    fn label(&mut self, session: TextId) -> Option<usize> {
        let (query, labels, names) = (self.query, &self.labels, &self.ledger.names);
        let find = || labels.binary_search(&query.labels.get(names.get(session))?.as_str()).ok();
        *self.label_of.entry(session).or_insert_with(find)
    }

    fn finish(self) -> Report {
        let mut rows = self.rows;
        for (row, span) in rows.iter_mut().zip(self.spans) {
            row.times = span.and_then(|(first, last)| Some((first.timestamp()?, last.timestamp()?)));
        }
        if self.query.by.is_time() {
            // Sorting by key sorts by time; unknown times come last, since no date begins with a letter.
            rows.sort_by(|a, b| a.key.cmp(&b.key));
        } else {
            rows.sort_by(|a, b| b.total.cost.cmp(&a.total.cost).then_with(|| a.key.cmp(&b.key)));
        }
        Report {
            by: self.query.by,
            zone: self.query.zone.iana_name().unwrap_or("local").to_owned(),
            total: self.total,
            rows,
            unpriced: self
                .unpriced
                .into_iter()
                .map(|(model, responses)| Unpriced { model, responses })
                .collect(),
        }
    }
}

/// The keys that scripts rely on are those of the server; all sums but the dollars are integers.
impl Serialize for Total {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        CostTotal::from(self).serialize(serializer)
    }
}

impl From<&Total> for CostTotal {
    fn from(total: &Total) -> Self {
        let Total { responses, tokens, cost: _ } = total;
        CostTotal {
            responses: *responses,
            input: tokens.input,
            output: tokens.output,
            cache_write: tokens.cache_write(),
            cache_write_5m: tokens.cache_write_5m,
            cache_write_1h: tokens.cache_write_1h,
            cache_read: tokens.cache_read,
            web_searches: tokens.web_searches,
            cost_usd: total.known_cost().map(Money::dollars),
        }
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        CostRow::from(self).serialize(serializer)
    }
}

impl From<&Row> for CostRow {
    fn from(row: &Row) -> Self {
        CostRow {
            key: row.key.clone(),
            total: CostTotal::from(&row.total),
            end: row.block.as_ref().map(|block| block.end.to_string()),
            active: row.block.as_ref().map(|block| block.active),
            project: row.project.clone(),
        }
    }
}
