//! Cost of sessions: tokens and dollars, each API response counted once.
//!
//! ```no_run
//! use jiff::{Timestamp, tz::TimeZone};
//! use tidings_transcript::cache::Cache;
//! use tidings_transcript::cost::{CostBy, Ledger, Prices, Query};
//! use tidings_transcript::roots::Roots;
//!
//! let found = Roots::new(["/home/dev/.claude"]).scan()?;
//! let ledger = Ledger::read(&found, &mut Cache::none(), &|_| {});
//! let query = Query::new(CostBy::Day, TimeZone::UTC, Timestamp::UNIX_EPOCH);
//! let report = ledger.report(&Prices::built_in(), &query);
//! println!("{} responses, {}", report.total.tokens.output, report.total.cost.cents());
//! # Ok::<(), tidings_transcript::Error>(())
//! ```
//!
//! # Counting rules
//!
//! - A response is one `message.id`, over all files of all roots: main files, sub-agents, forks, resumed
//!   copies and side questions that repeat it. Request ids and session ids do not matter. Without an id the
//!   entry's uuid identifies it, and without that the line itself.
//! - Every content block has a line of its own that repeats the usage, and early lines may hold placeholders:
//!   the largest value of each number counts. Output is taken from lines written after the model stopped, if
//!   there are any.
//! - Day, session, folder and model are those of the best line: a line of the conversation before one of a
//!   sub-agent before progress, an original before a marked fork, then the earliest. Among equal lines the
//!   file with the oldest modification time decides, then the first path.
//! - Messages that the client wrote itself (`<synthetic>`, API errors) cost nothing and are not responses.
//! - `usage` counts only in `message` of an assistant entry (or of the progress of a sub-agent): text may
//!   hold the same bytes.
//!
//! Some calls leave no line at all: titles, classifiers, compactions. The client's own cost records include
//! them where it wrote any; [`recorded`] compares.

mod block;
mod calendar;
mod key;
mod labels;
mod ledger;
mod line;
mod memo;
mod money;
mod names;
mod prices;
mod query;
pub mod recorded;
mod recorded_usage;
mod report;
mod rows;
mod running;
mod scan;
#[cfg(test)]
mod tests;
mod time;
mod tokens;
mod walk;

pub use block::{ActiveBlock, BillingBlock};
pub use labels::labels;
pub use ledger::{Ledger, Response};
pub use memo::Memo;
pub use money::Money;
pub use prices::Prices;
pub use query::{CostBy, Query};
pub use recorded_usage::ResponseUsage;
pub use report::{Report, Row, Total, Unpriced};
pub use running::{KnownCost, RunningCost};
pub use scan::Progress;
pub use tokens::Tokens;
