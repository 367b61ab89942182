//! The client's own cost records, for comparison with our sums.
//!
//! Since 2.1.325 Claude Code writes a `cost-state` line when it ends: the session's cost by its own count. It
//! includes calls that leave no line in the file, and excludes everything after it was written.

use std::fs::File;
use std::io;
use std::path::Path;

use memchr::{memchr, memmem, memrchr};
use tidings_protocol::entry::{CostState, EntryBody, EntryKind, EntryRef};

use super::ledger::Ledger;
use super::money::Money;
use super::prices::Prices;
use super::tokens::Tokens;
use crate::Error;
use crate::blocks::{Block, Blocks, Buffer};
use crate::cache::Cache;
use crate::roots::{SessionFiles, SessionScan};

/// A session's cost record and our sum.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Compared {
    /// The session.
    pub session: String,
    /// Cost in the record, in dollars.
    pub recorded_usd: f64,
    /// Our cost.
    pub ours: Money,
    /// Tokens in the record.
    pub recorded_tokens: Tokens,
    /// Tokens in the lines.
    pub our_tokens: Tokens,
    /// Reason for the difference.
    pub verdict: Verdict,
}

/// Reason for a difference between the cost record and the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// No difference.
    Same,
    /// The record has more: calls without a line, such as titles, classifiers and compactions.
    HiddenCalls,
    /// The record has more: another session contains some of the lines too, and they are counted there.
    Elsewhere,
    /// The lines have more: the session continued after the record was written, or was forked from another.
    LaterCalls,
    /// The tokens agree, the prices differ.
    Prices,
}

impl Verdict {
    /// A few words, for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Same => "same",
            Verdict::HiddenCalls => "hidden calls",
            Verdict::Elsewhere => "counted elsewhere",
            Verdict::LaterCalls => "later calls",
            Verdict::Prices => "prices",
        }
    }

    /// A sentence that explains it.
    pub fn reason(self) -> &'static str {
        match self {
            Verdict::Same => "the lines agree with the client's cost record",
            Verdict::HiddenCalls => "titles, classifiers and compactions leave no line behind",
            Verdict::Elsewhere => {
                "lines shared with another session, such as the one it was forked from, are counted there"
            }
            Verdict::LaterCalls => "the session continued after the client wrote its cost record",
            Verdict::Prices => "the tokens agree, the prices differ",
        }
    }
}

impl Compared {
    /// Cost in the record minus our cost, in dollars.
    pub fn difference_usd(&self) -> f64 {
        self.recorded_usd - self.ours.dollars()
    }

    fn new(session: &str, record: &CostState, ours: Money, our_tokens: Tokens) -> Self {
        let recorded_usd = record.total_cost_usd.unwrap_or(0.0);
        let recorded_tokens = tokens(record);
        let verdict = if total(&recorded_tokens) > total(&our_tokens) {
            Verdict::HiddenCalls
        } else if total(&recorded_tokens) < total(&our_tokens) {
            Verdict::LaterCalls
        } else if (recorded_usd - ours.dollars()).abs() < 1e-6 {
            Verdict::Same
        } else {
            Verdict::Prices
        };
        Compared { session: session.to_owned(), recorded_usd, ours, recorded_tokens, our_tokens, verdict }
    }
}

/// Compares every session that has a cost record with the ledger; the largest difference first.
///
/// Reads every file once, since cost records are not cached. Errors about unreadable files are returned
/// beside.
pub fn compare(found: &SessionScan, ledger: &Ledger, prices: &Prices) -> (Vec<Compared>, Vec<Error>) {
    let (mut compared, mut unreadable) = (Vec::new(), Vec::new());
    let sums = ledger.by_session(prices);
    let mut buffer = Buffer::default();
    for session in &found.sessions {
        let Some(main) = &session.main else { continue };
        match last_record(&main.path, &mut buffer) {
            Ok(Some(record)) => {
                let (ours, tokens) = sums.get(session.id.as_str()).copied().unwrap_or_default();
                let mut one = Compared::new(&session.id, &record, ours, tokens);
                if one.verdict == Verdict::HiddenCalls
                    && total(&tokens_in(session)) >= total(&one.recorded_tokens)
                {
                    one.verdict = Verdict::Elsewhere;
                }
                compared.push(one);
            }
            Ok(None) => {}
            Err(error) => unreadable.push(Error::io("read", &main.path, error)),
        }
    }
    compared.sort_by(|a, b| {
        let size = |compared: &Compared| compared.difference_usd().abs();
        size(b).total_cmp(&size(a)).then_with(|| a.session.cmp(&b.session))
    });
    (compared, unreadable)
}

/// Tokens in the lines of a session, also those counted for another session.
fn tokens_in(session: &SessionFiles) -> Tokens {
    let alone = SessionScan::of(session.clone());
    let mut sum = Tokens::default();
    for response in Ledger::read(&alone, &mut Cache::none(), &|_| {}).responses() {
        sum.add(&response.tokens);
    }
    sum
}

fn total(tokens: &Tokens) -> u64 {
    tokens.prompt().saturating_add(tokens.output)
}

/// The last cost record in a file: the client writes a new one each time it ends.
fn last_record(path: &Path, buffer: &mut Buffer) -> io::Result<Option<CostState>> {
    let finder = memmem::FinderRev::new(b"\"cost-state\"");
    let mut last = None;
    let mut blocks = Blocks::new(File::open(path)?, 0, buffer);
    while let Some(block) = blocks.next()? {
        if let Block::Lines { bytes, .. } = block {
            last = record_in(bytes, &finder).or(last);
        }
    }
    Ok(last)
}

fn record_in(bytes: &[u8], finder: &memmem::FinderRev<'_>) -> Option<CostState> {
    let mut end = bytes.len();
    while let Some(mark) = finder.rfind(&bytes[..end]) {
        let start = memrchr(b'\n', &bytes[..mark]).map_or(0, |before| before + 1);
        let line_end = memchr(b'\n', &bytes[mark..]).map_or(bytes.len(), |after| mark + after);
        if let Ok(entry) = EntryRef::decode(&bytes[start..line_end])
            && entry.kind() == EntryKind::CostState
            && let EntryBody::CostState(record) = entry.body()
        {
            return Some(record);
        }
        end = start;
    }
    None
}

fn tokens(record: &CostState) -> Tokens {
    let mut sum = Tokens::default();
    for usage in record.model_usage.iter().flatten().map(|(_, usage)| usage) {
        let hour = usage.cache_creation_1h_input_tokens.unwrap_or(0);
        sum.add(&Tokens {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_write_5m: usage.cache_creation_input_tokens.saturating_sub(hour),
            cache_write_1h: hour,
            cache_read: usage.cache_read_input_tokens,
            web_searches: usage.web_search_requests,
        });
    }
    sum
}
