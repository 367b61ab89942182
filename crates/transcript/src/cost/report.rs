//! Sums of responses.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::block::Block;
use super::calendar::{self, Calendar};
use super::ledger::{Ledger, Response};
use super::money::Money;
use super::names::Name;
use super::prices::{Price, Prices};
use super::query::{By, Query};
use super::rows::Row as LedgerRow;
use super::time::Millis;
use super::tokens::Tokens;

/// A sum over responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Total {
    /// How many.
    pub responses: u64,
    /// What they used.
    pub tokens: Tokens,
    /// What they cost, those without a price left out.
    pub cost: Money,
}

/// A sum for one day, session, model or whatever was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The day (`2026-11-14`), week (`2026-W46`), month (`2026-11`), begin of the block, session, folder or model;
    /// [`Row::UNKNOWN`] where the lines do not tell.
    pub key: String,
    /// The sum.
    pub total: Total,
    /// When the first and the last of the responses came.
    pub times: Option<(Timestamp, Timestamp)>,
    /// The block, for sums by block.
    pub block: Option<Block>,
    /// The project, for sums by session.
    pub project: Option<String>,
}

impl Row {
    /// The key of what lines do not tell.
    pub const UNKNOWN: &str = "unknown";
}

/// Responses of a model that has no price here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unpriced {
    /// The model, as written; with ` (fast)` where only the price of the faster way is not known.
    pub model: String,
    /// How many.
    pub responses: u64,
}

/// Sums by what a query asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// What the sums are made for.
    pub by: By,
    /// The name of the zone in which days begin.
    pub zone: String,
    /// The sum of everything.
    pub total: Total,
    /// The sums, in order of time, or the dearest first.
    pub rows: Vec<Row>,
    /// What is not in the costs.
    pub unpriced: Vec<Unpriced>,
}

impl Total {
    fn add(&mut self, tokens: &Tokens, cost: Money) {
        self.responses += 1;
        self.tokens.add(tokens);
        self.cost += cost;
    }
}

pub(super) fn build(ledger: &Ledger, prices: &Prices, query: &Query) -> Report {
    let mut sums = Sums::new(ledger, prices, query);
    for row in &ledger.rows {
        sums.take(row);
    }
    sums.finish()
}

/// Sums in the making.
struct Sums<'a> {
    ledger: &'a Ledger,
    prices: &'a Prices,
    query: &'a Query,
    calendar: Calendar,
    /// In which folder each session began.
    homes: HashMap<Name, (Millis, Name)>,
    blocks: Vec<Block>,
    price_of: HashMap<Name, Option<Price>>,
    total: Total,
    rows: BTreeMap<String, Row>,
    unpriced: BTreeMap<String, u64>,
}

impl<'a> Sums<'a> {
    fn new(ledger: &'a Ledger, prices: &'a Prices, query: &'a Query) -> Self {
        let mut homes: HashMap<Name, (Millis, Name)> = HashMap::new();
        for row in ledger.rows.iter().filter(|row| row.cwd != Name::EMPTY) {
            let home = homes.entry(row.session).or_insert((row.claim.time, row.cwd));
            if row.claim.time < home.0 {
                *home = (row.claim.time, row.cwd);
            }
        }
        let blocks = if query.by == By::Block {
            let times = ledger.rows.iter().filter_map(|row| row.claim.time.timestamp());
            Block::of(times.collect(), query.now)
        } else {
            Vec::new()
        };
        Sums {
            ledger,
            prices,
            query,
            calendar: Calendar::new(query.zone.clone()),
            homes,
            blocks,
            price_of: HashMap::new(),
            total: Total::default(),
            rows: BTreeMap::new(),
            unpriced: BTreeMap::new(),
        }
    }

