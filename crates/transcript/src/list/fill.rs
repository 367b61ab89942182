//! The fields of a list that need a pass over whole files.

use std::collections::HashMap;

use super::ListedSession;
use crate::Error;
use crate::cache::Cache;
use crate::cost::{Ledger, Money, Prices};
use crate::counts;
use crate::limits::LIST_UNREAD_BYTES_MAX;
use crate::roots::{SessionFiles, SessionScan};

/// Amount of data that may be read to fill in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Reads only as much as takes a fraction of a second; other fields stay empty.
    Little,
    /// Everything.
    Any,
}

/// The result of filling in a list.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Filled {
    /// Number of sessions that were not counted, because too much would have to be read.
    pub left: usize,
    /// Number of bytes that counting all sessions would read.
    pub left_bytes: u64,
    /// Errors about files that could not be read.
    pub unreadable: Vec<Error>,
}

/// Fills in the fields that need a pass over whole files: from the cache, and from the files if that is quick
/// or requested.
///
/// `done` is called with the number of bytes just read. The caller saves the cache.
pub fn fill(
    found: &SessionScan,
    rows: &mut [(&SessionFiles, ListedSession)],
    cache: &mut Cache,
    effort: Effort,
    done: &(dyn Fn(u64) + Sync),
) -> Filled {
    fill_costs(found, rows, cache, effort);
    let unread: Vec<u64> = rows.iter().map(|(session, _)| counts::unread_bytes(session, cache)).collect();
    let unread_all: u64 = unread.iter().sum();
    let reads = effort == Effort::Any || unread_all <= LIST_UNREAD_BYTES_MAX;
    let mut picked: Vec<&mut (&SessionFiles, ListedSession)> =
        rows.iter_mut().zip(&unread).filter(|(_, bytes)| reads || **bytes == 0).map(|(row, _)| row).collect();
    let left = unread.len() - picked.len();
    let sessions: Vec<&SessionFiles> = picked.iter().map(|(session, _)| *session).collect();
    let counted = counts::count(&sessions, cache, done);
    for ((_, row), counts) in picked.iter_mut().zip(&counted.sessions) {
        row.turns = Some(counts.turns);
        row.messages = Some(counts.messages);
        row.branches = Some(counts.branches);
    }
    let left_bytes = if left > 0 { unread_all } else { 0 };
    Filled { left, left_bytes, unreadable: counted.unreadable }
}

/// Fills in costs. A response may occur in the files of several sessions and counts for one, so costs need
/// all files.
fn fill_costs(
    found: &SessionScan,
    rows: &mut [(&SessionFiles, ListedSession)],
    cache: &mut Cache,
    effort: Effort,
) {
    if effort == Effort::Little && Ledger::unread_bytes(found, cache) > LIST_UNREAD_BYTES_MAX {
        return;
    }
    let ledger = Ledger::read(found, cache, &|_| {});
    let prices = Prices::built_in();
    // A model without a price makes the sum unknown, not smaller.
    let mut costs: HashMap<&str, Option<Money>> = HashMap::new();
    for response in ledger.responses() {
        let sum = costs.entry(response.session).or_insert(Some(Money::default()));
        *sum = sum.zip(prices.cost(&response)).map(|(mut sum, cost)| {
            sum += cost;
            sum
        });
    }
    for (_, row) in rows {
        let cost = costs.get(row.id.as_str()).copied().unwrap_or(Some(Money::default()));
        row.cost_usd = cost.map(Money::dollars);
    }
}
