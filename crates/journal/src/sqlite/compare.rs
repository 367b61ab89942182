//! Compares what the journal holds with what it must hold.

use rusqlite::{Connection, params};

use super::damage::is_damage;
use super::events::row_of;
use super::failure::Doing as _;
use super::heads::Held;
use super::tally::{EVENTS, Part, RowSum, SESSIONS, Sums, TABLES, apply, counted_row};
use crate::limits::{LOSSES_MAX, SEQ_MAX};
use crate::{Handle, JournalError, Loss};

/// The strictness of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expectation {
    /// The journal must be as the heads say.
    Exact,
    /// It must hold at least what was on the disk before the power failed.
    AtLeast,
    /// Nothing: there are no heads, or they do not belong to this state of the journal.
    Nothing,
}

/// Which events are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// The first and the last of each session, and those that the heads do not know yet.
    Ends,
    All,
}

/// Result of a comparison.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// Sums of the journal.
    pub(super) sums: Sums,
    pub(super) losses: Vec<Loss>,
    /// True if the engine could not read some of it.
    pub(super) is_broken: bool,
}

impl Comparison {
    /// The comparison with a journal that has lost its tables.
    pub(super) fn without_tables(held: &Held) -> Self {
        let candidates = [held.sums.clone()];
        let losses = losses(&candidates, &[Sums::new()], &Sums::new(), Expectation::Exact);
        Comparison { losses, is_broken: true, ..Comparison::default() }
    }

    /// The weight of all losses, to tell which of two files is better.
    pub(super) fn weight(&self) -> u64 {
        let lost = self.losses.iter().map(|loss| loss.missing + u64::from(loss.is_altered));
        lost.sum::<u64>() + u64::from(self.is_broken)
    }
}

/// Compares a journal with its heads. Nothing is written.
pub(super) fn compare(
    conn: &Connection,
    held: &Held,
    expectation: Expectation,
    depth: Depth,
) -> Result<Comparison, JournalError> {
    let mut found = Comparison::default();
    for (table, place) in TABLES.iter().zip(0_u8..) {
        if place != EVENTS {
            let sql = table.query(place, "");
            found.is_broken |= add_rows(conn, &sql, (0, 0), &mut found.sums)? == ScanEnd::Damage;
        }
    }
    let sessions: Vec<u64> = sessions(&found.sums);
    // Rows of sessions that are being deleted.
    found.sums.retain(|part, _| part.session == 0 || sessions.binary_search(&part.session).is_ok());
    let candidates = candidates(held, expectation);
    // A prefix of the events is compared: deltas after it were not announced.
    let mut prefixes: Vec<Sums> = candidates.iter().map(|_| Sums::new()).collect();
    for session in sessions {
        read_events(conn, session, &candidates, depth, &mut found, &mut prefixes)?;
    }
    if !candidates.is_empty() {
        found.losses = losses(&candidates, &prefixes, &found.sums, expectation);
    }
    Ok(found)
}

fn sessions(sums: &Sums) -> Vec<u64> {
    sums.keys().filter(|part| part.table == SESSIONS).map(|part| part.session).collect()
}

/// The states that the journal may be in: the announced commit happened or not.
fn candidates(held: &Held, expectation: Expectation) -> Vec<Sums> {
    match expectation {
        Expectation::Nothing => Vec::new(),
        Expectation::AtLeast => vec![held.synced.clone()],
        Expectation::Exact => {
            let after = held.announced.clone().map(|announced| {
                let mut sums = held.sums.clone();
                apply(&mut sums, announced);
                sums
            });
            std::iter::once(held.sums.clone()).chain(after).collect()
        }
    }
}

/// The end of a scan: of all rows, or at a damaged page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanEnd {
    Complete,
    Damage,
}

fn add_rows(
    conn: &Connection,
    sql: &str,
    range: (i64, i64),
    sums: &mut Sums,
) -> Result<ScanEnd, JournalError> {
    let doing = "read what the journal holds";
    let read = || {
        let mut find = conn.prepare_cached(sql).doing(doing)?;
        let mut rows = if find.parameter_count() == 0 {
            find.query([]).doing(doing)?
        } else {
            find.query(params![range.0, range.1]).doing(doing)?
        };
        while let Some(row) = rows.next().doing(doing)? {
            let (part, row) = counted_row(row).doing(doing)?;
            sums.entry(part).or_default().add(row);
        }
        Ok(ScanEnd::Complete)
    };
    match { read }() {
        Err(error) if is_damage(&error) => Ok(ScanEnd::Damage),
        done => done,
    }
}

