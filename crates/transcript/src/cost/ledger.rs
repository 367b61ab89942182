//! All API responses in a set of files, each once.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

use jiff::Timestamp;

use super::block::{ActiveBlock, BillingBlock};
use super::key::KeyMap;
use super::line::SightingSource;
use super::money::Money;
use super::names::{TextId, TextTable};
use super::prices::Prices;
use super::query::Query;
use super::recorded_usage::ResponseUsage;
use super::report::{self, Report};
use super::rows::{LedgerRow, Rows, USAGE};
use super::scan::{self, Progress, ScanJob, ScanResult};
use super::time::Millis;
use super::tokens::Tokens;
use crate::Error;
use crate::cache::{Cache, Known, Mark};
use crate::id_prefix::names_id;
use crate::roots::{FileInfo, SessionFiles, SessionScan};

/// All API responses in a set of files, each once.
#[derive(Debug, Default)]
pub struct Ledger {
    pub(super) rows: Vec<LedgerRow>,
    pub(super) names: TextTable,
    /// Errors about files that could not be read to their end.
    pub unreadable: Vec<Error>,
    /// Number of lines that are too long to read and may contain usage.
    pub oversized_lines: u64,
    /// Responses of other agents.
    pub(super) recorded: KeyMap<AgentCost>,
}

/// An API response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Response<'a> {
    /// Time of its first line.
    pub time: Option<Timestamp>,
    /// The session it belongs to; responses to sub-agents belong to the session that started them.
    pub session: &'a str,
    /// The session's working folder at that time; may be empty.
    pub cwd: &'a str,
    /// Name of the model, as written; may be empty.
    pub model: &'a str,
    /// Token usage.
    pub tokens: Tokens,
    /// True for the faster and more expensive mode.
    pub fast: bool,
    /// True for a response to a sub-agent.
    pub sub_agent: bool,
    /// True if all of its lines are copies, as in a fork of another session.
    pub copied: bool,
}

/// The cost of a response of another agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentCost {
    /// The agent recorded it.
    Recorded(Money),
    /// The agent writes costs, and did not know this one.
    Unknown,
    /// The agent writes no costs.
    NotWritten,
}

impl Ledger {
    /// Reads what is not cached, and counts. New data is put into the cache; the caller saves it.
    ///
    /// `progress` is called from the reading threads.
    pub fn read(found: &SessionScan, cache: &mut Cache, progress: &(dyn Fn(Progress) + Sync)) -> Self {
        let mut files: Vec<(&FileInfo, &str)> = found
            .sessions
            .iter()
            .flat_map(|session| session.files().map(|file| (file, session.id.as_str())))
            .collect();
        // Among equal claims to a response the first merged one wins.
        files.sort_by_key(|(file, _)| (file.modified, file.path.as_os_str()));
        let mut sources = Vec::with_capacity(files.len());
        let mut jobs = Vec::new();
        for (at, (file, _)) in files.iter().enumerate() {
            let (source, job) = match cache.known(file, USAGE) {
                Known::Whole(facts) => (RowSource::Cache(facts), None),
                Known::UpTo { facts, offset } => {
                    let job = Rows::decode(facts).map(|rows| ScanJob { at, file, offset, rows });
                    (RowSource::File, Some(job.unwrap_or_else(|| ScanJob::new(at, file))))
                }
                Known::Nothing => (RowSource::File, Some(ScanJob::new(at, file))),
            };
            sources.push(source);
            jobs.extend(job);
        }
        let known = found.sessions.iter().map(|session| session.id.as_str());
        let known: HashSet<&str> = known.chain(found.unwanted.iter().map(String::as_str)).collect();
        let mut ledger = Ledger::default();
        let mut read: HashMap<usize, ScanResult> =
            scan::all(jobs, progress).into_iter().map(|done| (done.at, done)).collect();
        let rows = sources.iter().map(RowSource::estimated_rows).sum();
        let mut merged = MergeState::with_capacity(rows);
        ledger.rows.reserve(rows);
        for (at, (source, (file, session))) in sources.iter().zip(&files).enumerate() {
            // Cached data is decoded file by file, so that it is in memory only once.
            let cached = match source {
                RowSource::Cache(facts) => Rows::decode(facts),
                RowSource::File => None,
            };
            if let Some(rows) = cached {
                ledger.merge(&rows, session, &known, &mut merged);
                continue;
            }
            // Cached data that does not decode is read again.
            let done = read.remove(&at).or_else(|| scan::all(vec![ScanJob::new(at, file)], progress).pop());
            if let Some(done) = done {
                ledger.merge(&done.rows, session, &known, &mut merged);
                merged.new_data.extend(done.mark.map(|mark| (*file, mark, done.rows.encode())));
                ledger.unreadable.extend(done.error);
            }
        }
        for (file, mark, facts) in merged.new_data {
            cache.keep(file, USAGE, mark, facts);
        }
        ledger
    }

