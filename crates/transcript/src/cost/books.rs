//! The client's own books, to hold our sums against.
//!
//! Since 2.1.325 Claude Code writes a `cost-state` line when it ends: what the session cost by its own reckoning. It
//! knows of calls that leave no line behind, and it does not know of what happened after it was written.

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
use crate::roots::{Found, SessionFiles};

/// A session's books beside our sum.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Compared {
    /// The session.
    pub session: String,
    /// What the client reckons, in dollars.
    pub books_usd: f64,
    /// What we reckon.
    pub ours: Money,
    /// Tokens in the books.
    pub books_tokens: Tokens,
    /// Tokens in the lines.
    pub our_tokens: Tokens,
    /// Why they differ.
    pub verdict: Verdict,
}

/// What a difference between the books and the lines comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// They agree.
    Same,
    /// The books hold more: calls that left no line, such as titles, classifiers and compactions.
    HiddenCalls,
    /// The books hold more: some of its lines are those of another session too, and are counted there.
    Elsewhere,
    /// The lines hold more: the session went on after the books were written, or was forked from another.
    LaterCalls,
    /// The tokens agree and the prices do not.
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
            Verdict::Same => "the lines hold what the client reckons",
            Verdict::HiddenCalls => "titles, classifiers and compactions leave no line behind",
            Verdict::Elsewhere => {
                "lines that another session has too, such as the one it was forked from, are counted there"
            }
            Verdict::LaterCalls => "the session went on after the client wrote its books",
            Verdict::Prices => "the tokens are the same, the prices are not",
        }
    }
}

impl Compared {
    /// How much more the books hold, in dollars.
    pub fn difference_usd(&self) -> f64 {
        self.books_usd - self.ours.dollars()
    }

    fn new(session: &str, books: &CostState, ours: Money, our_tokens: Tokens) -> Self {
        let books_usd = books.total_cost_usd.unwrap_or(0.0);
        let books_tokens = tokens(books);
        let verdict = if total(&books_tokens) > total(&our_tokens) {
            Verdict::HiddenCalls
        } else if total(&books_tokens) < total(&our_tokens) {
            Verdict::LaterCalls
        } else if (books_usd - ours.dollars()).abs() < 1e-6 {
            Verdict::Same
        } else {
            Verdict::Prices
        };
        Compared { session: session.to_owned(), books_usd, ours, books_tokens, our_tokens, verdict }
    }
}

/// Compares every session that has books with what the ledger has for it; the largest difference first.
///
/// Reads every file once, since books are in no cache. Files that cannot be read are handed out beside.
pub fn compare(found: &Found, ledger: &Ledger, prices: &Prices) -> (Vec<Compared>, Vec<Error>) {
    let (mut compared, mut unreadable) = (Vec::new(), Vec::new());
    let sums = ledger.by_session(prices);
    let mut buffer = Buffer::default();
    for session in &found.sessions {
        let Some(main) = &session.main else { continue };
        match last_books(&main.path, &mut buffer) {
            Ok(Some(books)) => {
                let (ours, tokens) = sums.get(session.id.as_str()).copied().unwrap_or_default();
                let mut one = Compared::new(&session.id, &books, ours, tokens);
                if one.verdict == Verdict::HiddenCalls
                    && total(&tokens_in(session)) >= total(&one.books_tokens)
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

/// What the lines of a session hold, whichever session they are counted for.
fn tokens_in(session: &SessionFiles) -> Tokens {
    let alone = Found { sessions: vec![session.clone()], ..Found::default() };
    let mut sum = Tokens::default();
    for response in Ledger::read(&alone, &mut Cache::none(), &|_| {}).responses() {
        sum.add(&response.tokens);
    }
    sum
}

fn total(tokens: &Tokens) -> u64 {
    tokens.prompt().saturating_add(tokens.output)
}

/// The last books in a file: each time the client ends it writes them anew.
fn last_books(path: &Path, buffer: &mut Buffer) -> io::Result<Option<CostState>> {
    let finder = memmem::FinderRev::new(b"\"cost-state\"");
    let mut last = None;
    let mut blocks = Blocks::new(File::open(path)?, 0, buffer);
    while let Some(block) = blocks.next()? {
        if let Block::Lines { bytes, .. } = block {
            last = books_in(bytes, &finder).or(last);
        }
    }
    Ok(last)
}

fn books_in(bytes: &[u8], finder: &memmem::FinderRev<'_>) -> Option<CostState> {
    let mut end = bytes.len();
    while let Some(mark) = finder.rfind(&bytes[..end]) {
        let start = memrchr(b'\n', &bytes[..mark]).map_or(0, |before| before + 1);
        let line_end = memchr(b'\n', &bytes[mark..]).map_or(bytes.len(), |after| mark + after);
        if let Ok(entry) = EntryRef::decode(&bytes[start..line_end])
            && entry.kind() == EntryKind::CostState
            && let EntryBody::CostState(books) = entry.body()
        {
            return Some(books);
        }
        end = start;
    }
    None
}

fn tokens(books: &CostState) -> Tokens {
    let mut sum = Tokens::default();
    for usage in books.model_usage.iter().flatten().map(|(_, usage)| usage) {
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
