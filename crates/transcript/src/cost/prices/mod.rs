//! What a token costs. Everything is offline: a table of list prices, and a file of one's own.

mod file;
mod model;
mod table;

use std::collections::HashMap;

use tidings_protocol::json::Raw;

use super::ledger::Response;
use super::money::Money;
use super::tokens::{Tokens, Usage};
use crate::Error;

/// List prices by model.
#[derive(Debug, Clone)]
pub struct Prices {
    /// Prices of one's own, by the plain name of the model.
    own: HashMap<String, Price>,
}

/// What one model costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Price {
    rates: Rates,
    /// Other rates for long prompts.
    long: Option<Long>,
    /// How many times as much the faster way costs; `None` if there is none, or nobody knows.
    fast: Option<u32>,
}

/// What a long prompt costs. The number of tokens is the evidence: the models whose window is larger on request are
/// recorded under their usual name, without the `[1m]` that asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Long {
    /// Prompts of more tokens than this are long.
    above: u64,
    rates: Rates,
}

/// Parts of a dollar, each a millionth of a millionth: for a token that is dollars per million, times a million.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rates {
    input: u128,
    output: u128,
    cache_write_5m: u128,
    cache_write_1h: u128,
    cache_read: u128,
    web_search: u128,
}

impl Prices {
    /// The list prices that this version knows.
    pub fn built_in() -> Self {
        Prices { own: HashMap::new() }
    }

    /// The list prices, with those of a price file before them.
    ///
    /// The file is JSON, `{"model-id":{"input":3,"output":15,…}}`, in dollars per million tokens, and per thousand
    /// for `web_search`. `input` and `output` have to be there; the others follow from `input` as they usually do.
    pub fn with_file(text: &str) -> Result<Self, Error> {
        Ok(Prices { own: file::parse(text)? })
    }

    /// The day on which the built-in prices were compared with the published ones.
    pub fn as_of() -> &'static str {
        table::AS_OF
    }

    /// Whether these are the built-in prices and no others.
    pub(super) fn are_built_in(&self) -> bool {
        self.own.is_empty()
    }

    /// What a response costs; `None` if its model has no price here.
    pub fn cost(&self, response: &Response<'_>) -> Option<Money> {
        self.of(response.model)?.cost(&response.tokens, response.fast)
    }

    /// The price of one response from its `usage` object; `None` if its model has no price here.
    pub fn cost_of_usage(&self, model: &str, usage: Raw<'_>) -> Option<Money> {
        let usage = Usage::read(usage);
        self.of(model)?.cost(&usage.tokens(), usage.fast)
    }

    /// What a model costs, by its name as written anywhere: with or without a date, a provider or a window.
    pub(super) fn of(&self, model: &str) -> Option<Price> {
        let plain = model::plain(model);
        self.own.get(&*plain).copied().or_else(|| table::find(&plain))
    }
}

impl Price {
    /// What a response costs; `None` if it went a way whose price is not known.
    pub(super) fn cost(&self, tokens: &Tokens, fast: bool) -> Option<Money> {
        let factor = if fast { self.fast? } else { 1 };
        let rates = match &self.long {
            Some(long) if tokens.prompt() > long.above => &long.rates,
            _ => &self.rates,
        };
        let used: Money = [
            (tokens.input, rates.input),
            (tokens.output, rates.output),
            (tokens.cache_write_5m, rates.cache_write_5m),
            (tokens.cache_write_1h, rates.cache_write_1h),
            (tokens.cache_read, rates.cache_read),
        ]
        .into_iter()
        .map(|(count, price)| Money::of(count, price))
        .sum();
        // Searches cost the same at any speed.
        Some(used.times(factor) + Money::of(tokens.web_searches, rates.web_search))
    }
}
