//! Prices of tokens. Everything is offline: a table of list prices, and an optional price file.

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
    /// Prices from the price file, by the plain name of the model.
    own: HashMap<String, Price>,
}

/// The price of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Price {
    rates: Rates,
    /// Other rates for long prompts.
    long: Option<Long>,
    /// Price factor of the faster mode; `None` if there is none, or it is unknown.
    fast: Option<u32>,
}

/// Prices for long prompts. They apply by number of tokens: models with a larger window on request are
/// recorded under their usual name, without the `[1m]` of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Long {
    /// Prompts with more tokens than this are long.
    above: u64,
    rates: Rates,
}

/// Units of 10⁻¹² dollars: per token, dollars per million tokens times a million.
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
    /// The list prices in this version.
    pub fn built_in() -> Self {
        Prices { own: HashMap::new() }
    }

    /// The list prices, overridden by those of a price file.
    ///
    /// The file is JSON, `{"model-id":{"input":3,"output":15,…}}`, in dollars per million tokens, and per
    /// thousand for `web_search`. `input` and `output` are required; the others default to the usual
    /// multiples of `input`.
    pub fn with_file(text: &str) -> Result<Self, Error> {
        Ok(Prices { own: file::parse(text)? })
    }

    /// Date on which the built-in prices were compared with the published ones.
    pub fn as_of() -> &'static str {
        table::AS_OF
    }

    /// Returns true for the built-in prices without overrides.
    pub(super) fn are_built_in(&self) -> bool {
        self.own.is_empty()
    }

    /// The cost of a response; `None` if its model has no known price.
    pub fn cost(&self, response: &Response<'_>) -> Option<Money> {
        self.of(response.model)?.cost(&response.tokens, response.fast)
    }

    /// The cost of one response from its `usage` object; `None` if its model has no known price.
    pub fn cost_of_usage(&self, model: &str, usage: Raw<'_>) -> Option<Money> {
        let usage = Usage::read(usage);
        self.of(model)?.cost(&usage.tokens(), usage.fast)
    }

    /// The price of a model in the price file.
    pub(super) fn own(&self, model: &str) -> Option<Price> {
        self.own.get(&*model::plain(model)).copied()
    }

    /// The price of a model, by any spelling of its name: with or without a date, a provider or a window.
    pub(super) fn of(&self, model: &str) -> Option<Price> {
        let plain = model::plain(model);
        self.own.get(&*plain).copied().or_else(|| table::find(&plain))
    }
}

impl Price {
    /// The cost of a response; `None` if the price of its mode is unknown.
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