/// Reads the events of one session: their sum, and that of the prefix that each candidate knows.
fn read_events(
    conn: &Connection,
    session: u64,
    candidates: &[Sums],
    depth: Depth,
    found: &mut Comparison,
    prefixes: &mut [Sums],
) -> Result<(), JournalError> {
    let (part, handle) = (Part { table: EVENTS, session }, Handle::new(session));
    let known: Vec<Option<&RowSum>> = candidates.iter().map(|sums| sums.get(&part)).collect();
    let sql = TABLES[usize::from(EVENTS)].query(EVENTS, "WHERE id > ?1 AND id <= ?2 ORDER BY id");
    let scan = |from: u64, to: u64, sums: &mut Sums| {
        add_rows(conn, &sql, (row_of(handle, from), row_of(handle, to)), sums)
    };
    let mut whole = Sums::new();
    if depth == Depth::Ends
        && let [Some(known)] = &known[..]
        && known.rows > 0
    {
        let mut ends = Sums::new();
        let first = (known.last + 1).saturating_sub(known.rows);
        let at_ends = scan(first - 1, first, &mut ends)? == ScanEnd::Complete
            && scan(known.last - 1, known.last, &mut ends)? == ScanEnd::Complete
            && ends.get(&part).is_some_and(|ends| ends.rows == 2);
        if at_ends {
            whole.insert(part, (*known).clone());
            prefixes[0].insert(part, (*known).clone());
            found.is_broken |= scan(known.last, SEQ_MAX, &mut whole)? == ScanEnd::Damage;
            found.sums.append(&mut whole);
            return Ok(());
        }
    }
    // In pieces that end where a candidate does.
    let mut ends: Vec<u64> = known.iter().flatten().map(|sum| sum.last).collect();
    ends.push(SEQ_MAX);
    ends.sort_unstable();
    ends.dedup();
    let mut from = 0;
    for to in ends {
        found.is_broken |= scan(from, to, &mut whole)? == ScanEnd::Damage;
        from = to;
        for (sum, prefix) in known.iter().zip(prefixes.iter_mut()) {
            if sum.is_some_and(|sum| sum.last == to)
                && let Some(whole) = whole.get(&part)
            {
                prefix.insert(part, whole.clone());
            }
        }
    }
    found.sums.append(&mut whole);
    Ok(())
}

/// Parts that no candidate has as they are.
fn losses(candidates: &[Sums], prefixes: &[Sums], actual: &Sums, expectation: Expectation) -> Vec<Loss> {
    let mut parts: Vec<Part> = candidates.iter().flat_map(Sums::keys).copied().collect();
    if expectation == Expectation::Exact {
        parts.extend(actual.keys().filter(|part| part.table != EVENTS));
    }
    parts.sort_unstable();
    parts.dedup();
    let mut losses = Vec::new();
    for part in parts {
        let of_candidates = candidates.iter().zip(prefixes).map(|(candidate, prefix)| {
            let is_prefix = part.table == EVENTS && expectation == Expectation::Exact;
            let found = if is_prefix { prefix.get(&part) } else { actual.get(&part) };
            loss(candidate.get(&part), found, expectation)
        });
        let Some((missing, is_altered)) = of_candidates
            .reduce(|one, other| one.and_then(|one| other.map(|other| one.min(other))))
            .flatten()
        else {
            continue;
        };
        let session = Part { table: SESSIONS, ..part };
        let key = candidates.iter().chain([actual]).find_map(|sums| sums.get(&session)?.key.clone());
        let what = part.table().map_or("rows", |table| table.rows);
        losses.push(Loss { session: key, what: what.to_owned(), missing, is_altered });
    }
    losses.truncate(LOSSES_MAX);
    losses
}

/// The number of missing rows, and whether others are altered; none if all is as it must be.
fn loss(held: Option<&RowSum>, found: Option<&RowSum>, expectation: Expectation) -> Option<(u64, bool)> {
    let none = RowSum::default();
    let (held, found) = (held.unwrap_or(&none), found.unwrap_or(&none));
    match expectation {
        Expectation::AtLeast => {
            // Numbered rows are only added; of others it is known that there were some.
            let is_there =
                if held.last > 0 { found.last >= held.last } else { held.rows == 0 || found.rows > 0 };
            let missing = if held.last > 0 { held.last.saturating_sub(found.last) } else { 1 };
            (!is_there).then_some((missing, false))
        }
        _ if (held.rows, held.sum) == (found.rows, found.sum) => None,
        _ => {
            let missing = held.rows.saturating_sub(found.rows);
            Some((missing, missing == 0))
        }
    }
}

/// Counts all rows of a journal.
pub(super) fn sums(conn: &Connection) -> Result<Sums, JournalError> {
    Ok(compare(conn, &Held::default(), Expectation::Nothing, Depth::All)?.sums)
}

/// The number of the first event of a session that is there.
pub(super) fn first_event(conn: &Connection, session: u64) -> Result<u64, JournalError> {
    let handle = Handle::new(session);
    let sql = "SELECT id FROM events WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT 1";
    let first: i64 = conn
        .query_row(sql, params![row_of(handle, 0), row_of(handle, SEQ_MAX)], |row| row.get(0))
        .doing("read the first event of a session")?;
    Ok(first.cast_unsigned() & SEQ_MAX)
}