    fn take(&mut self, row: &LedgerRow) {
        let response = self.ledger.response(row);
        let project = self.project(row);
        if !self.query.wants(&response, project) {
            return;
        }
        let cost = self.cost(row, &response);
        self.total.add(&response.tokens, cost);
        let (key, block) = self.key(row, &response, project);
        let sum = self.rows.entry(key).or_insert_with_key(|key| Row {
            key: key.clone(),
            total: Total::default(),
            times: None,
            block,
            project: (self.query.by == By::Session && !project.is_empty()).then(|| project.to_owned()),
        });
        sum.total.add(&response.tokens, cost);
        if let Some(time) = response.time {
            let (first, last) = sum.times.unwrap_or((time, time));
            sum.times = Some((first.min(time), last.max(time)));
        }
    }

    /// The folder that the session began in, if it still works there or below; else the folder of the line itself.
    ///
    /// A shell that steps into `src` does not make another project of it. The name of the folder that the file lies
    /// in is no help: many paths share one.
    fn project(&self, row: &LedgerRow) -> &'a str {
        let names = &self.ledger.names;
        let cwd = names.get(row.cwd);
        let Some((_, home)) = self.homes.get(&row.session) else { return cwd };
        let home = names.get(*home);
        match cwd.strip_prefix(home) {
            Some(below) if below.is_empty() || below.starts_with(['/', '\\']) => home,
            None if cwd.is_empty() => home,
            _ => cwd,
        }
    }

    fn cost(&mut self, row: &LedgerRow, response: &Response<'_>) -> Money {
        let price = *self.price_of.entry(row.model).or_insert_with(|| self.prices.of(response.model));
        if let Some(cost) = price.and_then(|price| price.cost(&response.tokens, response.fast)) {
            return cost;
        }
        let model = if response.model.is_empty() { Row::UNKNOWN } else { response.model };
        let fast = if price.is_some() { " (fast)" } else { "" };
        *self.unpriced.entry(format!("{model}{fast}")).or_default() += 1;
        Money::ZERO
    }

    fn key(&mut self, row: &LedgerRow, response: &Response<'_>, project: &str) -> (String, Option<Block>) {
        let text = |text: &str| if text.is_empty() { Row::UNKNOWN.to_owned() } else { text.to_owned() };
        let day = |sums: &mut Self| sums.calendar.day(row.claim.time);
        let key = match self.query.by {
            By::Day => day(self).map(|date| date.to_string()),
            By::Week => day(self).map(calendar::week),
            By::Month => day(self).map(calendar::month),
            By::Session => Some(text(response.session)),
            By::Project => Some(text(project)),
            By::Model => Some(text(response.model)),
            By::Block => {
                let block = response.time.and_then(|time| Block::at(&self.blocks, time));
                return match block {
                    Some(block) => (block.start.to_string(), Some(*block)),
                    None => (Row::UNKNOWN.to_owned(), None),
                };
            }
        };
        (key.unwrap_or_else(|| Row::UNKNOWN.to_owned()), None)
    }

    fn finish(self) -> Report {
        // By key is by time; what is not known comes last, since no date begins with a letter.
        let mut rows: Vec<Row> = self.rows.into_values().collect();
        if !self.query.by.is_time() {
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

/// The keys that scripts rely on; sums are integers, and only dollars are not.
impl Serialize for Total {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write(&mut map)?;
        map.end()
    }
}

impl Total {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Total { responses, tokens, cost } = self;
        map.serialize_entry("responses", responses)?;
        map.serialize_entry("input", &tokens.input)?;
        map.serialize_entry("output", &tokens.output)?;
        map.serialize_entry("cache_write", &tokens.cache_write())?;
        map.serialize_entry("cache_write_5m", &tokens.cache_write_5m)?;
        map.serialize_entry("cache_write_1h", &tokens.cache_write_1h)?;
        map.serialize_entry("cache_read", &tokens.cache_read)?;
        map.serialize_entry("web_searches", &tokens.web_searches)?;
        map.serialize_entry("cost_usd", cost)
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("key", &self.key)?;
        self.total.write(&mut map)?;
        if let Some(Block { end, active, .. }) = &self.block {
            map.serialize_entry("end", &end.to_string())?;
            map.serialize_entry("active", active)?;
        }
        if let Some(project) = &self.project {
            map.serialize_entry("project", project)?;
        }
        map.end()
    }
}
