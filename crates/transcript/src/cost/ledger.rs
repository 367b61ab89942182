use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

use jiff::Timestamp;

use super::block::{Block, Running};
use super::key::KeyMap;
use super::line::Teller;
use super::money::Money;
use super::names::{Name, Names};
use super::prices::Prices;
use super::query::Query;
use super::report::{self, Report};
use super::rows::{Row, Rows, USAGE};
use super::scan::{self, Done, Job, Progress};
use super::time::Millis;
use super::tokens::Tokens;
use crate::Error;
use crate::cache::{Cache, Known, Mark};
use crate::roots::{FileInfo, Found, SessionFiles};

/// Every API response in a set of files, once.
#[derive(Debug, Default)]
pub struct Ledger {
    pub(super) rows: Vec<Row>,
    pub(super) names: Names,
    /// Files that could not be read, or not to their end.
    pub unreadable: Vec<Error>,
    /// Lines that are too long to read, in which usage may stand.
    pub oversized_lines: u64,
}

/// An API response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Response<'a> {
    /// When its first line was written.
    pub time: Option<Timestamp>,
    /// The session it belongs to; responses to sub-agents belong to the session that started them.
    pub session: &'a str,
    /// The folder that the session worked in at that moment; may be empty.
    pub cwd: &'a str,
    /// The model, as written; may be empty.
    pub model: &'a str,
    /// What it used.
    pub tokens: Tokens,
    /// Whether the faster and dearer way was taken.
    pub fast: bool,
    /// Whether a sub-agent got it.
    pub sub_agent: bool,
}

impl Ledger {
    /// Reads what the cache does not know, and counts. What was learnt is handed to the cache; the caller saves it.
    ///
    /// `progress` is called from the threads that read.
    pub fn read(found: &Found, cache: &mut Cache, progress: &(dyn Fn(Progress) + Sync)) -> Self {
        let mut files: Vec<(&FileInfo, &str)> = found
            .sessions
            .iter()
            .flat_map(|session| session.files().map(|file| (file, session.id.as_str())))
            .collect();
        // Of equal claims to a response the one that is merged first stays.
        files.sort_by_key(|(file, _)| (file.modified, file.path.as_os_str()));
        let mut sources = Vec::with_capacity(files.len());
        let mut jobs = Vec::new();
        for (at, (file, _)) in files.iter().enumerate() {
            let (source, job) = match cache.known(file, USAGE) {
                Known::Whole(facts) => (Source::Cache(facts), None),
                Known::UpTo { facts, offset } => {
                    let job = Rows::decode(facts).map(|rows| Job { at, file, offset, rows });
                    (Source::File, Some(job.unwrap_or_else(|| Job::new(at, file))))
                }
                Known::Nothing => (Source::File, Some(Job::new(at, file))),
            };
            sources.push(source);
            jobs.extend(job);
        }
        let known = found.sessions.iter().map(|session| session.id.as_str());
        let known: HashSet<&str> = known.chain(found.unwanted.iter().map(String::as_str)).collect();
        let mut ledger = Ledger::default();
        let mut read: HashMap<usize, Done> =
            scan::all(jobs, progress).into_iter().map(|done| (done.at, done)).collect();
        let rows = sources.iter().map(Source::rows_about).sum();
        let mut merged = Merged::with_capacity(rows);
        ledger.rows.reserve(rows);
        for (at, (source, (file, session))) in sources.iter().zip(&files).enumerate() {
            // What the cache holds is taken out file by file, so that it is in memory only once.
            let cached = match source {
                Source::Cache(facts) => Rows::decode(facts),
                Source::File => None,
            };
            if let Some(rows) = cached {
                ledger.merge(&rows, session, &known, &mut merged);
                continue;
            }
            // Facts that make no sense are read again.
            let done = read.remove(&at).or_else(|| scan::all(vec![Job::new(at, file)], progress).pop());
            if let Some(done) = done {
                ledger.merge(&done.rows, session, &known, &mut merged);
                merged.learnt.extend(done.mark.map(|mark| (*file, mark, done.rows.encode())));
                ledger.unreadable.extend(done.error);
            }
        }
        for (file, mark, facts) in merged.learnt {
            cache.keep(file, USAGE, mark, facts);
        }
        ledger
    }