    /// Adds the responses of a session of another agent. A response with the same id counts once.
    pub fn add_recorded(&mut self, session: &str, cwd: &str, responses: &[ResponseUsage]) {
        for response in responses {
            let key = response.key(session);
            let cost = match response.cost {
                Some(cost) => AgentCost::Recorded(cost),
                None if response.writes_costs => AgentCost::Unknown,
                None => AgentCost::NotWritten,
            };
            if self.recorded.insert(key, cost).is_none() {
                let row = response.row(key, session, cwd, &mut self.names);
                self.rows.push(row);
            }
        }
    }

    /// Number of bytes that [`Ledger::read`] would have to read.
    pub fn unread_bytes(found: &SessionScan, cache: &Cache) -> u64 {
        let files = found.sessions.iter().flat_map(SessionFiles::files);
        let unread = files.map(|file| match cache.known(file, USAGE) {
            Known::Whole(_) => 0,
            Known::UpTo { offset, .. } => file.bytes.saturating_sub(offset),
            Known::Nothing => file.bytes,
        });
        unread.sum()
    }

    /// The responses, in no particular order.
    pub fn responses(&self) -> impl Iterator<Item = Response<'_>> {
        self.rows.iter().map(|row| self.response(row))
    }

    /// The responses since a time, and in addition all those of a session, if one is given by its id or a
    /// [prefix](crate::id_prefix) of it.
    pub fn responses_since<'a>(
        &'a self,
        since: Timestamp,
        session: Option<&'a str>,
    ) -> impl Iterator<Item = Response<'a>> {
        let since = since.as_millisecond();
        let recent = move |row: &&LedgerRow| row.claim.time != Millis::UNKNOWN && row.claim.time.0 >= since;
        let in_session =
            move |row: &&LedgerRow| session.is_some_and(|name| names_id(name, self.names.get(row.session)));
        self.rows.iter().filter(move |row| recent(row) || in_session(row)).map(|row| self.response(row))
    }

    /// The block that is active at `now`, provided that the ledger has all responses since `since`.
    pub fn running_block(&self, since: Timestamp, now: Timestamp) -> ActiveBlock {
        BillingBlock::running(
            self.rows.iter().filter_map(|row| row.claim.time.timestamp()).collect(),
            since,
            now,
        )
    }

    /// Sums grouped as the query requests.
    pub fn report(&self, prices: &Prices, query: &Query) -> Report {
        report::build(self, prices, query)
    }

    /// Cost and tokens of each session.
    pub fn by_session(&self, prices: &Prices) -> HashMap<&str, (Money, Tokens)> {
        let mut sums: HashMap<&str, (Money, Tokens)> = HashMap::new();
        for response in self.responses() {
            let (money, tokens) = sums.entry(response.session).or_default();
            *money += prices.cost(&response).unwrap_or_default();
            tokens.add(&response.tokens);
        }
        sums
    }

    #[inline]
    pub(super) fn response(&self, row: &LedgerRow) -> Response<'_> {
        Response {
            time: row.claim.time.timestamp(),
            session: self.names.get(row.session),
            cwd: self.names.get(row.cwd),
            model: self.names.get(row.model),
            tokens: row.usage.tokens(),
            fast: row.usage.fast,
            sub_agent: row.claim.source != SightingSource::Conversation,
            copied: row.claim.copied,
        }
    }

    /// Adds the rows of a file. A line without a session belongs to the file's session, and so does a line of
    /// a session without a file: it could not be looked up under that id.
    fn merge(&mut self, file: &Rows, session: &str, known: &HashSet<&str>, merged: &mut MergeState<'_>) {
        self.oversized_lines += file.oversized;
        let own = self.names.get_or_add(session);
        let names: Vec<TextId> = file.names.iter().map(|name| self.names.get_or_add(name)).collect();
        let sessions: Vec<TextId> = std::iter::zip(file.names.iter(), &names)
            .map(|(text, name)| if known.contains(text) { *name } else { own })
            .collect();
        let name = |name: TextId| names.get(name.0 as usize).copied().unwrap_or(TextId::EMPTY);
        for row in &file.list {
            let session = sessions.get(row.session.0 as usize).copied().unwrap_or(own);
            let row = LedgerRow { session, cwd: name(row.cwd), model: name(row.model), ..*row };
            let at = *merged.by_key.entry(row.key).or_insert(self.rows.len());
            match self.rows.get_mut(at) {
                Some(known) => known.merge(&row),
                None => self.rows.push(row),
            }
        }
    }
}

/// Origin of a file's rows.
enum RowSource<'a> {
    Cache(&'a [u8]),
    File,
}

impl RowSource<'_> {
    /// Estimated number of rows, for allocation: a row takes about forty bytes.
    fn estimated_rows(&self) -> usize {
        match self {
            RowSource::Cache(facts) => facts.len() / 40,
            RowSource::File => 0,
        }
    }
}

/// State that is needed only while files are merged.
struct MergeState<'a> {
    by_key: KeyMap<usize>,
    /// Data that is not cached yet.
    new_data: Vec<(&'a FileInfo, Mark, Vec<u8>)>,
}

impl MergeState<'_> {
    fn with_capacity(rows: usize) -> Self {
        MergeState {
            by_key: KeyMap::with_capacity_and_hasher(rows, BuildHasherDefault::default()),
            new_data: Vec::new(),
        }
    }
}