    /// How much [`Ledger::read`] would have to read.
    pub fn unread_bytes(found: &Found, cache: &Cache) -> u64 {
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

    /// The responses from a moment on, and besides all those of a session, if one is given by its id or the beginning
    /// of it.
    pub fn responses_since<'a>(
        &'a self,
        since: Timestamp,
        session: Option<&'a str>,
    ) -> impl Iterator<Item = Response<'a>> {
        let since = since.as_millisecond();
        let recent = move |row: &&Row| row.claim.time != Millis::UNKNOWN && row.claim.time.0 >= since;
        let in_session =
            move |row: &&Row| session.is_some_and(|id| self.names.get(row.session).starts_with(id));
        self.rows.iter().filter(move |row| recent(row) || in_session(row)).map(|row| self.response(row))
    }

    /// The block that is running at `now`, if all responses from `since` on are here.
    pub fn running_block(&self, since: Timestamp, now: Timestamp) -> Running {
        Block::running(self.rows.iter().filter_map(|row| row.claim.time.timestamp()).collect(), since, now)
    }

    /// Sums by what the query asks for.
    pub fn report(&self, prices: &Prices, query: &Query) -> Report {
        report::build(self, prices, query)
    }

    /// What each session cost and used.
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
    pub(super) fn response(&self, row: &Row) -> Response<'_> {
        Response {
            time: row.claim.time.timestamp(),
            session: self.names.get(row.session),
            cwd: self.names.get(row.cwd),
            model: self.names.get(row.model),
            tokens: row.usage.tokens(),
            fast: row.usage.fast,
            sub_agent: row.claim.teller != Teller::Conversation,
        }
    }

    /// Takes in the rows of a file. A line that names no session belongs to the file's, and so does one that names a
    /// session of which there is no file any more: nobody would find it under that name.
    fn merge(&mut self, file: &Rows, session: &str, known: &HashSet<&str>, merged: &mut Merged<'_>) {
        self.oversized_lines += file.oversized;
        let own = self.names.get_or_add(session);
        let names: Vec<Name> = file.names.iter().map(|name| self.names.get_or_add(name)).collect();
        let sessions: Vec<Name> = std::iter::zip(file.names.iter(), &names)
            .map(|(text, name)| if known.contains(text) { *name } else { own })
            .collect();
        let name = |name: Name| names.get(name.0 as usize).copied().unwrap_or(Name::EMPTY);
        for row in &file.list {
            let session = sessions.get(row.session.0 as usize).copied().unwrap_or(own);
            let row = Row { session, cwd: name(row.cwd), model: name(row.model), ..*row };
            let at = *merged.by_key.entry(row.key).or_insert(self.rows.len());
            match self.rows.get_mut(at) {
                Some(known) => known.merge(&row),
                None => self.rows.push(row),
            }
        }
    }
}

/// Where the rows of a file come from.
enum Source<'a> {
    Cache(&'a [u8]),
    File,
}

impl Source<'_> {
    /// How many rows to make room for: a row takes about forty bytes.
    fn rows_about(&self) -> usize {
        match self {
            Source::Cache(facts) => facts.len() / 40,
            Source::File => 0,
        }
    }
}

/// What is needed only while files are put together.
struct Merged<'a> {
    by_key: KeyMap<usize>,
    /// What the cache does not know yet.
    learnt: Vec<(&'a FileInfo, Mark, Vec<u8>)>,
}

impl Merged<'_> {
    fn with_capacity(rows: usize) -> Self {
        Merged {
            by_key: KeyMap::with_capacity_and_hasher(rows, BuildHasherDefault::default()),
            learnt: Vec::new(),
        }
    }
}
